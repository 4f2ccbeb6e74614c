/**
 * The game that is being played: asks the engine for its moves, keeps the clocks, and saves the game in the browser after each
 * move, so that a page that is closed or loses its connection goes on where it was.
 */
import { batch, computed, effect, signal } from '@preact/signals';
import { createPrng, drawSeed } from '../../../base/util/index.js';
import type { Move } from '../../../chess/rules/index.js';
import { findDroppedMoves, getPromotionLetter, requireMove } from '../../game/board-moves.js';
import { formatClock, getExpectedPoints, splitPoints } from '../../game/page-text.js';
import {
  describeResult,
  type GameSettings,
  mergeArchives,
  PlayedGame,
  type PlayerSide,
} from '../../game/played-game.js';
import type { ThoughtReply } from '../../protocol/replies.js';
import type { ThinkLimits } from '../../protocol/requests.js';
import type { PlayerNote } from '../board/board-panel.js';
import { engine, port, portState, reportError } from '../port/engine-port.js';
import { addNotice, markUnsaved, spoken } from '../shell/notices.js';
import { mode, room, tellActivity } from '../shell/rooms.js';
import { askToPersist, readStored, watchStored, writeStored } from '../shell/stored.js';
import { sharePlayed } from '../study/analysis-store.js';
import { Study } from '../study/study.js';

const MOST_SAVED = 100;
const HINT_MS = 700;
/** The engine takes a draw when it expects no more points than this, and only after the opening. */
const DRAW_POINTS = 0.5;
const FIRST_DRAW_PLY = 40;
const CLOCK_TICK_MS = 100;
const RETRY_MS = 1000;
const LOW_MS = 10_000;
/** Of the tab that asks the engine for its move in the game. */
const LOCK = 'sardonyx.game';

export const prng = createPrng(drawSeed());

/** Null before the first game. The game is changed in place; `gameStudy.version` counts its changes. */
export const game = signal<PlayedGame | null>(null);
/** What the board shows: the last position, or an earlier one that the user looks at. */
export const gameStudy = new Study();
export const isThinking = signal(false);
/** The form for a new game is shown beside the one before. */
export const wantsNewGame = signal(false);
/** UCI move; '' = none. */
export const hint = signal('');
/** Finished games as PGN, newest first. */
export const archive = signal<readonly string[]>(readArchive());
export const nowMs = signal(Date.now());

/** The last change was a move of the engine: only then a premove is played. */
let isAfterEngine = false;
/** What the engine thought of its position when it last moved; from 0 to 1. */
let engineExpects = 1;
/** Counts what makes a running search pointless: takebacks, new games, ends. */
let moment = 0;
/** Number of the running question about the engine's move. */
let asked = 0;

export const isAtEnd = computed(() => {
  void gameStudy.version.value;
  return gameStudy.node.value === game.value?.end;
});

export function describePlayer(current: PlayedGame | null, side: PlayerSide): PlayerNote {
  if (current === null) return { name: '' };
  const { user, elo, clock } = current.settings;
  const isUser = side === user;
  const remainingMs = current.getRemainingMs(side, nowMs.value);
  const { result } = current;
  const [whites, blacks] = splitPoints(result?.score);
  return {
    name: isUser ? 'You' : `${engine.value?.name ?? 'Engine'}${elo === null ? '' : `, level ${elo}`}`,
    remark: !isUser && isThinking.value ? 'thinks …' : '',
    clock: clock === null ? '' : formatClock(remainingMs),
    isLow: remainingMs < LOW_MS,
    isRunning: result === null && current.turn === side,
    points: side === 'white' ? whites : blacks,
  };
}

function readArchive(): string[] {
  const stored = readStored('archive');
  return Array.isArray(stored) ? stored.filter((text): text is string => typeof text === 'string') : [];
}

/** What all tabs have kept, and what there was no room for. */
function gatherArchive(): string[] {
  return mergeArchives(readArchive(), archive.value);
}

/** @returns why not; '' = it has begun */
export function startGame(settings: GameSettings): string {
  const created = PlayedGame.create(settings, new Date());
  if (!created.ok) return created.error;
  begin(created.value);
  return '';
}

/** The game that was not finished when the page was closed. */
export function restoreGame(): void {
  const saved = readStored('game');
  if (saved === null || game.value !== null) return;
  const restored = PlayedGame.restore(saved);
  if (restored.ok) begin(restored.value);
}

