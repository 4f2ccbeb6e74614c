/**
 * The fourth verb, back up, in a graph. A finished visit counts on every edge of its path. The value of each node on the
 * path is computed anew from its own evaluation and the present values of its moves, weighted by the visits of its edges
 * (KataGo: docs/GraphSearch.md; Czech et al. 2021, Monte-Carlo Graph Search for AlphaZero). So a node's ancestors on this path
 * also get what visits by other paths have added to it since.
 *
 * A result is proven only by facts of the position (mate, stalemate, material, tablebases), so it holds on every path. A draw
 * by repetition or by the fifty-move rule holds on one path only: it counts in the average of the edge on which it happened,
 * and proves nothing.
 */

import { addVisit, getLeafRecord, getStepRecord } from './backup.js';
import {
  BOUNDS_MASK,
  FORGOTTEN_BIT,
  getChildCount,
  getLowerBound,
  LOSS,
  NO_NODE,
  NO_RECORD,
  NODE_BLOCK,
  NODE_D,
  NODE_M,
  NODE_META,
  NODE_STATS,
  NODE_WL,
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
  UNKNOWN_BOUNDS,
  WIN,
} from './layout.js';
import { MADE_TERMINAL, removePrior, settleNode } from './proven-results.js';
import { countChildren, getChildRecord, getMeta, getRecordM, getRecordNode, getRecordWl } from './read-tree.js';
import type { TranspositionIndex } from './transposition-index.js';
import type { NodeValue, Tree } from './tree.js';
import { ITEM_DEPTH, ITEM_PATH, ITEM_SLOT, REPETITION_VISIT, type VisitList } from './visit-list.js';

type GraphTree = Tree & { readonly graph: TranspositionIndex };

/** As `backUp` in backup.ts. The values of the leaf matter only when memory is full and the leaf has no node. */
export function backUpInGraph(
  tree: GraphTree,
  list: VisitList,
  at: number,
  leaf: NodeValue | null,
  sticky: boolean,
): boolean {
  const { data } = list;
  const { nodeWords, recordWords } = tree.store;
  const depth = data[at + ITEM_DEPTH];
  let record = getLeafRecord(tree, list, at);
  if (leaf !== null && recordWords[record * RECORD_WORDS + RECORD_NODE] === NO_NODE) {
    addVisit(tree, record, leaf.wl, leaf.d, leaf.m, 0);
  } else {
    recordWords[record * RECORD_WORDS + RECORD_IN_FLIGHT]--;
    // The record of a root that has a node is the node's own, in which `introduce` has counted this visit.
    if (depth > 0) recordWords[record * RECORD_WORDS + RECORD_VISITS]++;
  }
  if (data[at + ITEM_SLOT] === REPETITION_VISIT) tree.graph.repetitionVisits[record]++;

  let isSettled = false;
  for (let level = depth; level >= 1; level--) {
    const step = at + ITEM_PATH + 2 * (level - 1);
    const parent = data[step] as NodeIndex;
    const stats = nodeWords[parent * NODE_WORDS + NODE_STATS] as RecordIndex;
    const parentEdge = getStepRecord(tree, list, at, level - 1);
    const child = recordWords[record * RECORD_WORDS + RECORD_NODE];
    const childMeta = child === NO_NODE ? UNKNOWN_BOUNDS : nodeWords[child * NODE_WORDS + NODE_META];
    if ((nodeWords[parent * NODE_WORDS + NODE_META] & TERMINAL_MASK) !== 0) {
      recordWords[stats * RECORD_WORDS + RECORD_VISITS]++;
    } else {
      updateNode(tree, parent, stats, record);
      isSettled = (childMeta & TERMINAL_MASK) !== 0;
      if (sticky && level > 1 && (childMeta & BOUNDS_MASK) !== UNKNOWN_BOUNDS) {
        const proof = settleNode(tree, parent, stats, findDecisiveM(tree, parent, record));
        const isLost = proof === MADE_TERMINAL && getRecordWl(tree, stats) === LOSS;
        if (isLost) removePrior(tree, data[step - 2] as NodeIndex, data[step - 1]);
      }
    }
    // The root's record is `stats`, which has just counted the visit.
    if (level > 1) recordWords[parentEdge * RECORD_WORDS + RECORD_VISITS]++;
    recordWords[parentEdge * RECORD_WORDS + RECORD_IN_FLIGHT]--;
    record = parentEdge;
  }
  return isSettled;
}

