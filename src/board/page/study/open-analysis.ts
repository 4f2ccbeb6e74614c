/**
 * The analysis that is open: one game, or the games of a PGN file as its chapters. Every change of it is saved (analysis-store.ts).
 * A tab goes on with its own analysis after a reload; a new tab takes the newest one. An analysis that another tab has open comes as a copy.
 */
import { batch, computed, effect, signal, untracked } from '@preact/signals';
import { failure, type Result, unwrap } from '../../../base/util/index.js';
import { parseUciMove, START_FEN } from '../../../chess/rules/index.js';
import { parsePass } from '../../game/board-moves.js';
import type { ImportedGame } from '../../game/game-list.js';
import { describeTags } from '../../game/game-names.js';
import {
  findLineEnd,
  getPath,
  type Judgement,
  listJudgements,
  listUciMoves,
  type MoveNode,
  MoveTree,
  restoreJudgements,
} from '../../game/move-tree.js';
import { formatTree } from '../../game/move-tree-text.js';
import { BLOCK, type PendingReview, type StoredAnalysis } from '../../protocol/kept.js';
import { reportError } from '../port/engine-port.js';
import { addNotice, markUnsaved, refusals } from '../shell/notices.js';
import { showStudy } from '../shell/rooms.js';
import { nameBytes } from '../shell/user-files.js';
import {
  adoptState,
  analyses,
  type Chapter,
  claim,
  createId,
  openStore,
  putAnalysis,
  readAnalysis,
  readTab,
  rememberTab,
  removeAnalysis,
} from './analysis-store.js';
import { nameLine } from './openings.js';
import { study, type Undo } from './study.js';

const SAVE_MS = 300;
const RELOAD_TIMEOUT_MS = 1000;
/** A new tab has nothing to show meanwhile. */
const CLOSED_TIMEOUT_MS = 5000;

export const analysisId = signal(createId());
export const analysisName = signal('');
export const chapters = signal<readonly Chapter[]>([createChapter(study.tree.value)]);
export const chapterIndex = signal(0);
/** FEN, legal or not yet, of the position that is being set up in this analysis; null = none is. */
export const setup = signal<string | null>(null);
export const isEditing = computed(() => setup.value !== null);

/** The review of games of this analysis that is under way; null = none is. */
export const pendingReview = signal<PendingReview | null>(null);

/** Blocks of chapters that have changed since they were last saved; null = all are new. */
let changed: Set<number> | null = null;
/** Whether more than the user's place in games is among it. */
let isEdited = false;
/** The game on the board as text, as it was loaded or last kept. A file may write it in other words. */
let keptText = '';
/** Where the analysis comes from: a file or a game of another room; '' = begun here. */
let ownSource = '';

const chapterCount = computed(() => chapters.value.length);

/** No game, no comment, no position of one's own. */
const isUntouched = computed(() => {
  void study.version.value;
  const { root, startFen, headers } = study.tree.value;
  const hasMoves = root.children.length > 0 || root.comment !== '' || headers.size > 0;
  return !hasMoves && startFen === START_FEN && chapters.value.length === 1;
});

function createChapter(tree: MoveTree): Chapter {
  const judgements = listJudgements(tree);
  const text = tree === study.tree.value ? study.text.value : formatTree(tree);
  const { depth } = findLineEnd(tree.root);
  return { title: titleChapter(tree), text, plies: depth, ...(judgements.length === 0 ? {} : { judgements }) };
}

/** "Anna – Ben  1-0  Event 2026.01.01" */
function titleChapter({ headers, root, startFen }: MoveTree): string {
  const { players, about } = describeTags(headers);
  if (players !== '') return `${players}  ${about}`.trim();
  const line = getPath(findLineEnd(root))
    .slice(1, 7)
    .map(({ san }) => san);
  return (
    [about, startFen === START_FEN ? '' : 'Position', line.join(' ')].filter((part) => part !== '').join('  ') ||
    'New analysis'
  );
}

/** Reads the texts of games; null until the first game comes from a text. */
let reader: typeof import('../../game/move-tree-reader.js') | null = null;

/** Before a text becomes a game. A file whose games are chapters has been through here. */
export async function loadReader(): Promise<void> {
  reader ??= await import('../../game/move-tree-reader.js').catch(() => null);
}

function parse(text: string) {
  return reader?.parseTree(text) ?? failure('A part of the page could not be loaded: load the page again');
}

