/** What the match panel knows: the list of matches, the one that is shown, its running games, and a game on the board. */
import { batch, effect, signal, untracked } from '@preact/signals';
import { success } from '../../../base/util/index.js';
import { parseUciMove } from '../../../chess/rules/index.js';
import { findLineEnd, getPath, MoveTree } from '../../game/move-tree.js';
import { parseTree } from '../../game/move-tree-reader.js';
import { isBlacksTurn } from '../../game/page-text.js';
import type { LiveGame, MatchEntry, MatchState } from '../../protocol/replies.js';
import { port, portState } from '../port/engine-port.js';
import { tellActivity } from '../shell/rooms.js';
import { Study } from '../study/study.js';

/** While a match is running; otherwise seldom, and not at all while nobody sees the page. */
const POLL_MS = 500;
const IDLE_POLL_MS = 5000;
const CLOCK_MS = 100;
/** Time between two moves of a game that is shown by itself. */
const MOVE_MS = 500;

export const matches = signal<readonly MatchEntry[]>([]);
/** Whether the server has told its matches yet. */
export const hasListed = signal(false);
export const shownName = signal('');
/** With all its games. */
export const shown = signal<MatchState | null>(null);
/** Number of the game on the board; -1 = none. */
export const shownMatchGame = signal(-1);
/** New games come to the board by themselves: those that are being played, otherwise the newest one, move by move. */
export const followsGames = signal(true);
export const matchStudy = new Study();
/** Number of the running game on the board; null = a finished one is, or the running ones are side by side. */
export const watchedGame = signal<number | null>(null);
/** Milliseconds since the page began, for clocks. */
const nowMs = signal(0);
/** The room of matches is shown, and asks by itself. */
let isWatched = false;
/** When `shown` came. */
let shownAtMs = 0;

effect(() => {
  const running = matches.value.filter(({ isRunning }) => isRunning).length;
  tellActivity('match', running === 0 ? '' : running === 1 ? 'Match' : `${running} matches`);
});

async function list(): Promise<void> {
  const listed = await port.send('listMatches', {}).answer;
  if (JSON.stringify(listed) !== JSON.stringify(matches.value)) matches.value = listed;
  hasListed.value = true;
}

/** Looks whether a match runs while none is shown. */
export function watchRunningMatches(): void {
  const look = (): void => {
    if (portState.value === 'open' && !isWatched && !document.hidden) void list().catch(() => undefined);
  };
  effect(() => {
    if (portState.value === 'open') untracked(look);
  });
  setInterval(() => matches.value.some(({ isRunning }) => isRunning) && look(), IDLE_POLL_MS);
}

/** @returns whether there will be news soon */
async function refresh(): Promise<boolean> {
  if (portState.value !== 'open') return false;
  await list();
  if (shownName.value === '' && matches.value.length > 0) shownName.value = matches.value[0].name;
  if (shownName.value === '') return false;
  const known = shown.value;
  const news = await port.send('readMatch', { name: shownName.value, from: known?.games.length ?? 0 }).answer;
  if (news.name !== shownName.value) return true;
  const isSame = known !== null && news.games.length === 0 && describeState(known) === describeState(news);
  const state = known === null ? news : extend(known, news);
  batch(() => {
    if (!isSame) shown.value = state;
    shownAtMs = performance.now();
    nowMs.value = shownAtMs;
  });
  if (state === null) return true;
  const last = state.games.length - 1;
  const isSeen = matchStudy.node.value.children.length === 0;
  const isLive = state.live.length > 0;
  const [only] = followsGames.value && state.live.length === 1 ? state.live : [];
  const watched = findWatched(state) ?? only;
  const wasWatched = watchedGame.value !== null;
  if (watched !== undefined) watch(watched);
  else if (followsGames.value) watchedGame.value = null;
  if (followsGames.value && !isLive && last > shownMatchGame.value && (isSeen || shownMatchGame.value === -1)) {
    await showMatchGame(last, false, wasWatched);
  }
  return state.isRunning || state.isElsewhere;
}

/** The running game that is on the board. */
export function findWatched({ live }: MatchState): LiveGame | undefined {
  return live.find(({ game }) => game === watchedGame.value);
}

