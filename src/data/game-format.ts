/**
 * What a file format offers: the games of a stream one by one, still raw, and the way from one raw game to rows. Raw
 * games are cheap, so that a resumed run can skip those it has done.
 */
import type { Move, Position } from '../chess/index.js';
import type { Result } from '../util/index.js';
import type { TrainingRow } from './training-row.js';

/** Where the rows of one game go. */
export interface GameSink {
  /** Announces the game; its hash says whether it trains, validates or tests. */
  beginGame(gameHash: number): void;
  /** Encodes the position and copies the row. */
  append(position: Position, legalMoves: Uint16Array, legalCount: number, row: TrainingRow): void;
}

export interface GameFormat<RawGame> {
  readGames(chunks: AsyncIterable<Buffer>): AsyncIterable<RawGame>;
  /** Rows written; or what is wrong with the game. Rows of a damaged game up to the damage may have been written. */
  writeGame(game: RawGame, sink: GameSink): Result<number>;
}

/** The move among `legalMoves` that a UCI text means, in either castling spelling; undefined when none. */
export function findUciMove(
  position: Position,
  legalMoves: Uint16Array,
  legalCount: number,
  text: string,
): Move | undefined {
  const from = text.charCodeAt(0) - 97 + 8 * (text.charCodeAt(1) - 49);
  const to = text.charCodeAt(2) - 97 + 8 * (text.charCodeAt(3) - 49);
  if (!(from >= 0 && from < 64 && to >= 0 && to < 64)) return undefined;
  const promotion = text.length === 5 ? '  nbrq'.indexOf(text[4]) : 0;
  const wanted = from | (to << 6) | (promotion << 12);
  for (let i = 0; i < legalCount; i++) if ((legalMoves[i] & 0x7fff) === wanted) return legalMoves[i] as Move;
  if (position.kingSquare(position.sideToMove) !== from || Math.abs(to - from) !== 2) return undefined;
  for (let i = 0; i < legalCount; i++) {
    const move = legalMoves[i];
    if (move & 0x8000 && ((move >> 6) & 63) > from === to > from) return move as Move;
  }
  return undefined;
}
