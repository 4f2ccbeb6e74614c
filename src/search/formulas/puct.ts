/**
 * The formulas of the search: numbers in, a number out, no tree (lc0: search/classic/search.cc; PUCT with a growing factor:
 * Silver et al. 2018, AlphaZero).
 *
 * They round to single precision where lc0 does, so that ties and near-ties fall as in lc0.
 *
 * Legend: n visits of a move, N visits of its node, f visits in flight on the move, p prior, q value of the move for the player
 * who makes it, m expected plies to the end. A node's own value `wl` is in the view of the player who moved into it.
 */
import type { SearchParams } from '../protocol/params.js';

/**
 * lc0's approximations of the logarithm and the logistic function (utils/fastmath.h), in float32 as in lc0. Their errors are
 * below 0.007 and 0.001. They are used where lc0 uses them: in cpuct, and wherever a WDL is fitted.
 */
const { fround } = Math;
const LN_2 = fround(Math.LN2);
const LOG2_E = fround(Math.LOG2E);
/** log2(1 + f) ≈ f · (LOG_LINEAR − LOG_QUADRATIC · f). */
const LOG_LINEAR = fround(1.3465552);
const LOG_QUADRATIC = fround(0.34655523);
/** 2^f ≈ 1 + f · (POWER_LINEAR + POWER_QUADRATIC · f). */
const POWER_LINEAR = fround(0.6602339);
const POWER_QUADRATIC = fround(0.33976606);
/** Beyond ±20 the result is 0 or 1. */
const LOGISTIC_LIMIT = 20;

const float = new Float32Array(1);
const bits = new Uint32Array(float.buffer);

/** @param x > 0 */
export function computeFastLog(x: number): number {
  float[0] = x;
  const exponent = bits[0] >>> 23;
  bits[0] = (bits[0] & 0x7fffff) | (127 << 23);
  const fraction = fround(float[0] - 1);
  const slope = fround(LOG_LINEAR - LOG_QUADRATIC * fraction);
  return fround(LN_2 * fround(fround(fraction * slope - 127) + exponent));
}

export function computeFastLogistic(x: number): number {
  if (Math.abs(x) > LOGISTIC_LIMIT) return x > 0 ? 1 : 0;
  const exponent = fround(LOG2_E * -x);
  // For negative whole numbers this is one too low, which is harmless: then f = 1, where the approximation of 2^f is exact.
  const whole = Math.trunc(exponent < 0 ? fround(exponent - 1) : exponent);
  const fraction = fround(exponent - whole);
  const power = fround(1 + fround(fraction * fround(POWER_LINEAR + fround(POWER_QUADRATIC * fraction))));
  return fround(1 / fround(1 + power * 2 ** whole));
}

/** A number of visits that no move reaches. */
export const NEVER = 1e9;

export interface PuctParams {
  readonly init: number;
  readonly base: number;
  readonly factor: number;
}

export interface FpuParams {
  readonly absolute: boolean;
  readonly value: number;
}

export function getPuctParams(params: SearchParams, isRoot: boolean): PuctParams {
  return isRoot && params.rootHasOwnCpuctParams
    ? { init: params.cpuctAtRoot, base: params.cpuctBaseAtRoot, factor: params.cpuctFactorAtRoot }
    : { init: params.cpuct, base: params.cpuctBase, factor: params.cpuctFactor };
}

export function getFpuParams(params: SearchParams, isRoot: boolean): FpuParams {
  return isRoot && params.fpuStrategyAtRoot !== 'same'
    ? { absolute: params.fpuStrategyAtRoot === 'absolute', value: params.fpuValueAtRoot }
    : { absolute: params.fpuStrategy === 'absolute', value: params.fpuValue };
}

/** cpuct(N) = init + factor · ln((N + base) / base), with lc0's approximation of the logarithm. */
export function computeCpuct(n: number, puct: PuctParams): number {
  const [init, factor, base] = [fround(puct.init), fround(puct.factor), fround(puct.base)];
  return factor === 0 ? init : fround(init + factor * computeFastLog(fround(fround(n + base) / base)));
}

