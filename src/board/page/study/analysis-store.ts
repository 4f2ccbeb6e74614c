/**
 * Where analyses are kept: by the server of `sardonyx board`; what it has not confirmed yet lies in IndexedDB and is sent by the next
 * page at the latest. A page without such a server keeps all in IndexedDB. A change names the state of the server that it was made to:
 * of two tabs or browsers that change the same one, the second gets a copy of its own. No two tabs of a browser write the same analysis
 * where it has locks.
 */
import { signal } from '@preact/signals';
import { drawSeed } from '../../../base/util/index.js';
import type { ImportedGame } from '../../game/game-list.js';
import type { Judgement } from '../../game/move-tree.js';
import { BLOCK, type KeptList, type StoredAnalysis } from '../../protocol/kept.js';
import { port, portState } from '../port/engine-port.js';
import { markUnsaved, outdated, refusals } from '../shell/notices.js';
import { askToPersist } from '../shell/stored.js';
import type { Undo } from './study.js';

/** A game of the file as text, and what a review has found out about it; the one on the board lives in the study. */
export interface Chapter extends ImportedGame {
  readonly judgements?: readonly Judgement[];
  /** Where the user was when the game left the board, as in StoredAnalysis. */
  readonly path?: readonly number[];
  /** Changes that can be taken back, the newest last. */
  readonly undos?: readonly Pick<Undo, 'words' | 'before'>[];
}

/** In the list, and in IndexedDB. */
interface ListedAnalysis extends StoredAnalysis {
  /** Number of the server's state that it was made of; 0 = the server has none. */
  readonly revision?: number;
  /** The server has confirmed just this. */
  readonly isConfirmed?: boolean;
  readonly lineage?: readonly string[];
}

/** An analysis that this page has opened or written. */
export interface State {
  entry: StoredAnalysis;
  file: readonly Chapter[];
  /** Blocks that IndexedDB, or the server, does not have as they are; null = all. */
  unstored: Set<number> | null;
  unsent: Set<number> | null;
  revision: number;
  isConfirmed: boolean;
  /** Edits that led here: that of the server's state ('' = none), the last one of each page since then. */
  lineage: string[];
}

interface StoreEvents {
  /** An analysis was changed elsewhere, and here only looked at. @param words for the user; '' = nothing new */
  onNewer(id: string, words: string): void;
  /** It was changed both elsewhere and here: what is here has another id. */
  onCopied(id: string, copy: string, words: string): void;
}

const DATABASE = 'sardonyx';
const VERSION = 1;
const [ENTRIES, GAMES] = ['analyses', 'games'];
const TAB_KEY = 'sardonyx.analysis';
/** Finished games of the play panel, among the analyses of the server; in no list. */
const PLAYED = 'played';
const SEND_MS = 1000;
/** After a request that got no answer, while the page has its connection. */
const RETRY_MS = 5000;
/** What a page that is left may still send, in characters. */
const LONGEST_FAREWELL = 20_000;
const PAGE = drawSeed().toString(36);

/** Newest first. */
export const analyses = signal<readonly ListedAnalysis[]>([]);
const states = new Map<string, State>();
let database: IDBDatabase | null = null;
let events: StoreEvents;
let claimed = '';
/** Number of the state that the server has of each analysis. */
let revisions = new Map<string, number>();
let isListed = false;
let edits = 0;
let releaseTab: () => void = () => undefined;

export function createId(): string {
  return `${Date.now().toString(36)}-${drawSeed().toString(36)}`;
}

function request<T>(asked: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    asked.onsuccess = () => resolve(asked.result);
    asked.onerror = () => reject(asked.error);
  });
}

export async function openStore(listener: StoreEvents): Promise<void> {
  events = listener;
  database = await openDatabase();
  await refreshList();
  if (!port.hasServer) return;
  void inTurn(sendEarlier);
  port.watchState((state) => {
    if (state === 'open') void inTurn(refreshList).then(() => inTurn(sendAll));
  });
}

/** Null in private windows of some browsers, which keep nothing. */
async function openDatabase(): Promise<IDBDatabase | null> {
  try {
    const asked = indexedDB.open(DATABASE, VERSION);
    asked.onupgradeneeded = () => {
      asked.result.createObjectStore(ENTRIES, { keyPath: 'id' });
      asked.result.createObjectStore(GAMES);
    };
    asked.onblocked = () => {
      outdated.value = 'Another tab has an older version of this page: close it';
    };
    const opened = await request(asked);
    const forget = (): void => {
      database = null;
      for (const state of states.values()) state.unstored = null;
    };
    opened.onversionchange = () => {
      opened.close();
      forget();
      outdated.value = 'Another tab has a newer version of this page';
    };
    // The user has deleted what the browser kept.
    opened.onclose = async () => {
      forget();
      database = await openDatabase();
    };
    return opened;
  } catch {
    return null;
  }
}

