/**
 * The position a game has reached: the FEN it started from and the moves since. Built whole or not at all, so that a
 * wrong FEN or move leaves the previous position in place.
 */
import { formatFen, type Move, type Position, parseFen, parseUciMove, START_FEN } from '../chess/index.js';
import { failure, type Result, success } from '../util/index.js';

export interface GamePosition {
  /** Normalised: two spellings of one position give one text, so that the tree is found again. */
  readonly rootFen: string;
  readonly moves: readonly Move[];
  /** After the moves, with all of them in its history. */
  readonly position: Position;
}

/** @param fen null = the start position */
export function createGamePosition(fen: string | null, moveTexts: readonly string[]): Result<GamePosition> {
  const parsed = parseFen(fen ?? START_FEN);
  if (!parsed.ok) return failure(`Illegal position: ${parsed.error}`);
  return playOn({ rootFen: formatFen(parsed.value, 'shredder'), moves: [], position: parsed.value }, moveTexts);
}

/** Reads one `position` after the other: where a game goes on, only its new moves. */
export class PositionReader {
  private fen: string | null = null;
  private moveTexts: readonly string[] = [];
  private last: GamePosition | null = null;

  /** As createGamePosition. */
  read(fen: string | null, moveTexts: readonly string[]): Result<GamePosition> {
    const { last, moveTexts: known } = this;
    const goesOn = last !== null && fen === this.fen && known.every((text, i) => text === moveTexts[i]);
    const game = goesOn
      ? playOn({ ...last, position: last.position.clone() }, moveTexts.slice(known.length))
      : createGamePosition(fen, moveTexts);
    if (game.ok) {
      this.fen = fen;
      // The caller's list may grow.
      this.moveTexts = [...moveTexts];
      this.last = game.value;
    }
    return game;
  }
}

/** @param game whose position is made use of: it moves on */
function playOn(
  { rootFen, position, moves: earlier }: GamePosition,
  moveTexts: readonly string[],
): Result<GamePosition> {
  const moves = [...earlier];
  for (const text of moveTexts) {
    const move = parseUciMove(position, text);
    if (!move.ok) return failure(`Illegal move: ${move.error}`);
    position.makeMove(move.value);
    moves.push(move.value);
  }
  return success({ rootFen, moves, position });
}
