/**
 * What, beside the position itself, tells nodes of a graph search apart. Two paths may share a node when they lead to the
 * same position at the same ply, with as many occurrences of it before, and with counts of the fifty-move rule that are
 * close: so no path through shared nodes ever comes back to where it was (every edge leads one ply on), and what is near
 * a draw by the fifty-move rule is told apart exactly.
 *
 *   bits 0-11 ply of the game | 12-13 repetitions | 14-20 bucket of the fifty-move count | 21-31 hash of the history
 */
import type { Position } from '../../chess/index.js';

const PLY_MASK = 4095;
/** Plies without capture or pawn move from which each count stands for itself; below it 16 share a bucket. */
const EXACT_FROM = 64;
const BUCKET_SHIFT = 4;

/** @param history earlier positions that have to be the same too (lc0: CacheHistoryLength) */
export function computeNodeTag(position: Position, repetitions: number, history: number): number {
  const { rule50 } = position;
  const bucket = rule50 < EXACT_FROM ? rule50 >> BUCKET_SHIFT : Math.min(rule50, 127);
  const tag = (position.gamePly & PLY_MASK) | (Math.min(repetitions, 3) << 12) | (bucket << 14);
  if (history === 0) return tag;
  let hash = 0;
  for (let back = 1; back <= history; back++) {
    const key = position.earlierKey(back);
    hash = Math.imul(hash ^ key, 0x01000193) ^ (key >>> 11);
  }
  return tag ^ (hash << 21);
}

export function getTagPly(tag: number): number {
  return tag & PLY_MASK;
}