/** From now on changes are saved. Opens what the address asks for, or the analysis of this tab, or the newest one. */
export async function startAnalyses(): Promise<void> {
  const isWanted = watchBoard();
  const own = readTab();
  await openStore({
    onNewer: async (id, words) => {
      const entry = analyses.value.find((other) => other.id === id);
      if (id === analysisId.peek() && entry !== undefined) await load(entry, false, watchBoard());
      if (words !== '') study.remark(words);
    },
    onCopied: (id, copy, words) => {
      study.remark(words);
      if (id !== analysisId.peek()) return;
      analysisId.value = copy;
      void claim(copy);
    },
  });
  await claim(analysisId.peek());
  const wanted = own === null ? analyses.value[0] : analyses.value.find(({ id }) => id === own);
  keepSaving();
  if (!openLink() && wanted !== undefined && isWanted()) {
    // The page before it, loaded again or closed, may hold it for a moment.
    const isFree = await claim(wanted.id, own === null ? CLOSED_TIMEOUT_MS : RELOAD_TIMEOUT_MS);
    // A tab that the browser has duplicated begins with the analysis of the other; a new one with none.
    const mayLoad = (isFree || own !== null) && isWanted();
    const isLoaded = mayLoad && (await load(wanted, !isFree, isWanted).catch(reportError));
    if (isLoaded !== true) await claim(analysisId.peek());
  }
  addEventListener('hashchange', () => openLink());
}

/** The first change is saved at once, because a page that is closed may get no time to; what follows within SAVE_MS, together. */
function keepSaving(): void {
  let isResting = false;
  let isDue = false;
  const saveAndRest = (): void => {
    isDue = false;
    isResting = true;
    void save();
    setTimeout(() => {
      isResting = false;
      if (isDue) saveAndRest();
    }, SAVE_MS);
  };
  effect(() => {
    void [study.version.value, study.node.value, study.orientation.value, setup.value];
    void [chapterIndex.value, chapterCount.value, pendingReview.value];
    isDue = true;
    // After the signals of one action have all changed.
    queueMicrotask(() => {
      if (isDue && !isResting) saveAndRest();
    });
  });
  addEventListener('pagehide', () => void save(true));
  // A phone may end a page that is hidden.
  addEventListener('visibilitychange', () => void save(document.hidden));
}

function markChanged(chapter: number, isEdit = true): void {
  changed?.add(Math.floor(chapter / BLOCK));
  isEdited ||= isEdit;
}

/** Saves what has changed. @param isLeaving the page has no later task to write in */
async function save(isLeaving = false): Promise<void> {
  if (isUntouched.peek() && setup.peek() === null) return forgetUntouched(analysisId.peek());
  const file = untracked(keepChapter);
  const index = chapterIndex.peek();
  const entry: StoredAnalysis = {
    id: analysisId.peek(),
    name: analysisName.peek() || (isUntouched.peek() ? 'A position that is set up' : titleChapter(study.tree.peek())),
    changedAtMs: Date.now(),
    chapters: file.length,
    chapter: index,
    path: describePath(study.node.peek()),
    orientation: study.orientation.peek(),
    setup: setup.peek(),
    review: pendingReview.peek(),
    opening: file[index]?.opening ?? '',
    source: ownSource,
  };
  const [blocks, isEdit] = [changed, isEdited];
  changed = new Set();
  isEdited = false;
  try {
    await putAnalysis(entry, file, blocks, isEdit, isLeaving);
  } catch (error) {
    markUnsaved(entry.id, (error as Error).message);
  }
}

/** All of it was taken back, or the set-up was left: nothing of it comes with the next visit. */
async function forgetUntouched(id: string): Promise<void> {
  if (!analyses.peek().some((entry) => entry.id === id)) return;
  changed = null;
  await removeAnalysis(id).catch(complainOfRefusal);
}

function complainOfRefusal(error: Error): void {
  refusals.value = [`${error.message}: earlier analyses stay as they were`];
}

/** Of each analysis its games; none of one that cannot be read. @param wanted all when left out */
export async function readAllGames(wanted?: readonly StoredAnalysis[]): Promise<readonly (readonly Chapter[])[]> {
  await save();
  const none = (): readonly Chapter[] => [];
  return Promise.all((wanted ?? analyses.value).map(({ id }) => readAnalysis(id).then(({ file }) => file, none)));
}

/** Characters of the changes of a game that are kept. */
const MOST_UNDO_TEXT = 100_000;

