/**
 * Code that makes the first `count` Workers of each name as those that a browser has forgotten: they never ask for their script,
 * and fire no error.
 * @param speed seconds pass so many times as fast for whoever waits for such a Worker
 */
export function silenceWorkers(count: number, speed = 1): string {
  return `{
    const [Real, wait, made] = [Worker, setTimeout, {}];
    let isSilent = false;
    globalThis.setTimeout = (work, ms) => wait(work, isSilent && ms === 1000 ? ms / ${speed} : ms);
    globalThis.Worker = class {
      constructor(url, options) {
        made[options.name] = (made[options.name] ?? 0) + 1;
        isSilent = made[options.name] <= ${count};
        if (!isSilent) return new Real(url, options);
      }
      postMessage() {}
      terminate() {}
    };
  }`;
}
