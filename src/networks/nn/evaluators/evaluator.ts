/**
 * The interface of evaluators, which turn a batch of positions into priors and values. An evaluator belongs to one thread. The
 * caller writes a batch row by row (a row is one position with its legal moves), runs it once, and reads the results row by row.
 */
import type { Position } from '../../../chess/rules/index.js';
import type { HistoryFill } from '../../encoding/index.js';

export interface Evaluator {
  /** Name of the backend in use, after any fallback. */
  readonly backend: string;
  /** True if a run takes microseconds; then batching, early answers and the cache cost more than they save. */
  readonly isInstant: boolean;
  /** The largest batch it takes; absent = no limit. */
  readonly mostRows?: number;
  /** Per row, after run(), from the view of the player to move: W − L, probability of a draw, plies left. */
  readonly valueWl: Float32Array;
  readonly valueD: Float32Array;
  readonly movesLeft: Float32Array;
  /** Allocates room for batches of up to `rows` rows. Discards rows that were set before. */
  reserve(rows: number): void;
  /** @param moves the legal moves: `count` of them from `offset` on */
  setRow(row: number, position: Position, moves: Uint16Array, offset: number, count: number, fill: HistoryFill): void;
  /** Evaluates rows 0 to rows − 1. Returns a promise only if the backend is asynchronous; it rejects if the run fails. */
  run(rows: number): Promise<void> | undefined;
  /** Priors of the row's moves, in the order they were given; they sum to 1. */
  writePriorsInto(out: Float32Array, row: number, count: number, policyTemperature: number): void;
  /** Optional: receives the function for messages to the user, one sentence each. */
  reportTo?(say: (text: string) => void): void;
  dispose(): Promise<void>;
}
