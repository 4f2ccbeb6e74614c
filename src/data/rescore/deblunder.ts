/**
 * Deblundering: a game in which a player errs says little about the positions before the error. So the value of the best move, in
 * the record's own search, takes the place of the result at the error, and of all positions before it. Source: lc0,
 * trainingdata/rescorer.cc (ApplyDeblunder).
 */
import { knowsMovesLeft, V6_PROVEN_BEST, type V6Record } from '../v6-record.js';
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

/** How much of the best move's value takes the place of what came of the game: 0 for no error, up to 1. */
export function computeErrorShare(record: V6Record, { threshold, width }: DeblunderSettings): number {
  if (isProvenError(record)) return 1;
  const loss = record.bestQ - record.playedQ;
  if (loss <= threshold - width / 2) return 0;
  return width > 0 ? Math.min(1, (loss - threshold) / width + 0.5) : 1;
}

/**
 * @param end number of positions from the start of the game that are looked at; tablebases know the others better
 * @returns the number of errors found; 0 too for records of lc0's old versions, which do not say what the search found
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
