/**
 * Checks the laws that every tree obeys when no visit is in flight: the visits and values of a node are its own evaluation
 * plus those of its moves, bounds agree with results, unvisited edges are sorted, and no node has two owners. In a graph,
 * each node knows how many edges lead to it, is found by its key, and lies one ply below all its parents. It looks at every
 * node.
 */

import { getTagPly } from '#sardonyx/networks/leaves/index.js';
import {
  COUNT_MASK,
  FORGOTTEN_BIT,
  getChildCount,
  getEdgePrior,
  getLowerBound,
  getTerminalKind,
  getUpperBound,
  INDEXED_BIT,
  NO_NODE,
  NOT_TERMINAL,
  type NodeIndex,
  TWO_FOLD_DRAW,
} from '#sardonyx/search/tree/layout.js';
import {
  countChildren,
  getChildRecord,
  getFirstEdge,
  getInFlight,
  getMeta,
  getOwnEvaluation,
  getPrior,
  getRecordNode,
  getRecordPrior,
  getRecordValue,
  getRecordVisits,
} from '#sardonyx/search/tree/read-tree.js';
import type { TranspositionIndex } from '#sardonyx/search/tree/transposition-index.js';
import type { Tree } from '#sardonyx/search/tree/tree.js';

export interface TreeReport {
  readonly nodes: number;
  readonly edges: number;
  readonly visitedEdges: number;
  readonly terminals: number;
  readonly deepest: number;
  /** Descriptions of at most 20 violations; none = the tree is sound. */
  readonly faults: readonly string[];
}

export function verifyTree(tree: Tree): TreeReport {
  const { edges } = tree.store;
  const faults: string[] = [];
  const report = { nodes: 0, edges: 0, visitedEdges: 0, terminals: 0, deepest: 0 };
  /** Edges and roots that lead to each node. */
  const holders = new Map<NodeIndex, number>();
  const complain = (node: number, text: string): void => {
    if (faults.length < 20) faults.push(`Node ${node}: ${text}`);
  };
  const isNear = (a: number, b: number, tolerance: number): boolean => Math.abs(a - b) <= tolerance;
  const pending = [tree.rootRecord, ...tree.parked].map((record) => ({ record, depth: 0 }));
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { record, depth } = next;
    const node = getRecordNode(tree, record);
    const inFlight = getInFlight(tree, record);
    if (inFlight !== 0) complain(node, `${inFlight} visits in flight`);
    if (node === NO_NODE) continue;
    const held = holders.get(node) ?? 0;
    holders.set(node, held + 1);
    if (held > 0) continue;
    report.nodes++;
    report.deepest = Math.max(report.deepest, depth);
    const own = tree.getStats(node, record);
    const visits = getRecordVisits(tree, own);
    const { wl, d, m } = getRecordValue(tree, own);
    const meta = getMeta(tree, node);
    const edgeCount = meta & COUNT_MASK;
    const childCount = getChildCount(meta);
    const firstEdge = getFirstEdge(tree, node);
    report.edges += edgeCount;
    report.visitedEdges += childCount;
    if (visits < 1) complain(node, 'exists without a visit');
    if (childCount > edgeCount) complain(node, `${childCount} children of ${edgeCount} edges`);
    for (let i = childCount + 1; i < edgeCount; i++) {
      if (getEdgePrior(edges[firstEdge + i]) > getEdgePrior(edges[firstEdge + i - 1])) {
        complain(node, 'unvisited edges are not sorted');
        break;
      }
    }
    let sumVisits = 1;
    let { wl: sumWl, d: sumD, m: sumM } = getOwnEvaluation(tree, node);
    for (let i = 0; i < childCount; i++) {
      const child = getChildRecord(tree, node, i);
      const n = getRecordVisits(tree, child);
      const value = getRecordValue(tree, child);
      sumVisits += n;
      sumWl -= n * value.wl;
      sumD += n * value.d;
      sumM += n * (value.m + 1);
      if (getRecordPrior(tree, child) !== getPrior(tree, node, i)) {
        complain(node, `prior of child ${i} differs from its edge`);
      }
      pending.push({ record: child, depth: depth + 1 });
    }
    if (!isNear(d, 0.5, 0.5001) || Math.abs(wl) > 1 + 1e-9) complain(node, `values out of range: ${wl} ${d}`);
    const kind = getTerminalKind(meta);
    if (kind !== NOT_TERMINAL) {
      report.terminals++;
      if (kind === TWO_FOLD_DRAW ? wl !== 0 : getLowerBound(meta) !== wl || getUpperBound(meta) !== wl) {
        complain(node, `terminal with value ${wl} and bounds ${getLowerBound(meta)} ${getUpperBound(meta)}`);
      }
      if (visits < (edgeCount > 0 ? sumVisits : 1)) complain(node, 'terminal has lost visits');
      continue;
    }
    if ((meta & FORGOTTEN_BIT) !== 0) continue;
    if (visits !== sumVisits) complain(node, `${visits} visits, but ${sumVisits} in the sum`);
    if (!isNear(wl * visits, sumWl, 1e-6 * visits + 1e-6))
      complain(node, `value ${wl}, but ${sumWl / visits} in the sum`);
    if (!isNear(d, sumD / visits, 1e-3)) complain(node, `draws ${d}, but ${sumD / visits} in the sum`);
    if (!isNear(m, sumM / visits, 0.01 + 1e-3 * Math.abs(m)))
      complain(node, `moves left ${m}, but ${sumM / visits} in the sum`);
  }
  if (!tree.hasGarbage && report.nodes !== tree.store.nodeCount) {
    faults.push(`${tree.store.nodeCount} nodes in the store, ${report.nodes} in the tree`);
  }
  findLinkFaults(tree, holders, complain);
  return { ...report, faults };
}

/** @param holders number of edges and roots that lead to each node */
function findLinkFaults(
  tree: Tree,
  holders: ReadonlyMap<NodeIndex, number>,
  complain: (node: number, text: string) => void,
): void {
  const { graph } = tree;
  let findable = 0;
  for (const [node, count] of holders) {
    if (graph === null) {
      if (count > 1) complain(node, `has ${count} parents`);
      continue;
    }
    if ((getMeta(tree, node) & INDEXED_BIT) !== 0) {
      findable++;
      if (!graph.knows(node)) complain(node, 'is not found by its key');
    }
    if (!areChildrenOnePlyOn(tree, graph, node)) complain(node, 'has a child that is not one ply on');
    if (!tree.hasGarbage && graph.getHolders(node) !== count) {
      complain(node, `has ${count} holders, but counts ${graph.getHolders(node)}`);
    }
  }
  if (graph !== null && !tree.hasGarbage && findable !== graph.count) {
    complain(NO_NODE, `${graph.count} nodes in the index, ${findable} in the graph`);
  }
}

function areChildrenOnePlyOn(tree: Tree, graph: TranspositionIndex, node: NodeIndex): boolean {
  const ply = getTagPly(graph.getTag(node));
  return Array.from({ length: countChildren(tree, node) }, (_, i) => getRecordNode(tree, getChildRecord(tree, node, i)))
    .filter((child) => child !== NO_NODE)
    .every((child) => getTagPly(graph.getTag(child) - ply) === 1);
}