/** Brings a running game to the board, or its new moves; who has stepped back stays there. */
export function watch({ game, white, black, startFen, moves }: LiveGame): void {
  const isNew = watchedGame.value !== game;
  const headers = new Map([
    ['White', white],
    ['Black', black],
  ]);
  const tree = isNew ? MoveTree.create(startFen, headers) : success(matchStudy.tree.value);
  if (!tree.ok) return;
  const known = findLineEnd(tree.value.root);
  let end = known;
  for (const uci of moves.slice(known.depth)) {
    const move = parseUciMove(tree.value.createPosition(end), uci);
    if (!move.ok) break;
    end = tree.value.add(end, move.value);
  }
  batch(() => {
    watchedGame.value = game;
    shownMatchGame.value = -1;
    if (isNew) matchStudy.load(tree.value, end);
    else if (end !== known) {
      if (matchStudy.node.value === known) matchStudy.go(end);
      matchStudy.touch();
    }
  });
}

function describeState({ games: _, course: __, ...rest }: MatchState): string {
  return JSON.stringify(rest);
}

/** @returns null when the games were counted anew, so that all have to be read again */
function extend(known: MatchState, news: MatchState): MatchState | null {
  if (news.played < known.games.length) return null;
  if (news.games.length === 0) return { ...news, games: known.games, course: known.course };
  return { ...news, games: [...known.games, ...news.games], course: [...known.course, ...news.course] };
}

/** The clock of a running game at this moment, in milliseconds; null without one. */
export function getClockMs({ fen, remainingMs, ageMs }: LiveGame, side: 0 | 1): number | null {
  const left = remainingMs[side];
  const isRunning = isBlacksTurn(fen) === (side === 1);
  return left === null || !isRunning ? left : Math.max(0, left - ageMs - (nowMs.value - shownAtMs));
}

/** @param isChosen the user wants to see this game. @param isSeen it begins at its end */
export async function showMatchGame(game: number, isChosen: boolean, isSeen = isChosen): Promise<void> {
  const pgn = await port.send('readMatchGame', { name: shownName.value, game }).answer;
  const read = parseTree(pgn);
  if (!read.ok) throw new Error(read.error);
  const { tree } = read.value;
  // Openings of a book are played in a moment; a game that is shown by itself starts behind them.
  const line = getPath(findLineEnd(tree.root));
  const start = line.findLast((node) => node.comment.startsWith('book')) ?? tree.root;
  batch(() => {
    if (isChosen) followsGames.value = false;
    watchedGame.value = null;
    shownMatchGame.value = game;
    matchStudy.load(tree, isSeen ? findLineEnd(tree.root) : start);
  });
}

export function showMatch(name: string): void {
  batch(() => {
    shownName.value = name;
    shown.value = null;
    shownMatchGame.value = -1;
    watchedGame.value = null;
    followsGames.value = true;
    matchStudy.load(new Study().tree.value);
  });
  pollNow();
}

export async function deleteMatch(name: string): Promise<void> {
  await port.send('deleteMatch', { name }).answer;
  showMatch('');
}

/** Asks the server at once: something was started, paused or chosen. */
let pollNow: () => void = () => undefined;

export function refreshSoon(): void {
  pollNow();
}

/** The panel is shown. @returns a function that ends it */
export function watchMatches(): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isEnded = false;
  isWatched = true;
  const poll = async (): Promise<void> => {
    clearTimeout(timer);
    const isLively = !document.hidden && (await refresh().catch(() => false));
    if (!isEnded && !document.hidden) timer = setTimeout(poll, isLively ? POLL_MS : IDLE_POLL_MS);
  };
  pollNow = () => void poll();
  // At once, and again when there is a connection.
  const stopWatching = effect(() => {
    void portState.value;
    untracked(pollNow);
  });
  document.addEventListener('visibilitychange', pollNow);
  const timers = [
    setInterval(() => {
      // Nobody knows how the clocks run where there is no connection.
      if (
        portState.value === 'open' &&
        shown.value?.live.some(({ remainingMs }) => remainingMs.some((ms) => ms !== null))
      ) {
        nowMs.value = performance.now();
      }
    }, CLOCK_MS),
    setInterval(() => {
      if (followsGames.value && watchedGame.value === null) matchStudy.goForward();
    }, MOVE_MS),
  ];
  return () => {
    isEnded = true;
    isWatched = false;
    stopWatching();
    document.removeEventListener('visibilitychange', pollNow);
    clearTimeout(timer);
    for (const interval of timers) clearInterval(interval);
    pollNow = () => undefined;
  };
}
