/**
 * Deblundering: after an error, the result of a game says little about the positions before it. So at the error, and in all
 * positions before it, the result is replaced by the value that the record's own search gave the best move. Source: lc0,
 * trainingdata/rescorer.cc (ApplyDeblunder).
 */
import { knowsMovesLeft, V6_PROVEN_BEST, type V6Record } from '../../records/index.js';
import type { RecordedGame } from './recorded-game.js';

export interface DeblunderSettings {
  /** By how much W − L of the played move must be below the best move's to count as an error. */
  readonly threshold: number;
  /** Around the threshold the old result and the new value are mixed over this width; 0 = no mixing. */
  readonly width: number;
}

/** In White's view. */
interface Outcome {
  readonly q: number;
  readonly d: number;
  /** Ply at which the game is expected to end. */
  readonly lastPly: number;
}

/** A forced win was missed, or the player went into a proven loss without need. */
function isProvenError({ bestQ, playedQ, invariance }: V6Record): boolean {
  return bestQ > -1 && playedQ < 1 && ((bestQ === 1 && (invariance & V6_PROVEN_BEST) !== 0) || playedQ === -1);
}

/** Weight of the best move's value against the game's outcome: from 0 (no error) to 1. */
export function computeErrorShare(record: V6Record, { threshold, width }: DeblunderSettings): number {
  if (isProvenError(record)) return 1;
  const loss = record.bestQ - record.playedQ;
  if (loss <= threshold - width / 2) return 0;
  return width > 0 ? Math.min(1, (loss - threshold) / width + 0.5) : 1;
}

/**
 * @param end number of positions to examine, from the start of the game; the others have results from tablebases
 * @returns the number of errors found; always 0 for records of old lc0 versions, which have no results of the search
 */
export function deblunder(game: RecordedGame, settings: DeblunderSettings, end = game.positions.length): number {
  const positions = game.positions.slice(0, end);
  const last = positions.at(-1);
  if (last === undefined || last.record.visits === 0) return 0;
  const toWhite = (isBlack: boolean, q: number): number => (isBlack ? 0 - q : q);
  let outcome: Outcome | null = null;
  let errors = 0;
  for (const { record, position, ply } of positions.reverse()) {
    const isBlack = position.sideToMove === 1;
    const share = computeErrorShare(record, settings);
    if (share > 0) {
      const old: Outcome = outcome ?? {
        q: toWhite(isBlack, record.resultQ),
        d: record.resultD,
        lastPly: ply + record.pliesLeft,
      };
      outcome = {
        q: mix(old.q, toWhite(isBlack, record.bestQ), share),
        d: mix(old.d, record.bestD, share),
        lastPly: knowsMovesLeft(record) ? mix(old.lastPly, ply + record.bestM, share) : old.lastPly,
      };
      errors++;
    }
    if (outcome === null) continue;
    record.resultQ = toWhite(isBlack, outcome.q);
    record.resultD = outcome.d;
    record.pliesLeft = outcome.lastPly - ply;
  }
  return errors;
}

function mix(old: number, other: number, share: number): number {
  return (1 - share) * old + share * other;
}
