/**
 * Evaluators without threads: a LeafChannel that answers from a HashGame. Leaves are done at once, or, with a
 * generator of delays, in an order and at moments that have nothing to do with the order of submission.
 */

import type { Prng } from '#sardonyx/base/util/index.js';
import {
  CHECKMATE,
  DRAW,
  EVALUATED,
  FAILED,
  MAX_EDGES,
  type RootPosition,
  TABLEBASE,
  TWO_FOLD,
} from '#sardonyx/networks/leaves/index.js';
import type { HashGame, LeafKind } from './hash-game.js';

const KINDS: Record<LeafKind, number> = {
  evaluated: EVALUATED,
  checkmate: CHECKMATE,
  draw: DRAW,
  twoFold: TWO_FOLD,
  tablebase: TABLEBASE,
};

export interface FakeChannelOptions {
  readonly slotCount?: number;
  /** With a generator, each look finds each leaf finished with this probability. */
  readonly delays?: { readonly random: Prng; readonly probability: number };
  readonly hasMovesLeft?: boolean;
  /** Answers are FAILED from this evaluation on, and until that one (for ever when absent). */
  readonly failsAfter?: number;
  readonly failsUntil?: number;
  /** Evaluators that are left when an answer is FAILED. */
  readonly liveEvaluators?: number;
}

export class FakeLeafChannel {
  readonly hasMovesLeft: boolean;
  readonly liveEvaluators: number;
  readonly kind: Uint8Array;
  readonly flags: Uint8Array;
  readonly valueWl: Float32Array;
  readonly valueD: Float32Array;
  readonly movesLeft: Float32Array;
  readonly edgeCount: Uint16Array;
  readonly keyLow: Int32Array;
  readonly keyHigh: Int32Array;
  readonly tag: Int32Array;
  readonly edgeMoves: Uint16Array;
  readonly edgePriors: Uint16Array;
  readonly event = new Int32Array(1);
  evaluations = 0;
  /** Submitted and not released. */
  busy = 0;

  private readonly game: HashGame;
  private readonly options: FakeChannelOptions;
  private readonly free: number[];
  private readonly isAnswered: Uint8Array;
  private readonly abandoned: number[] = [];
  private readonly rootOf: Int32Array;
  private readonly rootMoves: number[][] = [];
  readonly roots = {
    write: (row: number, root: RootPosition): void => {
      if (this.busy > 0 && this.rootOf.includes(row)) throw new Error('The root changed under a leaf');
      this.rootMoves[row] = Array.from(root.moves);
    },
  };

  constructor(game: HashGame, options: FakeChannelOptions = {}) {
    const slots = options.slotCount ?? 256;
    this.game = game;
    this.options = options;
    this.hasMovesLeft = options.hasMovesLeft ?? true;
    this.liveEvaluators = options.liveEvaluators ?? 0;
    this.kind = new Uint8Array(slots);
    this.flags = new Uint8Array(slots);
    this.valueWl = new Float32Array(slots);
    this.valueD = new Float32Array(slots);
    this.movesLeft = new Float32Array(slots);
    this.edgeCount = new Uint16Array(slots);
    this.keyLow = new Int32Array(slots);
    this.keyHigh = new Int32Array(slots);
    this.tag = new Int32Array(slots);
    this.edgeMoves = new Uint16Array(slots * MAX_EDGES);
    this.edgePriors = new Uint16Array(slots * MAX_EDGES);
    this.isAnswered = new Uint8Array(slots);
    this.rootOf = new Int32Array(slots).fill(-1);
    this.free = Array.from({ length: slots }, (_, slot) => slots - 1 - slot);
  }

  /** As in a LeafQueue, whose columns are elsewhere. */
  get columns(): this {
    return this;
  }

  findRoom(): number {
    if (this.free.length === 0) this.reclaim();
    return this.free.length;
  }

  release(slot: number): void {
    this.busy--;
    this.rootOf[slot] = -1;
    this.isAnswered[slot] = 0;
    this.free.push(slot);
  }

  abandon(slot: number): void {
    this.abandoned.push(slot);
  }

  private reclaim(): void {
    for (const slot of this.abandoned.splice(0)) {
      if (this.isDone(slot)) this.release(slot);
      else this.abandoned.push(slot);
    }
  }

  isRootInUse(row: number): boolean {
    this.reclaim();
    return this.abandoned.some((slot) => this.rootOf[slot] === row);
  }

  send(root: number, path: ArrayLike<number>, length: number): number {
    const slot = this.free.pop();
    if (slot === undefined) throw new Error('No slot is free');
    this.busy++;
    this.rootOf[slot] = root;
    const moves = [...(this.rootMoves[root] ?? []), ...Array.from(path).slice(0, length)];
    const answer = this.game.evaluate(moves, length);
    this.keyLow[slot] = answer.key ?? 0;
    this.tag[slot] = moves.length;
    const { failsAfter = Number.POSITIVE_INFINITY, failsUntil = Number.POSITIVE_INFINITY } = this.options;
    const hasFailed = this.evaluations >= failsAfter && this.evaluations < failsUntil;
    this.evaluations++;
    this.kind[slot] = hasFailed ? FAILED : KINDS[answer.kind];
    this.valueWl[slot] = answer.wl;
    this.valueD[slot] = answer.d;
    this.movesLeft[slot] = answer.m;
    this.edgeCount[slot] = answer.moves.length;
    this.edgeMoves.set(answer.moves, slot * MAX_EDGES);
    this.edgePriors.set(answer.priorCodes, slot * MAX_EDGES);
    this.isAnswered[slot] = 1;
    return slot;
  }

  flush(): void {
    this.event[0]++;
  }

  isDone(slot: number): boolean {
    const { delays } = this.options;
    if (this.isAnswered[slot] === 0) return false;
    return delays === undefined || delays.random.nextFloat() < delays.probability;
  }

  waitForEvent(): number {
    return ++this.event[0];
  }
}
