/** Statistics of the root moves (VerboseMoveStats), with the move and its policy index. */
import { unwrap } from '../../base/util/index.js';
import { formatUciMove, type Move, type Position } from '../../chess/rules/index.js';
import { getPolicyEncoding } from '../../networks/encoding/index.js';
import { computeScore, convertPliesToMoves, type MoveStats, type ScoreType } from '../../search/index.js';

/** The policy encoding of the indices, as in lc0's statistics. */
const POLICY_NAME = 'lc0-1858';

export interface RootStats {
  /** Ascending by visits, as lc0 prints them. */
  readonly moves: readonly MoveStats[];
  readonly node: MoveStats;
  /** Whether the network has a moves-left head. The statistics show a number in any case, as in lc0. */
  readonly hasMovesLeft: boolean;
}

/** Expected moves to the end of the game at the root; null if unknown. */
export function getMovesLeft({ node, hasMovesLeft }: RootStats): number | null {
  return hasMovesLeft && node.m !== null ? convertPliesToMoves(node.m) : null;
}

/** The root's score in an info line, for the side to move. */
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
    node,
    hasMovesLeft,
  };
}

/** Of every root move, most visits first; null where a move without a visit has no value. */
export function createMoveStatistics({ moves, hasMovesLeft, node }: RootStats, chess960: boolean) {
  if (node.index === 0) return [];
  return moves
    .map((row) => ({
      row,
      move: formatUciMove(row.move as Move, chess960),
      visits: row.visits,
      prior: row.prior,
      value: row.visits === 0 ? null : row.wl,
      draw: row.visits === 0 ? null : row.d,
      movesLeft: row.visits === 0 ? null : getMovesLeft({ node: row, moves, hasMovesLeft }),
    }))
    .sort((a, b) => b.visits - a.visits || b.prior - a.prior);
}
