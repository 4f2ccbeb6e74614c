/** The two averages of the `smooth` time manager: one by moves, one by time. Formulas only (lc0's smooth.cc). */

/** Moves `from` half of the way to `to` for every `halfLife` contained in `amount`. */
export function decayExponentially(from: number, to: number, halfLife: number, amount: number): number {
  return to - (to - from) * 0.5 ** (amount / halfLife);
}

/**
 * An estimate that follows a rising target at once and a falling one linearly over a window, starting from the last
 * value that was known to be reliable.
 *
 * @param current what the previous call returned
 * @param target the correct but noisy figure
 * @param sinceReliableMs time since the estimate was last reliable
 * @param sinceUpdateMs time since the previous call
 * @param windowMs in what time the estimate should have reached the target
 */
export function decayLinearly(
  current: number,
  target: number,
  sinceReliableMs: number,
  sinceUpdateMs: number,
  windowMs: number,
): number {
  if (current <= target || sinceReliableMs >= windowMs) return target;
  if (sinceUpdateMs <= 0) return current;
  const previousFraction = Math.max(0, sinceReliableMs - sinceUpdateMs) / windowMs;
  const reliable = (previousFraction * target - current) / (previousFraction - 1);
  return reliable + (target - reliable) * (sinceReliableMs / windowMs);
}
