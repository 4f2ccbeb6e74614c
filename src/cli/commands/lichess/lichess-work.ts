/**
 * A request of lichess to an external engine: one position to analyse. The names are those of its API
 * (lichess.org/api, "External engine").
 */

import { failure, type Result, success } from '../../../base/util/index.js';
import { isLichessId } from './lichess-api.js';

export interface LichessWork {
  /** Of the request; answers go to its address. */
  readonly id: string;
  /** A new session is a new game. */
  readonly sessionId: string;
  readonly threads: number;
  readonly hashMb: number;
  readonly multiPv: number;
  readonly initialFen: string;
  /** In UCI notation; castling is king takes rook. */
  readonly moves: readonly string[];
  /** The words of `go`. */
  readonly limit: string;
}

const LIMITS = ['movetime', 'depth', 'nodes'] as const;

/** @param json what the broker answered */
export function parseLichessWork(json: unknown): Result<LichessWork> {
  const { id, work } = (json ?? {}) as { id?: unknown; work?: Record<string, unknown> };
  if (!isLichessId(id) || typeof work !== 'object' || work === null) return refuse('it has no id or no work');
  const { sessionId, threads, hash, multiPv, initialFen, moves } = work;
  if (typeof sessionId !== 'string' || typeof initialFen !== 'string') return refuse('session or position is missing');
  if (!Array.isArray(moves) || !moves.every((move) => typeof move === 'string')) return refuse('moves are missing');
  // These words become lines for the engine.
  if (
    initialFen.length > 200 ||
    moves.length > 2000 ||
    /[\r\n]/.test(initialFen) ||
    moves.some((move) => !/^[a-h1-8qrbnk]{4,5}$/.test(move))
  ) {
    return refuse('a move or the position has an invalid format');
  }
  const kind = LIMITS.find((name) => isCount(work[name]));
  return success({
    id,
    sessionId,
    threads: isCount(threads) ? threads : 1,
    hashMb: isCount(hash) ? hash : 16,
    multiPv: isCount(multiPv) ? Math.min(5, multiPv) : 1,
    initialFen,
    moves,
    limit: kind === undefined ? 'infinite' : `${kind} ${work[kind]}`,
  });
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0;
}

function refuse(reason: string): Result<never> {
  return failure(`lichess sent a request that cannot be read: ${reason}`);
}
