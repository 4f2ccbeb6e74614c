/**
 * Plays a match of two or more players: pairs of games with one opening and swapped colours, several at a time, until all are
 * played, the sequential test has decided, or the signal comes. Players, opening, colours and seeds of a game follow from its
 * number alone, so a resumed match plays the same games. Also plays a single game, and shows it as it stands.
 */

import { mixSeeds, runSideBySide } from '../../base/util/index.js';
import { formatFen, formatUciMove } from '../../chess/rules/index.js';
import type { Tablebases } from '../../chess/syzygy/index.js';
import { decodeMate } from '../engines/index.js';
import type { Opening } from '../openings/index.js';
import {
  type AdjudicationRules,
  adjudicate,
  Clock,
  createWin,
  findTablebaseEnd,
  formatGame,
  formatTimeControl,
  Game,
  type GameEnd,
  type PlayedMove,
  type Player,
  PlayerFault,
  type PlayerLimits,
  type PlayerSource,
} from '../play/index.js';
import { computeSprt, type SprtSettings } from '../statistics/index.js';
import type { LoggedGame, MatchLog } from './match-log.js';
import { Schedule, type TournamentKind } from './schedule.js';
import { CrashWatch, MOST_CRASHES, Tournament } from './tournament.js';

// A game of a match as it stands, for those who watch.

export interface LivePosition {
  /** Its number in the schedule. */
  readonly game: number;
  readonly white: string;
  readonly black: string;
  readonly fen: string;
  /** From the start of the opening. */
  readonly plies: number;
  /** UCI, castling king takes rook; null before the first one. */
  readonly lastMove: string | null;
  /** What the mover thought of its last move, from White's view; null when it did not say. */
  readonly score: { readonly kind: 'cp' | 'mate'; readonly value: number } | null;
  readonly depth: number;
  readonly nodes: number;
  /** Null without a clock. */
  readonly remainingMs: readonly [white: number | null, black: number | null];
}

export function createLivePosition(
  names: Pick<LivePosition, 'game' | 'white' | 'black'>,
  { position, opening, played }: Game,
  remainingMs: LivePosition['remainingMs'],
): LivePosition {
  const last = played.at(-1);
  const move = last?.move ?? opening.moves.at(-1);
  // The last mover is the one who does not move now.
  const sign = position.sideToMove === 0 ? -1 : 1;
  return {
    ...names,
    fen: formatFen(position),
    plies: opening.moves.length + played.length,
    lastMove: move === undefined ? null : formatUciMove(move, true),
    score: last?.score == null ? null : createScore(sign * last.score),
    depth: last?.depth ?? 0,
    nodes: last?.nodes ?? 0,
    remainingMs: [roundUp(remainingMs[0]), roundUp(remainingMs[1])],
  };
}

/** @param coded as encodeScore makes it */
function createScore(coded: number): LivePosition['score'] {
  const mate = decodeMate(coded);
  return mate === null ? { kind: 'cp', value: coded } : { kind: 'mate', value: mate };
}

function roundUp(ms: number | null): number | null {
  return ms === null ? null : Math.ceil(ms);
}

// One game of a match from its opening to its end.

export interface GameSetup {
  readonly opening: Opening;
  readonly chess960: boolean;
  readonly rules: AdjudicationRules;
  /** Tablebases that end the game when they have its position; null = none. */
  readonly tables: Tablebases | null;
  /** Milliseconds by which a player may exceed the clock. */
  readonly timeMarginMs: number;
  readonly seed: number;
  /** Called before the first move after the opening and after each move. @param remainingMs null without a clock */
  readonly onPosition?:
    | ((game: Game, remainingMs: readonly [white: number | null, black: number | null]) => void)
    | undefined;
}

export interface FinishedGame {
  readonly played: readonly PlayedMove[];
  readonly end: GameEnd;
  /** If the game was lost by a crash, on time or by an illegal move, one sentence about it; else empty. */
  readonly fault: string;
}

/** @returns null if the signal came before the end */
export async function playGame(
  players: readonly [white: Player, black: Player],
  setup: GameSetup,
  signal: AbortSignal,
): Promise<FinishedGame | null> {
  const game = new Game(setup.opening, setup.chess960);
  const bookPlies = setup.opening.moves.length;
  const startPly = game.position.gamePly - bookPlies;
  const clocks = players.map(({ limits }) => (limits.timeControl === null ? null : new Clock(limits.timeControl)));
  const getRemainingMs = (): [number | null, number | null] => [
    clocks[0]?.remainingMs ?? null,
    clocks[1]?.remainingMs ?? null,
  ];
  const starts = await Promise.allSettled(players.map((player, color) => player.startGame(2 * setup.seed + color)));
  for (const [color, start] of starts.entries()) {
    if (start.status === 'fulfilled') continue;
    return signal.aborted ? null : forfeit(game, color, start.reason);
  }

  for (;;) {
    setup.onPosition?.(game, getRemainingMs());
    const end =
      game.getEnd() ??
      findTablebaseEnd(setup.tables, game.position) ??
      adjudicate(setup.rules, game.played, bookPlies, startPly);
    if (end !== null) return { played: game.played, end, fault: '' };
    if (signal.aborted) return null;
    const mover = game.position.sideToMove;
    const startedAt = performance.now();
    try {
      const thought = await players[mover].think(game, {
        remainingMs: getRemainingMs(),
        incrementMs: [clocks[0]?.control.incrementMs ?? 0, clocks[1]?.control.incrementMs ?? 0],
        movesToGo: clocks[mover]?.movesToGo ?? null,
      });
      const timeMs = thought.timeMs ?? performance.now() - startedAt;
      if (clocks[mover]?.press(timeMs, setup.timeMarginMs) === false) {
        throw new PlayerFault('time', `${players[mover].name} used ${Math.round(timeMs)} ms and lost on time`);
      }
      game.play({ ...thought, timeMs });
    } catch (error) {
      if (signal.aborted) return null;
      return forfeit(game, mover, error);
    }
  }
}

