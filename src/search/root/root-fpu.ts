/** First play urgency at the root, as it is once every finished visit is in (lc0: GetFpu, GetVisitedPolicy). */
import { getEdgeCount, getPrior, getVisitedRecord } from '../best-move.js';
import type { SearchParams } from '../params.js';
import { computeFpu, getFpuParams } from '../puct.js';
import { RECORD_D, RECORD_DOUBLES, RECORD_WL, RECORD_WORDS } from '../tree/layout.js';
import type { Tree } from '../tree/tree.js';

/** Priors of the root's visited moves together. */
export function computeVisitedPrior(tree: Tree): number {
  const root = tree.rootNode;
  const edgeCount = getEdgeCount(tree, root);
  let sum = 0;
  for (let edge = 0; edge < edgeCount; edge++) {
    if (getVisitedRecord(tree, root, edge) !== -1) sum += getPrior(tree, root, edge);
  }
  return sum;
}

/** Value of the root's unvisited moves. @param drawScore value of a draw for the root's mover */
export function computeRootFpu(tree: Tree, params: SearchParams, drawScore: number): number {
  const { recordFloats, recordDoubles } = tree.store;
  const wl = recordDoubles[tree.rootRecord * RECORD_DOUBLES + RECORD_WL];
  const d = recordFloats[tree.rootRecord * RECORD_WORDS + RECORD_D];
  return computeFpu(getFpuParams(params, true), wl, d, drawScore, computeVisitedPrior(tree));
}
