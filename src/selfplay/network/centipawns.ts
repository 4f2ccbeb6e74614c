/** Search values as centipawns for PGN comments and adjudication: lc0's default score type (`centipawn`). */
const LARGEST = 12_800;

/** @param wl win minus loss */
export function computeCentipawns(wl: number): number {
  const score = Math.round(90 * Math.tan(1.5637541897 * wl));
  return Math.max(-LARGEST, Math.min(LARGEST, score)) || 0;
}
