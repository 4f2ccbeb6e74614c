/** Matches: the newest game on the board, score, Elo and the course of the match on the right; a form for new ones. */
import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import {
  countScore,
  formatClock,
  formatCount,
  formatRating,
  formatScore,
  formatSuperiority,
  isBlacksTurn,
  listScores,
  type MatchScore,
  splitPoints,
} from '../../game/page-text.js';
import type { LiveGame, LiveThought, MatchState } from '../../protocol/replies.js';
import { BoardPanel, ClockFace, type PlayerNote } from '../board/board-panel.js';
import { ChessBoard } from '../board/chess-board.js';
import { type ChartSeries, LineChart } from '../chart/line-chart.js';
import { engine, port, portState, reportError } from '../port/engine-port.js';
import { startReview } from '../review/review-session.js';
import { assign, Button, CheckField, ConfirmDialog, ProblemLine, Select } from '../shell/controls.js';
import { SummaryTable } from '../shell/summary-table.js';
import { MoveList } from '../study/move-list.js';
import { analyseGame } from '../study/open-analysis.js';
import {
  deleteMatch,
  findWatched,
  followsGames,
  getClockMs,
  hasListed,
  matches,
  matchStudy,
  refreshSoon,
  showMatch,
  showMatchGame,
  shown,
  shownMatchGame,
  shownName,
  watch,
  watchedGame,
  watchMatches,
} from './match-session.js';
import { MatchSetup } from './match-setup.js';

/** The running games have their players beside them. */
const NOBODY = { name: '' };

export function MatchPanel() {
  useEffect(watchMatches, []);
  const state = shown.value;
  const watched = state === null ? undefined : findWatched(state);
  const live = followsGames.value && watched === undefined ? (state?.live ?? []) : [];
  const game = state?.games[shownMatchGame.value];
  const [whites, blacks] = splitPoints(game?.result);
  return (
    <BoardPanel
      name="Match"
      study={matchStudy}
      players={
        watched !== undefined
          ? { white: describePlayer(watched, 0), black: describePlayer(watched, 1) }
          : live.length > 0
            ? { white: NOBODY, black: NOBODY }
            : { white: { name: game?.white ?? '', points: whites }, black: { name: game?.black ?? '', points: blacks } }
      }
      keys={{}}
      instead={live.length > 0 ? <LiveGames live={live} /> : undefined}
      // Who steps through a game does not want the next one to come.
      onStep={assign(followsGames, false)}
      game={
        state !== null && (
          <>
            {watched !== undefined &&
              ([0, 1] as const).map((side) => <Thought key={side} game={watched} side={side} />)}
            {(watched ?? game) !== undefined && <MoveList study={matchStudy} />}
            <div class="button-row match-choice">
              <CheckField label="Show new games" state={followsGames} />
              {watched !== undefined && state.live.length > 1 && <Button label="All boards" onClick={showAllBoards} />}
              <Button label="Analyse" disabled={(watched ?? game) === undefined} onClick={() => void analyse()} />
              <Button
                label="Review"
                disabled={game === undefined}
                onClick={async () => {
                  await analyse();
                  startReview();
                }}
              />
            </div>
            <GameList state={state} />
          </>
        )
      }
    >
      {engine.value !== null && engine.value.players.length > 0 && <MatchSetup />}
      {matches.value.length > 1 && (
        <label class="field match-choice">
          <span class="visually-hidden">Match</span>
          <Select
            value={shownName.value}
            choices={matches.value.map(({ name, players, isRunning }) => [
              name,
              `${players.join(' – ')} (${name}${isRunning ? ', running' : ''})`,
            ])}
            onSelect={showMatch}
          />
        </label>
      )}
      {state === null ? (
        <p class="faint panel-hint">
          {hasListed.value && matches.value.length === 0
            ? 'No match yet: start one above.'
            : 'Asking for the matches …'}
        </p>
      ) : (
        <>
          <MatchHead state={state} />
          {state.players.length === 2 ? <PairTable state={state} /> : <TournamentTable state={state} />}
          <MatchCharts state={state} />
        </>
      )}
    </BoardPanel>
  );
}

function showAllBoards(): void {
  watchedGame.value = null;
  followsGames.value = true;
}

function analyse(): Promise<void> {
  const { tree, node } = matchStudy;
  const game = watchedGame.value === null ? shownMatchGame.value : `running ${watchedGame.value}`;
  return analyseGame(tree.value, `match/${shownName.value}/${game}`, node.value);
}

