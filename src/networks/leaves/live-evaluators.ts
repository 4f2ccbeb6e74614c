/**
 * Keeps track of the evaluator threads that can evaluate. A thread whose evaluator has failed for good answers FAILED at once, so
 * it would claim most leaves before the others have evaluated any. Therefore it stands aside while another one can evaluate. A
 * thread that dies counts as able until its successor gives up, or the pool cannot start one.
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
