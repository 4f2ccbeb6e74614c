/**
 * The game that is being played: asks the engine for its moves, keeps the clocks, and saves the game in the browser after each
 * move, so that a page that is closed or loses its connection goes on where it was.
 */
import { batch, computed, signal } from '@preact/signals';
import type { Move } from '../../../chess/index.js';
import { createPrng, drawSeed } from '../../../util/index.js';
import { findDroppedMoves, getPromotionLetter, requireMove } from '../../game/board-moves.js';
import { type GameSettings, PlayedGame, type SavedGame } from '../../game/played-game.js';
import type { ThoughtReply } from '../../protocol/replies.js';
import type { ThinkLimits } from '../../protocol/requests.js';
import { engine, port, portState, reportError } from '../port/engine-state.js';
import { addNotice, spoken } from '../shell/notices.js';
import { readStored, writeStored } from '../shell/stored.js';
import { Study } from '../study/study.js';

const MOST_SAVED = 100;
const HINT_MS = 700;
/** The engine takes a draw when it expects no more points than this, and only after the opening. */
const DRAW_POINTS = 0.5;
const FIRST_DRAW_PLY = 40;
const CLOCK_TICK_MS = 100;

export const prng = createPrng(drawSeed());

/** Null before the first game. The game is changed in place; `view.version` counts its changes. */
export const game = signal<PlayedGame | null>(null);
/** What the board shows: the last position, or an earlier one that the user looks at. */
export const view = new Study();
export const isThinking = signal(false);
/** UCI move; '' = none. */
export const hint = signal('');
/** Finished games as PGN, newest first. */
export const archive = signal<readonly string[]>(readArchive());
export const now = signal(Date.now());

/** What the engine thought of its position when it last moved; from 0 to 1. */
let engineExpects = 1;
/** Counts what makes a running search pointless: takebacks, new games, ends. */
let moment = 0;

export const isAtEnd = computed(() => {
  void view.version.value;
  return view.node.value === game.value?.end;
});

function readArchive(): string[] {
  const stored = readStored('archive');
  return Array.isArray(stored) ? stored.filter((text): text is string => typeof text === 'string') : [];
}

export function startGame(settings: GameSettings): void {
  const created = PlayedGame.create(settings, new Date());
  if (!created.ok) {
    addNotice('error', created.error);
    return;
  }
  begin(created.value);
}

/** The game that was not finished when the page was closed. */
export function restoreGame(): void {
  const saved = readStored('game') as SavedGame | null;
  if (saved === null || game.value !== null) return;
  const restored = PlayedGame.restore(saved);
  if (restored.ok) begin(restored.value);
}

function begin(next: PlayedGame): void {
  moment++;
  engineExpects = 1;
  batch(() => {
    game.value = next;
    hint.value = '';
    view.orientation.value = next.settings.user;
    view.load(next.tree, next.end);
  });
  next.startClock(Date.now());
  follow();
}

/** After each change: shows it, saves it, and lets the engine think when it is its turn. */
function follow(): void {
  const current = game.value;
  if (current === null) return;
  batch(() => {
    hint.value = '';
    view.touch();
    view.go(current.end);
    now.value = Date.now();
  });
  writeStored('game', current.save());
  if (current.result !== null) keepFinished(current);
  else if (!current.isUserTurn) askEngine(current);
}

function keepFinished(finished: PlayedGame): void {
  moment++;
  isThinking.value = false;
  writeStored('game', null);
  archive.value = [finished.formatPgn(engine.value?.name ?? 'Engine'), ...archive.value].slice(0, MOST_SAVED);
  writeStored('archive', archive.value);
}

function askEngine(current: PlayedGame): void {
  const asked = ++moment;
  isThinking.value = true;
  const { elo } = current.settings;
  const position = view.describePosition(current.end);
  port.send('think', { position, limits: createLimits(current), multiPv: 1, elo }).answer.then(
    (thought) => {
      if (asked === moment) playEngineMove(current, thought);
    },
    (error: unknown) => {
      if (asked !== moment) return;
      isThinking.value = false;
      // With the next connection it is asked again.
      if (portState.value === 'open') reportError(error);
    },
  );
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
  const [win, draw] = state.lines[0]?.wdl ?? [1000, 0, 0];
  engineExpects = (win + draw / 2) / 1000;
  current.play(requireMove(current.position, best), Date.now());
  follow();
  spoken.value = `The engine plays ${current.end.san}`;
}

export function playUserMove(move: Move): void {
  view.promotion.value = null;
  game.value?.play(move, Date.now());
  follow();
}

/** @param isPremove a pawn then becomes a queen without a question */
export function playUserDrop(from: string, to: string, isPremove: boolean): void {
  const current = game.value;
  if (current === null || !current.isUserTurn) return;
  const moves = findDroppedMoves(current.position, from, to, current.tree.isChess960);
  const queen = moves.find((move) => getPromotionLetter(move) === 'q');
  if (moves.length === 0) view.refusals.value++;
  else if (moves.length === 1) playUserMove(moves[0]);
  else if (isPremove && queen !== undefined) playUserMove(queen);
  else view.promotion.value = moves;
}

export function takeBack(): void {
  moment++;
  stopThinking();
  game.value?.takeBack(Date.now());
  follow();
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
  const asked = moment;
  const limits = { moveTimeMs: HINT_MS };
  port
    .send('think', { position: view.describePosition(current.end), limits, multiPv: 1, elo: null })
    .answer.then(({ best }) => {
      if (asked === moment && best !== null) hint.value = best;
    }, reportError);
}

export function moveNow(): void {
  port.send('hurry', {}).answer.catch(reportError);
}

function stopThinking(): void {
  if (isThinking.value) moveNow();
  isThinking.value = false;
}

/** The panel is shown. @returns a function that ends it */
export function watchGame(): () => void {
  restoreGame();
  const timer = setInterval(() => {
    const current = game.value;
    if (current === null || current.settings.clock === null || current.result !== null) return;
    now.value = Date.now();
    current.checkClock(now.value);
    // checkClock may have ended it.
    if ((current as PlayedGame).result !== null) {
      stopThinking();
      follow();
    }
  }, CLOCK_TICK_MS);
  let wasLost = false;
  const endWatch = port.watchState((state) => {
    if (state === 'open' && wasLost && game.value?.result === null && !game.value.isUserTurn) askEngine(game.value);
    wasLost = state === 'lost';
  });
  return () => {
    clearInterval(timer);
    endWatch();
  };
}
