/**
 * Turns a set of targets into moves. Listing and counting are one algorithm: every generator hands its sets to
 * emitTargets, and with `into` null they are counted instead of written, which makes perft and "has any legal move"
 * fast. `count` is where the next move goes; what is returned is the next one after that.
 */
import * as bits from './bits.js';

const { popCount64 } = bits;

/** Moves of one piece that stands on `from`. */
export function emitTargets(into: Uint16Array | null, count: number, from: number, low: number, high: number): number {
  if (into === null) return count + popCount64(low, high);
  let next = count;
  for (let rest = low; rest !== 0; ) {
    const to = 31 - Math.clz32(rest);
    rest ^= 1 << to;
    into[next++] = from | (to << 6);
  }
  for (let rest = high; rest !== 0; ) {
    const bit = 31 - Math.clz32(rest);
    rest ^= 1 << bit;
    into[next++] = from | ((32 | bit) << 6);
  }
  return next;
}
