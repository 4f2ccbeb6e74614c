/**
 * Which moves selection may choose at the root: those that `searchmoves` and sequential halving allow and, with smart pruning,
 * those that can still overtake the best move.
 */
import { countChildren, getChildRecord, getOutcome, getRecordVisits, getVisitedRecord } from '../tree/read-tree.js';
import type { Tree } from '../tree/tree.js';
import type { SkippedMoves } from './move-scores.js';

/** The restrictions of the running search. */
export interface RootRestriction {
  /** Edges from this number on are not searched; they are unvisited. */
  edgeLimit: number;
  /** By edge: 1 = a visited move that is not searched. */
  readonly excluded: Uint8Array;
  /** The best move so far, a child number; -1 = none. Moves more than `remainingPlayouts` visits behind it are skipped. */
  bestChild: number;
  remainingPlayouts: number;
  /** Sequential halving, by edge: the visits, finished and in flight, that a move may have; null without halving. */
  readonly visitTargets: Uint32Array | null;
  /** Moves that are proven to win get no more visits, because other moves must be searched for their lines. */
  skipsWins: boolean;
}

export class RootFilter implements SkippedMoves {
  constructor(
    private readonly tree: Tree,
    private readonly root: RootRestriction,
    /** Visits of each move, finished and in flight. */
    private readonly started: Int32Array,
  ) {}

  isSkipped(move: number): boolean {
    const { root, tree } = this;
    const targets = root.visitTargets;
    if (targets !== null && this.started[move] >= targets[move]) return true;
    const node = tree.rootNode;
    const childCount = countChildren(tree, node);
    if (move < childCount && root.excluded[move] !== 0) return true;
    if (root.skipsWins && getOutcome(tree, getVisitedRecord(tree, node, move)) > 0) return true;
    if (targets !== null || root.bestChild < 0 || move === root.bestChild) return false;
    const bestVisits = getRecordVisits(tree, getChildRecord(tree, node, root.bestChild));
    const visits = move < childCount ? getRecordVisits(tree, getChildRecord(tree, node, move)) : 0;
    return root.remainingPlayouts < bestVisits - visits;
  }
}