/** The chapters, with the one on the board as it is now. @param isLeft the place in it is kept, too */
export function keepChapter(isLeft = false): readonly Chapter[] {
  const chapter = { ...createChapter(study.tree.value), path: describePath(study.node.value), undos: listUndos() };
  const index = chapterIndex.value;
  const { text, judgements = [], path = [], opening = '' }: Chapter = chapters.value[index] ?? { title: '', text: '' };
  const known = chapter.judgements ?? [];
  const isReviewed =
    known.length !== judgements.length || known.some((judgement, place) => judgement !== judgements[place]);
  if (text !== chapter.text || isReviewed || (isLeft && path.join() !== chapter.path.join())) {
    const name = untracked(() => nameLine(findLineEnd(study.tree.value.root))) || opening;
    chapters.value = chapters.value.with(index, { ...chapter, ...(name !== '' && { opening: name }) });
    markChanged(index, isReviewed || chapter.text !== keptText);
    keptText = chapter.text;
  }
  return chapters.value;
}

/** The newest changes of the game on the board, as far as there is room for them. */
function listUndos(): Pick<Undo, 'words' | 'before'>[] {
  const kept: Pick<Undo, 'words' | 'before'>[] = [];
  let length = 0;
  for (const { words, before } of study.undos.value.toReversed()) {
    length += before.length;
    if (length > MOST_UNDO_TEXT) break;
    kept.unshift({ words, before });
  }
  return kept;
}

function describePath(node: MoveNode): number[] {
  return getPath(node)
    .slice(1)
    .map((step) => step.parent?.children.indexOf(step) ?? 0);
}

function followPath(tree: MoveTree, path: readonly number[]): MoveNode {
  let node = tree.root;
  for (const index of path) node = node.children[index] ?? node;
  return node;
}

function readChapter({ text, judgements = [], notes = [] }: Chapter): MoveTree | null {
  const game = parse(text);
  if (!game.ok) {
    refusals.value = [game.error];
    return null;
  }
  const { tree, problem } = game.value;
  for (const sentence of [...notes, problem]) if (sentence !== null) study.remark(sentence, tree);
  restoreJudgements(tree, judgements);
  return tree;
}

/** Shows the game of a chapter. */
function showChapter(tree: MoveTree, path: readonly number[], { undos = [] }: Chapter): void {
  const changes = undos.map((undo) => ({
    ...undo,
    run: () => {
      const game = parse(undo.before);
      if (game.ok) study.goBackTo(game.value.tree);
    },
  }));
  study.load(tree, followPath(tree, path), changes);
  keptText = study.text.peek();
}

/** A game of the file that is not on the board; null for one that cannot be read. */
export function readChapterTree(index: number): MoveTree | null {
  const { text, judgements = [] } = chapters.peek()[index] ?? { text: '' };
  const game = parse(text);
  if (!game.ok) return null;
  restoreJudgements(game.value.tree, judgements);
  return game.value.tree;
}

/** What a review has found out about a game that is not on the board. */
export function setJudgements(index: number, judgements: readonly Judgement[]): void {
  const chapter = chapters.peek()[index];
  if (chapter === undefined || index === chapterIndex.peek()) return;
  chapters.value = chapters.peek().with(index, { ...chapter, judgements });
  markChanged(index);
}

/** Number of the last analysis that the user has asked for: one that is read more slowly than the next gives way to it. */
let asked = 0;

/** @returns whether the board is still as it is now, and nothing else was asked for */
function watchBoard(): () => boolean {
  const [number, version, position] = [asked, study.version.peek(), setup.peek()];
  return () => number === asked && version === study.version.peek() && position === setup.peek();
}

/**
 * Rejects when it cannot be read.
 * @param isCopy another tab writes the analysis itself
 * @param isWanted asked when it has been read
 * @returns whether it is on the board
 */