// Another tab has moved, or ended the game: this one shows it. The engine's move is asked for when the other tab has done so, or is
// gone.
watchStored('game', (saved) => {
  const current = game.value;
  const restored = saved === null ? null : PlayedGame.restore(saved);
  if (restored !== null && !restored.ok) return;
  if (current === null ? restored === null : current.result !== null && restored === null) return;
  stopThinking();
  show(restored?.value ?? null);
  if (restored === null) addNotice('note', 'Another tab has ended the game: it is among the finished games');
  else if (!restored.value.isUserTurn) setTimeout(askLater, RETRY_MS, restored.value, moment);
});
watchStored('archive', () => {
  archive.value = gatherArchive();
});

function begin(next: PlayedGame): void {
  engineExpects = 1;
  show(next);
  follow();
}

/** Brings a game to the board, or none. */
function show(next: PlayedGame | null): void {
  moment++;
  isAfterEngine = false;
  batch(() => {
    game.value = next;
    hint.value = '';
    gameStudy.promotion.value = null;
    if (next !== null) gameStudy.orientation.value = next.settings.user;
    gameStudy.load(next?.tree ?? new Study().tree.peek(), next?.end);
  });
  next?.startClock(Date.now());
}

/** After each change: shows it, saves it, and lets the engine think when it is its turn. */
function follow(): void {
  const current = game.value;
  if (current === null) return;
  batch(() => {
    hint.value = '';
    gameStudy.touch();
    gameStudy.go(current.end);
    nowMs.value = Date.now();
  });
  if (current.result !== null) {
    keepFinished(current);
    return;
  }
  keep('game', current.save());
  if (!current.isUserTurn) askEngine(current);
}

function keepFinished(finished: PlayedGame): void {
  moment++;
  isThinking.value = false;
  gameStudy.promotion.value = null;
  // What other tabs have kept meanwhile is kept, too.
  const pgn = finished.formatPgn(engine.value?.name ?? 'Engine');
  archive.value = mergeArchives([pgn], gatherArchive()).slice(0, MOST_SAVED);
  keep('archive', archive.value);
  shareArchive();
  writeStored('game', null);
  markUnsaved('game');
  if (finished.result !== null && (room.value !== 'board' || mode.value !== 'play')) {
    addNotice('note', describeResult(finished.result, finished.settings.user));
  }
}

function keep(name: 'game' | 'archive', value: unknown): void {
  const isKept = writeStored(name, value);
  markUnsaved(name, isKept ? '' : 'The browser has no room to keep this game');
  if (isKept && !port.hasServer) askToPersist();
}

/** Games of this browser and of the server become the same. */
function shareArchive(): void {
  const merge = (kept: readonly string[]): readonly string[] => {
    const games = mergeArchives(archive.value, kept).slice(0, MOST_SAVED);
    if (games.length > archive.value.length) archive.value = games;
    if (games.length > readArchive().length) writeStored('archive', games);
    return games;
  };
  void sharePlayed(merge).then((isKept) => isKept && markUnsaved('archive'));
}

/** While the engine cannot be reached its clock stands still; with the next connection it is asked. */
function askEngine(current: PlayedGame): void {
  const own = ++moment;
  if (portState.value !== 'open') {
    isThinking.value = false;
    current.pauseClock(Date.now());
    return;
  }
  const { elo } = current.settings;
  const position = current.tree.describePosition(current.end);
  const ask = async (): Promise<void> => {
    if (own !== moment) return;
    isThinking.value = true;
    const { id, answer } = port.send('think', { position, limits: createLimits(current), multiPv: 1, elo });
    asked = id;
    const leastMs = current.getLeastThinkingMs(Date.now());
    try {
      const [thought] = await Promise.all([answer, new Promise((resolve) => setTimeout(resolve, leastMs))]);
      if (own === moment) playEngineMove(current, thought);
    } catch (error) {
      if (own !== moment) return;
      isThinking.value = false;
      if (portState.value !== 'open') return;
      reportError(error);
      setTimeout(askLater, RETRY_MS, current, own);
    }
  };
  if (navigator.locks === undefined) void ask();
  // A browser that keeps nothing refuses locks, too.
  else navigator.locks.request(LOCK, ask).catch(ask);
}

/** Unless something has happened since. */
function askLater(current: PlayedGame, then: number): void {
  if (then === moment) askEngine(current);
}

function createLimits(current: PlayedGame): ThinkLimits {
  const { clock, thinkMs } = current.settings;
  if (clock === null) return { moveTimeMs: thinkMs };
  const at = Date.now();
  return {
    whiteTimeMs: Math.round(current.getRemainingMs('white', at)),
    blackTimeMs: Math.round(current.getRemainingMs('black', at)),
    whiteIncrementMs: clock.incrementMs,
    blackIncrementMs: clock.incrementMs,
  };
}

