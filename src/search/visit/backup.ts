/**
 * The fourth verb, back up: adds a finished visit to the statistics of every record on its path and spreads proven results
 * (lc0: search/classic/search.cc, DoBackupUpdateSingleNode). Values change sign with each ply, moves left grow by one. When
 * a node on the path becomes terminal, its ancestors count the exact value for this visit and for all earlier visits
 * through that node.
 */

import {
  LOSS,
  NO_NODE,
  NODE_BLOCK,
  NODE_META,
  NODE_WORDS,
  type NodeIndex,
  RECORD_D,
  RECORD_DOUBLES,
  RECORD_IN_FLIGHT,
  RECORD_M,
  RECORD_NODE,
  RECORD_VISITS,
  RECORD_WL,
  RECORD_WORDS,
  type RecordIndex,
  TERMINAL_MASK,
} from '../tree/layout.js';
import type { LeafValue, Tree } from '../tree/tree.js';
import { ITEM_DEPTH, ITEM_PATH, ITEM_VISITS, type VisitList, type VisitPath } from '../tree/visit-list.js';
import { MADE_TERMINAL, NOTHING_PROVEN, removePrior, settleNode } from './bounds.js';

/** The record at the end of the first `steps` steps of a path; for 0 steps the root's. */
export function getStepRecord(tree: Tree, list: VisitList, at: number, steps: number): RecordIndex {
  const { data } = list;
  if (steps === 0) return tree.rootRecord;
  const last = at + ITEM_PATH + 2 * (steps - 1);
  return (tree.store.nodeWords[data[last] * NODE_WORDS + NODE_BLOCK] + data[last + 1]) as RecordIndex;
}

/** The record that a whole path leads to: the leaf's own. */
export function getLeafRecord(tree: Tree, list: VisitList, at: number): RecordIndex {
  return getStepRecord(tree, list, at, list.data[at + ITEM_DEPTH]);
}

/**
 * Finishes the visit at `at`.
 * @param sticky whether proven results spread
 * @returns whether the result of the move at the root has just been proven, so that the best move may change
 */
export function backUp(tree: Tree, list: VisitList, at: number, leaf: Readonly<LeafValue>, sticky: boolean): boolean {
  const { data } = list;
  const { nodeWords, recordWords, recordFloats, recordDoubles } = tree.store;
  const depth = data[at + ITEM_DEPTH];
  const path = at + ITEM_PATH;

  const { isNew } = leaf;
  let { wl, d, m } = leaf;
  let fixedVisits = 0;
  let wlChange = 0;
  let dChange = 0;
  let mChange = 0;
  let spreads = false;
  let rootMoveSettled = false;
  for (let level = depth; level >= 0; level--) {
    const parent = level === 0 ? NO_NODE : (data[path + 2 * level - 2] as NodeIndex);
    const child = level === 0 ? 0 : data[path + 2 * level - 1];
    const record = level === 0 ? tree.rootRecord : nodeWords[parent * NODE_WORDS + NODE_BLOCK] + child;
    const recordAt = record * RECORD_WORDS;
    const doubleAt = record * RECORD_DOUBLES;
    const node = recordWords[recordAt + RECORD_NODE];
    const isTerminal = node !== NO_NODE && (nodeWords[node * NODE_WORDS + NODE_META] & TERMINAL_MASK) !== 0;
    const oldVisits = recordWords[recordAt + RECORD_VISITS];
    if (level === depth && sticky && isTerminal && (isNew || oldVisits === 0)) spreads = true;
    if (isTerminal) {
      wl = recordDoubles[doubleAt + RECORD_WL];
      d = recordFloats[recordAt + RECORD_D];
      m = recordFloats[recordAt + RECORD_M];
    }
    const visits = oldVisits + 1;
    const averageWl = recordDoubles[doubleAt + RECORD_WL];
    const averageD = recordFloats[recordAt + RECORD_D];
    const averageM = recordFloats[recordAt + RECORD_M];
    let newWl = averageWl + (wl - averageWl) / visits;
    let newD = averageD + (d - averageD) / visits;
    let newM = averageM + (m - averageM) / visits;
    if (fixedVisits > 0 && !isTerminal) {
      newWl += (fixedVisits * wlChange) / visits;
      newD += (fixedVisits * dChange) / visits;
      newM += (fixedVisits * mChange) / visits;
    }
    recordDoubles[doubleAt + RECORD_WL] = newWl;
    recordFloats[recordAt + RECORD_D] = newD;
    recordFloats[recordAt + RECORD_M] = newM;
    recordWords[recordAt + RECORD_VISITS] = visits;
    recordWords[recordAt + RECORD_IN_FLIGHT]--;
    if (level === 0) break;

    if (level === 1) rootMoveSettled = spreads && isTerminal;
    const parentIsTerminal = (nodeWords[parent * NODE_WORDS + NODE_META] & TERMINAL_MASK) !== 0;
    if (parentIsTerminal) fixedVisits = 0;
    if (spreads) {
      spreads = false;
      if (level > 1 && !parentIsTerminal) {
        const grandparent = data[path + 2 * level - 4] as NodeIndex;
        const parentNumber = data[path + 2 * level - 3];
        const parentRecord = (nodeWords[grandparent * NODE_WORDS + NODE_BLOCK] + parentNumber) as RecordIndex;
        const before = recordDoubles[parentRecord * RECORD_DOUBLES + RECORD_WL];
        const beforeD = recordFloats[parentRecord * RECORD_WORDS + RECORD_D];
        const beforeM = recordFloats[parentRecord * RECORD_WORDS + RECORD_M];
        const proof = settleNode(tree, parent, parentRecord, m);
        spreads = proof !== NOTHING_PROVEN;
        if (proof === MADE_TERMINAL) {
          const after = recordDoubles[parentRecord * RECORD_DOUBLES + RECORD_WL];
          if (after === LOSS) removePrior(tree, grandparent, parentNumber);
          fixedVisits = recordWords[parentRecord * RECORD_WORDS + RECORD_VISITS];
          // In the child's view: the sign changes below, at the end of the loop.
          wlChange = before - after;
          dChange = recordFloats[parentRecord * RECORD_WORDS + RECORD_D] - beforeD;
          mChange = recordFloats[parentRecord * RECORD_WORDS + RECORD_M] - beforeM;
        }
      }
    }
    wl = -wl;
    wlChange = -wlChange;
    m++;
  }
  return rootMoveSettled;
}