/** Throws errors that are not the player's fault. */
function forfeit(game: Game, loser: number, error: unknown): FinishedGame {
  if (!(error instanceof PlayerFault)) throw error;
  return { played: game.played, end: createWin(loser === 0 ? 1 : 0, error.reason), fault: error.message };
}

export interface MatchPlan {
  readonly players: readonly PlayerSource[];
  readonly tournament: TournamentKind;
  /** Of each pairing, those of earlier runs included. */
  readonly games: number;
  readonly openings: (round: number) => Opening;
  readonly chess960: boolean;
  readonly rules: AdjudicationRules;
  readonly tables: Tablebases | null;
  readonly timeMarginMs: number;
  readonly concurrency: number;
  /** Keep playing when a player crashes in every game. */
  readonly recovers: boolean;
  readonly seed: number;
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
  const forward = (): void => stop.abort();
  setup.signal.addEventListener('abort', forward);
  if (setup.signal.aborted) stop.abort();
  // One listener for all boards: players are closed at once, also in the middle of a search.
  const playing = new Set<Player>();
  const closePlayers = (): void => void Promise.all([...playing].map((player) => player.close()));
  stop.signal.addEventListener('abort', closePlayers);
  const crashes = new CrashWatch();
  let next = 0;
  const takeGame = (): number | null => {
    if (stop.signal.aborted || isDecided(setup, tournament)) return null;
    for (let game = schedule.findNext(next); game !== null; game = schedule.findNext(game + 1)) {
      next = game + 1;
      if (!tournament.has(game)) return game;
    }
    return null;
  };
  const finish = (game: number, finished: FinishedGame): void => {
    const { white, black } = schedule.at(game);
    const row = describeGame(setup, schedule, game, finished);
    setup.log.add(row, formatGamePgn(setup, schedule, game, finished));
    tournament.add(game, finished.end);
    setup.onGame(row, tournament);
    const { reason, result } = finished.end;
    const broken = crashes.add([white, black], reason === 'crash' ? (result === '0-1' ? white : black) : null);
    if (broken !== null && !setup.recovers) throw new Error(describeBroken(setup.players[broken], finished));
    if (isDecided(setup, tournament)) stop.abort();
  };
  try {
    const boards = Math.max(1, Math.min(setup.concurrency, schedule.totalGames - tournament.played));
    await runSideBySide(
      boards,
      () => playBoard(setup, schedule, takeGame, finish, playing, stop.signal),
      () => stop.abort(),
    );
  } finally {
    setup.signal.removeEventListener('abort', forward);
    await Promise.all(setup.players.map((source) => source.close()));
  }
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
          opening: setup.openings(round),
          chess960: setup.chess960,
          rules: setup.rules,
          tables: setup.tables,
          timeMarginMs: setup.timeMarginMs,
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

function describeBroken({ name }: PlayerSource, { fault }: FinishedGame): string {
  return `The match ends because ${name} has crashed in ${MOST_CRASHES} games in a row; the last time: ${fault}`;
}

function isDecided({ sprt }: MatchPlan, { pairings }: Tournament): boolean {
  return sprt !== null && computeSprt(pairings[0].distribution, sprt).verdict !== 'continue';
}

function describeGame(
  { players, openings }: MatchPlan,
  schedule: Schedule,
  game: number,
  { played, end, fault }: FinishedGame,
): LoggedGame {
  const { white, black, round } = schedule.at(game);
  const opening = openings(round);
  const plies = opening.moves.length + played.length;
  return {
    game,
    white: players[white].name,
    black: players[black].name,
    opening: opening.origin,
    ...end,
    plies,
    ...(fault === '' ? {} : { fault }),
  };
}

function formatGamePgn(setup: MatchPlan, schedule: Schedule, game: number, { played, end }: FinishedGame): string {
  const { white, black, round, numberInRound } = schedule.at(game);
  const { players, event, chess960 } = setup;
  return formatGame({
    event,
    date: new Date().toISOString().slice(0, 10).replaceAll('-', '.'),
    round: `${round + 1}.${numberInRound + 1}`,
    white: players[white].name,
    black: players[black].name,
    timeControls: [formatLimits(players[white].limits), formatLimits(players[black].limits)],
    chess960,
    opening: setup.openings(round),
    played,
    end,
  });
}

function formatLimits({ timeControl, movetimeMs }: PlayerLimits): string {
  if (timeControl !== null) return formatTimeControl(timeControl);
  return movetimeMs === null ? '-' : `1/${movetimeMs / 1000}`;
}
