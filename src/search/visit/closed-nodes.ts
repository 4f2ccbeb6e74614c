/**
 * Closed nodes: every leaf that a visit to them would choose is already in flight, so gathering does not walk into them
 * again. With more visits in flight a node turns to other moves, so each closed node has an OPENING: the number of visits in
 * flight from which a walk finds a leaf again. A finished visit opens every node on its path.
 */
import {
  CLOSED_BIT,
  NODE_META,
  NODE_WORDS,
  type NodeIndex,
  RECORD_IN_FLIGHT,
  RECORD_WORDS,
  type RecordIndex,
} from '../tree/layout.js';
import type { Tree } from '../tree/tree.js';
import { ITEM_DEPTH, ITEM_PATH, type VisitList } from '../tree/visit-list.js';

export class ClosedNodes {
  private readonly tree: Tree;
  /** The openings of the nodes that have CLOSED_BIT. */
  private readonly openings = new Map<NodeIndex, number>();

  constructor(tree: Tree) {
    this.tree = tree;
  }

  isClosed(node: NodeIndex): boolean {
    return (this.tree.store.nodeWords[node * NODE_WORDS + NODE_META] & CLOSED_BIT) !== 0;
  }

  /** The opening of a closed node. */
  getOpening(node: NodeIndex): number {
    return this.openings.get(node) ?? 0;
  }

  /**
   * @param record the record of the edge that leads to the node
   * @param unplaced visits in flight on that record that found no leaf and are about to be taken back
   * @param need further virtual visits until a visit finds a leaf; NEVER = the node opens when a visit through it ends
   */
  close(node: NodeIndex, record: RecordIndex, unplaced: number, need: number): void {
    const { nodeWords, recordWords } = this.tree.store;
    nodeWords[node * NODE_WORDS + NODE_META] |= CLOSED_BIT;
    this.openings.set(node, recordWords[record * RECORD_WORDS + RECORD_IN_FLIGHT] - unplaced + need);
  }

  /** Raises the opening of a closed node by visits that have found leaves in it: the distance stays the same. */
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
