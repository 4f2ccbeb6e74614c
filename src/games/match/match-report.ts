/** The result of two players against each other, as data and as text, in the words of fastchess and lc0. */
import { toOneLine } from '../../base/util/index.js';
import {
  computeSprt,
  type EloEstimate,
  estimateElo,
  type GameCounts,
  type PairCounts,
  type SprtSettings,
  type SprtState,
} from '../statistics/index.js';
import type { Forfeits, Standings } from './standings.js';

export interface MatchReport extends GameCounts {
  readonly players: readonly [string, string];
  readonly games: number;
  /** Pairs by the first player's points: 0, ½, 1, 1½, 2. */
  readonly pentanomial: PairCounts;
  /** Null before the first game. JSON turns infinite Elo (all won or all lost) into null. */
  readonly elo: EloEstimate | null;
  readonly sprt: (SprtState & SprtSettings) | null;
  readonly reasons: Readonly<Record<string, number>>;
  /** Of each player. */
  readonly forfeits: readonly [Forfeits, Forfeits];
}

export function createReport(
  players: readonly [string, string],
  standings: Standings,
  sprt: SprtSettings | null,
): MatchReport {
  const { distribution } = standings;
  return {
    players,
    games: standings.played,
    ...standings.games,
    pentanomial: standings.pairCounts,
    elo: estimateElo(distribution),
    sprt: sprt === null ? null : { ...sprt, ...computeSprt(distribution, sprt) },
    reasons: standings.reasonCounts,
    forfeits: standings.forfeits,
  };
}

export function formatReport(report: MatchReport): string {
  const { players, wins, losses, draws, games, elo, pentanomial, sprt } = report;
  const lines = [`Results of ${players[0]} vs ${players[1]}:`];
  const points = wins + draws / 2;
  const share = games === 0 ? '-' : `${((100 * points) / games).toFixed(2)} %`;
  if (elo !== null) {
    lines.push(
      `Elo: ${formatElo(elo.elo)} +/- ${formatElo(elo.eloError)}, nElo: ${formatElo(elo.normalisedElo)} +/- ${formatElo(elo.normalisedEloError)}`,
      `LOS: ${(100 * elo.los).toFixed(2)} %, Games: ${games}, Wins: ${wins}, Losses: ${losses}, Draws: ${draws}, Points: ${points} (${share})`,
      `Pairs(0-2): [${pentanomial.join(', ')}]`,
    );
  }
  if (sprt !== null) lines.push(formatSprt(sprt));
  const reasons = Object.entries(report.reasons).map(([reason, count]) => `${reason} ${count}`);
  if (reasons.length > 0) lines.push(`Ends: ${reasons.join(', ')}`);
  const faults = players
    .map((player, i) => [player, formatForfeits(report.forfeits[i])])
    .filter(([, text]) => text !== '');
  if (faults.length > 0) lines.push(`Forfeits: ${faults.map(([player, text]) => `${player}: ${text}`).join('; ')}`);
  return lines.join('\n');
}

export function formatSprt({ llr, lower, upper, elo0, elo1, model, verdict }: SprtState & SprtSettings): string {
  const said = { continue: 'undecided', elo0: 'H0 accepted', elo1: 'H1 accepted' }[verdict];
  return `LLR: ${llr.toFixed(2)} (${lower.toFixed(2)}, ${upper.toFixed(2)}) [${elo0.toFixed(2)}, ${elo1.toFixed(2)}] ${model}: ${said}`;
}

/** `time 2, crash 1`; '' when there are none. */
export function formatForfeits({ time, crash, illegalMove }: Forfeits): string {
  const counts = Object.entries({ time, crash, 'illegal move': illegalMove });
  return counts.flatMap(([name, count]) => (count === 0 ? [] : [`${name} ${count}`])).join(', ');
}

export function formatElo(elo: number): string {
  if (Number.isFinite(elo)) return elo.toFixed(2);
  return elo > 0 ? 'inf' : elo < 0 ? '-inf' : '-';
}

/** The names that a match uses everywhere: in one line, and players of the same name get numbers. */
export function distinguishNames(given: readonly string[]): string[] {
  const names = given.map(toOneLine);
  return names.map((name, i) => (names.filter((other) => other === name).length > 1 ? `${name} ${i + 1}` : name));
}
