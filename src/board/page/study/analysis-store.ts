/**
 * What the browser keeps of the analyses: their entries and games in IndexedDB, and which tab has which of them open. No two tabs
 * write the same analysis.
 */
import { signal } from '@preact/signals';
import type { ImportedGame } from '../../game/game-list.js';
import type { Judgement } from '../../game/move-tree.js';
import type { Undo } from './study.js';

/** An analysis in the list. */
export interface StoredAnalysis {
  readonly id: string;
  readonly name: string;
  readonly changedAtMs: number;
  readonly chapters: number;
  /** The chapter on the board. */
  readonly chapter: number;
  /** Place in its tree: the index of the child, from move to move. */
  readonly path: readonly number[];
  readonly orientation: 'white' | 'black';
  readonly setup?: string | null;
  readonly review?: PendingReview | null;
  /** Of the game on the board. */
  readonly opening?: string;
}

/** Games of an analysis that are still to be reviewed. */
export interface PendingReview {
  /** Their numbers; the first is under way. */
  readonly games: readonly number[];
  /** Positions of the first one that are done. */
  readonly at: number;
  /** For each position. */
  readonly nodes: number;
  readonly isPaused: boolean;
}

/** A game of the file as text, and what a review has found out about it; the one on the board lives in the study. */
export interface Chapter extends ImportedGame {
  readonly judgements?: readonly Judgement[];
  /** Where the user was when the game left the board, as in StoredAnalysis. */
  readonly path?: readonly number[];
  /** Changes that can be taken back, the newest last. */
  readonly undos?: readonly Pick<Undo, 'words' | 'before'>[];
}

const DATABASE = 'sardonyx';
const [ENTRIES, GAMES] = ['analyses', 'games'];
const TAB_KEY = 'sardonyx.analysis';
/** Chapters that are stored as one value: those of a large file are written and read in many short tasks. */
export const BLOCK = 200;
const MOST_ANALYSES = 300;

/** Newest first. */
export const analyses = signal<readonly StoredAnalysis[]>([]);
let database: IDBDatabase | null = null;
let releaseTab: () => void = () => undefined;

function request<T>(asked: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    asked.onsuccess = () => resolve(asked.result);
    asked.onerror = () => reject(asked.error);
  });
}

/** @param onLost told when the user has deleted what the browser kept, so that nothing of it is stored any more */
export async function openStore(onLost: () => void): Promise<void> {
  database = await openDatabase(onLost);
  analyses.value = await readEntries().catch(() => []);
}

/** Private windows of some browsers keep nothing. */
export function keepsAnalyses(): boolean {
  return database !== null;
}

async function openDatabase(onLost: () => void): Promise<IDBDatabase | null> {
  try {
    const asked = indexedDB.open(DATABASE, 1);
    asked.onupgradeneeded = () => {
      asked.result.createObjectStore(ENTRIES, { keyPath: 'id' });
      asked.result.createObjectStore(GAMES);
    };
    const opened = await request(asked);
    opened.onclose = async () => {
      database = await openDatabase(onLost);
      onLost();
    };
    return opened;
  } catch {
    return null;
  }
}

async function readEntries(): Promise<StoredAnalysis[]> {
  if (database === null) return [];
  const entries: StoredAnalysis[] = await request(database.transaction(ENTRIES).objectStore(ENTRIES).getAll());
  return entries.sort((a, b) => b.changedAtMs - a.changedAtMs);
}

/** The analysis of this tab before it was loaded again; null = it is new, or the browser keeps nothing. */
export function readTab(): string | null {
  try {
    return sessionStorage.getItem(TAB_KEY);
  } catch {
    return null;
  }
}

/** No other tab may write the same analysis. @param timeoutMs how long to wait for it. @returns false when one has it open */
export async function claim(id: string, timeoutMs = 0): Promise<boolean> {
  const options = timeoutMs === 0 ? { ifAvailable: true } : { signal: AbortSignal.timeout(timeoutMs) };
  const isFree =
    navigator.locks === undefined ||
    (await new Promise<boolean>((resolve) => {
      const hold = (lock: Lock | null): Promise<void> | undefined => {
        resolve(lock !== null);
        if (lock === null) return undefined;
        releaseTab();
        return new Promise((release) => {
          releaseTab = release;
        });
      };
      navigator.locks.request(`${TAB_KEY}.${id}`, options, hold).catch(() => resolve(false));
    }));
  if (isFree) rememberTab(id);
  return isFree;
}

