/**
 * Copies the tree into plain objects, for tools that show it. Values are those of the search, contempt included. In a graph
 * a shared node has one id, and only its first occurrence lists its children.
 */
import { decodePrior } from '../../nn/leaves.js';
import {
  COUNT_MASK,
  END_OF_GAME,
  getChildCount,
  getEdgeMove,
  getEdgePrior,
  getLowerBound,
  getTerminalKind,
  getUpperBound,
  NO_NODE,
  NO_RECORD,
  NODE_BLOCK,
  NODE_EDGES,
  NODE_META,
  NODE_WORDS,
  NOT_TERMINAL,
  type NodeIndex,
  RECORD_D,
  RECORD_DOUBLES,
  RECORD_M,
  RECORD_NODE,
  RECORD_VISITS,
  RECORD_WL,
  RECORD_WORDS,
  type RecordIndex,
  TABLEBASE_END,
  UNKNOWN_BOUNDS,
} from '../tree/layout.js';
import type { Tree } from '../tree/tree.js';

export interface TreeDumpLimits {
  /** Plies below the root. */
  readonly depth: number;
  /** Moves with fewer visits are left out; 0 = all moves. */
  readonly minVisits: number;
}

/** A move and the node behind it. Values are in the view of the player who makes the move; the root's, of its mover. */
export interface TreeDump {
  /** Identifies the node; 0 = the move has no node. */
  readonly id: number;
  /** 0 for the root. */
  readonly move: number;
  readonly prior: number;
  /** Visits of the edge; the node of a graph may have more. */
  readonly visits: number;
  readonly nodeVisits: number;
  readonly wl: number;
  readonly d: number;
  /** Plies to the end of the game; null when the network does not say. */
  readonly m: number | null;
  /** Proven bounds of the result: -1 loss, 0 draw, 1 win. */
  readonly lower: number;
  readonly upper: number;
  readonly terminal: 'end' | 'tablebase' | 'repetition' | null;
  /** The children are listed at another occurrence of the node. */
  readonly isElsewhere: boolean;
  /** Most visits first. */
  readonly children: readonly TreeDump[];
}

/** @returns null when nothing was searched */
export function dumpTree(tree: Tree, limits: TreeDumpLimits, hasMovesLeft: boolean): TreeDump | null {
  if (tree.rootNode === NO_NODE) return null;
  const { nodeWords, recordWords, recordFloats, recordDoubles, edges } = tree.store;
  const described = new Set<number>();

  const describe = (record: RecordIndex, move: number, prior: number, depth: number): TreeDump => {
    const at = record * RECORD_WORDS;
    const node = recordWords[at + RECORD_NODE] as NodeIndex;
    const meta = node === NO_NODE ? UNKNOWN_BOUNDS : nodeWords[node * NODE_WORDS + NODE_META];
    const isRoot = depth === 0;
    const wl = recordDoubles[record * RECORD_DOUBLES + RECORD_WL];
    const isElsewhere = described.has(node);
    if (node !== NO_NODE) described.add(node);
    const [lower, upper] = [getLowerBound(meta), getUpperBound(meta)];
    return {
      id: node,
      move,
      prior,
      visits: recordWords[at + RECORD_VISITS],
      nodeVisits: node === NO_NODE ? recordWords[at + RECORD_VISITS] : tree.getVisits(record),
      wl: 0 + (isRoot ? -wl : wl),
      d: recordFloats[at + RECORD_D],
      m: hasMovesLeft ? recordFloats[at + RECORD_M] : null,
      lower: 0 + (isRoot ? -upper : lower),
      upper: 0 + (isRoot ? -lower : upper),
      terminal: nameTerminal(getTerminalKind(meta)),
      isElsewhere,
      children: isElsewhere || node === NO_NODE || depth === limits.depth ? [] : listChildren(node, depth + 1),
    };
  };

  const listChildren = (node: NodeIndex, depth: number): TreeDump[] => {
    const meta = nodeWords[node * NODE_WORDS + NODE_META];
    const firstEdge = nodeWords[node * NODE_WORDS + NODE_EDGES];
    const block = nodeWords[node * NODE_WORDS + NODE_BLOCK];
    const childCount = getChildCount(meta);
    const children: { record: RecordIndex; edge: number; visits: number }[] = [];
    for (let i = 0; i < (meta & COUNT_MASK); i++) {
      const record = (i < childCount ? block + i : NO_RECORD) as RecordIndex;
      const visits = record === NO_RECORD ? 0 : recordWords[record * RECORD_WORDS + RECORD_VISITS];
      if (visits >= limits.minVisits) children.push({ record, edge: edges[firstEdge + i], visits });
    }
    children.sort((a, b) => b.visits - a.visits);
    return children.map(({ record, edge, visits }) => {
      const move = getEdgeMove(edge);
      const prior = decodePrior(getEdgePrior(edge));
      return visits > 0 ? describe(record, move, prior, depth) : describeUnvisited(move, prior);
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
