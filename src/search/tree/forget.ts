/**
 * Makes room when the tree's memory is full: drops everything below the least visited nodes. Such a node keeps its record,
 * and so its visits and its value, and the search goes on growing where it looks most. The walk over the tree is done in
 * slices of one or two milliseconds, so that it delays neither the clock nor `stop`.
 */
import { NO_NODE, type NodeIndex } from './layout.js';
import { countChildren, getChildRecord, getInFlight, getRecordNode } from './read-tree.js';
import type { Tree } from './tree.js';

const FIRST_THRESHOLD = 2;
/** When a whole walk frees less than this share of the nodes, the threshold of visits is doubled. */
const WORTHWHILE_SHARE = 0.05;
/** Share of the tree that one call frees at most, so that a small tree is not emptied. */
const LARGEST_SHARE = 0.1;
const GARBAGE_SLICE = 64;

export class Forgetter {
  private threshold = FIRST_THRESHOLD;
  /** Nodes whose children this walk has still to visit. */
  private readonly pending: number[] = [];
  private nodesAtStart = 0;
  private freedInWalk = 0;

  constructor(private readonly tree: Tree) {}

  /** Abandons the walk, because the root has changed. */
  reset(): void {
    this.pending.length = 0;
    this.threshold = FIRST_THRESHOLD;
    this.nodesAtStart = 0;
  }

  /**
   * Continues the walk until it has freed enough nodes or spent its effort.
   * @param goal nodes to free
   * @param effort nodes to look at
   * @returns false when nothing is left to forget
   */
  work(goal: number, effort: number): boolean {
    const { tree } = this;
    const { store } = tree;
    const enough = store.nodeCount - Math.min(goal, store.nodeCount * LARGEST_SHARE);
    for (let left = effort; left > 0 && store.nodeCount > enough; ) {
      if (tree.hasGarbage) {
        const before = store.nodeCount;
        tree.collectGarbage(GARBAGE_SLICE);
        this.freedInWalk += before - store.nodeCount;
        left -= GARBAGE_SLICE;
        continue;
      }
      if (this.pending.length === 0 && !this.startWalk()) return false;
      this.visit(this.pending.pop() as NodeIndex);
      left--;
    }
    return true;
  }

  private startWalk(): boolean {
    const { tree } = this;
    const count = tree.store.nodeCount;
    if (this.nodesAtStart > 0 && this.freedInWalk < WORTHWHILE_SHARE * this.nodesAtStart) {
      this.threshold *= 2;
      if (this.threshold > 2 * tree.rootVisits) {
        this.reset();
        return false;
      }
    }
    tree.beginWalk();
    this.nodesAtStart = count;
    this.freedInWalk = 0;
    if (tree.rootNode === NO_NODE) return false;
    this.pending.push(tree.rootNode);
    return true;
  }

  /** Whether a visit that came by another edge is in flight below a node. */
  private isUnderWay(node: NodeIndex): boolean {
    const { tree } = this;
    if (tree.countHolders(node) === 1) return false;
    for (let i = countChildren(tree, node) - 1; i >= 0; i--) {
      if (getInFlight(tree, getChildRecord(tree, node, i)) > 0) return true;
    }
    return false;
  }

  private visit(node: NodeIndex): void {
    const { tree } = this;
    const childCount = countChildren(tree, node);
    for (let i = 0; i < childCount; i++) {
      const record = getChildRecord(tree, node, i);
      const child = getRecordNode(tree, record);
      if (child === NO_NODE || countChildren(tree, child) === 0) continue;
      // A walk looks at each node once and counts its visits by all edges that lead to it.
      if (!tree.meetInWalk(child)) continue;
      if (tree.getVisits(record) > this.threshold) this.pending.push(child);
      else if (getInFlight(tree, record) === 0 && !this.isUnderWay(child)) tree.forgetChildren(child);
    }
  }
}