/** Moves left of the node's shortest proven win, which another path may have found; without a win, those of `record`. */
function findDecisiveM(tree: GraphTree, node: NodeIndex, record: RecordIndex): number {
  const childCount = countChildren(tree, node);
  let shortest = Number.POSITIVE_INFINITY;
  for (let i = 0; i < childCount; i++) {
    const move = getChildRecord(tree, node, i);
    const child = getRecordNode(tree, move);
    if (child === NO_NODE || getLowerBound(getMeta(tree, child)) !== WIN) continue;
    shortest = Math.min(shortest, getRecordM(tree, move));
  }
  return shortest < Number.POSITIVE_INFINITY ? shortest : getRecordM(tree, record);
}

/**
 * Counts a visit of a node and computes its values, after refreshing the values that its edges copy from the nodes below.
 * @param stats the node's own record
 * @param visited the edge whose visits have just grown by one
 */
function updateNode(tree: GraphTree, node: NodeIndex, stats: RecordIndex, visited: RecordIndex): void {
  const { nodeWords, nodeFloats, recordWords, recordFloats, recordDoubles } = tree.store;
  const { repetitionVisits } = tree.graph;
  const nodeAt = node * NODE_WORDS;
  const meta = nodeWords[nodeAt + NODE_META];
  const block = nodeWords[nodeAt + NODE_BLOCK];
  const end = block + getChildCount(meta);
  const isForgotten = (meta & FORGOTTEN_BIT) !== 0;
  const statsAt = stats * RECORD_WORDS;
  const visits = recordWords[statsAt + RECORD_VISITS] + 1;
  let wl = nodeFloats[nodeAt + NODE_WL];
  let d = nodeFloats[nodeAt + NODE_D];
  let m = nodeFloats[nodeAt + NODE_M];
  let lostWl = 0;
  let lostD = 0;
  let lostM = 0;
  if (isForgotten) {
    // The forgotten subtree's share: the node's sum so far, minus its own evaluation, minus its present moves.
    lostWl = recordDoubles[stats * RECORD_DOUBLES + RECORD_WL] * (visits - 1) - wl;
    lostD = recordFloats[statsAt + RECORD_D] * (visits - 1) - d;
    lostM = recordFloats[statsAt + RECORD_M] * (visits - 1) - m;
  }
  for (let record = block; record < end; record++) {
    const at = record * RECORD_WORDS;
    const n = recordWords[at + RECORD_VISITS];
    if (n === 0) continue;
    if (isForgotten) {
      const before = record === visited ? n - 1 : n;
      lostWl += before * recordDoubles[record * RECORD_DOUBLES + RECORD_WL];
      lostD -= before * recordFloats[at + RECORD_D];
      lostM -= before * (recordFloats[at + RECORD_M] + 1);
    }
    const child = recordWords[at + RECORD_NODE];
    const source = child === NO_NODE ? NO_RECORD : nodeWords[child * NODE_WORDS + NODE_STATS];
    if (source !== NO_RECORD) {
      const repetitions = repetitionVisits[record];
      const share = repetitions === 0 ? 1 : (n - repetitions) / n;
      recordDoubles[record * RECORD_DOUBLES + RECORD_WL] = share * recordDoubles[source * RECORD_DOUBLES + RECORD_WL];
      recordFloats[at + RECORD_D] = share * recordFloats[source * RECORD_WORDS + RECORD_D] + 1 - share;
      recordFloats[at + RECORD_M] = recordFloats[source * RECORD_WORDS + RECORD_M];
    }
    wl -= n * recordDoubles[record * RECORD_DOUBLES + RECORD_WL];
    d += n * recordFloats[at + RECORD_D];
    m += n * (recordFloats[at + RECORD_M] + 1);
  }
  recordWords[statsAt + RECORD_VISITS] = visits;
  recordDoubles[stats * RECORD_DOUBLES + RECORD_WL] = (wl + lostWl) / visits;
  recordFloats[statsAt + RECORD_D] = (d + lostD) / visits;
  recordFloats[statsAt + RECORD_M] = (m + lostM) / visits;
}
