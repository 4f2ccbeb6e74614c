/** A watchdog: a timer for what should have answered long ago. Time in which the process was suspended does not count: nothing could answer then. */

/** Of its time: a timer that is later by more was not served, because the process was suspended or the machine slept. */
const LATEST_SHARE = 1.25;

/** Calls `giveUp` after so many milliseconds in a row. @returns ends it */
export function startWatchdog(milliseconds: number, giveUp: () => void): () => void {
  let timer: ReturnType<typeof setTimeout>;
  const wait = (): void => {
    const startedAt = performance.now();
    timer = setTimeout(() => {
      if (performance.now() - startedAt > LATEST_SHARE * milliseconds + 100) wait();
      else giveUp();
    }, milliseconds);
  };
  wait();
  return () => clearTimeout(timer);
}
