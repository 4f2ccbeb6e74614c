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

/** A move that is still to be described. */
interface Found {
  /** -1 = it was never visited. */
  readonly record: RecordIndex | -1;
  readonly move: number;
  readonly prior: number;
  readonly visits: number;
  readonly depth: number;
  readonly siblings: TreeDump[];
}

/** @returns null when nothing was searched */
export function dumpTree(tree: Tree, limits: TreeDumpLimits, hasMovesLeft: boolean): TreeDump | null {
  if (tree.rootNode === NO_NODE) return null;
  const described = new Set<number>();

  const describe = ({ record, move, prior, visits, depth }: Found, children: TreeDump[]): TreeDump => {
    if (record === -1) return { ...NOTHING, move, prior, children };
    const node = getRecordNode(tree, record);
    const meta = node === NO_NODE ? UNKNOWN_BOUNDS : getMeta(tree, node);
    const isRoot = depth === 0;
    const { wl, d, m } = getRecordValue(tree, record);
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
      isElsewhere: described.has(node),
      children,
    };
  };

  /** The fewest visits come first. */
  const findMoves = (node: NodeIndex, depth: number, siblings: TreeDump[]): Found[] => {
    const moves = Array.from({ length: getEdgeCount(tree, node) }, (_, edge): Found => {
      const record = getVisitedRecord(tree, node, edge);
      const visits = getRecordVisits(tree, record);
      return { record, move: getMove(tree, node, edge), prior: getPrior(tree, node, edge), visits, depth, siblings };
    });
    const shown = moves.filter(({ visits }) => visits >= limits.minVisits).sort((a, b) => b.visits - a.visits);
    return shown.reverse();
  };

  const top: TreeDump[] = [];
  const record = tree.rootRecord;
  const found: Found[] = [
    { record, move: 0, prior: 1, visits: getRecordVisits(tree, record), depth: 0, siblings: top },
  ];
  for (let room = limits.mostNodes ?? Number.POSITIVE_INFINITY; room > 0; room--) {
    // The last one: the next of the line or, if not all are described, the one with the most visits.
    const next = found.pop();
    if (next === undefined) break;
    const children: TreeDump[] = [];
    const dump = describe(next, children);
    next.siblings.push(dump);
    if (dump.isElsewhere || dump.id === NO_NODE || next.record === -1) continue;
    described.add(dump.id);
    if (next.depth === limits.depth) continue;
    for (const move of findMoves(dump.id as NodeIndex, next.depth + 1, children)) {
      if (room === Number.POSITIVE_INFINITY) found.push(move);
      else if (found.length < room || move.visits > found[0].visits) {
        found.splice(countUpTo(found, move.visits), 0, move);
        if (found.length > room) found.shift();
      }
    }
  }
  return top[0];
}

/** @param found in ascending order. @returns how many have these visits or fewer */
function countUpTo(found: readonly Found[], visits: number): number {
  let [from, to] = [0, found.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if (found[middle].visits <= visits) from = middle + 1;
    else to = middle;
  }
  return from;
}

const NOTHING = {
  id: 0,
  visits: 0,
  nodeVisits: 0,
  wl: 0,
  d: 0,
  m: null,
  lower: -1,
  upper: 1,
  terminal: null,
  isElsewhere: false,
};

function nameTerminal(kind: number): TreeDump['terminal'] {
  if (kind === NOT_TERMINAL) return null;
  if (kind === END_OF_GAME) return 'end';
  return kind === TABLEBASE_END ? 'tablebase' : 'repetition';
}
