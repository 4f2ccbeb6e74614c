/** What may be chosen at the root of a search: `searchmoves`, sequential halving, and who can still overtake the best move. */
import type { MoveFilter } from '../move-scores.js';
import { getChildCount, NODE_BLOCK, NODE_META, NODE_WORDS, RECORD_VISITS, RECORD_WORDS } from '../tree/layout.js';
import type { Tree } from '../tree/tree.js';

/** What the root forbids in this search. */
export interface RootRestriction {
  /** Unvisited edges at or behind this number are not searched. */
  edgeLimit: number;
  /** 1 = a visited move that is not searched. */
  readonly excluded: Uint8Array;
  /** Best move so far (child number, -1 = none): moves that are more than `remainingPlayouts` visits behind it are skipped. */
  bestChild: number;
  remainingPlayouts: number;
  /** Of sequential halving, by edge: visits, those in flight included, that the move may have; null without it. */
  readonly visitTargets: Uint32Array | null;
}

export class RootFilter implements MoveFilter {
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
    if (targets !== null || root.bestChild < 0 || move === root.bestChild) return false;
    const block = nodeWords[at + NODE_BLOCK];
    const bestVisits = recordWords[(block + root.bestChild) * RECORD_WORDS + RECORD_VISITS];
    const visits = move < childCount ? recordWords[(block + move) * RECORD_WORDS + RECORD_VISITS] : 0;
    return root.remainingPlayouts < bestVisits - visits;
  }
}
