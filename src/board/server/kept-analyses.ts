/**
 * Analyses and finished games that the server keeps for its pages, in a folder of the user: `ID.REVISION.json`. Their content is the
 * pages' affair (../protocol/kept.ts); shapes and limits are checked here, when they come and when they are read.
 *
 * A state is never changed. The next one gets the next number, and a hard link gives it its name, which fails when another server over
 * the same folder was faster: so no write replaces a newer one, and a process that is killed leaves the state before. The first number
 * is the time: a number never means two states, even of an analysis that was deleted and brought back.
 */
import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { chmod, link, lstat, open, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import * as v from 'valibot';
import { describeReadFailure, describeWriteFailure } from '#platform/files.js';
import { createFolder } from '#platform/folders.js';
import { BLOCK, type KeptEntry, type KeptList } from '../protocol/kept.js';
import { HttpRefusal } from './http-refusal.js';

const MEGABYTE = 1e6;
export const LARGEST_ANALYSIS_BYTES = 32 * MEGABYTE;
const MOST_BYTES = 1000 * MEGABYTE;
const MOST_ANALYSES = 2000;
/** Of the entry: the path of the place has a number a ply. */
const LONGEST_ENTRY = 65_536;
const FILE = /^([a-z0-9-]{1,64})\.(\d{1,16})\.json$/;
const DRAFT = /^[a-z0-9-]{1,64}\.[0-9a-f]{12}\.tmp$/;
/** After this, its process was killed. */
const OLDEST_DRAFT_MS = 3_600_000;

const count = v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(1e7));
const entrySchema = v.looseObject({
  id: v.string(),
  name: v.string(),
  changedAtMs: v.number(),
  chapters: v.pipe(count, v.minValue(1)),
  chapter: count,
  path: v.array(count),
  orientation: v.picklist(['white', 'black']),
  setup: v.nullish(v.string()),
  edit: v.optional(v.string()),
});
const blockSchema = v.pipe(
  v.array(v.looseObject({ title: v.string(), text: v.string() })),
  v.minLength(1),
  v.maxLength(BLOCK),
);
const changeSchema = v.strictTuple([count, blockSchema]);

interface KeptFile {
  readonly path: string;
  readonly revision: number;
  readonly bytes: number;
}

export class KeptAnalyses {
  /** Path → entry; null = it is none. */
  private entries = new Map<string, KeptEntry | null>();
  private last: Promise<unknown> = Promise.resolve();

  /** @param folder created with the first analysis; undefined = this user has none */
  constructor(private readonly folder: string | undefined) {}

  /** All methods reject with a `HttpRefusal`. */
  async list(): Promise<KeptList> {
    const entries: typeof this.entries = new Map();
    const problems: string[] = [];
    for (const [id, file] of await this.find()) {
      const known = this.entries.get(file.path);
      const entry = known === undefined ? await readEntry(id, file) : known;
      entries.set(file.path, entry);
      // It may have given way to its next state just now.
      if (entry === null && (await lstat(file.path).catch(() => null)) !== null)
        problems.push(describeDamage(file.path));
    }
    this.entries = entries;
    return { analyses: [...entries.values()].flatMap((entry) => entry ?? []), problems };
  }

  async read(id: string): Promise<{ readonly revision: number; readonly text: string }> {
    const file = (await this.find()).get(id);
    if (file === undefined) throw new HttpRefusal(404, 'There is no such analysis');
    const text = await readText(file);
    const [head, ...blocks] = text.split('\n');
    const isWhole = parse(entrySchema, head)?.chapters === countChapters(blocks);
    if (!isWhole) throw new HttpRefusal(422, describeDamage(file.path));
    return { revision: file.revision, text };
  }

  /**
   * @param base number of the state that was changed; 0 = it is new
   * @param text the entry, and `[number, games]` for each block that has changed, a line each
   * @returns the number of the new state
   */
  put(id: string, base: number, text: string): Promise<number> {
    return this.inTurn(async () => {
      const [head, ...lines] = text.split('\n');
      const entry = head.length > LONGEST_ENTRY ? null : parse(entrySchema, head);
      const changes = lines.map((line) => parse(changeSchema, line));
      if (entry === null || entry.id !== id || changes.includes(null))
        throw new HttpRefusal(422, 'This is no analysis');
      const files = await this.find();
      const old = files.get(id);
      if ((old?.revision ?? 0) !== base) throw createConflict();
      const blocks: string[] = old === undefined ? [] : (await readText(old)).split('\n').slice(1);
      blocks.length = Math.ceil(entry.chapters / BLOCK);
      const last = blocks.length - 1;
      for (const change of changes) {
        const [number, games] = change ?? [0, []];
        if (number > last || (number < last && games.length < BLOCK)) throw new HttpRefusal(422, 'This is no analysis');
        blocks[number] = JSON.stringify(games);
      }
      // The blocks that stay were checked when they came.
      const isWhole = !Array.from(blocks).includes(undefined as unknown as string);
      if (!isWhole || last * BLOCK + countChapters(blocks.slice(last)) !== entry.chapters)
        throw new HttpRefusal(422, 'Games of this analysis are missing');
      const content = Buffer.from([JSON.stringify(entry), ...blocks].join('\n'));
      requireRoom(files, old, content.length);
      const revision = old === undefined ? Date.now() : old.revision + 1;
      await this.write(id, revision, content);
      if (old !== undefined) await rm(old.path, { force: true }).catch(() => undefined);
      return revision;
    });
  }

  /** @param base number of the state that is deleted */
  remove(id: string, base: number): Promise<void> {
    return this.inTurn(async () => {
      const file = (await this.find()).get(id);
      if (file === undefined) return;
      if (file.revision !== base) throw createConflict();
      await rm(file.path, { force: true }).catch((error: unknown) => {
        throw new HttpRefusal(507, `The server cannot delete this analysis: ${describeWriteFailure(error)}`);
      });
    });
  }