async function load({ id }: StoredAnalysis, isCopy: boolean, isWanted: () => boolean): Promise<boolean> {
  const state = await readAnalysis(id);
  await loadReader();
  if (!isWanted()) return false;
  const { entry, file } = state;
  const chapter = file[entry.chapter];
  const tree = chapter === undefined ? null : readChapter(chapter);
  if (tree === null) return false;
  // What was changed while it was read.
  if (id !== analysisId.peek()) void save();
  if (!isCopy) adoptState(state);
  batch(() => {
    changed = isCopy ? null : new Set();
    ownSource = isCopy ? '' : (entry.source ?? '');
    analysisId.value = isCopy ? createId() : entry.id;
    // A file without a name is listed by the game on the board.
    analysisName.value = entry.name === titleChapter(tree) ? '' : entry.name;
    chapters.value = file;
    chapterIndex.value = entry.chapter;
    study.orientation.value = entry.orientation;
    setup.value = entry.setup ?? null;
    pendingReview.value = isCopy ? null : (entry.review ?? null);
    showChapter(tree, entry.path, chapter);
  });
  if (!isCopy) return true;
  study.remark('Another tab has this analysis open: this is a copy');
  await claim(analysisId.value);
  return true;
}

/** An analysis of the list. The one on the board is saved first. @returns whether it is on the board */
export async function openAnalysis(entry: StoredAnalysis): Promise<boolean> {
  const number = ++asked;
  await save();
  if (number !== asked) return false;
  const isFree = await claim(entry.id);
  const isLoaded = await load(entry, !isFree, () => number === asked).catch(() => null);
  if (isLoaded === null) refusals.value = [`${entry.name} cannot be read`];
  return isLoaded === true;
}

/** Games to analyse: what a file holds, or a tree of this page. */
interface GameSource {
  readonly games: readonly [ImportedGame | MoveTree, ...ImportedGame[]];
  /** The move on the board; the start of the first game when left out. */
  readonly node?: MoveNode;
  /** Of the file; '' = after the game. */
  readonly name?: string;
  /** The file or the game of another room that it is, which is opened once; '' = begun here. */
  readonly source?: string;
}

/** What was opened before comes as it was left. @returns false for a game that cannot be read */
export async function openGame(game: GameSource): Promise<boolean> {
  if (!(game.games[0] instanceof MoveTree)) await loadReader();
  return (await openKnown(game.source ?? '')) || beginAnalysis(game);
}

/** Opens the analysis that was made of a source, as it was left. @returns false when there is none */
export async function openKnown(source: string): Promise<boolean> {
  if (source === '' || source === ownSource) return source !== '';
  const entry = analyses.value.find((known) => known.source === source);
  if (entry !== undefined) await openAnalysis(entry);
  return entry !== undefined;
}

/** So many tell one game from another. */
const TELLING_PLIES = 8;

/** Takes a game of another room to the analysis board, at the same move. @param place its room, file and number */
export async function analyseGame(tree: MoveTree, place: string, node = tree.root): Promise<void> {
  const { startFen, root, headers } = tree;
  // A match or a loop of another folder may have the same name.
  const isOver = /\d/.test(headers.get('Result') ?? '');
  const line = [startFen, ...listUciMoves(findLineEnd(root)).slice(0, TELLING_PLIES)].join(' ');
  await openGame({ games: [tree], node, source: isOver ? `${place} ${line}` : place });
  showStudy();
}

export function openPgn(text: string): Promise<boolean> {
  return openGame({ games: [{ title: '', text }], source: nameBytes(new TextEncoder().encode(text)) });
}

/** Begins a new analysis; the one on the board stays in the list. @returns false for a game that cannot be read */
export function beginAnalysis({ games: [first, ...others], node, name = '', source = '' }: GameSource): boolean {
  const tree = first instanceof MoveTree ? first : readChapter(first);
  if (tree === null) return false;
  asked++;
  void save();
  batch(() => {
    changed = null;
    ownSource = source;
    analysisId.value = createId();
    analysisName.value = name;
    chapters.value = [first instanceof MoveTree ? createChapter(first) : first, ...others];
    chapterIndex.value = 0;
    setup.value = null;
    pendingReview.value = null;
    study.load(tree, node ?? tree.root);
    keptText = study.text.peek();
  });
  // At once: nobody else knows the new id, and the page may be loaded again before a lock is granted.
  rememberTab(analysisId.value);
  void claim(analysisId.value);
  return true;
}

/** Games of the file that were read after one of them was opened. */
export function addChapters(id: string, games: readonly ImportedGame[]): void {
  if (id !== analysisId.value) return;
  const known = keepChapter();
  for (const place of games.keys()) markChanged(known.length + place);
  chapters.value = [...known, ...games];
}

/** Another game of the file. */
export function openChapter(index: number): void {
  const chapter: Chapter | undefined = keepChapter(true)[index];
  const tree = chapter === undefined ? null : readChapter(chapter);
  if (tree === null) return;
  batch(() => {
    chapterIndex.value = index;
    showChapter(tree, chapter.path ?? [], chapter);
  });
}

