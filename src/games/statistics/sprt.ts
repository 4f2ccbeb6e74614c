/**
 * Generalised sequential probability ratio test: stop a match as soon as it decides between "elo0" and "elo1".
 *
 * The log-likelihood ratio compares the two multinomial distributions nearest to the observed one whose mean (logistic
 * model) or t-value (normalised model) is what each hypothesis says.
 * Sources: M. Van den Bergh, "Comparing the approximations for the generalized log likelihood ratio of a multinomial
 * distribution" (proposition 1.1) and "Comments on normalized Elo" (section 4.1), the notes behind fishtest.
 *
 * Legend: a = scores, p = their frequencies, s = expected score of a hypothesis, t = (μ − ½)/σ, θ = the multiplier.
 */

import { failure, type Result, success } from '../../base/util/index.js';
import { computeExpectedScore, ELO_PER_NORMALISED } from './elo.js';
import type { ScoreDistribution } from './scores.js';

export type SprtModel = 'normalized' | 'logistic';

export interface SprtSettings {
  readonly elo0: number;
  readonly elo1: number;
  /** Probability of accepting elo1 when elo0 is true. */
  readonly alpha: number;
  /** Probability of accepting elo0 when elo1 is true. */
  readonly beta: number;
  readonly model: SprtModel;
}

export interface SprtState {
  readonly llr: number;
  readonly lower: number;
  readonly upper: number;
  readonly verdict: 'continue' | 'elo0' | 'elo1';
}

/** `elo0=0 elo1=5 alpha=0.05 beta=0.05 model=normalized`, as fastchess takes it. */
export function parseSprt(text: string): Result<SprtSettings> {
  const numbers: Record<string, number> = { elo0: 0, elo1: 5, alpha: 0.05, beta: 0.05 };
  let model: SprtModel = 'normalized';
  for (const word of text.trim().split(/\s+/)) {
    const [key, value = ''] = word.split('=');
    if (key === 'model' && (value === 'normalized' || value === 'logistic')) model = value;
    else if (key in numbers && value !== '' && Number.isFinite(Number(value))) numbers[key] = Number(value);
    else return failure(`--sprt takes elo0=N elo1=N alpha=N beta=N model=normalized|logistic, not "${word}"`);
  }
  const { elo0, elo1, alpha, beta } = numbers;
  if (elo0 >= elo1) return failure(`--sprt: elo0 (${elo0}) must be below elo1 (${elo1})`);
  if (!(alpha > 0 && beta > 0 && alpha + beta < 1)) return failure('--sprt: alpha and beta must be small and above 0');
  return success({ elo0, elo1, alpha, beta, model });
}

/** Replaces counts of 0, so that every logarithm is finite. */
const EMPTY_COUNT = 1e-3;
const BISECTIONS = 100;
const NORMALISED_ROUNDS = 10;
/** Largest step of the t-value in `fitT`. */
const LARGEST_STEP = 0.3;

export function computeSprt(distribution: ScoreDistribution, settings: SprtSettings): SprtState {
  const lower = Math.log(settings.beta / (1 - settings.alpha));
  const upper = Math.log((1 - settings.beta) / settings.alpha);
  const llr = distribution.counts.every((count) => count === 0) ? 0 : computeLlr(distribution, settings);
  return { llr, lower, upper, verdict: llr >= upper ? 'elo1' : llr <= lower ? 'elo0' : 'continue' };
}

export function computeLlr(
  { scores, counts, gamesPerScore }: ScoreDistribution,
  { elo0, elo1, model }: Pick<SprtSettings, 'elo0' | 'elo1' | 'model'>,
): number {
  const regular = counts.map((count) => count || EMPTY_COUNT);
  const total = regular.reduce((sum, count) => sum + count, 0);
  const p = regular.map((count) => count / total);
  const fit = (elo: number): number[] =>
    model === 'logistic'
      ? fitMean(scores, p, computeExpectedScore(elo))
      : fitT(scores, p, (elo * Math.sqrt(gamesPerScore)) / ELO_PER_NORMALISED);
  const p0 = fit(elo0);
  const p1 = fit(elo1);
  return total * p.reduce((sum, pi, i) => sum + pi * Math.log(p1[i] / p0[i]), 0);
}

/** The likeliest distribution with mean s. */
function fitMean(a: readonly number[], p: readonly number[], s: number): number[] {
  return tilt(
    a.map((ai) => ai - s),
    p,
  );
}

/**
 * The likeliest distribution with t-value t, by iteration from the uniform one. A large t is approached in steps, because the
 * multiplier exists only near the previous distribution.
 */
function fitT(a: readonly number[], p: readonly number[], t: number): number[] {
  const steps = Math.max(1, Math.ceil(Math.abs(t) / LARGEST_STEP));
  let fitted = a.map(() => 1 / a.length);
  for (let step = 1; step <= steps; step++) fitted = iterateT(a, p, (t * step) / steps, fitted);
  return fitted;
}

function iterateT(a: readonly number[], p: readonly number[], t: number, start: readonly number[]): number[] {
  let fitted = [...start];
  for (let round = 0; round < NORMALISED_ROUNDS; round++) {
    const mean = a.reduce((sum, ai, i) => sum + fitted[i] * ai, 0);
    const deviation = Math.sqrt(a.reduce((sum, ai, i) => sum + fitted[i] * (ai - mean) ** 2, 0));
    const phi = a.map((ai) => ai - 0.5 - 0.5 * t * deviation * (1 + ((ai - mean) / deviation) ** 2));
    const next = tilt(phi, p);
    const change = Math.max(...next.map((pi, i) => Math.abs(pi - fitted[i])));
    fitted = next;
    if (change < 1e-9) break;
  }
  return fitted;
}

/** p_i / (1 + θ·φ_i) with the θ at which the mean of φ is 0. */
function tilt(phi: readonly number[], p: readonly number[]): number[] {
  let low = -1 / Math.max(...phi);
  let high = -1 / Math.min(...phi);
  for (let i = 0; i < BISECTIONS; i++) {
    const theta = (low + high) / 2;
    let sum = 0;
    for (let k = 0; k < phi.length; k++) sum += (p[k] * phi[k]) / (1 + theta * phi[k]);
    // The sum falls with θ.
    if (sum > 0) low = theta;
    else high = theta;
  }
  const theta = (low + high) / 2;
  return p.map((pi, i) => pi / (1 + theta * phi[i]));
}
