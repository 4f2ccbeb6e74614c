/** Matches: the newest game on the board, score, Elo and the course of the match on the right; a form for new ones. */
import { useEffect } from 'preact/hooks';
import { countScore, listScores, type MatchScore } from '../../game/match-progress.js';
import type { MatchState } from '../../protocol/replies.js';
import { ChessBoard } from '../board/chess-board.js';
import { StepButtons } from '../board/step-buttons.js';
import { LineChart } from '../chart/line-chart.js';
import { engine, port, reportError } from '../port/engine-state.js';
import { bindKeys } from '../shell/keyboard.js';
import {
  followsGames,
  matches,
  showGame,
  showMatch,
  shown,
  shownGame,
  shownName,
  view,
  watchMatches,
} from './match-session.js';
import { MatchSetup } from './match-setup.js';

const CHART_HEIGHT = 130;
const NO_DESTS: ReadonlyMap<string, readonly string[]> = new Map();

export function MatchPanel() {
  useEffect(watchMatches, []);
  useEffect(
    () =>
      bindKeys([
        { keys: ['ArrowLeft', 'k'], help: 'Back', run: () => step(() => view.goBack()) },
        { keys: ['ArrowRight', 'j'], help: 'Forward', run: () => step(() => view.goForward()) },
        { keys: ['ArrowUp', 'Home'], help: 'To the start', run: () => step(() => view.goToStart()) },
        { keys: ['ArrowDown', 'End'], help: 'To the end', run: () => step(() => view.goToEnd()) },
        { keys: ['f'], help: 'Flip the board', run: () => view.flip() },
      ]),
    [],
  );
  const state = shown.value;
  const game = state?.games[shownGame.value];
  return (
    <main class="panel panel-match">
      <section class="board-column" aria-label="Board">
        <div class="player-row">
          <span class="player-color player-black" aria-hidden="true" />
          <span class="player-name">{game?.black ?? 'Black'}</span>
        </div>
        <ChessBoard
          fen={view.node.value.fen}
          orientation={view.orientation.value}
          turn={view.turn.value}
          dests={NO_DESTS}
          movable="none"
          lastMove={view.lastMove.value}
          isCheck={view.node.value.isCheck}
        />
        <div class="player-row">
          <span class="player-color player-white" aria-hidden="true" />
          <span class="player-name">{game?.white ?? 'White'}</span>
          <span class="spacer" />
          <label class="check">
            <input
              type="checkbox"
              checked={followsGames.value}
              onChange={({ currentTarget }) => {
                followsGames.value = currentTarget.checked;
              }}
            />
            Show new games
          </label>
        </div>
        <StepButtons study={view} />
      </section>
      <section class="side" aria-label="Match">
        <div class="side-scroll">
          {engine.value !== null && engine.value.players.length > 0 && <MatchSetup />}
          {matches.value.length > 1 && (
            <label class="field match-choice">
              <span class="visually-hidden">Match</span>
              <select value={shownName.value} onChange={({ currentTarget }) => showMatch(currentTarget.value)}>
                {matches.value.map(({ name, players, isRunning }) => (
                  <option key={name} value={name}>
                    {players.join(' – ')} ({name}
                    {isRunning ? ', running' : ''})
                  </option>
                ))}
              </select>
            </label>
          )}
          {state === null ? (
            <p class="faint panel-hint">No match yet: start one above.</p>
          ) : (
            <>
              <MatchHead state={state} />
              <Crosstable state={state} />
              <Course state={state} />
              <GameList state={state} />
            </>
          )}
        </div>
      </section>
    </main>
  );
}

/** Who steps through a game does not want the next one to come. */
function step(go: () => void): void {
  followsGames.value = false;
  go();
}

function MatchHead({ state }: { readonly state: MatchState }) {
  const isOver = state.games.length >= state.total || (state.sprt !== null && state.sprt.verdict !== 'continue');
  const toggle = (): void => {
    port.send(state.isRunning ? 'pauseMatch' : 'resumeMatch', { name: state.name }).answer.catch(reportError);
  };
  return (
    <div class="review-head">
      <h2>{state.players.join(' – ')}</h2>
      <div class="button-row">
        <progress max={state.total} value={state.games.length} aria-label="Games played" />
        <span>
          {state.games.length} of {state.total}
        </span>
        {!isOver && (
          <button type="button" onClick={toggle}>
            {state.isRunning ? 'Pause' : 'Go on'}
          </button>
        )}
      </div>
      <p class="faint">{state.conditions}</p>
      {state.problem !== '' && (
        <p class="problem" role="alert">
          {state.problem}
        </p>
      )}
      {state.elo !== null && (
        <p class="match-elo">
          <strong>{describeElo(state)}</strong>
          <span class="faint"> probability that the first is stronger {(100 * state.elo.los).toFixed(1)} %</span>
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
  if (elo?.elo == null) return 'Elo: all games won by one side';
  return `Elo ${elo.elo >= 0 ? '+' : '−'}${Math.abs(elo.elo).toFixed(0)} ± ${elo.error?.toFixed(0) ?? '∞'}`;
}

function formatScore({ wins, draws, losses }: MatchScore): string {
  return `+${wins} =${draws} −${losses}`;
}

function Crosstable({ state: { players, games } }: { readonly state: MatchState }) {
  return (
    <table class="summary">
      <caption class="visually-hidden">Crosstable</caption>
      <thead>
        <tr>
          {['Player', 'Points', 'All', 'White', 'Black'].map((name) => (
            <th key={name} scope="col">
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {players.map((player) => {
          const all = countScore(games, player);
          return (
            <tr key={player}>
              <th scope="row">{player}</th>
              <td>{all.wins + all.draws / 2}</td>
              <td>{formatScore(all)}</td>
              <td>{formatScore(countScore(games, player, true))}</td>
              <td>{formatScore(countScore(games, player, false))}</td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}

function Course({ state: { players, games } }: { readonly state: MatchState }) {
  if (games.length < 2) return null;
  return (
    <LineChart
      label={`Points of ${players[0]} in percent`}
      xLabel="Game"
      x={games.map((_, index) => index + 1)}
      series={[{ label: players[0], color: '--accent', values: listScores(games, players[0]), fill: true }]}
      height={CHART_HEIGHT}
      range={[0, 100]}
      marked={shownGame.value < 0 ? null : shownGame.value + 1}
      formatY={(value) => `${Math.round(value)} %`}
      onPick={(index) => void showGame(index, true).catch(reportError)}
    />
  );
}

const MOST_LISTED = 200;

function GameList({ state: { games } }: { readonly state: MatchState }) {
  const listed = games.map((game, index) => ({ game, index })).slice(-MOST_LISTED);
  return (
    <ol class="game-list" aria-label="Games, newest first">
      {listed.reverse().map(({ game, index }) => (
        <li key={index}>
          <button
            type="button"
            class="game-row"
            aria-current={shownGame.value === index}
            onClick={() => void showGame(index, true).catch(reportError)}
          >
            <span class="faint">{index + 1}</span>
            <span>{game.white}</span>
            <strong>{game.result.replace('1/2-1/2', '½–½').replace('-', '–')}</strong>
            <span>{game.black}</span>
            <span class="faint">
              {game.reason}, {Math.ceil(game.plies / 2)} moves
            </span>
          </button>
        </li>
      ))}
    </ol>
  );
}
