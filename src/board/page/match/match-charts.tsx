/** The course of a match: points and Elo game by game, and how far a sequential test is. */
import { listScores } from '../../game/match-progress.js';
import type { MatchState } from '../../protocol/replies.js';
import { type ChartSeries, LineChart } from '../chart/line-chart.js';
import { reportError } from '../port/engine-state.js';
import { showGame, shownGame } from './match-session.js';

const HEIGHT = 130;
/** More than that is off the scale. */
const LARGEST_ELO = 800;
const COLORS = ['--accent', '--mistake', '--good', '--bad', '--dubious', '--faint'];

export function MatchCharts({ state }: { readonly state: MatchState }) {
  const { players, games } = state;
  if (games.length < 2) return null;
  return (
    <>
      {players.length === 2 && (
        <LineChart
          label={`Points of ${players[0]} in percent`}
          xLabel="Game"
          x={games.map((_, index) => index + 1)}
          series={[{ label: players[0], color: '--accent', values: listScores(games, players[0]), fill: true }]}
          height={HEIGHT}
          range={[0, 100]}
          marked={shownGame.value < 0 ? null : shownGame.value + 1}
          formatY={(value) => `${Math.round(value)} %`}
          onPick={(index) => void showGame(index, true).catch(reportError)}
        />
      )}
      <EloChart state={state} />
      <TestChart state={state} />
    </>
  );
}

function EloChart({ state: { players, course } }: { readonly state: MatchState }) {
  // A few games say little.
  if (course.length < 2) return null;
  const isPair = players.length === 2;
  const named = isPair ? players.slice(0, 1) : players;
  const limit = (elo: number | null): number | null => (elo === null || Math.abs(elo) > LARGEST_ELO ? null : elo);
  const series = named.map((label, index): ChartSeries => {
    const values = course.map(({ elo }) => limit(elo[index] ?? null));
    return { label: isPair ? `Elo of ${label}` : label, color: COLORS[index % COLORS.length], values };
  });
  const drawn = series.filter(({ values }) => values.some((value) => value !== null));
  if (drawn.length === 0) return null;
  const bound = (sign: number): (number | null)[] =>
    course.map(({ elo: [elo], error: [error] }) => (elo === null || error === null ? null : limit(elo + sign * error)));
  return (
    <LineChart
      label={
        isPair ? `Elo of ${players[0]} against ${players[1]} with its error` : 'Elo of each player against the others'
      }
      xLabel="Game"
      x={course.map(({ game }) => game)}
      series={drawn}
      {...(isPair ? { band: { lower: bound(-1), upper: bound(1) } } : {})}
      height={HEIGHT}
      formatY={(elo) => elo.toFixed(0)}
    />
  );
}

function TestChart({ state: { sprt, course } }: { readonly state: MatchState }) {
  if (sprt === null || course.length < 2) return null;
  const constant = (value: number): number[] => course.map(() => value);
  return (
    <LineChart
      label="Log likelihood ratio of the sequential test"
      xLabel="Game"
      x={course.map(({ game }) => game)}
      series={[
        { label: 'LLR', color: '--accent', values: course.map(({ llr }) => llr) },
        { label: 'Proven', color: '--good', values: constant(sprt.upper) },
        { label: 'Not stronger', color: '--bad', values: constant(sprt.lower) },
      ]}
      height={HEIGHT}
    />
  );
}
