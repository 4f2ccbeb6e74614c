/**
 * The evaluators' side of the leaf slots: claim slots, mark them as answered, notify the producer, sleep if there are none.
 *
 * A claim reads the ring before it advances CLAIMED_WORD. An entry can be overwritten only after it was claimed. So if the
 * compare-and-exchange succeeds, the entries read before are valid. `LiveEvaluators` knows which threads can evaluate,
 * `PoolCounters` what they have done.
 */
import {
  CLAIMED,
  CLAIMED_WORD,
  COUNT_BATCHES,
  COUNT_EVALUATIONS,
  COUNT_TERMINALS,
  COUNTERS_PER_WORKER,
  DONE,
  EVENT_WORD,
  type LeafSlots,
  LIVE_CHANGES_WORD,
  PRODUCER_WAITS_WORD,
  SLEEPERS_WORD,
  STOP_WORD,
  SUBMITTED_WORD,
  WORK_WORD,
} from './leaf-slots.js';

export class LeafClaims {
  private readonly control: Int32Array;

  constructor(
    private readonly slots: LeafSlots,
    private readonly worker: number,
  ) {
    this.control = slots.control;
  }

  /** Claims the oldest unclaimed slots, at most `max`. @returns the number of slots written to `into` */
  claimInto(into: Int32Array, max: number): number {
    const { control, worker } = this;
    const { ring, slotCount, state, owner } = this.slots;
    for (;;) {
      const head = Atomics.load(control, CLAIMED_WORD);
      const count = Math.min(max, (Atomics.load(control, SUBMITTED_WORD) - head) | 0);
      if (count <= 0) return 0;
      for (let i = 0; i < count; i++) into[i] = ring[(head + i) & (slotCount - 1)];
      if (Atomics.compareExchange(control, CLAIMED_WORD, head, (head + count) | 0) !== head) continue;
      for (let i = 0; i < count; i++) {
        owner[into[i]] = worker;
        Atomics.store(state, into[i], CLAIMED);
      }
      return count;
    }
  }

  /** Slots that an earlier thread with this number had claimed when it died. */
  listAbandoned(): Int32Array {
    const { slotCount, state, owner } = this.slots;
    const found: number[] = [];
    for (let slot = 0; slot < slotCount; slot++) {
      if (Atomics.load(state, slot) === CLAIMED && owner[slot] === this.worker) found.push(slot);
    }
    return Int32Array.from(found);
  }

  /** Marks a slot as answered; its columns must hold the answer. */
  markDone(slot: number): void {
    Atomics.store(this.slots.state, slot, DONE);
  }

  /** Notifies the producer that slots are done. */
  announce(): void {
    const { control } = this;
    Atomics.add(control, EVENT_WORD, 1);
    if (Atomics.load(control, PRODUCER_WAITS_WORD) !== 0) Atomics.notify(control, EVENT_WORD);
  }

  isStopping(): boolean {
    return Atomics.load(this.control, STOP_WORD) !== 0;
  }

  /** Sleeps until there may be slots to claim, or the pool stops. */
  sleep(): void {
    const { control } = this;
    const work = Atomics.load(control, WORK_WORD);
    Atomics.add(control, SLEEPERS_WORD, 1);
    const isIdle = Atomics.load(control, SUBMITTED_WORD) === Atomics.load(control, CLAIMED_WORD);
    if (isIdle && !this.isStopping()) Atomics.wait(control, WORK_WORD, work);
    Atomics.sub(control, SLEEPERS_WORD, 1);
  }
}

// Keeps track of the evaluator threads that can evaluate. A thread whose evaluator has failed for good answers FAILED at once, so it
// would claim most leaves before the others have evaluated any. Therefore it stands aside while another one can evaluate. A
// thread that dies counts as able until its successor gives up, or the pool cannot start one.

export class LiveEvaluators {
  constructor(private readonly slots: LeafSlots) {}

  get count(): number {
    const { live } = this.slots;
    let count = 0;
    for (let worker = 0; worker < live.length; worker++) count += Atomics.load(live, worker);
    return count;
  }

  join(worker: number): void {
    Atomics.store(this.slots.live, worker, 1);
    this.wake();
  }

  /** @returns the number of threads left */
  leave(worker: number): number {
    Atomics.store(this.slots.live, worker, 0);
    this.wake();
    return this.count;
  }

  /** Wakes the threads that stand aside, so that they check again. */
  wake(): void {
    const { control } = this.slots;
    Atomics.add(control, LIVE_CHANGES_WORD, 1);
    Atomics.notify(control, LIVE_CHANGES_WORD);
  }

  /**
   * Lets a thread without an evaluator sleep until something changes, if others can do the work.
   * @returns false if there are none, so it must answer itself, or if the pool stops
   */
  standAside(): boolean {
    const { control } = this.slots;
    const changes = Atomics.load(control, LIVE_CHANGES_WORD);
    if (this.count === 0 || Atomics.load(control, STOP_WORD) !== 0) return false;
    // The last flush may have woken this thread instead of one that can work.
    Atomics.notify(control, WORK_WORD, 1);
    Atomics.wait(control, LIVE_CHANGES_WORD, changes);
    return true;
  }
}

// Counts of the evaluators' work since the pool was created. Each evaluator writes its own row; readers add up the rows.

export class PoolCounters {
  private readonly lines: Float64Array;

  constructor(slots: LeafSlots) {
    this.lines = slots.counters;
  }

  /** Positions evaluated by the network (or its fallback). */
  get evaluations(): number {
    return this.sum(COUNT_EVALUATIONS);
  }

  /** Counts of one evaluator, including earlier threads with its number that died. */
  getEvaluationsOf(worker: number): number {
    return this.lines[worker * COUNTERS_PER_WORKER + COUNT_EVALUATIONS];
  }

  /** Number of network calls. */
  get batches(): number {
    return this.sum(COUNT_BATCHES);
  }

  get terminals(): number {
    return this.sum(COUNT_TERMINALS);
  }

  private sum(counter: number): number {
    let total = 0;
    for (let i = counter; i < this.lines.length; i += COUNTERS_PER_WORKER) total += this.lines[i];
    return total;
  }
}
