/**
 * Reviews of games: of the one on the board, or of all of its file, one position after the other. What a review finds lies beside
 * the moves (`judgement` of a node) until the user writes it into the game. A review gives way to live analysis and to a game
 * against the engine, and goes on after a reload where it was.
 */
import { batch, computed, effect, signal, untracked } from '@preact/signals';
import { describeJudgement, GameReview, type Mistake } from '../../game/game-review.js';
import { listJudgements, type MoveTree, restoreJudgements } from '../../game/move-tree.js';
import { getWhitePoints, isBlacksTurn } from '../../game/page-text.js';
import { isFollowing, isOn } from '../analyse/live-analysis.js';
import { gameStudy, game as playedGame } from '../play/play-session.js';
import { engine, port, portState, reportError } from '../port/engine-port.js';
import { addNotice } from '../shell/notices.js';
import { storedSignal } from '../shell/stored.js';
import { chapterIndex, pendingReview, readChapterTree, setJudgements } from '../study/open-analysis.js';
import { study } from '../study/study.js';

/** Nodes for each position. */
export const nodes = storedSignal('review.nodes', 400);
/** Whether the list of moves shows what the review says. */
export const isShown = storedSignal('review.shown', true);

/** What is known of the game on the board; null before its first review. */
export const review = computed(() => {
  void study.version.value;
  const known = new GameReview(study.tree.value);
  return known.isBegun ? known : null;
});

/** Of the position on the board, from White's view. */
export const judged = computed(() => {
  void review.value;
  const { judgement, fen } = study.node.value;
  if (judgement === null) return null;
  const white = Math.round(1000 * getWhitePoints(judgement, isBlacksTurn(fen)));
  return { text: describeJudgement(study.node.value), wdl: { win: white, draw: 0, loss: 1000 - white } };
});

/** The bad moves that the user learns from; none = they are not asked. */
export const mistakes = signal<readonly Mistake[]>([]);

// They are mistakes of the game that was on the board.
effect(() => {
  void study.tree.value;
  mistakes.value = [];
});

/** Positions of the game under review that are done, and all of them. */
export const progress = signal<readonly [done: number, total: number]>([0, 0]);

/** Why the review waits, in words; '' = it does not. */
export const waitsFor = computed(() => {
  if (pendingReview.value?.isPaused) return 'Paused';
  if (portState.value !== 'open') return 'Waits for the engine';
  if (isOn.value && isFollowing.value) return 'Waits: the engine analyses the board';
  // The game is changed in place.
  void gameStudy.version.value;
  return playedGame.value?.result === null ? 'Waits: a game against the engine is not over' : '';
});

/** How often what was found is kept, of a game that is not on the board too. */
const KEEP_MS = 2000;

/** The list of games under review, and of its first game the positions that are done; its tree, while another one is on the board. */
let state: { readonly games: readonly number[]; at: number; tree: MoveTree | null } = { games: [], at: 0, tree: null };
let keptMs = 0;
let isWorking = false;
/** Number of the question under way. */
let asked = -1;

/** The live engine gives way. @param games of the file, by number; those without moves are skipped */
export function startReview(games: readonly number[] = [chapterIndex.value]): void {
  if (games.length === 1 && study.tree.value.root.children.length === 0) {
    study.remark('There is no game to review');
    return;
  }
  isShown.value = true;
  isOn.value = false;
  progress.value = [0, 1];
  pendingReview.value = { games, at: 0, nodes: nodes.value, isPaused: false };
}

/** What has been found so far stays. */
export function stopReview(): void {
  keep();
  pendingReview.value = null;
  if (asked !== -1) port.send('hurry', { think: asked }).answer.catch(reportError);
}

export function pauseReview(): void {
  const { value: pending } = pendingReview;
  if (pending === null) return;
  if (pending.isPaused) isOn.value = false;
  pendingReview.value = { ...pending, isPaused: !pending.isPaused };
}

/** After the last bad move it goes on from the start. */
export function goToNextMistake(): void {
  const { value: known } = review;
  const bad = known?.nodes.filter((node) => known.getNag(node) !== 0) ?? [];
  const next = bad.find(({ depth }) => depth > study.node.value.depth) ?? bad[0];
  if (next !== undefined) study.go(next);
}

/** Takes the review away, or into the game: one change that can be taken back. */
export function endReview(known: GameReview, isWritten: boolean): void {
  const change = study.edit(`Review ${isWritten ? 'written into the game' : 'discarded'}`, known.nodes, () => {
    if (isWritten) known.annotate();
    else for (const node of known.nodes) node.judgement = null;
  });
  addNotice('note', change.words, { label: 'Undo', run: () => void study.undo(change) });
}

/** From now on a review that is pending goes on. */
export function startReviews(): void {
  effect(() => {
    if (pendingReview.value !== null && waitsFor.value === '') untracked(() => void work());
  });
}

async function work(): Promise<void> {
  if (isWorking) return;
  isWorking = true;
  for (let isGoingOn = true; isGoingOn && waitsFor.peek() === ''; ) {
    isGoingOn = await judgeNext().catch((error: unknown) => {
      // Without a connection it waits for the next one.
      if (portState.peek() === 'open') {
        reportError(error);
        pauseReview();
      }
      return false;
    });
  }
  isWorking = false;
}

/** @returns false when nothing is left to do */
async function judgeNext(): Promise<boolean> {
  const pending = pendingReview.peek();
  if (pending === null) return false;
  const { games } = pending;
  if (state.games !== games) state = { games, at: pending.at, tree: null };
  const own = state;
  const tree = findTree(own);
  const line = tree === null ? [] : new GameReview(tree).nodes;
  const { at } = own;
  if (tree === null || line.length < 2 || at >= line.length) {
    keep();
    pendingReview.value = games.length < 2 ? null : { ...pending, games: games.slice(1), at: 0 };
    return games.length > 1;
  }
  progress.value = [at, line.length];
  const position = tree.describePosition(line[at]);
  const { id, answer } = port.send('think', { position, limits: { nodes: pending.nodes }, multiPv: 1, elo: null });
  asked = id;
  const thought = await answer
    .catch((error: unknown) => {
      // A review that was stopped has no question any more.
      if (pendingReview.peek()?.games === games) throw error;
    })
    .finally(() => {
      asked = -1;
    });
  if (thought === undefined) return pendingReview.peek() !== null;
  if (pendingReview.peek()?.games !== games) return pendingReview.peek() !== null;
  // The user may have opened the game, left it or changed it meanwhile.
  const now = findTree(own);
  const known = now === null ? null : new GameReview(now);
  if (known?.nodes[at]?.fen === line[at].fen) known.add(at, thought, engine.value?.running ?? '');
  own.at++;
  if (now === study.tree.peek()) study.touch();
  if (performance.now() - keptMs > KEEP_MS) keep();
  return true;
}

/** The game under review with what is known of it; null for one that cannot be read. */
function findTree(own: typeof state): MoveTree | null {
  const [game] = own.games;
  if (game !== chapterIndex.peek()) {
    own.tree ??= readChapterTree(game);
    return own.tree;
  }
  const tree = study.tree.peek();
  if (own.tree !== null) restoreJudgements(tree, [...listJudgements(tree), ...listJudgements(own.tree)]);
  own.tree = null;
  return tree;
}

function keep(): void {
  const { value: pending } = pendingReview;
  keptMs = performance.now();
  if (pending === null || pending.games !== state.games) return;
  batch(() => {
    if (state.tree !== null) setJudgements(state.games[0], listJudgements(state.tree));
    pendingReview.value = { ...pending, at: state.at };
  });
}