/** Takes a game out of the file, which has others; a notice offers to take that back. */
export function deleteChapter(index: number): void {
  const { value: id } = analysisId;
  if (index === chapterIndex.value) openChapter(index === 0 ? 1 : index - 1);
  const game = keepChapter()[index];
  /** @param by numbers behind it move */
  const change = (all: readonly Chapter[], by: 1 | -1): void =>
    batch(() => {
      const move = (number: number): number => number + (number > index || (by > 0 && number === index) ? by : 0);
      const { value: pending } = pendingReview;
      const games = pending?.games.filter((number) => by > 0 || number !== index).map(move) ?? [];
      changed = null;
      chapters.value = all;
      chapterIndex.value = move(chapterIndex.value);
      if (pending === null) return;
      const at = by < 0 && pending.games[0] === index ? 0 : pending.at;
      pendingReview.value = games.length === 0 ? null : { ...pending, games, at };
    });
  change(chapters.value.toSpliced(index, 1), -1);
  const run = async (): Promise<void> => {
    const entry = analyses.value.find((known) => known.id === id);
    if (id !== analysisId.value && entry !== undefined) await openAnalysis(entry);
    if (id === analysisId.value) change(keepChapter().toSpliced(index, 0, game), 1);
  };
  addNotice('note', `${game.title} deleted`, { label: 'Undo', run: () => void run() });
}

/** Deletes an analysis of the list; a notice offers to take that back. The one on the board gives way to an empty board. */
export async function deleteAnalysis(entry: StoredAnalysis): Promise<void> {
  try {
    if (entry.id === analysisId.peek()) await save();
    const { file } = await readAnalysis(entry.id);
    await removeAnalysis(entry.id);
    if (entry.id === analysisId.peek()) beginAnalysis({ games: [unwrap(MoveTree.create())] });
    const undo = { label: 'Undo', run: () => void restore(entry, file) };
    addNotice('note', `${entry.name} deleted`, undo);
  } catch (error) {
    complainOfRefusal(error as Error);
  }
}

async function restore(entry: StoredAnalysis, file: readonly Chapter[]): Promise<void> {
  try {
    await putAnalysis(entry, file, null, true);
  } catch (error) {
    await openAnalysis(entry);
    refusals.value = [`${(error as Error).message}: it is open, save it as PGN before you leave`];
  }
}

/** A null move in UCI. */
const PASS = '0000';

/**
 * `#fen=…&moves=…`: the start of the game on the board, and the moves to the position. Not for a page of `sardonyx board`: its address is
 * for one browser.
 */
export function createLink(): string {
  const moves = listUciMoves(study.node.value);
  const fen = study.tree.value.startFen.replaceAll(' ', '_');
  return `${location.href.split('#')[0]}#fen=${fen}${moves.length === 0 ? '' : `&moves=${moves.join(',')}`}`;
}

/** Of the address, decoded if that can be done. */
function readFragment(): string {
  try {
    return decodeURIComponent(location.hash);
  } catch {
    return location.hash;
  }
}

/** The tree of a FEN that a user typed. @param about the game beside which is said what was dropped; the tree by default */
export function createTree(fen: string, about?: MoveTree): Result<MoveTree> {
  const notes: string[] = [];
  const tree = MoveTree.create(fen, new Map(), notes);
  for (const note of notes) study.remark(note, about ?? (tree.ok ? tree.value : undefined));
  return tree;
}

/** Opens what a link of `createLink` names. @returns whether the address is one */
function openLink(): boolean {
  const [, fen, moves = ''] = /^#fen=([^&]*)(?:&moves=([^&]*))?$/.exec(readFragment()) ?? [];
  if (fen === undefined) return false;
  history.replaceState(history.state, '', '#analyse');
  const tree = createTree(fen.replaceAll('_', ' '));
  if (!tree.ok) {
    study.remark(`The link names no position: ${tree.error}`);
    return true;
  }
  let node = tree.value.root;
  for (const uci of moves.split(',').filter((text) => text !== '')) {
    const position = tree.value.createPosition(node);
    const move = uci === PASS ? parsePass(position) : parseUciMove(position, uci);
    if (!move.ok) {
      study.remark(`The moves of the link end at ${uci}: ${move.error}`, tree.value);
      break;
    }
    node = tree.value.add(node, move.value);
  }
  beginAnalysis({ games: [tree.value], node });
  return true;
}