async function readEntries(): Promise<ListedAnalysis[]> {
  if (database === null) return [];
  return request(database.transaction(ENTRIES).objectStore(ENTRIES).getAll()).catch(() => []);
}

/** Sentences of the server: each is said once. */
const said = new Set<string>();

function sayOnce(sentence: string): void {
  if (!said.has(sentence)) refusals.value = [...refusals.peek(), sentence];
  said.add(sentence);
}

/** What the server has, and what only this browser has. While the server cannot be reached, what is known stays. */
async function refreshList(): Promise<void> {
  const response = port.hasServer ? await fetch('kept/', { cache: 'no-store' }).catch(() => null) : null;
  const list: KeptList | null = response?.ok === true ? await response.json() : null;
  for (const problem of list?.problems ?? []) sayOnce(problem);
  if (response?.status === 507) sayOnce((await response.text()).trim());
  isListed = list !== null;
  if (list !== null) revisions = new Map(list.analyses.map(({ id, revision }) => [id, revision]));
  const own = (await readEntries()).filter(({ id, isConfirmed }) => isConfirmed !== true || !revisions.has(id));
  const open = analyses.peek().filter(({ id }) => states.get(id)?.isConfirmed === false);
  const all = new Map([...(list?.analyses ?? analyses.peek()), ...own, ...open].map((entry) => [entry.id, entry]));
  all.delete(PLAYED);
  analyses.value = sortEntries([...all.values()]);
}

function sortEntries(entries: ListedAnalysis[]): ListedAnalysis[] {
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
      // A browser that keeps nothing refuses locks, too: there is no other tab of this analysis.
      const refuse = ({ name }: Error): void => resolve(name === 'SecurityError');
      navigator.locks.request(`${TAB_KEY}.${id}`, options, hold).catch(refuse);
    }));
  if (!isFree) return false;
  const left = claimed;
  claimed = id;
  if (left !== id && states.get(left)?.isConfirmed === true) await forget(left);
  rememberTab(id);
  return true;
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
 * Rejects with the sentence for the user when it is kept nowhere but in the memory of this page.
 * @param blocks of the chapters that have changed; null = all may have
 * @param isEdit more has changed than the user's place: who only looks makes no version of their own
 * @param isLeaving the page has no later task to write in
 */
export async function putAnalysis(
  entry: StoredAnalysis,
  file: readonly Chapter[],
  blocks: ReadonlySet<number> | null,
  isEdit: boolean,
  isLeaving = false,
): Promise<void> {
  const known = states.get(entry.id);
  // It was confirmed and let go, and has not changed since.
  if (known === undefined && blocks?.size === 0) return;
  const isSame = blocks?.size === 0 && known !== undefined && describePlace(known.entry) === describePlace(entry);
  if (isSame && (known.isConfirmed || (known.unstored?.size === 0 && !port.hasServer))) return;
  const state = known ?? createState(entry, file);
  states.set(entry.id, state);
  if (blocks === null || isEdit) {
    const mark = `${PAGE}:${++edits}`;
    const isFirst = state.lineage.length === 1 || !state.lineage.at(-1)?.startsWith(`${PAGE}:`);
    state.lineage = [...state.lineage.slice(0, isFirst ? undefined : -1), mark];
  }
  // The answer to what is on its way confirms the entry that was sent.
  if (!isSame) state.entry = { ...entry, edit: state.lineage.at(-1) };
  state.file = file;
  state.isConfirmed = false;
  state.unstored = join(state.unstored, blocks);
  state.unsent = join(state.unsent, blocks);
  const others = analyses.peek().filter(({ id }) => id !== entry.id);
  analyses.value = sortEntries([state.entry, ...others]);
  const stored = storeState(state, isLeaving);
  if (isLeaving && port.hasServer) void send(state, true);
  if (await stored) {
    markUnsaved(entry.id);
    if (port.hasServer) scheduleSending();
    else askToPersist();
    return;
  }
  markUnsaved(entry.id, 'Nothing has confirmed that it keeps the last change');
  const reason = database === null ? 'The browser keeps nothing' : 'The browser has no room to keep this analysis';
  const problem = port.hasServer ? await inTurn(() => send(state)) : reason;
  if (problem === null) return;
  throw new Error(problem === LOST ? reason : problem);
}

