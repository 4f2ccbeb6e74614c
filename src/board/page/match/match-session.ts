/** What the match panel knows: the list of matches, the one that is shown, and its last game on the board. */
import { batch, signal } from '@preact/signals';
import { findLineEnd, getPath } from '../../game/move-tree.js';
import { parseGames } from '../../game/move-tree-text.js';
import type { MatchEntry, MatchState } from '../../protocol/replies.js';
import { port, portState, reportError } from '../port/engine-state.js';
import { Study } from '../study/study.js';

const POLL_MS = 1000;
/** Time between two moves of a game that is shown by itself. */
const MOVE_MS = 500;

export const matches = signal<readonly MatchEntry[]>([]);
export const shownName = signal('');
export const shown = signal<MatchState | null>(null);
/** Number of the game on the board; -1 = none. */
export const shownGame = signal(-1);
/** The newest game comes to the board by itself, move by move. */
export const followsGames = signal(true);
export const view = new Study();

export async function refresh(): Promise<void> {
  if (portState.value !== 'open') return;
  matches.value = await port.send('listMatches', {}).answer;
  if (shownName.value === '' && matches.value.length > 0) shownName.value = matches.value[0].name;
  if (shownName.value === '') return;
  const state = await port.send('readMatch', { name: shownName.value }).answer;
  if (state.name !== shownName.value) return;
  shown.value = state;
  const last = state.games.length - 1;
  const isSeen = view.node.value.children.length === 0;
  if (followsGames.value && last > shownGame.value && (isSeen || shownGame.value === -1)) await showGame(last, false);
}

/** @param isChosen the user wants to see this game, from its end */
export async function showGame(game: number, isChosen: boolean): Promise<void> {
  const pgn = await port.send('readMatchGame', { name: shownName.value, game }).answer;
  const games = parseGames(pgn);
  if (!games.ok) throw new Error(games.error);
  const { tree } = games.value[0];
  // Openings of a book are played in a moment; a game that is shown by itself starts behind them.
  const line = getPath(findLineEnd(tree.root));
  const start = line.findLast((node) => node.comment.startsWith('book')) ?? tree.root;
  batch(() => {
    if (isChosen) followsGames.value = false;
    shownGame.value = game;
    view.load(tree, isChosen ? findLineEnd(tree.root) : start);
  });
}

export function showMatch(name: string): void {
  batch(() => {
    shownName.value = name;
    shown.value = null;
    shownGame.value = -1;
    followsGames.value = true;
  });
  void refresh().catch(reportError);
}

/** The panel is shown. @returns a function that ends it */
export function watchMatches(): () => void {
  let isBusy = false;
  const poll = (): void => {
    if (isBusy) return;
    isBusy = true;
    refresh()
      .catch(() => undefined)
      .finally(() => {
        isBusy = false;
      });
  };
  poll();
  const polls = setInterval(poll, POLL_MS);
  const moves = setInterval(() => {
    if (followsGames.value) view.goForward();
  }, MOVE_MS);
  return () => {
    clearInterval(polls);
    clearInterval(moves);
  };
}
