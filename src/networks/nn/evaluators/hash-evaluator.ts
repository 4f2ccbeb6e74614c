/**
 * An evaluator without a network, for bench and tests: priors and values are a hash of the position, so equal positions get equal
 * answers on every thread and in every run. It knows no chess, and must be faster than the search thread.
 */

import { MAX_MOVES, type Position } from '../../../chess/rules/index.js';
import type { HashPlan } from '../backend/backend-plan.js';
import type { Evaluator } from './evaluator.js';

const LEVELS = 256;
/** Logits are between 0 and this, about as in trained networks. */
const LOGIT_RANGE = 5;

export class HashEvaluator implements Evaluator {
  readonly backend = 'hash';
  readonly isInstant: boolean;
  valueWl = new Float32Array(0);
  valueD = new Float32Array(0);
  movesLeft = new Float32Array(0);

  private readonly seed: number;
  private readonly delayMs: number;
  private readonly sleeper = new Int32Array(new SharedArrayBuffer(4));
  private levels = new Uint8Array(0);
  private readonly weights = new Float32Array(LEVELS);
  private weightsTemperature = Number.NaN;

  constructor(options: HashPlan) {
    this.isInstant = !options.cached && options.delayMs === 0;
    this.seed = mix(options.seed ^ 0x5bd1e995);
    this.delayMs = options.delayMs;
  }

  reserve(rows: number): void {
    this.valueWl = new Float32Array(rows);
    this.valueD = new Float32Array(rows);
    this.movesLeft = new Float32Array(rows);
    this.levels = new Uint8Array(rows * MAX_MOVES);
  }

  setRow(row: number, position: Position, moves: Uint16Array, offset: number, count: number): void {
    const state = mix(position.keyLow ^ this.seed ^ Math.imul(position.keyHigh, 0x9e3779b1) ^ position.repetitions());
    const { levels } = this;
    const base = row * MAX_MOVES;
    for (let i = 0; i < count; i++) {
      levels[base + i] = Math.imul(state ^ Math.imul(moves[offset + i], 0x2545f491), 0x85ebca6b) >>> 24;
    }
    // The sum of four random bytes has roughly a normal distribution, so most values are near 0.
    const bytes = mix(state);
    const sum = (bytes & 255) + ((bytes >>> 8) & 255) + ((bytes >>> 16) & 255) + (bytes >>> 24);
    const wl = (sum - 510) / 600;
    this.valueWl[row] = wl;
    this.valueD[row] = (1 - Math.abs(wl)) * 0.5;
    this.movesLeft[row] = 20 + (state >>> 26);
  }

  run(): undefined {
    if (this.delayMs > 0) Atomics.wait(this.sleeper, 0, 0, this.delayMs);
    return undefined;
  }

  writePriorsInto(out: Float32Array, row: number, count: number, policyTemperature: number): void {
    if (policyTemperature !== this.weightsTemperature) this.fillWeights(policyTemperature);
    const { levels, weights } = this;
    const base = row * MAX_MOVES;
    let sum = 0;
    for (let i = 0; i < count; i++) {
      const weight = weights[levels[base + i]];
      out[i] = weight;
      sum += weight;
    }
    const scale = 1 / sum;
    for (let i = 0; i < count; i++) out[i] *= scale;
  }

  async dispose(): Promise<void> {}

  private fillWeights(policyTemperature: number): void {
    for (let level = 0; level < LEVELS; level++) {
      this.weights[level] = Math.exp((((level - LEVELS + 1) / LEVELS) * LOGIT_RANGE) / policyTemperature);
    }
    this.weightsTemperature = policyTemperature;
  }
}

function mix(x: number): number {
  let z = Math.imul(x ^ (x >>> 16), 0x7feb352d);
  z = Math.imul(z ^ (z >>> 15), 0x846ca68b);
  return z ^ (z >>> 16);
}
