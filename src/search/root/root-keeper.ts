/**
 * Moves the root of a tree: along played moves, to a node below another root, or to a root that was set aside. What the
 * tree holds below the new root is kept. A root whose result was proven becomes an ordinary node, so that it can be searched.
 */
import {
  FORGOTTEN_BIT,
  getChildCount,
  LOSS,
  NO_NODE,
  NO_RECORD,
  type RecordIndex,
  TERMINAL_MASK,
  WIN,
  withBounds,
} from '../tree/layout.js';
import {
  findEdge,
  getChildRecord,
  getEdgeCount,
  getMeta,
  getOwnEvaluation,
  getRecordNode,
  getRecordValue,
  getRecordVisits,
  getVisitedRecord,
  setMeta,
  setRecordValue,
  setRecordVisits,
} from '../tree/read-tree.js';
import type { Tree } from '../tree/tree.js';

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
    let record: RecordIndex | -1 = root;
    for (const move of moves) {
      const node = getRecordNode(tree, record);
      record = getVisitedRecord(tree, node, findEdge(tree, node, move));
    }
    return record === -1 || getRecordNode(tree, record) === NO_NODE ? NO_RECORD : record;
  }

  /**
   * Makes the node behind an edge the root; the present root must be empty. The edge keeps its visits and value. In a
   * `PlainTree`, where a node has one parent, the edge loses its node.
   */
  startFrom(edge: RecordIndex): void {
    const { tree } = this;
    if (getEdgeCount(tree, getRecordNode(tree, edge)) === 0) return;
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
    const meta = getMeta(tree, node);
    if ((meta & TERMINAL_MASK) === 0) return;
    const wasNeverSearched = getChildCount(meta) === 0 && (meta & FORGOTTEN_BIT) === 0;
    if (wasNeverSearched) {
      tree.drop(node);
      tree.forgetVisits(tree.rootRecord);
      return;
    }
    let visits = 1;
    let { wl, d, m } = getOwnEvaluation(tree, node);
    for (let i = 0; i < getChildCount(meta); i++) {
      const child = getChildRecord(tree, node, i);
      const value = getRecordValue(tree, child);
      const childVisits = getRecordVisits(tree, child);
      visits += childVisits;
      wl -= value.wl * childVisits;
      d += value.d * childVisits;
      m += (value.m + 1) * childVisits;
    }
    setRecordVisits(tree, tree.rootRecord, visits);
    setRecordValue(tree, tree.rootRecord, { wl: wl / visits, d: d / visits, m: m / visits });
    setMeta(tree, node, withBounds(meta & ~TERMINAL_MASK, LOSS, WIN));
  }
}