function createState(entry: StoredAnalysis, file: readonly Chapter[]): State {
  return { entry, file, unstored: null, unsent: null, revision: 0, isConfirmed: false, lineage: [''] };
}

function describePlace({ changedAtMs: _, edit: __, ...entry }: StoredAnalysis): string {
  return JSON.stringify(entry);
}

function join(blocks: Set<number> | null, more: ReadonlySet<number> | null): Set<number> | null {
  return blocks === null || more === null ? null : new Set([...blocks, ...more]);
}

function listBlocks(file: readonly Chapter[], blocks: Set<number> | null): number[] {
  return blocks !== null ? [...blocks] : Array.from({ length: Math.ceil(file.length / BLOCK) }, (_, number) => number);
}

function getBlock(file: readonly Chapter[], number: number): readonly Chapter[] {
  return file.slice(number * BLOCK, (number + 1) * BLOCK);
}

/** One transaction. @returns false when nothing of it was written */
async function storeState(state: State, isLeaving = false): Promise<boolean> {
  const { entry, file, unstored, revision, isConfirmed, lineage } = state;
  state.unstored = new Set();
  try {
    await write((change) => {
      change.objectStore(ENTRIES).put({ ...entry, revision, isConfirmed, lineage });
      if (unstored === null) change.objectStore(GAMES).delete(findStored(entry.id));
      putBlocks(change, entry.id, file, unstored, isLeaving);
    });
    return true;
  } catch {
    state.unstored = join(state.unstored, unstored);
    return false;
  }
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
  const numbers = listBlocks(file, wanted);
  const rest = numbers.values();
  const putNext = (): void => {
    const { value: number, done } = rest.next();
    if (done === true) {
      change.commit();
      return;
    }
    const put = change.objectStore(GAMES).put(getBlock(file, number), `${id}#${number}`);
    if (isAtOnce || numbers.length === 1) putNext();
    else put.onsuccess = putNext;
  };
  putNext();
}

/** `ID#BLOCK`. Earlier versions stored all chapters as `ID`, and those that changed as `ID/CHAPTER`. */
function findStored(id: string): IDBKeyRange {
  return IDBKeyRange.bound(id, `${id}/\uffff`);
}

async function readStoredState(id: string): Promise<State | null> {
  if (database === null) return null;
  const entry: ListedAnalysis | undefined = await request(database.transaction(ENTRIES).objectStore(ENTRIES).get(id));
  if (entry === undefined) return null;
  const file: Chapter[] = [];
  let isOfEarlierVersion = false;
  const games = database.transaction(GAMES).objectStore(GAMES);
  for (const key of await request(games.getAllKeys(findStored(id)))) {
    const stored: Chapter | Chapter[] = await request(games.get(key));
    const kind = String(key)[id.length];
    const number = Number(String(key).slice(id.length + 1));
    isOfEarlierVersion ||= kind !== '#';
    const first = kind === '#' ? number * BLOCK : number;
    for (const [index, chapter] of [stored].flat().entries()) file[first + index] = chapter;
  }
  const { revision = 0, isConfirmed = false, lineage = ['', 'earlier:0'], ...rest } = entry;
  const unstored = isOfEarlierVersion ? null : new Set<number>();
  return { entry: rest, file, unstored, unsent: null, revision, isConfirmed, lineage: [...lineage] };
}

/** Rejects with the sentence for the user. @returns null when the server has none */
async function fetchState(id: string): Promise<State | null> {
  const response = await fetch(`kept/${id}`, { cache: 'no-store' });
  if (response.status === 404) return null;
  const text = await response.text();
  if (!response.ok) throw new Error(text.trim());
  const [entry, ...blocks] = text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  const revision = readRevision(response);
  const lineage = [entry.edit ?? ''];
  return { entry, file: blocks.flat(), unstored: null, unsent: new Set(), revision, isConfirmed: true, lineage };
}

function readRevision(response: Response): number {
  return Number(response.headers.get('ETag')?.replaceAll(/\D/g, ''));
}

