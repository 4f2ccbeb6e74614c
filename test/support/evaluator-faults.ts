/** Evaluators that fail on demand, for the tests of falling back and of starting threads again. */

export interface EvaluatorFaults {
  /** Only evaluators of plans for this backend fail; all when left out. */
  readonly backend?: string;
  /** Only those of this thread fail while they run; all when left out. */
  readonly thread?: number;
  /** They cannot be made. */
  readonly loadFails?: boolean;
  /** The CPU plays the device. */
  readonly playsDevice?: boolean;
  /** run() rejects after so many runs, in each thread; then the thread falls back. */
  readonly failAfter?: number;
  /** What it falls back to cannot be made. */
  readonly fallbackFails?: boolean;
  /** The thread dies after so many runs. */
  readonly crashAfter?: number;
}

/** @returns the option `threadScript` of a pool */
export function createFaultyThread(faults: EvaluatorFaults): URL {
  const module = new URL('./faulty-evaluators.js', import.meta.url).href;
  const code = `import { runFaultyThread } from '${module}'; await runFaultyThread(${JSON.stringify(faults)});`;
  return new URL(`data:text/javascript,${encodeURIComponent(code)}`);
}

/** @returns environment variables with which the program runs all its pools on faulty threads */
export function plantEvaluatorFaults(faults: EvaluatorFaults): Record<string, string> {
  return {
    NODE_OPTIONS: `--import ${new URL('./plant-evaluator-faults.js', import.meta.url).href}`,
    SARDONYX_TEST_FAULTS: JSON.stringify(faults),
  };
}