function playEngineMove(current: PlayedGame, { best, state }: ThoughtReply): void {
  isThinking.value = false;
  if (best === null) return;
  engineExpects = getExpectedPoints(state.lines[0]?.wdl ?? { win: 1000, draw: 0, loss: 0 });
  current.play(requireMove(current.position, best), Date.now());
  isAfterEngine = true;
  follow();
  spoken.value = `The engine plays ${current.end.san}`;
}

export function playUserMove(move: Move): void {
  gameStudy.promotion.value = null;
  // The clock may have ended the game meanwhile.
  if (game.value === null || game.value.result !== null) return;
  game.value.play(move, Date.now());
  isAfterEngine = false;
  follow();
}

/** Plays what the user moved in advance, or forgets it: after a takeback it would be a move nobody wants. */
export function settlePremove(board: { playPremove(): boolean; cancelPremove(): void }): void {
  if (isAfterEngine && game.value?.isUserTurn === true && isAtEnd.value) board.playPremove();
  else if (!isAfterEngine) board.cancelPremove();
}

/** @param isPremove a pawn then becomes a queen without a question */
export function playUserDrop(from: string, to: string, isPremove: boolean): void {
  const current = game.value;
  if (current === null || !current.isUserTurn) return;
  const moves = findDroppedMoves(current.position, from, to, current.tree.isChess960);
  const queen = moves.find((move) => getPromotionLetter(move) === 'q');
  if (moves.length === 0) gameStudy.refusals.value++;
  else if (moves.length === 1) playUserMove(moves[0]);
  else if (isPremove && queen !== undefined) playUserMove(queen);
  else gameStudy.promotion.value = moves;
}

export function takeBack(): void {
  const current = game.value;
  if (current === null || !current.canTakeBack) return;
  moment++;
  stopThinking();
  current.takeBack(Date.now());
  isAfterEngine = false;
  follow();
}

/** Ends a game that has hardly begun, without a result. */
export function abort(): void {
  stopThinking();
  writeStored('game', null);
  show(null);
}

/** The same game once more, with the other colour. */
export function rematch(): void {
  const current = game.value;
  if (current === null) return;
  const { user } = current.settings;
  startGame({ ...current.settings, user: user === 'white' ? 'black' : 'white' });
}

export function resign(): void {
  const current = game.value;
  if (current === null) return;
  stopThinking();
  current.resign(current.settings.user);
  follow();
}

export function offerDraw(): void {
  const current = game.value;
  if (current === null || current.result !== null) return;
  if (current.end.depth >= FIRST_DRAW_PLY && engineExpects <= DRAW_POINTS) {
    stopThinking();
    current.agreeToDraw();
    follow();
  } else addNotice('note', 'The engine plays on');
}

export function askForHint(): void {
  const current = game.value;
  if (current === null || !current.isUserTurn) return;
  const own = moment;
  const limits = { moveTimeMs: HINT_MS };
  port
    .send('think', { position: current.tree.describePosition(current.end), limits, multiPv: 1, elo: null })
    .answer.then(({ best }) => {
      if (own === moment && best !== null) hint.value = best;
    }, reportError);
}

export function moveNow(): void {
  if (isThinking.value) port.send('hurry', { think: asked }).answer.catch(reportError);
}

function stopThinking(): void {
  moveNow();
  isThinking.value = false;
}

effect(() => {
  void gameStudy.version.value;
  const isRunning = game.value !== null && game.value.result === null;
  if (isRunning) wantsNewGame.value = false;
  tellActivity('play', isRunning ? `Game: ${game.value?.isUserTurn ? 'your move' : 'the engine’s move'}` : '');
});

/** Looks at the clocks, whichever panel is shown. */
effect(() => {
  void gameStudy.version.value;
  const current = game.value;
  if (current === null || current.settings.clock === null || current.result !== null) return undefined;
  const timer = setInterval(() => {
    nowMs.value = Date.now();
    current.checkClock(nowMs.value);
    if (current.result === null) return;
    stopThinking();
    follow();
  }, CLOCK_TICK_MS);
  return () => clearInterval(timer);
});

port.watchState((state) => {
  if (state === 'open') shareArchive();
  const current = game.value;
  if (current === null || current.result !== null || current.isUserTurn) return;
  if (state === 'open') current.startClock(Date.now());
  askEngine(current);
});