/** What is newer in this browser than on the server, or else what the server has. Rejects when it cannot be read. */
export async function readAnalysis(id: string): Promise<State> {
  const open = states.get(id);
  const stored = open ?? (await readStoredState(id));
  const isKnown = !port.hasServer || open?.isConfirmed === false;
  const kept = isKnown ? null : await fetchState(id).catch(() => null);
  const isOwn = stored?.isConfirmed === false && kept !== null && !isBehind(stored, kept);
  const state = kept === null || isOwn ? stored : kept;
  if (state === null) throw new Error('This analysis is not there any more');
  return state;
}

/** From now on it is this state that changes of the analysis are made to. */
export function adoptState(state: State): void {
  states.set(state.entry.id, state);
}

/** Rejects with the sentence for the user, and nothing is deleted. */
export async function removeAnalysis(id: string): Promise<void> {
  await inTurn(async () => {
    const state = states.get(id);
    const revision = state?.revision ?? revisions.get(id) ?? 0;
    if (port.hasServer && revision > 0) {
      let response = await askToDelete(id, revision);
      if (response.status === 409 && state !== undefined) {
        const newer = await fetchState(id);
        if (newer !== null && isOurs(state, newer)) response = await askToDelete(id, newer.revision);
      }
      if (!response.ok) {
        await refreshList();
        throw new Error((await response.text()).trim());
      }
      revisions.delete(id);
    }
    const isGone = await forget(id);
    if (isGone || database === null || revision > 0) return;
    if (state !== undefined) states.set(id, state);
    throw new Error('The browser refuses to change what it keeps');
  });
  markUnsaved(id);
  analyses.value = analyses.value.filter((entry) => entry.id !== id);
}

function askToDelete(id: string, revision: number): Promise<Response> {
  return fetch(`kept/${id}`, { method: 'DELETE', headers: { 'If-Match': `"${revision}"` } });
}

/** Of this browser. @returns whether it has been done */
function forget(id: string): Promise<boolean> {
  states.delete(id);
  return write((change) => {
    change.objectStore(ENTRIES).delete(id);
    change.objectStore(GAMES).delete(findStored(id));
  }).then(
    () => true,
    () => false,
  );
}

let last: Promise<unknown> = Promise.resolve();

/** One request that changes the server after the other. */
function inTurn<T>(run: () => Promise<T>): Promise<T> {
  const answer = last.then(run);
  last = answer.catch(() => undefined);
  return answer;
}

let isScheduled = false;
let retry: ReturnType<typeof setTimeout> | undefined;

function scheduleSending(): void {
  if (!isScheduled)
    setTimeout(() => {
      isScheduled = false;
      void inTurn(sendAll);
    }, SEND_MS);
  isScheduled = true;
}

async function sendAll(): Promise<void> {
  for (const state of [...states.values()]) {
    const problem = state.isConfirmed ? null : await send(state);
    if (problem === LOST) return;
    if (problem === null) continue;
    if (state.unstored?.size === 0) markUnsaved(state.entry.id, problem, 'only in this browser');
  }
}

/**
 * What pages before this one could not send, or kept when there was no such server; what is on the server needs no place here. Each
 * tab cares for the one that it has open.
 */
async function sendEarlier(): Promise<void> {
  for (const { id } of await readEntries()) {
    const settle = async (lock: unknown): Promise<void> => {
      const state = lock === null || states.has(id) ? null : await readStoredState(id);
      if (state === null || !isListed) return;
      if (!state.isConfirmed || !revisions.has(id)) {
        states.set(id, state);
        const problem = await send(state);
        if (problem !== null && problem !== LOST) sayOnce(`${state.entry.name}: ${problem}`);
      }
      if (state.isConfirmed && id !== claimed && lock !== undefined) await forget(id);
    };
    if (navigator.locks === undefined) await settle(undefined);
    else if (id !== claimed) await navigator.locks.request(`${TAB_KEY}.${id}`, { ifAvailable: true }, settle);
  }
}

const LOST = '';

/** @param blocks of the games that have changed */
async function put(state: State, blocks: Set<number> | null, isLeaving = false): Promise<Response | null> {
  const { entry, file, revision } = state;
  const changes = listBlocks(file, blocks).map((number) => JSON.stringify([number, getBlock(file, number)]));
  const body = [JSON.stringify(entry), ...changes].join('\n');
  if (isLeaving && body.length > LONGEST_FAREWELL) return null;
  const headers = { 'If-Match': `"${revision}"` };
  return fetch(`kept/${entry.id}`, { method: 'PUT', body, headers, keepalive: isLeaving }).catch(() => null);
}

