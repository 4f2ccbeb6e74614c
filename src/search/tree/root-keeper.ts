/**
 * Moves the root of a tree: along played moves, to a node below another root, or to a root that was set aside. What the
 * tree holds below the new root is kept. A root whose result was proven becomes an ordinary node, so that it can be searched.
 */
import {
  COUNT_MASK,
  FORGOTTEN_BIT,
  getChildCount,
  LOSS,
  NO_NODE,
  NO_RECORD,
  NODE_BLOCK,
  NODE_D,
  NODE_M,
  NODE_META,
  NODE_SQUARE,
  NODE_WL,
  NODE_WORDS,
  type NodeIndex,
  RECORD_D,
  RECORD_DOUBLES,
  RECORD_M,
  RECORD_NODE,
  RECORD_VISITS,
  RECORD_WL,
  RECORD_WORDS,
  type RecordIndex,
  TERMINAL_MASK,
  WIN,
  withBounds,
} from './layout.js';
import type { Tree } from './tree.js';

export class RootKeeper {
  constructor(private readonly tree: Tree) {}

  /** Makes the position after `move` the root. Its subtree is kept, all other nodes become garbage. */
  advance(move: number): void {
    const { tree } = this;
    tree.moveRootTo(this.findEdge(tree.rootRecord, [move]));
    this.reviveRoot();
  }

  /** Sets the root aside and starts an empty one. @returns the old root's record; NO_RECORD = failed, memory is full */
  park(): RecordIndex {
    const { tree } = this;
    const record = tree.rootRecord;
    const fresh = tree.store.allocateBlock(0);
    if (fresh === NO_RECORD) return NO_RECORD;
    tree.resetRecord(fresh, 1);
    tree.rootRecord = fresh;
    tree.parked.push(record);
    return record;
  }

  /** Makes a root that was set aside the root again; the present root must be empty. */
  restore(record: RecordIndex): void {
    const { tree } = this;
    tree.parked.splice(tree.parked.lastIndexOf(record), 1);
    tree.store.releaseBlock(tree.rootRecord, 0);
    tree.rootRecord = record;
  }

  /** Frees a root that was set aside. */
  dropParked(record: RecordIndex): void {
    const { tree } = this;
    tree.parked.splice(tree.parked.lastIndexOf(record), 1);
    tree.releaseRoot(record);
  }

  /** The record of the edge at the end of a line of moves from a root; NO_RECORD when no node is there. */
  findEdge(root: RecordIndex, moves: readonly number[]): RecordIndex {
    const { tree } = this;
    const { nodeWords, recordWords } = tree.store;
    let record = root;
    for (const move of moves) {
      const node = recordWords[record * RECORD_WORDS + RECORD_NODE] as NodeIndex;
      const child = node === NO_NODE ? -1 : tree.findChild(node, move);
      if (child < 0) return NO_RECORD;
      record = (nodeWords[node * NODE_WORDS + NODE_BLOCK] + child) as RecordIndex;
    }
    return recordWords[record * RECORD_WORDS + RECORD_NODE] === NO_NODE ? NO_RECORD : record;
  }

  /**
   * Makes the node behind an edge the root; the present root must be empty. The edge keeps its visits and value. In a tree,
   * where a node has one parent, it then leads nowhere.
   */
  startFrom(edge: RecordIndex): void {
    const { tree } = this;
    const { recordWords, nodeWords } = tree.store;
    const node = recordWords[edge * RECORD_WORDS + RECORD_NODE] as NodeIndex;
    if ((nodeWords[node * NODE_WORDS + NODE_META] & COUNT_MASK) === 0) return;
    tree.moveRootTo(edge);
    this.reviveRoot();
  }

  /**
   * Makes a terminal root an ordinary node, because selection does not descend into terminals. A proven node gets back the
   * average of what was searched below it. A terminal below which nothing was searched is dropped and evaluated anew.
   */
  private reviveRoot(): void {
    const { tree } = this;
    const node = tree.rootNode;
    if (node === NO_NODE) return;
    const { nodeWords, nodeFloats, recordWords, recordFloats, recordDoubles } = tree.store;
    const at = node * NODE_WORDS;
    const meta = nodeWords[at + NODE_META];
    if ((meta & TERMINAL_MASK) === 0) return;
    const wasNeverSearched = getChildCount(meta) === 0 && (meta & FORGOTTEN_BIT) === 0;
    if (wasNeverSearched) {
      tree.drop(node);
      tree.forgetVisits(tree.rootRecord);
      return;
    }
    let visits = 1;
    let wl = nodeFloats[at + NODE_WL];
    let d = nodeFloats[at + NODE_D];
    let m = nodeFloats[at + NODE_M];
    let square = wl * wl;
    const block = nodeWords[at + NODE_BLOCK];
    const childCount = getChildCount(meta);
    for (let i = 0; i < childCount; i++) {
      const child = block + i;
      const childVisits = recordWords[child * RECORD_WORDS + RECORD_VISITS];
      visits += childVisits;
      wl -= recordDoubles[child * RECORD_DOUBLES + RECORD_WL] * childVisits;
      d += recordFloats[child * RECORD_WORDS + RECORD_D] * childVisits;
      m += (recordFloats[child * RECORD_WORDS + RECORD_M] + 1) * childVisits;
      const below = recordWords[child * RECORD_WORDS + RECORD_NODE];
      const own = recordDoubles[child * RECORD_DOUBLES + RECORD_WL] ** 2;
      square += childVisits * (below === NO_NODE ? own : nodeFloats[below * NODE_WORDS + NODE_SQUARE]);
    }
    const root = tree.rootRecord;
    recordWords[root * RECORD_WORDS + RECORD_VISITS] = visits;
    recordDoubles[root * RECORD_DOUBLES + RECORD_WL] = wl / visits;
    recordFloats[root * RECORD_WORDS + RECORD_D] = d / visits;
    recordFloats[root * RECORD_WORDS + RECORD_M] = m / visits;
    if (tree.keepsSpread) nodeFloats[at + NODE_SQUARE] = square / visits;
    nodeWords[at + NODE_META] = withBounds(meta & ~TERMINAL_MASK, LOSS, WIN);
  }
}
