/** The lines of label files, as they are written; games/records/labelled-games.ts reads them. */
import { unwrap } from '../../base/util/index.js';
import type { PgnResult } from '../../chess/pgn/index.js';
import {
  formatUciMove,
  hasChess960Castling,
  listLegalMoves,
  type Move,
  type Position,
  parseFen,
  parseUciMove,
} from '../../chess/rules/index.js';
import { EngineError, encodeScore, type UciClient, type UciInfo } from '../engines/index.js';
import type { LabelledPly, ScoredMove, Surprise } from '../records/index.js';

export interface LabelledGameRecord {
  readonly fen: string;
  /** "*" where no game was played to its end; the value is then learned from the score alone. */
  readonly result: PgnResult;
  /** Of each, the move played and the scored moves (coded by encodeScore); no scores where the ply is only on the way. */
  readonly plies: readonly LabelledPly[];
  /** How far a network's evaluation without search was from the scores; null at plies without them. */
  readonly surprise?: readonly (Surprise | null)[];
  /** At the last line of a source game: the number of the source with which a resumed run continues. */
  readonly next?: number;
}

/** A line before the engine has scored it. */
export interface LabelOrder {
  readonly fen: string;
  readonly result: PgnResult;
  /** UCI moves from the FEN, castling in any spelling. */
  readonly moves: readonly string[];
  /** Numbers of the plies to score, rising. The one after the last move is scored too if it is named; its best move is then "played". */
  readonly scoredPlies: readonly number[];
}

export function countScored({ plies }: LabelledGameRecord): number {
  return plies.reduce((sum, [, scores]) => sum + (scores.length > 0 ? 1 : 0), 0);
}

/** Throws an EngineError when the engine does not score a position. */
export async function scorePosition(
  engine: UciClient,
  fen: string,
  moves: readonly string[],
  legal: readonly string[],
  nodes: number,
): Promise<ScoredMove[]> {
  const words = `fen ${fen}${moves.length > 0 ? ` moves ${moves.join(' ')}` : ''}`;
  // A short search often ends within an iteration; its bounds are nearer to the truth than the iteration before (docs/dev/strength-log.md).
  const { lines } = await engine.go(words, { nodes, countsBounds: true });
  const scored = collectScores(lines, legal);
  if (scored.length === 0) throw new EngineError('protocol', `${engine.name} scored no move after "${words}"`);
  return scored;
}

/** Fills in the scores of an order. The engine keeps its hash table from ply to ply. */
export async function fillOrder(engine: UciClient, order: LabelOrder, nodes: number): Promise<LabelledGameRecord> {
  const { fen, result, scoredPlies } = order;
  const position = unwrap(parseFen(fen));
  const isChess960 = hasChess960Castling(position);
  const moves = makeUciMoves(position.clone(), order.moves).map((move) => formatUciMove(move, isChess960));
  engine.setChess960(isChess960);
  const wanted = new Set(scoredPlies);
  const plies: LabelledPly[] = [];
  for (let ply = 0; ply < moves.length || wanted.has(ply); ply++) {
    if (!wanted.has(ply)) plies.push([moves[ply], []]);
    else {
      const scored = await scorePosition(
        engine,
        fen,
        moves.slice(0, ply),
        listLegalUciMoves(position, isChess960),
        nodes,
      );
      plies.push([moves[ply] ?? scored[0][0], scored]);
    }
    position.makeMove(unwrap(parseUciMove(position, plies[ply][0])));
  }
  return { fen, result, plies };
}

/** Best first; lines of moves that are not legal (or repeated) are dropped. */
function collectScores(lines: readonly UciInfo[], legal: readonly string[]): ScoredMove[] {
  const scores = new Map<string, number>();
  for (const line of lines) {
    const move = line.pv[0];
    if (legal.includes(move) && !scores.has(move)) scores.set(move, encodeScore(line.score));
  }
  return [...scores].sort(([, one], [, other]) => other - one);
}

export function listLegalUciMoves(position: Position, isChess960: boolean): string[] {
  return listLegalMoves(position).map((move) => formatUciMove(move as Move, isChess960));
}

/** Makes the moves in the position. Throws one sentence if a move is illegal. */
export function makeUciMoves(position: Position, texts: readonly string[]): Move[] {
  return texts.map((text) => {
    const move = unwrap(parseUciMove(position, text));
    position.makeMove(move);
    return move;
  });
}
