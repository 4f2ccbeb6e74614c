/**
 * lc0's backend `random`: values and priors are a hash of the input planes and of the seed, so it knows no chess, and lc0 gives
 * the same numbers (lc0: network_random.cc, utils/hashcat.h). The planes hold the history, so the evaluation cache matters, as
 * with networks. `uniform` makes all moves equal and every position even.
 */

import { unwrap } from '../../../base/util/index.js';
import { MAX_MOVES, type Move, type Position } from '../../../chess/rules/index.js';
import { getInputEncoding, getPolicyEncoding, type HistoryFill } from '../../encoding/index.js';
import type { RandomPlan } from '../backend/backend-plan.js';
import type { Evaluator } from './evaluator.js';
import { type HeadOutput, writePolicyInto } from './value-head.js';

const { fround, imul } = Math;
const WORD = 2 ** 32;

/** 64-bit constants of the hash, upper and lower word. */
const START = [0x299799ad, 0xf0d95def];
const FACTOR = [0xfad0d7f2, 0xfbb059f1];
const SHIFT = [0xbaad41cd, 0xcb839961];
const UPPER_FACTOR = [0x7acec005, 0x0bf82f43];
const UPPER_SHIFT = [0xd571b3a9, 0x2b1b2755];

/** Values are hash % RANGE, from −1 to 1; draws and logits hash % STEPS. */
const RANGE = 200_000;
const STEPS = 10_000;
const DRAW_WORD = 1234;
/** Logits lie between 0 and 3, so the likeliest move has some 20 times the prior of the least likely. */
const LOGIT_STEP = fround(fround(3) / STEPS);

const policy = unwrap(getPolicyEncoding('lc0-1858'));

/** A running 64-bit hash. */
class Hash64 {
  high = 0;
  low = 0;

  set(high: number, low: number): this {
    this.high = high;
    this.low = low;
    return this;
  }

  /** hash ^= START + scramble(x) + (hash << 6) + (hash >> 2) */
  append(xHigh: number, xLow: number): this {
    const { high, low } = this;
    sum.set(START[0], START[1]);
    sum.addProduct(FACTOR, xHigh, xLow, SHIFT);
    sum.addProduct(UPPER_FACTOR, xHigh >>> 31, (xHigh << 1) | (xLow >>> 31), UPPER_SHIFT);
    sum.add((high << 6) | (low >>> 26), low << 6);
    sum.add(high >>> 2, (high << 30) | (low >>> 2));
    return this.set(high ^ sum.high, low ^ sum.low);
  }

  modulo(divisor: number): number {
    return (((this.high >>> 0) % divisor) * (WORD % divisor) + (this.low >>> 0)) % divisor;
  }

  private add(high: number, low: number): void {
    const lower = (this.low >>> 0) + (low >>> 0);
    this.set((this.high + high + Number(lower >= WORD)) | 0, lower | 0);
  }

  /** Adds factor · (x + shift). */
  private addProduct(factor: readonly number[], xHigh: number, xLow: number, shift: readonly number[]): void {
    const lower = (xLow >>> 0) + shift[1];
    const low = lower >>> 0;
    const high = (xHigh + shift[0] + Number(lower >= WORD)) | 0;
    this.add(multiplyUpper(factor[1], low) + imul(factor[0], low) + imul(factor[1], high), imul(factor[1], low));
  }
}

const sum = new Hash64();

/** The upper word of the product of two unsigned words. */
function multiplyUpper(a: number, b: number): number {
  const [aHigh, aLow, bHigh, bLow] = [a >>> 16, a & 0xffff, b >>> 16, b & 0xffff];
  const middle = aHigh * bLow + ((aLow * bLow) >>> 16);
  return aHigh * bHigh + Math.floor(middle / 0x10000) + Math.floor(((middle & 0xffff) + aLow * bHigh) / 0x10000);
}

export class RandomEvaluator implements Evaluator {
  readonly backend = 'random';
  readonly isInstant = false;
  valueWl = new Float32Array(0);
  valueD = new Float32Array(0);
  movesLeft = new Float32Array(0);

  private readonly encoding;
  private readonly masks: Uint32Array;
  private readonly planeValues: Float32Array;
  private readonly valueBits: Int32Array;
  private readonly sleeper = new Int32Array(new SharedArrayBuffer(4));
  private readonly hash = new Hash64();
  private readonly ofMove = new Hash64();
  private logits: HeadOutput & { readonly data: Float32Array } = { width: MAX_MOVES, data: new Float32Array(0) };
  private readonly columns = Uint16Array.from({ length: MAX_MOVES }, (_, i) => i);

  constructor(private readonly plan: RandomPlan) {
    this.encoding = unwrap(getInputEncoding(plan.inputEncoding));
    this.masks = new Uint32Array(2 * this.encoding.planes);
    this.planeValues = new Float32Array(this.encoding.planes);
    this.valueBits = new Int32Array(this.planeValues.buffer);
  }

  reserve(rows: number): void {
    this.valueWl = new Float32Array(rows);
    this.valueD = new Float32Array(rows);
    this.movesLeft = new Float32Array(rows);
    this.logits = { width: MAX_MOVES, data: new Float32Array(rows * MAX_MOVES) };
  }

  setRow(row: number, position: Position, moves: Uint16Array, offset: number, count: number, fill: HistoryFill): void {
    const { plan, masks, valueBits, hash, ofMove } = this;
    if (plan.uniform) return;
    const transform = this.encoding.writePacked(position, fill, masks, 0, this.planeValues, 0);
    hash.set(plan.seed < 0 ? -1 : 0, plan.seed | 0);
    for (let plane = 0; plane < valueBits.length; plane++) {
      const { high, low } = hash;
      hash
        .set(0, 0)
        .append(high, low)
        .append(masks[2 * plane + 1], masks[2 * plane]);
      const { high: nextHigh, low: nextLow } = hash;
      hash.set(0, 0).append(nextHigh, nextLow).append(0, valueBits[plane]);
    }
    const wl = fround((hash.modulo(RANGE) - RANGE / 2) / (RANGE / 2));
    ofMove.set(0, 0).append(hash.high, hash.low).append(0, DRAW_WORD);
    this.valueWl[row] = wl;
    this.valueD[row] = fround(fround(1 - Math.abs(wl)) * ofMove.modulo(STEPS)) / STEPS;
    for (let i = 0; i < count; i++) {
      const index = policy.moveToIndex(position, moves[offset + i] as Move, transform);
      ofMove.set(0, 0).append(hash.high, hash.low).append(0, index);
      this.logits.data[row * MAX_MOVES + i] = ofMove.modulo(STEPS) * LOGIT_STEP;
    }
  }

  run(): undefined {
    if (this.plan.delayMs > 0) Atomics.wait(this.sleeper, 0, 0, this.plan.delayMs);
    return undefined;
  }

  writePriorsInto(out: Float32Array, row: number, count: number, policyTemperature: number): void {
    writePolicyInto(out, this.logits, row, this.columns, 0, count, policyTemperature);
  }

  async dispose(): Promise<void> {}
}
