/** The statistics of the root moves (VerboseMoveStats), with what only chess knows added: the move and its policy index. */
import type { Move, Position } from '../chess/index.js';
import { getPolicyEncoding } from '../encoding/index.js';
import type { MoveStats } from '../search/index.js';
import { unwrap } from '../util/index.js';
import { computeScore, type ScoreType } from './score.js';

/** Whose indices are shown, as lc0 shows them. */
const POLICY_NAME = 'lc0-1858';

export interface RootMoveStats extends MoveStats {
  /** Index of the move in the policy of the network, untransformed; for the root itself the number of legal moves. */
  readonly index: number;
}

export interface RootStats {
  /** Ascending by visits, as lc0 prints them. */
  readonly moves: readonly RootMoveStats[];
  readonly node: RootMoveStats;
  /** Whether the network says how long a game will last; the statistics have a number in any case, as lc0's. */
  readonly hasMovesLeft: boolean;
}

/** Moves to the end of the game as the root has it; null when nobody knows. */
export function getMovesLeft({ node, hasMovesLeft }: RootStats): number | null {
  return hasMovesLeft && node.m !== null ? (1 + node.m) / 2 : null;
}

/** What an info line would show of the root, for its mover. */
export function computeRootScore({ node }: RootStats, type: ScoreType): number {
  return computeScore(type, { wl: node.wl ?? node.q, d: node.d ?? 0, q: node.q, mu: node.mu ?? 0 });
}

export function createRootStats(
  position: Position,
  { rows, node }: { readonly rows: readonly MoveStats[]; readonly node: MoveStats },
  hasMovesLeft: boolean,
): RootStats {
  const policy = unwrap(getPolicyEncoding(POLICY_NAME));
  return {
    moves: rows.map((row) => ({ ...row, index: policy.moveToIndex(position, row.move as Move, 0) })),
    node: { ...node, index: node.edgeCount },
    hasMovesLeft,
  };
}
