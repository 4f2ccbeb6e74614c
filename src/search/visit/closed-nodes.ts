/**
 * Closed nodes: every leaf that a visit to them would choose is already in flight, so gathering does not walk into them
 * again. More virtual visits would make the node choose other moves, so each closed node has an OPENING: with that many visits in
 * flight, a walk finds a leaf in it again. A finished visit opens every node on its path.
 */
import { CLOSED_BIT, ITEM_DEPTH, ITEM_PATH, type NodeIndex, type RecordIndex, type VisitList } from '../tree/layout.js';
import { getInFlight, getMeta, setMeta } from '../tree/read-tree.js';
import type { Tree } from '../tree/tree.js';

export class ClosedNodes {
  private readonly tree: Tree;
  /** The openings of the nodes that have CLOSED_BIT. */
  private readonly openings = new Map<NodeIndex, number>();

  constructor(tree: Tree) {
    this.tree = tree;
  }

  isClosed(node: NodeIndex): boolean {
    return (getMeta(this.tree, node) & CLOSED_BIT) !== 0;
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
    setMeta(this.tree, node, getMeta(this.tree, node) | CLOSED_BIT);
    this.openings.set(node, getInFlight(this.tree, record) - unplaced + need);
  }

  /** Raises the opening by visits that have just found leaves below the node: as many further visits are needed as before. */
  postpone(node: NodeIndex, visits: number): void {
    this.openings.set(node, this.getOpening(node) + visits);
  }

  /** Opens the nodes on the path of a finished visit. */
  openPath(list: VisitList, at: number): void {
    if (this.openings.size === 0) return;
    const { data } = list;
    const end = at + ITEM_PATH + 2 * data[at + ITEM_DEPTH];
    for (let step = at + ITEM_PATH; step < end; step += 2) {
      const node = data[step] as NodeIndex;
      if (!this.isClosed(node)) continue;
      this.open(node);
      this.openings.delete(node);
    }
  }

  openAll(): void {
    for (const node of this.openings.keys()) this.open(node);
    this.openings.clear();
  }

  private open(node: NodeIndex): void {
    setMeta(this.tree, node, getMeta(this.tree, node) & ~CLOSED_BIT);
  }
}
