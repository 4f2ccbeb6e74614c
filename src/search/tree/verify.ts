/**
 * Checks the laws that every tree obeys when no visit is in flight: the visits and values of a node are its own evaluation
 * plus those of its moves, bounds agree with results, unvisited edges are sorted, and no node has two owners. In a graph,
 * each node knows how many edges lead to it, is found by its key, and lies one ply below all its parents. For tests: it looks
 * at every node.
 */
import { decodePrior } from '../../nn/leaves.js';
import {
  COUNT_MASK,
  FORGOTTEN_BIT,
  getChildCount,
  getEdgePrior,
  getLowerBound,
  getTerminalKind,
  getUpperBound,
  NO_NODE,
  NODE_BLOCK,
  NODE_D,
  NODE_EDGES,
  NODE_M,
  NODE_META,
  NODE_WL,
  NODE_WORDS,
  NOT_TERMINAL,
  type NodeIndex,
  RECORD_D,
  RECORD_DOUBLES,
  RECORD_IN_FLIGHT,
  RECORD_M,
  RECORD_NODE,
  RECORD_P,
  RECORD_VISITS,
  RECORD_WL,
  RECORD_WORDS,
  type RecordIndex,
  TWO_FOLD_DRAW,
} from './layout.js';
import type { Tree } from './tree.js';

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
  const { nodeWords, nodeFloats, recordWords, recordFloats, recordDoubles, edges } = tree.store;
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
    const at = record * RECORD_WORDS;
    const node = recordWords[at + RECORD_NODE] as NodeIndex;
    if (recordWords[at + RECORD_IN_FLIGHT] !== 0)
      complain(node, `${recordWords[at + RECORD_IN_FLIGHT]} visits in flight`);
    if (node === NO_NODE) continue;
    const held = holders.get(node) ?? 0;
    holders.set(node, held + 1);
    if (held > 0) continue;
    report.nodes++;
    report.deepest = Math.max(report.deepest, depth);
    const nodeAt = node * NODE_WORDS;
    const own = tree.getStats(node, record);
    const ownAt = own * RECORD_WORDS;
    const visits = recordWords[ownAt + RECORD_VISITS];
    const meta = nodeWords[nodeAt + NODE_META];
    const edgeCount = meta & COUNT_MASK;
    const childCount = getChildCount(meta);
    const firstEdge = nodeWords[nodeAt + NODE_EDGES];
    const block = nodeWords[nodeAt + NODE_BLOCK];
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
    let sumWl = nodeFloats[nodeAt + NODE_WL];
    let sumD = nodeFloats[nodeAt + NODE_D];
    let sumM = nodeFloats[nodeAt + NODE_M];
    for (let i = 0; i < childCount; i++) {
      const child = (block + i) as RecordIndex;
      const childAt = child * RECORD_WORDS;
      const n = recordWords[childAt + RECORD_VISITS];
      sumVisits += n;
      sumWl -= n * recordDoubles[child * RECORD_DOUBLES + RECORD_WL];
      sumD += n * recordFloats[childAt + RECORD_D];
      sumM += n * (recordFloats[childAt + RECORD_M] + 1);
      if (recordFloats[childAt + RECORD_P] !== decodePrior(getEdgePrior(edges[firstEdge + i]))) {
        complain(node, `prior of child ${i} differs from its edge`);
      }
      pending.push({ record: child, depth: depth + 1 });
    }
    const wl = recordDoubles[own * RECORD_DOUBLES + RECORD_WL];
    const d = recordFloats[ownAt + RECORD_D];
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
    const m = recordFloats[ownAt + RECORD_M];
    if (!isNear(m, sumM / visits, 0.01 + 1e-3 * Math.abs(m)))
      complain(node, `moves left ${m}, but ${sumM / visits} in the sum`);
  }
  if (!tree.hasGarbage && report.nodes !== tree.store.nodeCount) {
    faults.push(`${tree.store.nodeCount} nodes in the store, ${report.nodes} in the tree`);
  }
  for (const { node, text } of tree.findLinkFaults(holders)) complain(node, text);
  return { ...report, faults };
}
