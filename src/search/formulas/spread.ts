/**
 * How widely the values below each node spread: the mean square of the values that were backed up through it, kept in the
 * node's word NODE_SQUARE. Only searches with CPuctUtilityStdevScale need it, so it is a pass of its own after `backUp`, and
 * other searches pay nothing. A graph does not keep it (`Tree.keepsSpread`).
 */
import type { SearchParams } from '../params.js';
import { NO_NODE, type NodeIndex, TERMINAL_MASK } from '../tree/layout.js';
import {
  getChildRecord,
  getMeanSquare,
  getMeta,
  getRecordNode,
  getRecordVisits,
  getRecordWl,
  setMeanSquare,
} from '../tree/read-tree.js';
import type { LeafValue, Tree } from '../tree/tree.js';
import { ITEM_DEPTH, ITEM_PATH, type VisitList } from '../tree/visit-list.js';

/** Whether a search in this tree needs the spread of values. */
export function usesSpread(tree: Tree, params: SearchParams): boolean {
  return tree.keepsSpread && params.cpuctUtilityStdevScale > 0;
}

/**
 * Adds the visit at `at`, which `backUp` has just finished, to the mean squares of the nodes on its path. As there, when a
 * node has become terminal, its ancestors count the exact value for all its visits.
 */
export function backUpSquare(tree: Tree, list: VisitList, at: number, leaf: Readonly<LeafValue>): void {
  const { data } = list;
  let square = leaf.wl * leaf.wl;
  let fixedVisits = 0;
  let change = 0;
  for (let level = data[at + ITEM_DEPTH]; level >= 0; level--) {
    const last = at + ITEM_PATH + 2 * (level - 1);
    const record = level === 0 ? tree.rootRecord : getChildRecord(tree, data[last] as NodeIndex, data[last + 1]);
    const node = getRecordNode(tree, record);
    if (node === NO_NODE) continue;
    const visits = getRecordVisits(tree, record);
    const average = getMeanSquare(tree, node);
    if ((getMeta(tree, node) & TERMINAL_MASK) !== 0) {
      square = getRecordWl(tree, record) ** 2;
      fixedVisits = visits - 1;
      change = square - average;
      setMeanSquare(tree, node, square);
    } else {
      setMeanSquare(tree, node, average + (square - average + fixedVisits * change) / visits);
    }
  }
}
