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
  DONE,
  EVENT_WORD,
  type LeafSlots,
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
