/** What the training panel knows: the loop, read again and again, and a game of it on a board. */
import { batch, signal } from '@preact/signals';
import { parseGame } from '../../game/move-tree-text.js';
import type { LoopGameKind, LoopGames, LoopState } from '../../protocol/replies.js';
import { port, portState, reportError } from '../port/engine-state.js';
import { addNotice } from '../shell/notices.js';
import { Study } from '../study/study.js';

const POLL_MS = 2000;

export const loop = signal<LoopState | null>(null);
/** Whether the server has answered yet. */
export const hasAnswer = signal(false);

/** Which games are replayed. */
export const generation = signal(0);
export const kind = signal<LoopGameKind>('games');
/** Of the chosen generation; null until they were counted. */
export const counts = signal<LoopGames | null>(null);
/** From 0; -1 = none on the board. */
export const shownGame = signal(-1);
export const view = new Study();

export function readLoop(): void {
  if (portState.value !== 'open') return;
  port.send('readLoop', {}).answer.then((state) => {
    loop.value = state;
    hasAnswer.value = true;
  }, reportError);
}

/** The panel is shown. @returns a function that ends it */
export function watchLoop(): () => void {
  const timer = setInterval(readLoop, POLL_MS);
  return () => clearInterval(timer);
}

export function startLoop(): void {
  port.send('startLoop', {}).answer.then(readLoop, reportError);
}

export function stopLoop(): void {
  port.send('stopLoop', {}).answer.then(readLoop, reportError);
}

export function changeBest(how: 'promote' | 'rollback', network: number): void {
  addNotice('note', `Generation ${network} becomes the best one …`);
  port.send('changeBest', { kind: how, network }).answer.then((words) => {
    addNotice('note', words);
    readLoop();
  }, reportError);
}

/** Counts the games of a generation and shows the first one. */
export async function showGeneration(number: number, wanted: LoopGameKind = kind.value): Promise<void> {
  batch(() => {
    generation.value = number;
    kind.value = wanted;
    shownGame.value = -1;
    counts.value = null;
  });
  const counted = await port.send('countLoopGames', { generation: number }).answer;
  counts.value = counted;
  if (counted[wanted] > 0) await showGame(0);
}

/** @param game from 0 */
export async function showGame(game: number): Promise<void> {
  const total = counts.value?.[kind.value] ?? 0;
  if (game < 0 || game >= total) return;
  const question = { generation: generation.value, kind: kind.value, game };
  const read = parseGame(await port.send('readLoopGame', question).answer);
  if (!read.ok) throw new Error(read.error);
  batch(() => {
    shownGame.value = game;
    view.load(read.value.tree);
  });
}
