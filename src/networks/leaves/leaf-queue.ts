/**
 * The producer's side of the leaf slots: send a leaf as its path, and later read the answer and release its slot.
 * Only one thread at a time may produce. It owns the list of free slots, so it must release every slot that it has sent.
 * send() never waits: a producer without free slots must first read answers and release their slots.
 */

import {
  CLAIMED_WORD,
  DONE,
  EVENT_WORD,
  FREE,
  type LeafSlots,
  MAX_PATH_LENGTH,
  MINIBATCH_WORD,
  PRODUCER_WAITS_WORD,
  type SharedPoolHandle,
  SLEEPERS_WORD,
  SUBMITTED,
  SUBMITTED_WORD,
  viewLeafSlots,
  WORK_WORD,
} from './leaf-slots.js';
import { LiveEvaluators } from './live-evaluators.js';
import { PoolCounters } from './pool-counters.js';
import { RootTable } from './root-table.js';

/** Upper limit of the time between a claim's writes to CLAIMED_WORD and to `state`. */
const LONGEST_CLAIM_MS = 100;

export class LeafQueue {
  readonly slotCount: number;
  readonly workers: number;
  readonly hasMovesLeft: boolean;
  readonly counters: PoolCounters;
  /** None of a row's leaves may be in flight when it is written. */
  readonly roots: RootTable;

  /** The columns of leaf-slots.ts. */
  readonly columns: LeafSlots;
  /** Evaluators increase [0] when slots are done; so does any thread that wants to wake the producer. */
  readonly event: Int32Array;

  private readonly live: LiveEvaluators;
  private readonly freeSlots: Int32Array;
  private freeCount = 0;
  /** Abandoned slots that evaluators have not answered yet. */
  private readonly abandoned: number[] = [];
  /** Ring position of the next leaf to send, which is its leaf's number; flush() writes it to SUBMITTED_WORD. */
  private tail: number;
  /** 1 = sent and not released. */
  private readonly isOwed: Uint8Array;
  /** All leaves with lower numbers are released; `oldest` is the slot of the leaf with this number. */
  private horizon: number;
  private oldest = 0;

  constructor(handle: SharedPoolHandle) {
    const slots = viewLeafSlots(handle.slots, handle);
    this.columns = slots;
    this.slotCount = slots.slotCount;
    this.workers = slots.workers;
    this.hasMovesLeft = handle.hasMovesLeft;
    this.counters = new PoolCounters(slots);
    this.live = new LiveEvaluators(slots);
    this.roots = new RootTable(handle.roots);
    this.event = slots.control.subarray(EVENT_WORD, EVENT_WORD + 1);
    this.tail = Atomics.load(slots.control, SUBMITTED_WORD);
    this.horizon = this.tail;
    this.isOwed = new Uint8Array(slots.slotCount);
    this.freeSlots = new Int32Array(slots.slotCount);
    for (let slot = slots.slotCount - 1; slot >= 0; slot--) this.adopt(slot);
  }

  /** Positions in one network call. */
  get minibatch(): number {
    return Atomics.load(this.columns.control, MINIBATCH_WORD);
  }

  /** Number of evaluators that can evaluate. If there is one, a FAILED leaf may be sent again. */
  get liveEvaluators(): number {
    return this.live.count;
  }

  /** Number of leaves that can be sent now. */
  findRoom(): number {
    if (this.freeCount === 0) this.reclaim();
    return this.freeCount;
  }

  /** Frees a slot that is done. */
  release(slot: number): void {
    Atomics.store(this.columns.state, slot, FREE);
    this.isOwed[slot] = 0;
    this.freeSlots[this.freeCount++] = slot;
  }

  /** Abandons a slot that was sent: it is released once an evaluator has answered it. */
  abandon(slot: number): void {
    this.abandoned.push(slot);
  }

  /** Releases the abandoned slots that have been answered. */
  private reclaim(): void {
    const { abandoned } = this;
    for (let i = abandoned.length - 1; i >= 0; i--) {
      if (!this.isDone(abandoned[i])) continue;
      this.release(abandoned[i]);
      abandoned.splice(i, 1);
    }
  }

  /** Whether evaluators may still read this row of the root table for abandoned leaves. */
  isRootInUse(row: number): boolean {
    this.reclaim();
    return this.abandoned.some((slot) => this.columns.root[slot] === row);
  }