/** Takes an item's virtual loss back: subtracts its visits from those in flight on every record of its path. */
export function cancelVisit(tree: Tree, list: VisitList, at: number): void {
  const { data } = list;
  const { nodeWords, recordWords } = tree.store;
  const visits = data[at + ITEM_VISITS];
  const end = at + ITEM_PATH + 2 * data[at + ITEM_DEPTH];
  recordWords[tree.rootRecord * RECORD_WORDS + RECORD_IN_FLIGHT] -= visits;
  for (let step = at + ITEM_PATH; step < end; step += 2) {
    const record = nodeWords[data[step] * NODE_WORDS + NODE_BLOCK] + data[step + 1];
    recordWords[record * RECORD_WORDS + RECORD_IN_FLIGHT] -= visits;
  }
}

/** Adds virtual visits to an item and to every record of its path. */
export function addVirtualVisits(tree: Tree, list: VisitList, at: number, extra: number): void {
  const { data } = list;
  const own = data[at + ITEM_VISITS];
  data[at + ITEM_VISITS] = -extra;
  cancelVisit(tree, list, at);
  data[at + ITEM_VISITS] = own + extra;
}

/**
 * Turns a two-fold draw back into an unvisited leaf and takes its visits out of all its ancestors.
 * @param depth depth of its parent: step `depth` of the path leads to the draw
 * @returns the visits taken back
 */
export function revertTwoFold(tree: Tree, path: VisitPath, depth: number): number {
  const { nodeWords, recordWords, recordFloats, recordDoubles } = tree.store;
  const getRecord = (level: number): RecordIndex =>
    level === 0
      ? tree.rootRecord
      : ((nodeWords[path.nodes[level - 1] * NODE_WORDS + NODE_BLOCK] + path.children[level - 1]) as RecordIndex);
  const draw = getRecord(depth + 1);
  const reverted = recordWords[draw * RECORD_WORDS + RECORD_VISITS];
  const m = recordFloats[draw * RECORD_WORDS + RECORD_M];
  for (let level = depth; level >= 0; level--) {
    const record = getRecord(level);
    const at = record * RECORD_WORDS;
    const remaining = recordWords[at + RECORD_VISITS] - reverted;
    recordWords[at + RECORD_VISITS] = remaining;
    if (remaining <= 0) continue;
    // A draw: wl 0, d 1 in every view.
    const share = reverted / remaining;
    const wlAt = record * RECORD_DOUBLES + RECORD_WL;
    recordDoubles[wlAt] += share * recordDoubles[wlAt];
    recordFloats[at + RECORD_D] += share * (recordFloats[at + RECORD_D] - 1);
    recordFloats[at + RECORD_M] += share * (recordFloats[at + RECORD_M] - (m + depth + 1 - level));
  }
  tree.releaseLeaf(draw);
  return reverted;
}