function describePlayer(game: LiveGame, side: 0 | 1): PlayerNote {
  const clockMs = getClockMs(game, side);
  return {
    name: side === 0 ? game.white : game.black,
    clock: clockMs === null ? '' : formatClock(clockMs),
    isRunning: isBlacksTurn(game.fen) === (side === 1),
    isLow: clockMs !== null && clockMs < LOW_MS,
  };
}

/** What an engine thought of its last move: score, depth, speed, line. */
function Thought({ game, side }: { readonly game: LiveGame; readonly side: 0 | 1 }) {
  const thought = game.thoughts[side];
  return (
    <p class="thought">
      <strong>{side === 0 ? game.white : game.black}</strong>{' '}
      <span class="faint">{thought === null ? 'has not moved yet' : describeThought(thought)}</span>
      {thought !== null && <span>{thought.line.join(' ')}</span>}
    </p>
  );
}

function describeThought({ score, depth, nodes, timeMs }: LiveThought): string {
  return [
    ...(score === null ? [] : [formatScore(score, false)]),
    ...(depth > 0 ? [`depth ${depth}`] : []),
    ...(nodes > 0 ? [`${formatCount(nodes)} nodes`] : []),
    ...(nodes > 0 && timeMs > 0 ? [`${formatCount(Math.round((1000 * nodes) / timeMs))}/s`] : []),
  ].join(' · ');
}

const isDeleting = signal(false);

function MatchHead({ state }: { readonly state: MatchState }) {
  const isConnected = portState.value === 'open';
  const isOver = state.games.length >= state.total || (state.sprt !== null && state.sprt.verdict !== 'continue');
  const superiority = formatSuperiority(state.elo?.los ?? 0, state.played);
  const toggle = (): void => {
    port
      .send(state.isRunning ? 'pauseMatch' : 'resumeMatch', { name: state.name })
      .answer.then(refreshSoon, reportError);
  };
  return (
    <div class="review-head stack raised line-below">
      {isDeleting.value && (
        <ConfirmDialog
          title="Delete this match?"
          action="Delete"
          onConfirm={() => void deleteMatch(state.name).catch(reportError)}
          onClose={assign(isDeleting, false)}
        >
          <p>Its {state.played} games are deleted from the folder of matches.</p>
        </ConfirmDialog>
      )}
      <h2>{state.players.join(' – ')}</h2>
      <div class="button-row">
        <progress class="fill" max={state.total} value={state.games.length} aria-label="Games played" />
        <span>
          {state.games.length} of {state.total}
        </span>
        {!isOver && (
          <Button
            label={state.isRunning ? 'Pause' : 'Go on'}
            onClick={toggle}
            disabled={state.isElsewhere || !isConnected}
          />
        )}
        {state.games.length > 0 && (
          <a class="button" href={`matches/${state.name}.pgn`} download={`${state.name}.pgn`}>
            Save PGN
          </a>
        )}
        <Button
          label="Delete"
          class="danger"
          disabled={state.isRunning || state.isElsewhere || !isConnected}
          onClick={assign(isDeleting, true)}
        />
      </div>
      <p class="faint">
        {state.conditions}
        {state.isElsewhere && '; another process plays it now'}
      </p>
      <ProblemLine text={state.problem} />
      {state.elo !== null && (
        <p class="match-elo">
          <strong>{describeElo(state)}</strong>
          {superiority !== '' && (
            <span class="faint">
              {' '}
              · {superiority} that {state.players[0]} is the stronger one
            </span>
          )}
        </p>
      )}
      {state.sprt !== null && (
        <p class="faint">
          LLR {state.sprt.llr.toFixed(2)} between {state.sprt.lower.toFixed(2)} and {state.sprt.upper.toFixed(2)}
          {state.sprt.verdict === 'continue' ? '' : `: ${state.sprt.verdict === 'elo1' ? 'proven' : 'not stronger'}`}
        </p>
      )}
    </div>
  );
}

function describeElo({ elo }: MatchState): string {
  if (elo?.elo == null) return 'All games won by one side';
  return `Elo ${formatRating(elo.elo, elo.error)}${elo.error === null ? ' (too few games for an error)' : ''}`;
}

function formatRecord({ wins, draws, losses }: MatchScore): string {
  return `+${wins} =${draws} −${losses}`;
}

