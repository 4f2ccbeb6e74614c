/** The table of a tournament, as data and as text: ranks, Elo against the field, points against each opponent, forfeits. */
import {
  distributeResults,
  type EloEstimate,
  estimateElo,
  type GameCounts,
  type PairCounts,
} from '../statistics/index.js';
import { createReport, formatElo, formatForfeits, type MatchReport } from './match-report.js';
import { addForfeits, type Forfeits, NO_FORFEITS, type Standings } from './standings.js';
import type { Tournament } from './tournament.js';

export interface CrosstableRow extends GameCounts {
  readonly rank: number;
  readonly player: string;
  readonly games: number;
  readonly points: number;
  /** Against all its opponents together; null before the first game. JSON turns infinite Elo into null. */
  readonly elo: EloEstimate | null;
  readonly forfeits: Forfeits;
  /** Points and games against each player of the table, in its order; null for itself and where they do not meet. */
  readonly against: readonly ({ readonly points: number; readonly games: number } | null)[];
}

export interface Crosstable {
  readonly players: readonly string[];
  readonly games: number;
  /** Best first: by points per game. */
  readonly table: readonly CrosstableRow[];
  readonly pairings: readonly MatchReport[];
  readonly reasons: Readonly<Record<string, number>>;
}

/** One player's part of a pairing. */
interface Side {
  readonly opponent: number;
  readonly counts: GameCounts;
  readonly pairs: PairCounts;
  readonly forfeits: Forfeits;
}

export function createCrosstable(players: readonly string[], tournament: Tournament): Crosstable {
  const { schedule, pairings } = tournament;
  const rows = players.map((player, index) => {
    const sides = listSides(index, tournament);
    const counts = sides.map((side) => side.counts).reduce(addCounts, { wins: 0, draws: 0, losses: 0 });
    const pairs = sides.map((side) => side.pairs).reduce(addPairs, [0, 0, 0, 0, 0]);
    return {
      index,
      player,
      ...counts,
      games: countGames(counts),
      points: countPoints(counts),
      elo: estimateElo(distributeResults(counts, pairs)),
      forfeits: sides.map((side) => side.forfeits).reduce(addForfeits, NO_FORFEITS),
      sides,
    };
  });
  const ranked = rows.sort((a, b) => b.points / (b.games || 1) - a.points / (a.games || 1) || a.index - b.index);
  const table = ranked.map(({ index: _, sides, ...row }, at) => ({
    rank: at + 1,
    ...row,
    against: ranked.map((other) => {
      const side = sides.find(({ opponent }) => opponent === other.index);
      return side === undefined ? null : { points: countPoints(side.counts), games: countGames(side.counts) };
    }),
  }));
  return {
    players,
    games: tournament.played,
    table,
    pairings: schedule.pairings.map(([first, second], i) =>
      createReport([players[first], players[second]], pairings[i], null),
    ),
    reasons: tournament.reasonCounts,
  };
}

export function formatCrosstable({ table, games, reasons }: Crosstable): string {
  const heads = [
    '#',
    'Player',
    'Elo',
    '+/-',
    'Points',
    'Games',
    'Score',
    ...table.map(({ rank }) => String(rank)),
    'Forfeits',
  ];
  const rows = table.map(({ rank, player, elo, points, games: played, against, forfeits }) => [
    String(rank),
    player,
    elo === null ? '-' : formatElo(elo.elo),
    elo === null ? '-' : formatElo(elo.eloError),
    String(points),
    String(played),
    played === 0 ? '-' : `${((100 * points) / played).toFixed(1)} %`,
    ...against.map((cell) => (cell === null ? '-' : `${cell.points}/${cell.games}`)),
    formatForfeits(forfeits) || '-',
  ]);
  const widths = heads.map((head, column) => Math.max(head.length, ...rows.map((row) => row[column].length)));
  const isText = (column: number): boolean => column === 1 || column === heads.length - 1;
  const lines = [heads, ...rows].map((row) =>
    row
      .map((cell, column) => (isText(column) ? cell.padEnd(widths[column]) : cell.padStart(widths[column])))
      .join('  ')
      .trimEnd(),
  );
  const ends = Object.entries(reasons).map(([reason, count]) => `${reason} ${count}`);
  return [`Results of ${games} games:`, ...lines, `Ends: ${ends.join(', ') || '-'}`].join('\n');
}

function listSides(player: number, { schedule, pairings }: Tournament): Side[] {
  return schedule.pairings.flatMap(([first, second], i) => {
    if (first === player) return [createSide(second, pairings[i], 0)];
    return second === player ? [createSide(first, pairings[i], 1)] : [];
  });
}

function createSide(opponent: number, standings: Standings, side: 0 | 1): Side {
  const { games, pairCounts, forfeits } = standings;
  if (side === 0) return { opponent, counts: games, pairs: pairCounts, forfeits: forfeits[0] };
  const counts = { wins: games.losses, draws: games.draws, losses: games.wins };
  const [a, b, c, d, e] = pairCounts;
  return { opponent, counts, pairs: [e, d, c, b, a], forfeits: forfeits[1] };
}

function addCounts(a: GameCounts, b: GameCounts): GameCounts {
  return { wins: a.wins + b.wins, draws: a.draws + b.draws, losses: a.losses + b.losses };
}

function addPairs(a: PairCounts, b: PairCounts): PairCounts {
  return [a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3], a[4] + b[4]];
}

function countGames({ wins, draws, losses }: GameCounts): number {
  return wins + draws + losses;
}

function countPoints({ wins, draws }: GameCounts): number {
  return wins + draws / 2;
}
