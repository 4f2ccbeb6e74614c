/** How much memory a tree may take when nobody says: half of what the machine (or its container) has. */
import { totalmem } from 'node:os';
import type { SearchParams } from './params.js';

const LARGEST_DEFAULT_BYTES = 16e9;

export function computeTreeBytes(params: SearchParams): number {
  if (params.ramLimitMb > 0) return params.ramLimitMb * 1e6;
  const constrained = process.constrainedMemory();
  const available = constrained !== undefined && constrained > 0 ? Math.min(constrained, totalmem()) : totalmem();
  return Math.min(LARGEST_DEFAULT_BYTES, available / 2);
}