function PairTable({ state: { players, games } }: { readonly state: MatchState }) {
  return (
    <SummaryTable
      caption="Crosstable"
      columns={['Player', 'Points', 'All', 'White', 'Black']}
      rows={players.map((player) => {
        const all = countScore(games, player);
        const colors = [true, false].map((isWhite) => formatRecord(countScore(games, player, isWhite)));
        return { key: player, name: player, cells: [all.wins + all.draws / 2, formatRecord(all), ...colors] };
      })}
    />
  );
}

/** Best first; a cell holds points and games against the player of that rank. */
function TournamentTable({ state }: { readonly state: MatchState }) {
  // Before the first game nobody has a rank.
  const against = state.players.map(() => null);
  const unplayed = state.players.map((player) => ({ player, elo: null, error: null, points: 0, games: 0, against }));
  const table: MatchState['table'] = state.table.length === 0 ? unplayed : state.table;
  return (
    <SummaryTable
      caption="Crosstable, best first"
      columns={['Player', 'Elo', 'Points', ...table.map((_, index) => String(index + 1))]}
      rows={table.map(({ player, elo, error, points, games, against }, index) => ({
        key: player,
        name: `${index + 1}. ${player}`,
        cells: [
          elo === null ? '–' : formatRating(elo, error),
          `${points}/${games}`,
          ...against.map((cell) => (cell === null ? '' : `${cell.points}/${cell.games}`)),
        ],
      }))}
    />
  );
}

const MOST_LISTED = 200;

function GameList({ state: { games } }: { readonly state: MatchState }) {
  const listed = games.map((game, index) => ({ game, index })).slice(-MOST_LISTED);
  return (
    <ol class="game-list line-above" aria-label="Games, newest first">
      {listed.reverse().map(({ game, index }) => (
        <li key={index}>
          <button
            type="button"
            class="game-row bare lit"
            aria-current={shownMatchGame.value === index}
            onClick={() => void showMatchGame(index, true).catch(reportError)}
          >
            <span class="faint">{index + 1}</span>
            <span>{game.white}</span>
            <strong>{game.result.replace('1/2-1/2', '½–½').replace('-', '–')}</strong>
            <span>{game.black}</span>
            <span class="faint">
              {game.reason.replaceAll('-', ' ')}, {Math.ceil(game.plies / 2)} moves
            </span>
          </button>
        </li>
      ))}
    </ol>
  );
}

const LOW_MS = 10_000;

/** The running games side by side: board, last move, clocks, and what the engines think. */
function LiveGames({ live }: { readonly live: readonly LiveGame[] }) {
  const columns = Math.ceil(Math.sqrt(live.length));
  const rows = Math.ceil(live.length / columns);
  return (
    <ul class="live-boards" style={{ '--columns': columns, '--rows': rows }} aria-label="Running games">
      {live.map((board) => (
        <li key={board.game}>
          <Player board={board} side={1} />
          <ChessBoard fen={board.fen} lastMove={listSquares(board)} isSmall />
          <Player board={board} side={0} />
          <Button
            label={`Game ${board.game + 1}, move ${Math.floor(board.plies / 2) + 1}`}
            class="text-button bare live-thought cut small"
            title="Watch this game"
            onClick={() => watch(board)}
          />
        </li>
      ))}
    </ul>
  );
}

function Player({ board, side }: { readonly board: LiveGame; readonly side: 0 | 1 }) {
  const { name, clock = '', isRunning = false, isLow = false } = describePlayer(board, side);
  return (
    <div class={isRunning ? 'live-player row player-running' : 'live-player row'}>
      <span class={`player-color player-${side === 0 ? 'white' : 'black'}`} aria-hidden="true" />
      <span class="player-name strong cut fill">{name}</span>
      {clock !== '' && <ClockFace name={name} text={clock} isLow={isLow} />}
    </div>
  );
}

/** Of castling, where king and rook stood. */
function listSquares({ lastMove }: LiveGame): string[] {
  return lastMove === null ? [] : [lastMove.slice(0, 2), lastMove.slice(2, 4)];
}

const HEIGHT = 130;
/** More than that is off the scale. */
const LARGEST_ELO = 800;
const COLORS = ['--accent', '--mistake', '--good', '--bad', '--dubious', '--faint'];

/** Points and Elo game by game, and how far a sequential test is. */
function MatchCharts({ state }: { readonly state: MatchState }) {
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
          marked={shownMatchGame.value < 0 ? null : shownMatchGame.value + 1}
          formatY={(value) => `${Math.round(value)} %`}
          onPick={(index) => void showMatchGame(index, true).catch(reportError)}
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
