/**
 * Tags tell nodes of a graph search apart beyond the position itself. Two paths share a node if they lead to the same position at
 * the same ply, with the same number of earlier occurrences, and with similar fifty-move counts. Because every edge goes to
 * the next ply, no path through shared nodes can form a cycle. Near a draw by the fifty-move rule, counts must be equal.
 *
 *   bits 0-11 ply of the game | 12-13 repetitions | 14-20 bucket of the fifty-move count | 21-31 hash of the history
 */
import type { Position } from '../../chess/rules/index.js';

const PLY_MASK = 4095;
/** From this fifty-move count on, each count has its own bucket; below it 16 share one. */
const EXACT_FROM = 64;
const BUCKET_SHIFT = 4;

/** @param history number of earlier positions that must be equal too (lc0: CacheHistoryLength) */
export function computeNodeTag(position: Position, repetitions: number, history: number): number {
  const { rule50 } = position;
  const bucket = rule50 < EXACT_FROM ? rule50 >> BUCKET_SHIFT : Math.min(rule50, 127);
  const tag = (position.gamePly & PLY_MASK) | (Math.min(repetitions, 3) << 12) | (bucket << 14);
  return tag ^ (computeHistoryHash(position, history) << 21);
}

/** Of the last `history` positions before this one; 0 = of none. */
export function computeHistoryHash(position: Position, history: number): number {
  let hash = 0;
  for (let back = 1; back <= history; back++) {
    const key = position.earlierKey(back);
    hash = Math.imul(hash ^ key, 0x01000193) ^ (key >>> 11);
  }
  return hash;
}

export function getTagPly(tag: number): number {
  return tag & PLY_MASK;
}
