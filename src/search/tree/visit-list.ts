/**
 * Visits under way, written one after another into one growing integer array: what each is waiting for, and the path
 * it took. A path is a chain of (node, child number) pairs from the root, because records may move.
 *
 *   item: [slot or a negative kind | depth | visits | node₀ child₀ | node₁ child₁ | … ]   depth pairs
 */
import type { NodeIndex } from './layout.js';

/** How a visit goes on at a known node: into one of its moves, or ending there, to be evaluated anew. */
export const GO_ON = 0;
export const LEAF = 1;

/** The other ends of a visit: its value is known. They stand in place of a slot. */
export const TERMINAL_VISIT = -1;
export const VIRTUAL_VISIT = -2;
/** Graph: the path repeats a position with its last step, a draw. */
export const REPETITION_VISIT = -3;
/** Graph: the node was visited more often, by other paths, than the edge that leads to it here. */
export const CATCH_UP_VISIT = -4;

export const ITEM_SLOT = 0;
export const ITEM_DEPTH = 1;
export const ITEM_VISITS = 2;
export const ITEM_PATH = 3;

/**
 * The path of the visit that is being walked, from the root on. Step i leads from `nodes[i]`, at depth i, to that node's
 * child number `children[i]` by the move `moves[i]`. The arrays are as long as the longest path that evaluators accept;
 * what lies beyond the current depth is left over from earlier walks.
 */
export class VisitPath {
  readonly nodes: Int32Array;
  readonly children: Uint8Array;
  readonly moves: Uint16Array;
  /** Option TwoFoldDraws: a position that occurs a second time on the path is a draw. */
  twoFoldDraws = true;

  constructor(readonly maxDepth: number) {
    this.nodes = new Int32Array(maxDepth);
    this.children = new Uint8Array(maxDepth);
    this.moves = new Uint16Array(maxDepth);
  }

  /** @param move 0 when only the nodes of the path matter */
  setStep(depth: number, node: NodeIndex, child: number, move: number): void {
    this.nodes[depth] = node;
    this.children[depth] = child;
    this.moves[depth] = move;
  }
}

export class VisitList {
  data = new Int32Array(256);
  /** Words in use: where the next item will start. */
  end = 0;
  count = 0;

  get isEmpty(): boolean {
    return this.end === 0;
  }

  clear(): void {
    this.end = 0;
    this.count = 0;
  }

  /** Drops the items that start at `at` or later. */
  truncate(at: number): void {
    this.end = at;
    this.count = 0;
    for (let item = 0; item < at; item = this.next(item)) this.count++;
  }

  /** Copies one item of another list. */
  append(other: VisitList, at: number): void {
    const size = other.next(at) - at;
    this.makeRoom(size);
    for (let i = 0; i < size; i++) this.data[this.end + i] = other.data[at + i];
    this.end += size;
    this.count++;
  }

  /** @returns where the item starts */
  push(slot: number, depth: number, visits: number, path: VisitPath): number {
    const at = this.end;
    this.makeRoom(ITEM_PATH + 2 * depth);
    const { data } = this;
    const { nodes, children } = path;
    data[at + ITEM_SLOT] = slot;
    data[at + ITEM_DEPTH] = depth;
    data[at + ITEM_VISITS] = visits;
    for (let i = 0, to = at + ITEM_PATH; i < depth; i++, to += 2) {
      data[to] = nodes[i];
      data[to + 1] = children[i];
    }
    this.end = at + ITEM_PATH + 2 * depth;
    this.count++;
    return at;
  }

  /** Where the item after the one at `at` starts. */
  next(at: number): number {
    return at + ITEM_PATH + 2 * this.data[at + ITEM_DEPTH];
  }

  private makeRoom(words: number): void {
    if (this.end + words <= this.data.length) return;
    const larger = new Int32Array(2 * (this.end + words));
    larger.set(this.data);
    this.data = larger;
  }
}
