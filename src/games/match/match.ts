/**
 * Plays a match of two or more players: pairs of games with one opening and swapped colours, several at a time, until all are
 * played, the sequential test has decided, or the signal comes. Players, opening, colours and seeds of a game follow from its
 * number alone, so a resumed match plays the same games.
 */

import { mixSeeds, runSideBySide } from '../../base/util/index.js';
import type { Opening } from '../openings/index.js';
import {
  type FinishedGameText,
  formatTimeControl,
  type Player,
  type PlayerLimits,
  type PlayerSource,
} from '../play/index.js';
import { computeSprt, type SprtSettings } from '../statistics/index.js';
import { createLivePosition, type LivePosition } from './live-position.js';
import { type FinishedGame, type GameSetup, playGame } from './match-game.js';
import type { LoggedGame, MatchLog } from './match-log.js';
import { Schedule, type TournamentKind } from './schedule.js';
import { CrashWatch, MOST_CRASHES, Tournament } from './tournament.js';

export interface MatchPlan extends Pick<GameSetup, 'chess960' | 'rules' | 'tables' | 'timeMarginMs' | 'seed'> {
  readonly players: readonly PlayerSource[];
  readonly tournament: TournamentKind;
  /** Of each pairing, those of earlier runs included. */
  readonly games: number;
  readonly openings: (round: number) => Opening;
  readonly concurrency: number;
  /** Keep playing when a player crashes in every game. */
  readonly recovers: boolean;
  /** For two players only. */
  readonly sprt: SprtSettings | null;
  readonly event: string;
  readonly log: MatchLog;
  readonly signal: AbortSignal;
  onGame(game: LoggedGame, tournament: Tournament): void;
  /** Called for each position of each game. */
  onPosition?(position: LivePosition): void;
}

/** Throws if a player cannot be started or keeps crashing. Errors of a game are thrown when all boards have ended. */
export async function runMatch(setup: MatchPlan): Promise<Tournament> {
  const schedule = new Schedule(setup.tournament, setup.players.length, setup.games);
  const tournament = new Tournament(schedule);
  for (const { game, result, reason } of setup.log.earlier) tournament.add(game, { result, reason });

  const stop = new AbortController();
  const signal = AbortSignal.any([setup.signal, stop.signal]);
  // One listener for all boards: players are closed at once, also in the middle of a search.
  const playing = new Set<Player>();
  const closePlayers = (): void => void Promise.all([...playing].map((player) => player.close()));
  signal.addEventListener('abort', closePlayers);
  const crashes = new CrashWatch();
  let next = 0;
  const takeGame = (): number | null => {
    if (signal.aborted || isDecided(setup, tournament)) return null;
    for (let game = schedule.findNext(next); game !== null; game = schedule.findNext(game + 1)) {
      next = game + 1;
      if (!tournament.has(game)) return game;
    }
    return null;
  };
  const finish = (game: number, finished: FinishedGame): void => {
    const { white, black } = schedule.at(game);
    const { end, fault } = finished;
    const row = setup.log.add(game, describeGame(setup, schedule, game, finished), fault === '' ? {} : { fault });
    tournament.add(game, end);
    setup.onGame(row, tournament);
    const { reason, result } = end;
    const broken = crashes.add([white, black], reason === 'crash' ? (result === '0-1' ? white : black) : null);
    if (broken !== null && !setup.recovers) throw new Error(describeBroken(setup.players[broken], fault));
    if (isDecided(setup, tournament)) stop.abort();
  };
  const boards = Math.max(1, Math.min(setup.concurrency, schedule.totalGames - tournament.played));
  await runSideBySide(
    boards,
    () => playBoard(setup, schedule, takeGame, finish, playing, signal),
    () => stop.abort(),
  );
  return tournament;
}

/**
 * Plays games one after another with players of its own, which it creates for their first game.
 * @param playing the players of all boards, which a stop closes
 */
async function playBoard(
  setup: MatchPlan,
  schedule: Schedule,
  takeGame: () => number | null,
  finish: (game: number, finished: FinishedGame) => void,
  playing: Set<Player>,
  signal: AbortSignal,
): Promise<void> {
  const players = new Map<number, Player>();
  const findPlayer = async (index: number): Promise<Player> => {
    const player = players.get(index) ?? (await setup.players[index].create());
    players.set(index, player);
    playing.add(player);
    return player;
  };
  try {
    for (let game = takeGame(); game !== null; game = takeGame()) {
      const { white, black, round } = schedule.at(game);
      const finished = await playGame(
        [await findPlayer(white), await findPlayer(black)],
        {
          ...setup,
          opening: setup.openings(round),
          seed: mixSeeds(setup.seed, game),
          onPosition: createReporter(setup, schedule, game),
        },
        signal,
      );
      if (finished === null) return;
      finish(game, finished);
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    await Promise.all([...players.values()].map((player) => player.close()));
  }
}

function createReporter(setup: MatchPlan, schedule: Schedule, game: number): GameSetup['onPosition'] {
  const { onPosition } = setup;
  if (onPosition === undefined) return undefined;
  const { white, black } = schedule.at(game);
  const names = { game, white: setup.players[white].name, black: setup.players[black].name };
  return (state, remainingMs) => onPosition(createLivePosition(names, state, remainingMs));
}

function describeBroken({ name }: PlayerSource, fault: string): string {
  return `The match ends because ${name} has crashed in ${MOST_CRASHES} games in a row; the last time: ${fault}`;
}

function isDecided({ sprt }: MatchPlan, { pairings }: Tournament): boolean {
  return sprt !== null && computeSprt(pairings[0].distribution, sprt).verdict !== 'continue';
}

function describeGame(
  { players, event, chess960, openings }: MatchPlan,
  schedule: Schedule,
  game: number,
  { played, end }: FinishedGame,
): Omit<FinishedGameText, 'date'> {
  const { white, black, round, numberInRound } = schedule.at(game);
  return {
    event,
    round: `${round + 1}.${numberInRound + 1}`,
    white: players[white].name,
    black: players[black].name,
    timeControls: [formatLimits(players[white].limits), formatLimits(players[black].limits)],
    chess960,
    opening: openings(round),
    played,
    end,
  };
}

function formatLimits({ timeControl, movetimeMs }: PlayerLimits): string {
  if (timeControl !== null) return formatTimeControl(timeControl);
  return movetimeMs === null ? '-' : `1/${movetimeMs / 1000}`;
}
