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
} from './layout.js';
import { MADE_TERMINAL, NOTHING_PROVEN, removePrior, settleNode } from './proven-results.js';
import { getRecordD, getRecordM, getRecordVisits, getRecordWl } from './read-tree.js';
import type { NodeValue, Tree } from './tree.js';
import { ITEM_DEPTH, ITEM_PATH, ITEM_VISITS, type VisitList, type VisitPath } from './visit-list.js';

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
 * By how much a record's value changed when its node became terminal, and how many earlier visits had the old value; in the
 * view of the level that is being backed up. One object, reused for every visit.
 */
const correction = { visits: 0, wl: 0, d: 0, m: 0 };

/** Stands for the value of a visit that ends at a terminal, which has it in its record. */
const IN_RECORD: NodeValue = { wl: 0, d: 0, m: 0 };

/**
 * Finishes the visit at `at`. From the leaf up, each level settles and then corrects: the record takes the visit in; if the node
 * has just been proven, its parent may be proven by it, and then the records above are corrected for the parent's old value.
 * @param leaf value of the leaf that has just been evaluated; null when the visit ends at a terminal
 * @param sticky whether proven results spread
 * @returns whether the result of the move at the root has just been proven, so that the best move may change
 */
export function backUp(tree: Tree, list: VisitList, at: number, leaf: NodeValue | null, sticky: boolean): boolean {
  const { data } = list;
  const { nodeWords, recordWords, recordFloats, recordDoubles } = tree.store;
  const depth = data[at + ITEM_DEPTH];
  let { wl, d, m } = leaf ?? IN_RECORD;
  let spreads = false;
  let rootMoveSettled = false;
  correction.visits = 0;
  for (let level = depth; level >= 0; level--) {
    const record = getStepRecord(tree, list, at, level);
    const recordAt = record * RECORD_WORDS;
    const node = recordWords[recordAt + RECORD_NODE];
    const isTerminal = node !== NO_NODE && (nodeWords[node * NODE_WORDS + NODE_META] & TERMINAL_MASK) !== 0;
    const isFirst = leaf !== null || recordWords[recordAt + RECORD_VISITS] === 0;
    if (level === depth && sticky && isTerminal && isFirst) spreads = true;
    if (isTerminal) {
      wl = recordDoubles[record * RECORD_DOUBLES + RECORD_WL];
      d = recordFloats[recordAt + RECORD_D];
      m = recordFloats[recordAt + RECORD_M];
    }
    addVisit(tree, record, wl, d, m, isTerminal ? 0 : correction.visits);
    if (level === 0) break;

    if (level === 1) rootMoveSettled = spreads && isTerminal;
    const parent = data[at + ITEM_PATH + 2 * level - 2];
    const parentIsTerminal = (nodeWords[parent * NODE_WORDS + NODE_META] & TERMINAL_MASK) !== 0;
    if (parentIsTerminal) correction.visits = 0;
    if (spreads) spreads = level > 1 && !parentIsTerminal && settleParent(tree, list, at, level, m);
    wl = -wl;
    correction.wl = -correction.wl;
    m++;
  }
  return rootMoveSettled;
}

/**
 * Takes a visit that was in flight into the averages of a record.
 * @param corrected earlier visits whose value `correction` changes; 0 = none
 */
export function addVisit(tree: Tree, record: RecordIndex, wl: number, d: number, m: number, corrected: number): void {
  const { recordWords, recordFloats, recordDoubles } = tree.store;
  const at = record * RECORD_WORDS;
  const wlAt = record * RECORD_DOUBLES + RECORD_WL;
  const visits = recordWords[at + RECORD_VISITS] + 1;
  const averageWl = recordDoubles[wlAt];
  const averageD = recordFloats[at + RECORD_D];
  const averageM = recordFloats[at + RECORD_M];
  let newWl = averageWl + (wl - averageWl) / visits;
  let newD = averageD + (d - averageD) / visits;
  let newM = averageM + (m - averageM) / visits;
  if (corrected > 0) {
    newWl += (corrected * correction.wl) / visits;
    newD += (corrected * correction.d) / visits;
    newM += (corrected * correction.m) / visits;
  }
  recordDoubles[wlAt] = newWl;
  recordFloats[at + RECORD_D] = newD;
  recordFloats[at + RECORD_M] = newM;
  recordWords[at + RECORD_VISITS] = visits;
  recordWords[at + RECORD_IN_FLIGHT]--;
}

/**
 * Tries to prove the parent of a node that has just been proven, and sets `correction` if the parent became terminal.
 * @param level of the node, 2 or more
 * @param m plies from the node to the end of the game
 * @returns whether anything was proven, so that the parent's own parent may be next
 */
function settleParent(tree: Tree, list: VisitList, at: number, level: number, m: number): boolean {
  const step = at + ITEM_PATH + 2 * level - 4;
  const [grandparent, number, parent] = [list.data[step], list.data[step + 1], list.data[step + 2]] as NodeIndex[];
  const record = getStepRecord(tree, list, at, level - 1);
  const oldWl = getRecordWl(tree, record);
  const oldD = getRecordD(tree, record);
  const oldM = getRecordM(tree, record);
  const proof = settleNode(tree, parent, record, m);
  if (proof !== MADE_TERMINAL) return proof !== NOTHING_PROVEN;
  const newWl = getRecordWl(tree, record);
  if (newWl === LOSS) removePrior(tree, grandparent, number);
  correction.visits = getRecordVisits(tree, record);
  // In the child's view: the sign changes at the end of the level.
  correction.wl = oldWl - newWl;
  correction.d = getRecordD(tree, record) - oldD;
  correction.m = getRecordM(tree, record) - oldM;
  return true;
}

/** Adds to the visits in flight on every record of an item's path. */
export function addInFlight(tree: Tree, list: VisitList, at: number, visits: number): void {
  const { data } = list;
  const { nodeWords, recordWords } = tree.store;
  const end = at + ITEM_PATH + 2 * data[at + ITEM_DEPTH];
  recordWords[tree.rootRecord * RECORD_WORDS + RECORD_IN_FLIGHT] += visits;
  for (let step = at + ITEM_PATH; step < end; step += 2) {
    const record = nodeWords[data[step] * NODE_WORDS + NODE_BLOCK] + data[step + 1];
    recordWords[record * RECORD_WORDS + RECORD_IN_FLIGHT] += visits;
  }
}

/** Takes an item's virtual loss back: its visits are no longer in flight. */
export function cancelVisit(tree: Tree, list: VisitList, at: number): void {
  addInFlight(tree, list, at, -list.data[at + ITEM_VISITS]);
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
