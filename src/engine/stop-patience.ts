/** Waits for the answer of a search that was told to stop, and gives up when none comes. */

/** A stopped search that knows its root answers within milliseconds; one that does not is broken. */
const KNOWN_ROOT_MS = 3000;
/** The root's evaluation has to be waited for, and a large network on a slow machine needs seconds for a minibatch. */
const UNKNOWN_ROOT_MS = 30_000;

export class StopPatience {
  private timers: ReturnType<typeof setTimeout>[] = [];

  /** @param knowsRoot asked when the shorter time is over */
  begin(knowsRoot: () => boolean, giveUp: () => void): void {
    this.end();
    const lookAtRoot = (): void => {
      if (knowsRoot()) giveUp();
    };
    this.timers = [setTimeout(lookAtRoot, KNOWN_ROOT_MS), setTimeout(giveUp, UNKNOWN_ROOT_MS)];
  }

  end(): void {
    for (const timer of this.timers.splice(0)) clearTimeout(timer);
  }
}
