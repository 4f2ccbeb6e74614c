/** Failure on demand, for the tests of falling back: works like another evaluator until it has run often enough. */
import type { Evaluator } from '../evaluator.js';

/** @returns `inner`, whose run() fails from the (runs + 1)-th time on */
export function failAfter(inner: Evaluator, runs: number): Evaluator {
  let left = runs;
  const run = inner.run.bind(inner);
  inner.run = (rows) => (left-- > 0 ? run(rows) : Promise.reject(new Error(`made to fail after ${runs} runs`)));
  return inner;
}
