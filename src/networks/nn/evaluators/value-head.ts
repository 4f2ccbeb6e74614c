/** Formulas that turn the outputs of a network's heads into the search's values and priors. */
import { decodeFloat16 } from '../../../base/util/index.js';

/** One output of a network: `width` numbers per position. */
export interface HeadOutput {
  readonly width: number;
  /** Halves are in a Uint16Array. */
  readonly data: Float32Array | Uint16Array;
}

export function readHeadNumber({ data }: Pick<HeadOutput, 'data'>, index: number): number {
  return data instanceof Uint16Array ? decodeFloat16(data[index]) : data[index];
}

/** W, D, L of a position (probabilities, or logits) → W − L and D. */
export function readWdlInto(
  head: HeadOutput,
  row: number,
  areLogits: boolean,
  valueWl: Float32Array,
  valueD: Float32Array,
  target = row,
): void {
  const start = row * head.width;
  let win = readHeadNumber(head, start);
  let draw = readHeadNumber(head, start + 1);
  let loss = readHeadNumber(head, start + 2);
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
  valueWl[target] = win - loss;
  valueD[target] = draw;
}

/** @returns the scalar head's number for the position */
export function readScalar(head: HeadOutput, row: number): number {
  return readHeadNumber(head, row * head.width);
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
    const logit = readHeadNumber(head, start + indices[indexOffset + i]);
    out[i] = logit;
    if (logit > max) max = logit;
  }
  let sum = 0;
  for (let i = 0; i < count; i++) {
    const weight = computeFastExp((out[i] - max) / policyTemperature);
    out[i] = weight;
    sum += weight;
  }
  // Logits that are infinite or NaN come from a network that overflows. Equal priors are better than a broken tree.
  if (!(sum > 0)) {
    out.fill(1 / count, 0, count);
    return;
  }
  const scale = 1 / sum;
  for (let i = 0; i < count; i++) out[i] *= scale;
}

const LINEAR = 0.6602339;
const QUADRATIC = 0.33976606;
/** Smaller powers of two are 0. */
const LEAST_EXPONENT = -126;

const powersOfTwo = Float64Array.from({ length: 1 - LEAST_EXPONENT }, (_, i) => 2 ** -i);

/**
 * eˣ for x ≤ 0 with an error of up to 0.27 %, by lc0's formula (`FastExp2` in its utils/fastmath.h): with x·log2 e = n + f and
 * n whole, 2ⁿ · (1 + f · (0.6602339 + 0.33976606 f)). lc0 computes its priors this way. With the same formula priors agree to
 * 0.02 percentage points, with the exact function only to 0.07.
 */
export function computeFastExp(x: number): number {
  const exponent = x * Math.LOG2E;
  if (!(exponent >= LEAST_EXPONENT)) return Number.isNaN(x) ? x : 0;
  const whole = Math.floor(exponent);
  const fraction = exponent - whole;
  return (1 + fraction * (LINEAR + QUADRATIC * fraction)) * powersOfTwo[-whole];
}
