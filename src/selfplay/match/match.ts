/**
 * A match between two players: games in pairs over one opening with colours swapped, several at a time, until all are
 * played, the sequential test has decided, or the signal comes. What a game depends on (opening, colours, seeds) follows
 * from its number alone, so a resumed match plays the games it would have played.
 */
import type { Tablebases } from '../../syzygy/index.js';
import { mixSeeds, runSideBySide } from '../../util/index.js';
import type { AdjudicationRules } from '../game/adjudication.js';
import { formatTimeControl } from '../game/clock.js';
import { formatGame } from '../game/game-text.js';
import type { Opening } from '../openings/book.js';
import type { Player, PlayerLimits, PlayerSource } from '../players/player.js';
import { computeSprt, type SprtSettings } from '../statistics/sprt.js';
import { CrashWatch, MOST_CRASHES } from './crash-watch.js';
import type { LoggedGame, MatchLog } from './match-log.js';
import { type FinishedGame, playGame } from './play-game.js';
import { isFirstPlayerWhite, Standings } from './standings.js';

export interface MatchSetup {
  readonly players: readonly [PlayerSource, PlayerSource];
  /** In all, those of earlier runs included. */
  readonly games: number;
  /** The opening of the n-th pair. */
  readonly openings: (pair: number) => Opening;
  readonly chess960: boolean;
  readonly rules: AdjudicationRules;
  readonly tables: Tablebases | null;
  readonly timeMarginMs: number;
  readonly concurrency: number;
  /** Keep playing when a player crashes in every game. */
  readonly recovers: boolean;
  readonly seed: number;
  readonly sprt: SprtSettings | null;
  readonly event: string;
  readonly log: MatchLog;
  readonly signal: AbortSignal;
  onGame(game: LoggedGame, standings: Standings): void;
}

/** Throws when a player cannot be started or does nothing but crash, and the first error of a game, when all boards have ended. */
export async function runMatch(setup: MatchSetup): Promise<Standings> {
  const standings = new Standings();
  for (const { game, result, reason } of setup.log.earlier) standings.add(game, { result, reason });

  const stop = new AbortController();
  const forward = (): void => stop.abort();
  setup.signal.addEventListener('abort', forward);
  if (setup.signal.aborted) stop.abort();
  const crashes = new CrashWatch();
  let next = 0;
  const takeGame = (): number | null => {
    while (next < setup.games && standings.has(next)) next++;
    return stop.signal.aborted || next >= setup.games || isDecided(setup, standings) ? null : next++;
  };
  const finish = (game: number, finished: FinishedGame): void => {
    const row = describeGame(setup, game, finished);
    setup.log.add(row, formatGamePgn(setup, game, finished));
    standings.add(game, finished.end);
    setup.onGame(row, standings);
    const broken = crashes.add(game, finished.end);
    if (broken !== null && !setup.recovers) throw new Error(describeBroken(setup.players[broken], finished));
    if (isDecided(setup, standings)) stop.abort();
  };
  try {
    const boards = Math.max(1, Math.min(setup.concurrency, setup.games - standings.played));
    await runSideBySide(
      boards,
      () => playBoard(setup, takeGame, finish, stop.signal),
      () => stop.abort(),
    );
  } finally {
    setup.signal.removeEventListener('abort', forward);
    await Promise.all(setup.players.map((source) => source.close()));
  }
  return standings;
}

/** Plays games one after another with two players of its own. */
async function playBoard(
  setup: MatchSetup,
  takeGame: () => number | null,
  finish: (game: number, finished: FinishedGame) => void,
  signal: AbortSignal,
): Promise<void> {
  const players: Player[] = [];
  // Players that are thinking must hear of the end at once, not when their move is found.
  const closePlayers = (): void => void Promise.all(players.map((player) => player.close()));
  signal.addEventListener('abort', closePlayers);
  try {
    for (let game = takeGame(); game !== null; game = takeGame()) {
      while (players.length < 2) players.push(await setup.players[players.length].create());
      const [first, second] = players;
      const finished = await playGame(
        isFirstPlayerWhite(game) ? [first, second] : [second, first],
        {
          opening: setup.openings(game >> 1),
          chess960: setup.chess960,
          rules: setup.rules,
          tables: setup.tables,
          timeMarginMs: setup.timeMarginMs,
          seed: mixSeeds(setup.seed, game),
        },
        signal,
      );
      if (finished === null) return;
      finish(game, finished);
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    signal.removeEventListener('abort', closePlayers);
    await Promise.all(players.map((player) => player.close()));
  }
}

function describeBroken({ name }: PlayerSource, { fault }: FinishedGame): string {
  return `The match ends, for ${name} has crashed in ${MOST_CRASHES} games in a row; at last: ${fault}`;
}

function isDecided(setup: MatchSetup, standings: Standings): boolean {
  return setup.sprt !== null && computeSprt(standings.distribution, setup.sprt).verdict !== 'continue';
}

function orderByColor({ players }: MatchSetup, game: number): [white: PlayerSource, black: PlayerSource] {
  const [first, second] = players;
  return isFirstPlayerWhite(game) ? [first, second] : [second, first];
}

function describeGame(setup: MatchSetup, game: number, { played, end, fault }: FinishedGame): LoggedGame {
  const [white, black] = orderByColor(setup, game);
  const opening = setup.openings(game >> 1);
  const plies = opening.moves.length + played.length;
  return {
    game,
    white: white.name,
    black: black.name,
    opening: opening.origin,
    ...end,
    plies,
    ...(fault === '' ? {} : { fault }),
  };
}

function formatGamePgn(setup: MatchSetup, game: number, { played, end }: FinishedGame): string {
  const [white, black] = orderByColor(setup, game);
  return formatGame({
    event: setup.event,
    date: new Date().toISOString().slice(0, 10).replaceAll('-', '.'),
    round: `${(game >> 1) + 1}.${(game & 1) + 1}`,
    white: white.name,
    black: black.name,
    timeControls: [formatLimits(white.limits), formatLimits(black.limits)],
    chess960: setup.chess960,
    opening: setup.openings(game >> 1),
    played,
    end,
  });
}

function formatLimits({ timeControl, movetimeMs }: PlayerLimits): string {
  if (timeControl !== null) return formatTimeControl(timeControl);
  return movetimeMs === null ? '-' : `1/${movetimeMs / 1000}`;
}
