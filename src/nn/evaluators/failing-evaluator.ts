/** Failure on demand, for the tests of falling back and of starting threads again. */
import type { Faults } from '../backend/backend-plan.js';
import type { Evaluator } from '../evaluator.js';

/** Runs of this thread, before and after a fall-back. */
let runs = 0;

/** @returns `inner`, made to fail, or to end its thread, after so many runs */
export function plantFaults(inner: Evaluator, faults: Faults, worker: number): Evaluator {
  const { failAfter, crashAfter, thread } = faults;
  if ((failAfter < 0 && crashAfter < 0) || (thread >= 0 && thread !== worker)) return inner;
  const run = inner.run.bind(inner);
  inner.run = (rows) => {
    if (runs === crashAfter) throw new Error(`made to die after ${runs} runs`);
    if (runs === failAfter) return Promise.reject(new Error(`made to fail after ${runs} runs`));
    runs++;
    return run(rows);
  };
  return inner;
}