/** @returns null when the server has it, or it has become another; LOST when no server answers; else why it is refused */
async function send(state: State, isLeaving = false): Promise<string | null> {
  const { entry, unsent } = state;
  state.unsent = new Set();
  const response = await put(state, unsent, isLeaving);
  if (response?.ok === true) {
    state.revision = readRevision(response);
    revisions.set(entry.id, state.revision);
    state.lineage = [entry.edit ?? '', ...(state.entry.edit === entry.edit ? [] : state.lineage.slice(-1))];
    state.isConfirmed = state.entry === entry;
    if (!state.isConfirmed) {
      scheduleSending();
      return null;
    }
    markUnsaved(entry.id);
    if (entry.id !== claimed) await forget(entry.id);
    else if (state.unstored?.size === 0) await storeState(state);
    return null;
  }
  state.unsent = join(state.unsent, unsent);
  if (response?.status === 409) return settleConflict(state).catch(() => LOST);
  if (response !== null && response.status !== 401 && response.status !== 403) return (await response.text()).trim();
  // A connection that is lost sends all by itself when it is there again.
  clearTimeout(retry);
  if (portState.value === 'open') retry = setTimeout(scheduleSending, RETRY_MS);
  return LOST;
}

/** Whether an edit came after another of the same page. */
function isLater(edit: string, than: string): boolean {
  const [[page, number], [otherPage, otherNumber]] = [edit, than].map((mark) => mark.split(':'));
  return page === otherPage && Number(number) > Number(otherNumber);
}

/** The server has got further than this browser, which had no room then. */
function isBehind(state: State, kept: State): boolean {
  return isLater(kept.entry.edit ?? '', state.lineage.at(-1) ?? '');
}

/**
 * The server's newer state holds no edit that is unknown here: an answer was lost, only the place has changed, or the last save of a page
 * that was left came after its state had been read.
 */
function isOurs(state: State, kept: State): boolean {
  const theirs = kept.entry.edit ?? '';
  return state.lineage.some((mark) => mark === theirs || isLater(mark, theirs));
}

/** The server has another state than the one that was changed here. */
async function settleConflict(state: State): Promise<string | null> {
  const { id, name } = state.entry;
  const newer = await fetchState(id);
  if (newer === null) {
    // It was deleted elsewhere; what is changed here comes again.
    Object.assign(state, { revision: 0, unsent: null });
  } else if (isOurs(state, newer)) {
    state.revision = newer.revision;
  } else if (state.lineage.length === 1 || isBehind(state, newer)) {
    await forget(id);
    events.onNewer(id, state.lineage.length > 1 ? '' : `${name} was changed elsewhere: this is the newer version`);
    return null;
  } else {
    const copy = createId();
    await forget(id);
    Object.assign(state, { revision: 0, unsent: null, unstored: null, lineage: ['', ...state.lineage.slice(-1)] });
    state.entry = { ...state.entry, id: copy };
    states.delete(id);
    states.set(copy, state);
    events.onCopied(id, copy, `${name} was changed elsewhere meanwhile: your version is kept as a copy`);
    await storeState(state);
    await refreshList();
    analyses.value = sortEntries([...analyses.peek(), state.entry]);
  }
  return send(state);
}

/** Finished games: adds to those of this browser the ones that the server keeps, and the other way round. @returns whether the server has all */
export async function sharePlayed(merge: (kept: readonly string[]) => readonly string[]): Promise<boolean> {
  if (!port.hasServer) return false;
  const share = async (tries = 3): Promise<boolean> => {
    if (!isListed || tries < 3) await refreshList();
    const kept = revisions.has(PLAYED) ? await fetchState(PLAYED) : null;
    const texts = kept?.file.map(({ text }) => text) ?? [];
    const merged = merge(texts).map((text) => ({ title: '', text }));
    if (merged.length === texts.length && merged.every(({ text }) => texts.includes(text))) return true;
    const place = { chapter: 0, path: [], orientation: 'white' as const };
    const entry = { id: PLAYED, name: 'Finished games', changedAtMs: Date.now(), chapters: merged.length, ...place };
    const response = await put({ ...createState(entry, merged), revision: kept?.revision ?? 0 }, null);
    if (response?.status === 409 && tries > 1) return share(tries - 1);
    if (response?.ok === false) sayOnce((await response.text()).trim());
    if (response?.ok === true) revisions.set(PLAYED, readRevision(response));
    return response?.ok === true;
  };
  // The next game, or the next connection, tries again.
  return inTurn(() => share()).catch(() => false);
}
