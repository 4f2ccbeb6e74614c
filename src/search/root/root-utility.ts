/**
 * The terms that selection adds to the values of the root's moves, for reports and time managers: exploration, first play urgency for unvisited
 * moves (lc0: GetFpu, GetVisitedPolicy) and the moves-left utility for visited ones (lc0: MEvaluator).
 */
import {
  computeExploration,
  computeFpu,
  computeMovesLeftUtility,
  getFpuParams,
  getPuctParams,
} from '../formulas/puct.js';
import type { SearchParams } from '../protocol/params.js';
import type { RecordIndex } from '../tree/layout.js';
import { getEdgeCount, getPrior, getRecordM, getRecordValue, getVisitedRecord } from '../tree/read-tree.js';
import type { Tree } from '../tree/tree.js';

/** Sum of the priors of the root's visited moves. */
export function computeVisitedPrior(tree: Tree): number {
  const root = tree.rootNode;
  const edgeCount = getEdgeCount(tree, root);
  let sum = 0;
  for (let edge = 0; edge < edgeCount; edge++) {
    if (getVisitedRecord(tree, root, edge) !== -1) sum += getPrior(tree, root, edge);
  }
  return sum;
}

/** First play urgency of the root's unvisited moves. @param drawScore value of a draw for the root's mover */
export function computeRootFpu(tree: Tree, params: SearchParams, drawScore: number): number {
  const { wl, d } = getRecordValue(tree, tree.rootRecord);
  return computeFpu(getFpuParams(params, true), wl, d, drawScore, computeVisitedPrior(tree));
}

/** The exploration factor that the root's moves share in U. */
export function computeRootExploration(tree: Tree, params: SearchParams): number {
  return computeExploration(tree.rootVisits, getPuctParams(params, true));
}

/**
 * @returns a function from a root move's record and q to the bonus on its q; the bonus is 0 for an unvisited move (-1),
 * and while the root's value is within the threshold
 */
export function createRootMovesLeft(
  tree: Tree,
  params: SearchParams,
  hasMovesLeft: boolean,
): (record: RecordIndex | -1, q: number) => number {
  const { wl, m } = getRecordValue(tree, tree.rootRecord);
  const isUsed = hasMovesLeft && Math.abs(wl) > params.movesLeftThreshold;
  return (record, q) => (isUsed && record !== -1 ? computeMovesLeftUtility(params, m, getRecordM(tree, record), q) : 0);
}