  /**
   * Writes a leaf into a free slot and appends it to the ring. Evaluators see it after flush(). There must be room (`findRoom`).
   * @param root row of the root table
   * @param moves the path: its first `length` moves, at most MAX_PATH_LENGTH, lead from the root to the leaf
   * @param isPrefetch the answer is not read: the position is evaluated for the cache
   * @returns the slot that will hold the answer
   */
  send(root: number, moves: ArrayLike<number>, length: number, isPrefetch = false): number {
    const { columns } = this;
    // The slot that was released last, because its columns are still in the CPU cache.
    const slot = this.freeSlots[--this.freeCount];
    const firstMove = slot * MAX_PATH_LENGTH;
    for (let i = 0; i < length; i++) columns.pathMoves[firstMove + i] = moves[i];
    columns.root[slot] = root;
    columns.pathLength[slot] = length;
    columns.prefetch[slot] = Number(isPrefetch);
    columns.number[slot] = this.tail;
    columns.horizon[slot] = this.findHorizon();
    this.isOwed[slot] = 1;
    Atomics.store(columns.state, slot, SUBMITTED);
    columns.ring[this.tail & (this.slotCount - 1)] = slot;
    this.tail = (this.tail + 1) | 0;
    return slot;
  }

  /** Number of the oldest leaf that is not released, or of the next one to send. */
  private findHorizon(): number {
    const { slotCount, isOwed, tail } = this;
    const { number, ring } = this.columns;
    if (isOwed[this.oldest] !== 0 && number[this.oldest] === this.horizon) return this.horizon;
    // Leaves are usually released in order, and the ring still holds all unreleased ones.
    while (this.horizon !== tail && ((tail - this.horizon) | 0) <= slotCount) {
      this.oldest = ring[this.horizon & (slotCount - 1)];
      if (isOwed[this.oldest] !== 0 && number[this.oldest] === this.horizon) return this.horizon;
      this.horizon = (this.horizon + 1) | 0;
    }
    if (this.horizon === tail) return tail;
    let span = 0;
    for (let slot = 0; slot < slotCount; slot++) {
      if (isOwed[slot] === 0 || ((tail - number[slot]) | 0) <= span) continue;
      span = (tail - number[slot]) | 0;
      this.oldest = slot;
    }
    this.horizon = (tail - span) | 0;
    return this.horizon;
  }

  /** Publishes the leaves that were sent and wakes as many evaluators as they can keep busy. */
  flush(): void {
    const { control } = this.columns;
    Atomics.store(control, SUBMITTED_WORD, this.tail);
    Atomics.add(control, WORK_WORD, 1);
    if (Atomics.load(control, SLEEPERS_WORD) === 0) return;
    const waiting = (this.tail - Atomics.load(control, CLAIMED_WORD)) | 0;
    if (waiting > 0) Atomics.notify(control, WORK_WORD, Math.ceil(waiting / Math.max(1, this.minibatch)));
  }

  isDone(slot: number): boolean {
    return Atomics.load(this.columns.state, slot) === DONE;
  }

  /** Takes over a slot from an earlier producer. */
  private adopt(slot: number): void {
    const state = Atomics.load(this.columns.state, slot);
    if (state === FREE) this.freeSlots[this.freeCount++] = slot;
    else if (state === SUBMITTED && this.isLost(slot)) this.release(slot);
    else this.abandon(slot);
  }

  /** Whether no evaluator will find a submitted slot, because its producer ended before flush(). */
  private isLost(slot: number): boolean {
    const { ring, control, slotCount, state } = this.columns;
    for (let at = Atomics.load(control, CLAIMED_WORD); at !== this.tail; at = (at + 1) | 0) {
      if (ring[at & (slotCount - 1)] === slot) return false;
    }
    // An evaluator may be claiming it right now; its state follows soon.
    Atomics.wait(state, slot, SUBMITTED, LONGEST_CLAIM_MS);
    return Atomics.load(state, slot) === SUBMITTED;
  }

  /**
   * Sleeps until the event word differs from `lastSeen`.
   * @returns the event word; equal to `lastSeen` if the time ran out
   */
  waitForEvent(lastSeen: number, timeoutMs: number): number {
    const { control } = this.columns;
    const deadline = performance.now() + timeoutMs;
    let leftMs = timeoutMs;
    Atomics.store(control, PRODUCER_WAITS_WORD, 1);
    // A late notification of an earlier event may wake the producer too early.
    while (leftMs > 0 && Atomics.wait(control, EVENT_WORD, lastSeen, leftMs) === 'ok') {
      if (Atomics.load(control, EVENT_WORD) !== lastSeen) break;
      leftMs = deadline - performance.now();
    }
    Atomics.store(control, PRODUCER_WAITS_WORD, 0);
    return Atomics.load(control, EVENT_WORD);
  }
}

/** Leaves in flight that keep all evaluators busy: for each one batch in work and one that waits. */
export function countBusyLeaves({ workers, minibatch }: Pick<LeafQueue, 'workers' | 'minibatch'>): number {
  return 2 * workers * minibatch;
}

/** Wakes the producer from any thread, for example to stop the search. */
export function wakeProducer(handle: SharedPoolHandle): void {
  const { control } = viewLeafSlots(handle.slots, handle);
  Atomics.add(control, EVENT_WORD, 1);
  Atomics.notify(control, EVENT_WORD);
}