/** For `readTab`. */
export function rememberTab(id: string): void {
  try {
    sessionStorage.setItem(TAB_KEY, id);
  } catch {
    // After a reload the newest analysis comes.
  }
}

/**
 * One transaction. Rejects when nothing of it was written.
 * @param blocks of the chapters that have changed; null = all are new
 * @param isLeaving the page has no later task to write in
 */
export async function putAnalysis(
  entry: StoredAnalysis,
  file: readonly Chapter[],
  blocks: Set<number> | null,
  isLeaving = false,
): Promise<void> {
  await write((change) => {
    change.objectStore(ENTRIES).put(entry);
    if (blocks === null) change.objectStore(GAMES).delete(findStored(entry.id));
    putBlocks(change, entry.id, file, blocks, isLeaving);
  });
  const others = analyses.peek().filter(({ id }) => id !== entry.id);
  analyses.value = [entry, ...others].sort((a, b) => b.changedAtMs - a.changedAtMs);
  for (const { id } of analyses.peek().slice(MOST_ANALYSES)) await removeAnalysis(id);
}

function write(fill: (change: IDBTransaction) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    if (database === null) return reject(new Error('There is no database'));
    const change = database.transaction([ENTRIES, GAMES], 'readwrite');
    change.oncomplete = () => resolve();
    change.onabort = () => reject(change.error);
    try {
      fill(change);
    } catch (error) {
      // What was filled so far is not written either.
      reject(error);
      change.abort();
    }
  });
}

/**
 * One after the other, each in a task of its own unless all are put at once. Then commits, because a transaction that is still
 * open when its page is closed is lost, and with it the ones that wait behind it.
 * @param wanted their numbers; null = all
 */
function putBlocks(
  change: IDBTransaction,
  id: string,
  file: readonly Chapter[],
  wanted: Set<number> | null,
  isAtOnce: boolean,
): void {
  const numbers =
    wanted !== null ? [...wanted] : Array.from({ length: Math.ceil(file.length / BLOCK) }, (_, number) => number);
  const rest = numbers.values();
  const putNext = (): void => {
    const { value: number, done } = rest.next();
    if (done === true) {
      change.commit();
      return;
    }
    const block = file.slice(number * BLOCK, (number + 1) * BLOCK);
    const put = change.objectStore(GAMES).put(block, `${id}#${number}`);
    if (isAtOnce || numbers.length === 1) putNext();
    else put.onsuccess = putNext;
  };
  putNext();
}

/** `ID#BLOCK`. Earlier versions stored all chapters as `ID`, and those that changed as `ID/CHAPTER`. */
function findStored(id: string): IDBKeyRange {
  return IDBKeyRange.bound(id, `${id}/\uffff`);
}

export async function readChapters(id: string): Promise<{ all: Chapter[]; isOfEarlierVersion: boolean }> {
  const all: Chapter[] = [];
  let isOfEarlierVersion = false;
  if (database === null) return { all, isOfEarlierVersion };
  const games = database.transaction(GAMES).objectStore(GAMES);
  for (const key of await request(games.getAllKeys(findStored(id)))) {
    const stored: Chapter | Chapter[] = await request(games.get(key));
    const kind = String(key)[id.length];
    const number = Number(String(key).slice(id.length + 1));
    isOfEarlierVersion ||= kind !== '#';
    const first = kind === '#' ? number * BLOCK : number;
    for (const [index, chapter] of [stored].flat().entries()) all[first + index] = chapter;
  }
  return { all, isOfEarlierVersion };
}

export async function removeAnalysis(id: string): Promise<void> {
  await write((change) => {
    change.objectStore(ENTRIES).delete(id);
    change.objectStore(GAMES).delete(findStored(id));
  });
  analyses.value = analyses.value.filter((entry) => entry.id !== id);
}
