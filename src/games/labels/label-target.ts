/**
 * What a network is trained to say about a labelled position: policy and W − L of its scores. The formulas and their defaults are
 * those of the training code (scripts/train/sardonyx_train/data/targets.py), with the sharper policy that the bundled networks
 * are trained on. Labelling uses them to tell how far a network's evaluation without search is from a label.
 */
import { MATE_BASE } from '../../chess/pgn/index.js';
import type { ScoredMove } from '../records/index.js';

/** T of softmax(score / T), in centipawns on the compressed scale. */
const TEMPERATURE_CP = 10;
/** Scores beyond this are compressed. */
const COMPRESSION_CP = 300;
/** By how much a mate is better than one that is a move longer, on the compressed scale. */
const MATE_STEP_CP = 45;
/** Score at which a win is as likely as not, and slope of the logistic curve. */
const WDL_OFFSET_CP = 80;
const WDL_SCALE_CP = 100;
/** From this size a score is a mate. */
const MATE_FLOOR = 31_000;
/** Compressed scores without a mate stay below this. */
const PLAIN_LIMIT = 835;
/** Mates farther away count as this far, in moves. */
const LONGEST_MATE = 50;

/** A network's answer to a position, or a target for it, in the view of its mover. */
export interface Impression {
  /** By UCI move. */
  readonly policy: ReadonlyMap<string, number>;
  /** Win minus loss. */
  readonly wl: number;
}

function compressScore(score: number): number {
  const size = Math.abs(score);
  const moves = Math.max(0, Math.min(LONGEST_MATE, (MATE_BASE - size) / 2));
  const compressed =
    size >= MATE_FLOOR
      ? PLAIN_LIMIT + MATE_STEP_CP * (LONGEST_MATE + 1 - moves)
      : Math.min(COMPRESSION_CP * Math.log1p(size / COMPRESSION_CP), PLAIN_LIMIT);
  return Math.sign(score) * compressed;
}

/** Win minus loss of coded centipawns (encodeScore). */
export function computeWinMinusLoss(score: number): number {
  const logistic = (x: number): number => 1 / (1 + Math.exp(-Math.max(-60, Math.min(60, x))));
  return logistic((score - WDL_OFFSET_CP) / WDL_SCALE_CP) - logistic((-score - WDL_OFFSET_CP) / WDL_SCALE_CP);
}

/** @param scores UCI moves with coded centipawns, best first, not empty */
export function computeTarget(scores: readonly ScoredMove[]): Impression {
  const best = compressScore(scores[0][1]);
  const weights = scores.map(([, score]) => Math.exp((compressScore(score) - best) / TEMPERATURE_CP));
  const sum = weights.reduce((total, weight) => total + weight, 0);
  return {
    policy: new Map(scores.map(([move], i) => [move, weights[i] / sum])),
    wl: computeWinMinusLoss(scores[0][1]),
  };
}

/** KL(target ‖ policy) in nats. Moves that the policy gives less than `least` count as `least`. */
export function computeDivergence(
  target: ReadonlyMap<string, number>,
  policy: ReadonlyMap<string, number>,
  least = 1e-5,
): number {
  let sum = 0;
  for (const [move, probability] of target) {
    if (probability > 0) sum += probability * Math.log(probability / Math.max(policy.get(move) ?? 0, least));
  }
  return Math.max(0, sum);
}
