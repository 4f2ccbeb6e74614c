/**
 * Copies the tree into plain objects, for tools that show it. Values are those of the search, contempt included. In a graph
 * a shared node has one id, and only its first occurrence lists its children.
 */
import type { TreeDump, TreeDumpLimits } from '../protocol/search-protocol.js';
import {
  END_OF_GAME,
  getLowerBound,
  getTerminalKind,
  getUpperBound,
  NO_NODE,
  NOT_TERMINAL,
  type NodeIndex,
  type RecordIndex,
  TABLEBASE_END,
  UNKNOWN_BOUNDS,
} from '../tree/layout.js';
import {
  getEdgeCount,
  getMeta,
  getMove,
  getPrior,
  getRecordNode,
  getRecordValue,
  getRecordVisits,
  getVisitedRecord,
} from '../tree/read-tree.js';
import type { Tree } from '../tree/tree.js';

/** @returns null when nothing was searched */
export function dumpTree(tree: Tree, limits: TreeDumpLimits, hasMovesLeft: boolean): TreeDump | null {
  if (tree.rootNode === NO_NODE) return null;
  const described = new Set<number>();

  const describe = (record: RecordIndex, move: number, prior: number, depth: number): TreeDump => {
    const node = getRecordNode(tree, record);
    const meta = node === NO_NODE ? UNKNOWN_BOUNDS : getMeta(tree, node);
    const isRoot = depth === 0;
    const { wl, d, m } = getRecordValue(tree, record);
    const visits = getRecordVisits(tree, record);
    const isElsewhere = described.has(node);
    if (node !== NO_NODE) described.add(node);
    const [lower, upper] = [getLowerBound(meta), getUpperBound(meta)];
    return {
      id: node,
      move,
      prior,
      visits,
      nodeVisits: node === NO_NODE ? visits : tree.getVisits(record),
      wl: 0 + (isRoot ? -wl : wl),
      d,
      m: hasMovesLeft ? m : null,
      lower: 0 + (isRoot ? -upper : lower),
      upper: 0 + (isRoot ? -lower : upper),
      terminal: nameTerminal(getTerminalKind(meta)),
      isElsewhere,
      children: isElsewhere || node === NO_NODE || depth === limits.depth ? [] : listChildren(node, depth + 1),
    };
  };

  const listChildren = (node: NodeIndex, depth: number): TreeDump[] => {
    const edges = Array.from({ length: getEdgeCount(tree, node) }, (_, edge) => {
      const record = getVisitedRecord(tree, node, edge);
      return { edge, record, visits: getRecordVisits(tree, record) };
    });
    const shown = edges.filter(({ visits }) => visits >= limits.minVisits).sort((a, b) => b.visits - a.visits);
    return shown.map(({ edge, record }) => {
      const [move, prior] = [getMove(tree, node, edge), getPrior(tree, node, edge)];
      return record === -1 ? describeUnvisited(move, prior) : describe(record, move, prior, depth);
    });
  };

  return describe(tree.rootRecord, 0, 1, 0);
}

function describeUnvisited(move: number, prior: number): TreeDump {
  const nothing = { id: 0, visits: 0, nodeVisits: 0, wl: 0, d: 0, m: null, terminal: null, isElsewhere: false };
  return { ...nothing, move, prior, lower: -1, upper: 1, children: [] };
}

function nameTerminal(kind: number): TreeDump['terminal'] {
  if (kind === NOT_TERMINAL) return null;
  if (kind === END_OF_GAME) return 'end';
  return kind === TABLEBASE_END ? 'tablebase' : 'repetition';
}
