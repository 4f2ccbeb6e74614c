/** The numbers of a network's heads → what the search uses; formulas only. */
import { decodeFloat16 } from '../../util/index.js';
import { computeFastExp } from './fast-exp.js';

/** One output of a network: `width` numbers a position. */
export interface HeadOutput {
  readonly width: number;
  /** Halves stand in a Uint16Array. */
  readonly data: Float32Array | Uint16Array;
}

function readNumber({ data }: HeadOutput, index: number): number {
  return data instanceof Uint16Array ? decodeFloat16(data[index]) : data[index];
}

/** W, D, L of a position (probabilities, or logits) → W − L and D. */
export function readWdlInto(
  head: HeadOutput,
  row: number,
  areLogits: boolean,
  valueWl: Float32Array,
  valueD: Float32Array,
): void {
  const start = row * head.width;
  let win = readNumber(head, start);
  let draw = readNumber(head, start + 1);
  let loss = readNumber(head, start + 2);
  if (areLogits) {
    const max = Math.max(win, draw, loss);
    win = Math.exp(win - max);
    draw = Math.exp(draw - max);
    loss = Math.exp(loss - max);
    const sum = win + draw + loss;
    win /= sum;
    draw /= sum;
    loss /= sum;
  }
  valueWl[row] = win - loss;
  valueD[row] = draw;
}

/** @returns the one number a scalar head has for the position */
export function readScalar(head: HeadOutput, row: number): number {
  return readNumber(head, row * head.width);
}

/**
 * Softmax over the legal moves with a temperature (lc0: PolicyTemperature): p ∝ exp(logit / T).
 * @param indices policy indices of the moves, `count` from `indexOffset` on
 */
export function writePolicyInto(
  out: Float32Array,
  head: HeadOutput,
  row: number,
  indices: Uint16Array,
  indexOffset: number,
  count: number,
  policyTemperature: number,
): void {
  const start = row * head.width;
  let max = Number.NEGATIVE_INFINITY;
  for (let i = 0; i < count; i++) {
    const logit = readNumber(head, start + indices[indexOffset + i]);
    out[i] = logit;
    if (logit > max) max = logit;
  }
  let sum = 0;
  for (let i = 0; i < count; i++) {
    const weight = computeFastExp((out[i] - max) / policyTemperature);
    out[i] = weight;
    sum += weight;
  }
  // Infinite or undefined logits, from a network that overflows: no preference is better than a broken tree.
  if (!(sum > 0)) {
    out.fill(1 / count, 0, count);
    return;
  }
  const scale = 1 / sum;
  for (let i = 0; i < count; i++) out[i] *= scale;
}
