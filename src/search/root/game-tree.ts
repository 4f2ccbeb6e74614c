/**
 * The tree of a game in progress: knows which position its root stands for, and decides how much of it a new position keeps.
 * In play the subtree of the moves played since is kept; a step back or another game starts an empty tree. In analysis users
 * step back and forth, so every root is set aside and found again, as long as memory lasts. A root is never attached below the
 * root of an earlier position: the visits there would then show where the user looked, and not which move is best.
 *
 * It also frees memory when the tree is full.
 */

import { getMemoryBytes } from '#platform/machine.js';
import type { SearchParams } from '../protocol/params.js';
import type { PositionMessage } from '../protocol/search-protocol.js';
import { Forgetter } from '../tree/forget.js';
import { GraphTree } from '../tree/graph-tree.js';
import { NO_RECORD, type RecordIndex } from '../tree/layout.js';
import { PlainTree } from '../tree/plain-tree.js';
import type { StoreOptions } from '../tree/store.js';
import type { Tree } from '../tree/tree.js';
import { RootKeeper } from './root-keeper.js';

const MOST_PARKED = 64;
/** Nodes to free at a time when memory is full. */
const FORGET_GOAL = 2000;

/** Limit of the default, however much memory the machine has. */
const LARGEST_DEFAULT_BYTES = 16e9;
/** A search cannot do with less. */
const LEAST_DEFAULT_BYTES = 16e6;

interface Parked {
  readonly moves: readonly number[];
  /** The only moves that its searches could choose; '' = all. */
  readonly only: string;
  readonly record: RecordIndex;
}

export class GameTree {
  readonly tree: Tree;
  private readonly keeper: RootKeeper;
  private readonly forgetter: Forgetter;
  private position: PositionMessage | null = null;
  private keepsAll = false;
  private only = '';
  /** Oldest first. */
  private parked: Parked[] = [];

  /** @param kind the option SearchAlgorithm */
  constructor(options: StoreOptions, kind: SearchParams['search']) {
    this.tree = kind === 'graph' ? new GraphTree(options) : new PlainTree(options);
    this.keeper = new RootKeeper(this.tree);
    this.forgetter = new Forgetter(this.tree);
  }

  /**
   * @param keepsAll analysis: set the old root aside
   * @returns whether the new root has anything from an earlier search
   */
  setPosition(position: PositionMessage, keepsAll: boolean): boolean {
    const before = this.position;
    this.position = position;
    this.keepsAll = keepsAll;
    if (before === null || !isOfSameGame(before, position)) {
      this.clear();
      return false;
    }
    if (!keepsAll) while (this.dropOldest());
    const continues = isPrefix(before.moves, position.moves) && this.fits(before.moves, position);
    if (continues && before.moves.length === position.moves.length) return true;
    if (keepsAll) return this.changeRoot(before.moves, position, '');
    this.only = '';
    if (!continues) {
      this.tree.clear();
      return false;
    }
    for (let i = before.moves.length; i < position.moves.length; i++) this.keeper.advance(position.moves[i]);
    return true;
  }

  clear(): void {
    this.parked = [];
    this.only = '';
    this.tree.clear();
  }

  /**
   * Call it when a search starts. A tree that was searched with other root moves is not used, because the root's visits and
   * best move would be those of the other moves.
   * @param rootMoves the only moves that this search may choose; empty = all
   */
  beginSearch(rootMoves: readonly number[]): void {
    this.forgetter.reset();
    const only = rootMoves.toSorted((a, b) => a - b).join();
    const { position } = this;
    if (only === this.only || position === null) return;
    if (this.keepsAll) this.changeRoot(position.moves, position, only);
    else this.tree.clear();
    this.only = only;
  }

  /**
   * Frees memory: a root that was set aside, if there is one, else the least visited lines.
   * @param effort nodes to look at
   * @returns false when nothing is left to free
   */
  freeMemory(effort: number): boolean {
    if (!this.tree.hasGarbage) this.dropOldest();
    return this.forgetter.work(FORGET_GOAL, effort);
  }

  /** Frees the root that was set aside longest ago, with its tree. @returns false when there is none */
  private dropOldest(): boolean {
    const oldest = this.parked.shift();
    if (oldest === undefined) return false;
    this.keeper.dropParked(oldest.record);
    return true;
  }

  /**
   * Whether nodes found from a root are valid for a position below it. In a graph they are not if a position was repeated in
   * between: a shared node does not store what its paths repeat, and paths from the new root no longer show it.
   */
  private fits(root: readonly number[], { moves, pliesSinceRepetition }: PositionMessage): boolean {
    return !this.tree.hasOtherPaths || moves.length - pliesSinceRepetition <= root.length;
  }

  private changeRoot(from: readonly number[], position: PositionMessage, only: string): boolean {
    const { tree, keeper } = this;
    const to = position.moves;
    const left = keeper.park();
    if (left === NO_RECORD) {
      this.clear();
      return false;
    }
    this.parked.push({ moves: from, only: this.only, record: left });
    this.only = only;
    if (this.parked.length > MOST_PARKED) this.dropOldest();
    // The position may be a root that was set aside, or lie below one or several of them: take the node with most visits.
    let found: Parked | null = null;
    let edge: RecordIndex = NO_RECORD;
    let most = 0;
    for (const root of this.parked) {
      if (!isPrefix(root.moves, to) || !this.fits(root.moves, position)) continue;
      if (only !== (root.moves.length === to.length ? root.only : '')) continue;
      const record = keeper.findEdge(root.record, to.slice(root.moves.length));
      const visits = record === NO_RECORD ? 0 : tree.getVisits(record);
      if (visits <= most) continue;
      found = root;
      edge = record;
      most = visits;
    }
    if (found === null) return false;
    if (edge === found.record) {
      this.parked.splice(this.parked.indexOf(found), 1);
      keeper.restore(edge);
    } else {
      keeper.startFrom(edge);
    }
    return true;
  }
}

/**
 * Whether a position is reached from an earlier one by playing on in the same game. The last move of the earlier one may have
 * been a guess: the opponent's reply that the engine pondered on.
 */
export function continuesGame(earlier: PositionMessage, position: PositionMessage): boolean {
  const { moves } = earlier;
  return (
    isOfSameGame(earlier, position) &&
    moves.length <= position.moves.length &&
    isPrefix(moves.slice(0, -1), position.moves)
  );
}

function isOfSameGame(one: PositionMessage, other: PositionMessage): boolean {
  return one.rootFen === other.rootFen && one.chess960 === other.chess960;
}

function isPrefix(moves: readonly number[], of: readonly number[]): boolean {
  return moves.length <= of.length && moves.every((move, i) => move === of[i]);
}

/**
 * Memory that a tree may take, in bytes: RamLimitMb, by default half of the machine's (or the container's) memory, or what the rest of
 * the process leaves of it.
 * @param reservedBytes what the process takes without a tree (SharedPoolHandle)
 */
export function computeTreeBytes(params: SearchParams, reservedBytes: number): number {
  if (params.ramLimitMb > 0) return params.ramLimitMb * 1e6;
  const memoryBytes = getMemoryBytes();
  const leftBytes = Math.max(LEAST_DEFAULT_BYTES, memoryBytes - reservedBytes);
  return Math.min(LARGEST_DEFAULT_BYTES, memoryBytes / 2, leftBytes);
}
