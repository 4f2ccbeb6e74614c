/**
 * The evaluator door: whatever turns a batch of positions into priors and values. One evaluator belongs to one thread.
 * A batch is built row by row (a row is one position with its legal moves), run once, and read row by row.
 */
import type { Position } from '../chess/index.js';
import type { HistoryFill } from '../encoding/index.js';

export interface Evaluator {
  /** The backend really in use, as users name it. */
  readonly backend: string;
  /** Answers within microseconds, so that batching, early answers and the cache are not worth their cost. */
  readonly isInstant: boolean;
  /** Larger batches than this are not given to it; none when left out. */
  readonly mostRows?: number;
  /** Per row, after run(), from the view of the player to move: W − L, probability of a draw, plies left. */
  readonly valueWl: Float32Array;
  readonly valueD: Float32Array;
  readonly movesLeft: Float32Array;
  /** Makes room for batches of so many rows. Rows set before are lost. */
  reserve(rows: number): void;
  /** @param moves the legal moves: `count` of them from `offset` on */
  setRow(row: number, position: Position, moves: Uint16Array, offset: number, count: number, fill: HistoryFill): void;
  /** Evaluates rows 0 to rows − 1. A promise only where the device needs the event loop; it rejects when it fails. */
  run(rows: number): Promise<void> | undefined;
  /** Priors of the row's moves, in the order they were given; they sum to 1. */
  writePriorsInto(out: Float32Array, row: number, count: number, policyTemperature: number): void;
  /** For evaluators that have something to tell the user while they work, one sentence at a time. */
  reportTo?(say: (text: string) => void): void;
  dispose(): Promise<void>;
}
