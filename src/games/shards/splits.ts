/**
 * Decides which games are for training, validation and test. The choice depends on the moves of the game alone, so it does
 * not change with the order of files, the number of threads or a second run, and copies of a game stay together.
 */
import { failure, mixBits, type Result, success } from '../../base/util/index.js';

export const SPLITS = ['train', 'validation', 'test'] as const;
export type Split = (typeof SPLITS)[number];
export type SplitCounts = Record<Split, number>;
/** Shares of train, validation and test; they add up to 1. */
export type SplitShares = readonly [number, number, number];

export function chooseSplit(gameHash: number, shares: SplitShares): Split {
  const fraction = mixBits(gameHash) / 2 ** 32;
  if (fraction < shares[2]) return 'test';
  return fraction < shares[2] + shares[1] ? 'validation' : 'train';
}

/** `96/2/2` → shares. */
export function parseSplitShares(text: string): Result<SplitShares> {
  const parts = text.split('/').map((part) => (part.trim() === '' ? Number.NaN : Number(part)));
  const [train, validation, test] = parts;
  const sum = parts.reduce((total, part) => total + part, 0);
  if (parts.length !== 3 || parts.some((part) => !(part >= 0)) || !(sum > 0) || !Number.isFinite(sum)) {
    return failure(`A split is three shares like 96/2/2 (train/validation/test), not "${text}"`);
  }
  return success([train / sum, validation / sum, test / sum]);
}
