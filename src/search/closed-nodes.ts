/**
 * Nodes below which a visit finds no leaf for now, because every leaf that it would choose is under way: gathering does
 * not walk into them again. More visits in flight widen the choice, so each closed node is kept with the number of
 * visits in flight at which it opens; and a finished visit opens every node on its path.
 */
import {
  CLOSED_BIT,
  NODE_META,
  NODE_WORDS,
  type NodeIndex,
  RECORD_IN_FLIGHT,
  RECORD_WORDS,
  type RecordIndex,
} from './tree/layout.js';
import type { Tree } from './tree/tree.js';
import { ITEM_DEPTH, ITEM_PATH, type VisitList } from './tree/visit-list.js';

export class ClosedNodes {
  private readonly tree: Tree;
  /** Visits in flight at which a node opens; the node's CLOSED_BIT says whether to look here. */
  private readonly openings = new Map<NodeIndex, number>();

  constructor(tree: Tree) {
    this.tree = tree;
  }

  isClosed(node: NodeIndex): boolean {
    return (this.tree.store.nodeWords[node * NODE_WORDS + NODE_META] & CLOSED_BIT) !== 0;
  }

  /** Visits in flight at which a closed node opens. */
  getOpening(node: NodeIndex): number {
    return this.openings.get(node) ?? 0;
  }

  /**
   * @param record of the node
   * @param unplaced visits in flight there that are about to leave again
   * @param need virtual visits more before a visit would find a leaf; NEVER = it opens only when a leaf comes back
   */
  close(node: NodeIndex, record: RecordIndex, unplaced: number, need: number): void {
    const { nodeWords, recordWords } = this.tree.store;
    nodeWords[node * NODE_WORDS + NODE_META] |= CLOSED_BIT;
    this.openings.set(node, recordWords[record * RECORD_WORDS + RECORD_IN_FLIGHT] - unplaced + need);
  }

  /** Visits have found leaves in a closed node: it needs as many virtual visits more as before. */
  postpone(node: NodeIndex, visits: number): void {
    this.openings.set(node, this.getOpening(node) + visits);
  }

  /** Opens the nodes on the path of a finished visit. */
  openPath(list: VisitList, at: number): void {
    if (this.openings.size === 0) return;
    const { nodeWords } = this.tree.store;
    const { data } = list;
    const end = at + ITEM_PATH + 2 * data[at + ITEM_DEPTH];
    for (let step = at + ITEM_PATH; step < end; step += 2) {
      const metaAt = data[step] * NODE_WORDS + NODE_META;
      if ((nodeWords[metaAt] & CLOSED_BIT) === 0) continue;
      nodeWords[metaAt] &= ~CLOSED_BIT;
      this.openings.delete(data[step] as NodeIndex);
    }
  }

  openAll(): void {
    const { nodeWords } = this.tree.store;
    for (const node of this.openings.keys()) nodeWords[node * NODE_WORDS + NODE_META] &= ~CLOSED_BIT;
    this.openings.clear();
  }
}
