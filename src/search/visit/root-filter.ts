/**
 * Which moves selection may choose at the root: those that `searchmoves` and sequential halving allow and, with smart pruning,
 * those that can still overtake the best move.
 */

import { getOutcome, getVisitedRecord } from '../tree/best-move.js';
import { getChildCount, NODE_BLOCK, NODE_META, NODE_WORDS, RECORD_VISITS, RECORD_WORDS } from '../tree/layout.js';
import type { Tree } from '../tree/tree.js';
import type { EdgeFilter } from './move-scores.js';

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

export class RootFilter implements EdgeFilter {
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
    const { nodeWords, recordWords } = tree.store;
    const at = tree.rootNode * NODE_WORDS;
    const childCount = getChildCount(nodeWords[at + NODE_META]);
    if (move < childCount && root.excluded[move] !== 0) return true;
    if (root.skipsWins && getOutcome(tree, getVisitedRecord(tree, tree.rootNode, move)) > 0) return true;
    if (targets !== null || root.bestChild < 0 || move === root.bestChild) return false;
    const block = nodeWords[at + NODE_BLOCK];
    const bestVisits = recordWords[(block + root.bestChild) * RECORD_WORDS + RECORD_VISITS];
    const visits = move < childCount ? recordWords[(block + move) * RECORD_WORDS + RECORD_VISITS] : 0;
    return root.remainingPlayouts < bestVisits - visits;
  }
}
