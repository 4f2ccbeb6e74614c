/**
 * Visits in flight, one after another in a growing integer array: what each visit waits for, and the path it took. A path
 * is stored as (node, child number) pairs from the root, because records may move.
 *
 *   item: [slot or a negative kind | depth | visits | node₀ child₀ | node₁ child₁ | … ]   depth pairs
 */
import { MAX_PATH_LENGTH } from '../../networks/leaves/index.js';
import type { NodeIndex } from './layout.js';

/** How a visit goes on at a known node: it descends into one of the moves, or ends and the node is evaluated anew. */
export const GO_ON = 0;
export const LEAF = 1;

/** Visits that end with a known value; these kinds stand in place of a slot. */
export const TERMINAL_VISIT = -1;
/** Visits that found a leaf in flight; the path leads to its parent. */
export const COLLISION = -2;
/** Graph: the last step of the path repeats a position, which is a draw. */
export const REPETITION_VISIT = -3;
/** Graph: other paths have visited the node more often than this edge has; the visit takes the node's value. */
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
  readonly nodes = new Int32Array(MAX_PATH_LENGTH);
  readonly children = new Uint8Array(MAX_PATH_LENGTH);
  readonly moves = new Uint16Array(MAX_PATH_LENGTH);
  /** Option TwoFoldDraws: a position that occurs a second time on the path is a draw. */
  twoFoldDraws = true;

  /** @param move 0 when only the nodes of the path matter */
  setStep(depth: number, node: NodeIndex, child: number, move: number): void {
    this.nodes[depth] = node;
    this.children[depth] = child;
    this.moves[depth] = move;
  }
}

export class VisitList {
  data = new Int32Array(256);
  /** Number of words in use; the next item starts here. */
  end = 0;
  count = 0;

  get isEmpty(): boolean {
    return this.end === 0;
  }

  clear(): void {
    this.end = 0;
    this.count = 0;
  }

  /** Drops the items from position `at` on. */
  truncate(at: number): void {
    this.end = at;
    this.count = 0;
    for (let item = 0; item < at; item = this.next(item)) this.count++;
  }

  /** Appends a copy of an item of another list. */
  append(other: VisitList, at: number): void {
    const size = other.next(at) - at;
    this.makeRoom(size);
    for (let i = 0; i < size; i++) this.data[this.end + i] = other.data[at + i];
    this.end += size;
    this.count++;
  }

  /** Appends an item. @returns its position */
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

  /** The position of the item after the one at `at`. */
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