/** The factor of U that all moves of a node share: cpuct(N) · sqrt(max(1, N − 1)). */
export function computeExploration(n: number, puct: PuctParams): number {
  return fround(computeCpuct(n, puct) * Math.sqrt(Math.max(n - 1, 1)));
}

/** S = U + utility with U = p · exploration / (1 + n + f). Visits in flight lower U and leave Q alone. */
export function computePuctScore(p: number, exploration: number, started: number, utility: number): number {
  return fround(fround(fround(p * exploration) / (1 + started)) + utility);
}

/**
 * Visits to the best move until its score falls to that of the second best; at least 1, at most NEVER.
 * @param started n + f of the best move
 */
export function computeVisitsToOvertake(
  p: number,
  exploration: number,
  started: number,
  utility: number,
  secondBestScore: number,
): number {
  if (utility >= secondBestScore) return NEVER;
  const visits = fround(fround(fround(p * exploration) / fround(secondBestScore - utility)) - started);
  return visits < 1 ? 1 : visits > NEVER ? NEVER : Math.trunc(visits);
}

/** Q of a record: W − L, and what a draw is worth. */
export function computeUtility(wl: number, d: number, drawScore: number): number {
  return fround(wl + fround(drawScore * d));
}

/**
 * First play urgency, the value of an unvisited move: a constant, or q of the node − value · sqrt(visited prior) (lc0: GetFpu).
 * @param wl,d the node's own values (view of the player who moved into it)
 * @param drawScore value of a draw for the player to move
 */
export function computeFpu(fpu: FpuParams, wl: number, d: number, drawScore: number, visitedPrior: number): number {
  const value = fround(fpu.value);
  return fpu.absolute ? value : fround(-computeUtility(wl, d, -drawScore) - value * fround(Math.sqrt(visitedPrior)));
}

/**
 * Bonus of a visited move that makes a won game shorter or a lost one longer (lc0: MEvaluator). The caller uses it only where
 * the node's |wl| exceeds `movesLeftThreshold`.
 * @param parentM,childM expected plies to the end from the node and after the move
 */
export function computeMovesLeftUtility(params: SearchParams, parentM: number, childM: number, q: number): number {
  const { movesLeftMaxEffect: maxEffect, movesLeftThreshold: threshold } = params;
  const {
    movesLeftConstantFactor: constant,
    movesLeftScaledFactor: scaled,
    movesLeftQuadraticFactor: quadratic,
  } = params;
  const difference = params.movesLeftSlope * (childM - parentM);
  const effect = Math.min(maxEffect, Math.max(-maxEffect, difference));
  const size = Math.abs(q);
  const weight = threshold > 0 && threshold < 1 ? Math.max(0, size - threshold) / (1 - threshold) : size;
  const signed = q < 0 ? effect : -effect;
  return signed * (constant + scaled * weight + quadratic * weight * weight);
}

/**
 * Visits that may collide while one batch is gathered; they grow with the tree (lc0: CalculateCollisionsLeft).
 * @param nodes visits of the root, or those that the search may still make if these are fewer
 */
export function computeCollisionBudget(nodes: number, params: SearchParams): number {
  const { maxCollisionVisits, maxCollisionVisitsScalingStart: start, maxCollisionVisitsScalingEnd: end } = params;
  if (nodes >= end) return maxCollisionVisits;
  if (nodes <= start) return 1;
  const ratio = ((nodes - start) / (end - start)) ** params.maxCollisionVisitsScalingPower;
  return Math.round(1 + (maxCollisionVisits - 1) * ratio);
}

/** Progressive widening (Coulom 2007): how many moves, the likeliest first, a node with n visits searches; at least 1. */
export function computeWidth(n: number, params: SearchParams): number {
  const { wideningFactor: factor, wideningExponent: exponent } = params;
  return factor === 0 ? Number.POSITIVE_INFINITY : Math.max(1, Math.floor(factor * Math.max(1, n) ** exponent));
}

/** Value of a draw for the player to move at a node. @param isOddDepth whether the node lies an odd number of plies below the root */
export function computeDrawScore(drawScoreOfWhite: number, blackToMoveAtRoot: boolean, isOddDepth: boolean): number {
  return isOddDepth === blackToMoveAtRoot ? drawScoreOfWhite : -drawScoreOfWhite;
}
