/**
 * Which evaluator threads can evaluate. One whose evaluator has failed for good answers FAILED at once: it would claim
 * most of the leaves before the others have evaluated any. So it stands aside while another one lives. A thread that dies
 * counts as living until the new one of its number gives up, or the pool cannot start one.
 */
import { type LeafSlots, LIVE_CHANGES_WORD, STOP_WORD, WORK_WORD } from './leaf-slots.js';

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

  /** @returns how many are left */
  leave(worker: number): number {
    Atomics.store(this.slots.live, worker, 0);
    this.wake();
    return this.count;
  }

  /** Lets those who stand aside look again. */
  wake(): void {
    const { control } = this.slots;
    Atomics.add(control, LIVE_CHANGES_WORD, 1);
    Atomics.notify(control, LIVE_CHANGES_WORD);
  }

  /**
   * For a thread without an evaluator: sleeps until something changes, if others can do the work.
   * @returns false when there are none, so that it has to answer, or when the pool stops
   */
  standAside(): boolean {
    const { control } = this.slots;
    const changes = Atomics.load(control, LIVE_CHANGES_WORD);
    if (this.count === 0 || Atomics.load(control, STOP_WORD) !== 0) return false;
    // The last flush may have woken this thread in place of one that can work.
    Atomics.notify(control, WORK_WORD, 1);
    Atomics.wait(control, LIVE_CHANGES_WORD, changes);
    return true;
  }
}