  /** Newest state of each analysis. Links, folders and other names are left alone. */
  private async find(): Promise<Map<string, KeptFile>> {
    const files = new Map<string, KeptFile>();
    if (this.folder === undefined)
      throw new HttpRefusal(507, 'This user has no folder for analyses: set SARDONYX_DATA to one');
    const names = await readdir(this.folder).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return [];
      throw new HttpRefusal(507, `The analyses of ${this.folder} cannot be listed: ${describeReadFailure(error)}`);
    });
    for (const name of names) {
      const [, id, digits] = FILE.exec(name) ?? [];
      const path = join(this.folder, name);
      const info = id === undefined && !DRAFT.test(name) ? undefined : await lstat(path).catch(() => undefined);
      if (info?.isFile() !== true) continue;
      const revision = Number(digits);
      if (id === undefined) {
        if (Date.now() - info.mtimeMs > OLDEST_DRAFT_MS) await rm(path, { force: true });
      } else if ((files.get(id)?.revision ?? -1) < revision) files.set(id, { path, revision, bytes: info.size });
    }
    return files;
  }

  private async write(id: string, revision: number, content: Uint8Array): Promise<void> {
    const folder = this.folder ?? '';
    const [draft, path] = [`${id}.${randomBytes(6).toString('hex')}.tmp`, `${id}.${revision}.json`].map((name) =>
      join(folder, name),
    );
    try {
      createFolder(folder, 0o700);
      await chmod(folder, 0o700);
      const file = await open(draft, 'wx', 0o600);
      try {
        await file.writeFile(content);
        await file.datasync();
      } finally {
        await file.close();
      }
      await link(draft, path).catch(async (error: NodeJS.ErrnoException) => {
        if (error.code === 'EEXIST') throw createConflict();
        // A file system without hard links.
        if ((await lstat(path).catch(() => null)) !== null) throw createConflict();
        await rename(draft, path);
      });
    } catch (error) {
      if (error instanceof HttpRefusal) throw error;
      const { code } = error as NodeJS.ErrnoException;
      const reason = code === undefined ? (error as Error).message : `${folder}: ${describeWriteFailure(error)}`;
      throw new HttpRefusal(507, `The server cannot keep this analysis: ${reason}`);
    } finally {
      await rm(draft, { force: true }).catch(() => undefined);
    }
    // Another server may have come two states further meanwhile, and removed the one that had this number.
    if ((await this.find()).get(id)?.revision === revision) return;
    await rm(path, { force: true });
    throw createConflict();
  }

  /** So that each sees the room that the one before has left. */
  private inTurn<T>(run: () => Promise<T>): Promise<T> {
    const answer = this.last.then(run);
    this.last = answer.catch(() => undefined);
    return answer;
  }
}

function createConflict(): HttpRefusal {
  return new HttpRefusal(409, 'The analysis was changed elsewhere meanwhile');
}

function describeDamage(path: string): string {
  return `${path} is no analysis that can be read: it is left as it is`;
}

function requireRoom(files: ReadonlyMap<string, KeptFile>, old: KeptFile | undefined, bytes: number): void {
  const refuse = (limit: string): never => {
    throw new HttpRefusal(413, `The server keeps ${limit}: delete analyses, or save this one as PGN`);
  };
  if (bytes > LARGEST_ANALYSIS_BYTES) refuse(`analyses of at most ${LARGEST_ANALYSIS_BYTES / MEGABYTE} MB`);
  if (old === undefined && files.size >= MOST_ANALYSES) refuse(`at most ${MOST_ANALYSES} analyses`);
  const sum = [...files.values()].reduce((total, file) => total + file.bytes, bytes - (old?.bytes ?? 0));
  if (sum > MOST_BYTES) refuse(`at most ${MOST_BYTES / MEGABYTE} MB of analyses`);
}

function parse<Schema extends v.GenericSchema>(schema: Schema, text: string): v.InferOutput<Schema> | null {
  try {
    const result = v.safeParse(schema, JSON.parse(text));
    return result.success ? result.output : null;
  } catch {
    return null;
  }
}

/** Of lines that are blocks, each full but the last; -1 when they are not. */
function countChapters(blocks: readonly string[]): number {
  const counts = blocks.map((block) => parse(blockSchema, block)?.length ?? -1);
  const isWhole = counts.every((games, index) => games === BLOCK || (games > 0 && index === counts.length - 1));
  return isWhole ? counts.reduce((sum, games) => sum + games, 0) : -1;
}

async function readText(file: KeptFile, bytes = file.bytes): Promise<string> {
  if (bytes > LARGEST_ANALYSIS_BYTES) throw new HttpRefusal(422, describeDamage(file.path));
  try {
    const opened = await open(file.path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0));
    try {
      const { buffer, bytesRead } = await opened.read({ buffer: Buffer.alloc(bytes), position: 0 });
      return buffer.toString('utf8', 0, bytesRead);
    } finally {
      await opened.close();
    }
  } catch (error) {
    // Another server has written the next state just now.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') throw createConflict();
    throw new HttpRefusal(507, `${file.path} cannot be read: ${describeReadFailure(error)}`);
  }
}

async function readEntry(id: string, file: KeptFile): Promise<KeptEntry | null> {
  const text = await readText(file, Math.min(file.bytes, LONGEST_ENTRY + 1)).catch(() => '');
  const entry = parse(entrySchema, text.split('\n')[0]);
  return entry === null || entry.id !== id ? null : ({ ...entry, revision: file.revision } as KeptEntry);
}
