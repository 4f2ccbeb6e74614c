/**
 * Matches: `sardonyx match` in processes of their own, over its own files, so that either can take over from the other. Pausing
 * ends the process; going on starts it again with arguments that are built anew from the match's checked fields.
 */

import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, lstatSync, readdirSync, realpathSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import * as v from 'valibot';
import { createFolder } from '#platform/folders.js';
import { cutText, describeRefusal, LineReader } from '../../base/util/index.js';
import { type Crosstable, findLockOwner } from '../../games/match/index.js';
import type { MatchServices } from '../desk/engine-services.js';
import {
  type LiveGame,
  liveGameSchema,
  type MatchEntry,
  type MatchOffer,
  type MatchState,
  type MatchTableRow,
} from '../protocol/replies.js';
import type { MatchSettings } from '../protocol/requests.js';
import {
  createRecordedArguments,
  createRequestedArguments,
  describeSettings,
  type MatchOffers,
} from './match-arguments.js';
import { isPlainFile, MatchRecord, makeFinite, readSavedMatch } from './match-record.js';
import type { MatchBooks, MatchPlayers } from './offers.js';

const NAME = /^[\w-][\w.-]{0,79}$/;
const MOST_RUNNING = 2;
const STOP_TIMEOUT_MS = 1500;
/** Matches of the folder that are looked at, the last by name. */
const MOST_MATCHES = 1000;
/** Finished games in one answer; the page asks on. */
const MOST_GAMES_TOLD = 5000;

type CrosstableRow = Crosstable['table'][number];

export class Matches implements MatchServices {
  private readonly folder: string;
  private readonly records = new Map<string, MatchRecord>();
  private readonly runs = new Map<string, MatchRun>();
  private readonly problems = new Map<string, string>();

  /** Throws the sentence for the user. @param folder made when the first match starts */
  constructor(
    folder: string,
    private readonly command: readonly string[],
    private readonly offered: MatchPlayers,
    readonly books: MatchBooks,
  ) {
    this.folder = resolve(folder);
    if (statSync(this.folder, { throwIfNoEntry: false })?.isDirectory() === false) {
      throw new Error(`No matches can be kept in ${folder}: it is no folder`);
    }
  }

  get players(): readonly string[] {
    return this.offered.names;
  }

  get offer(): MatchOffer {
    return { books: this.books.names };
  }

  /** Those that were played last come first. */
  list(): readonly MatchEntry[] {
    const entries = this.listNames().flatMap(({ name, changedAtMs }) => {
      try {
        const { players } = this.open(name);
        return [{ entry: { name, players, isRunning: this.runs.has(name) }, changedAtMs }];
      } catch {
        // No match of this version has written it, or it cannot be read.
        return [];
      }
    });
    return entries.sort((a, b) => b.changedAtMs - a.changedAtMs).map(({ entry }) => entry);
  }

  async read(name: string, from: number): Promise<MatchState> {
    const record = await this.require(name);
    const { saved, players, total, games, course, report, crosstable } = record;
    const run = this.runs.get(name);
    const end = from + MOST_GAMES_TOLD;
    return {
      name,
      players,
      conditions: saved === null ? 'started on the command line' : describeSettings(saved),
      total,
      isRunning: run !== undefined,
      isElsewhere: this.isElsewhere(name),
      problem: this.problems.get(name) ?? '',
      played: games.length,
      games: games.slice(from, end),
      table: (crosstable?.table ?? []).map(createTableRow),
      elo:
        report?.elo == null
          ? null
          : { elo: makeFinite(report.elo.elo), error: makeFinite(report.elo.eloError), los: report.elo.los },
      sprt: report?.sprt ?? null,
      course: course.filter(({ game }) => game > from && game <= end),
      live: run?.listLive() ?? [],
    };
  }

  async readGame(name: string, game: number): Promise<string> {
    return (await this.require(name)).readPgn(game);
  }

  /** The path of all games of a match; null when there are none yet. Throws the sentence for the user. */
  findPgn(name: string): string | null {
    const { pgnPath } = this.open(name);
    return isPlainFile(pgnPath) ? pgnPath : null;
  }

  async start(request: MatchSettings): Promise<string> {
    createFolder(this.folder);
    const book = request.book === null ? null : await this.books.keep(request.book, this.bookFolder);
    const settings = { ...request, book };
    createRequestedArguments(settings, this.offers);
    const second = new Date().toISOString().slice(0, 19).replaceAll(':', '-');
    let name = second;
    for (let count = 2; isThere(this.getPath(name, 'json')); count++) name = `${second}-${count}`;
    const path = this.getPath(name, 'json');
    writeFileSync(path, `${JSON.stringify(settings, null, 2)}\n`, { flag: 'wx' });
    try {
      this.resume(name);
    } catch (error) {
      // A match that was refused is none.
      rmSync(path);
      this.records.delete(name);
      throw error;
    }
    return name;
  }

  pause(name: string): void {
    const run = this.runs.get(name);
    if (run !== undefined) run.pause();
    else if (this.isElsewhere(name)) throw new Error('Another process plays this match: end it there');
  }

  resume(name: string): void {
    if (this.runs.has(name)) return;
    if (this.runs.size >= MOST_RUNNING) throw new Error(`${MOST_RUNNING} matches run already: pause one first`);
    const { saved, header, resultsPath, pgnPath } = this.open(name);
    if (this.isElsewhere(name)) throw new Error('Another process plays this match');
    const args =
      saved !== null
        ? createRequestedArguments(saved, this.offers)
        : header !== null
          ? createRecordedArguments(header, this.offers)
          : [];
    requirePlain(resultsPath, pgnPath);
    const isOwnPgn = saved !== null || header?.origin.pgn == null || isSame(header.origin.pgn, pgnPath);
    if (!isOwnPgn) throw new Error(`The games of this match are not in ${pgnPath}: go on with it on the command line`);
    const hasPgn = saved !== null || header?.origin.pgn != null;
    const files = [`--results=${resultsPath}`, ...(hasPgn ? [`--pgnout=${pgnPath}`] : [])];
    const run = new MatchRun([...this.command, 'match', ...args, ...files, '--live']);
    this.runs.set(name, run);
    this.problems.delete(name);
    void run.end.then((problem) => {
      this.runs.delete(name);
      if (problem !== '') this.problems.set(name, problem);
    });
  }

  /** Deletes the plain files of a match: what a link of that name points to stays. */
  remove(name: string): void {
    if (this.runs.has(name)) throw new Error('This match is being played: pause it first');
    if (this.isElsewhere(name)) throw new Error('Another process plays this match: end it there');
    const { resultsPath, pgnPath } = this.open(name);
    const paths = [this.getPath(name, 'json'), resultsPath, pgnPath];
    requirePlain(...paths);
    // The lock may be that of a process that was killed.
    for (const path of [...paths, `${resultsPath}.lock`]) rmSync(path, { force: true });
    this.records.delete(name);
    this.problems.delete(name);
  }

  async close(): Promise<void> {
    const ends = [...this.runs.values()].map((run) => {
      run.pause();
      return run.end;
    });
    await Promise.race([Promise.all(ends), new Promise((resolve) => setTimeout(resolve, STOP_TIMEOUT_MS))]);
  }

  private get bookFolder(): string {
    return join(this.folder, 'books');
  }

  private get offers(): MatchOffers {
    return { players: this.offered, books: this.books, bookFolder: this.bookFolder };
  }

  private isElsewhere(name: string): boolean {
    return !this.runs.has(name) && findLockOwner(this.getPath(name, 'jsonl')) !== null;
  }

  private listNames(): { readonly name: string; readonly changedAtMs: number }[] {
    if (!existsSync(this.folder)) return [];
    const files = readdirSync(this.folder).flatMap((file) => /^([\w-][\w.-]{0,79})\.jsonl?$/.exec(file)?.[1] ?? []);
    const names = [...new Set(files)].sort().slice(-MOST_MATCHES);
    return names.map((name) => ({ name, changedAtMs: this.getChangeTime(name) }));
  }

  private getChangeTime(name: string): number {
    const times = (['json', 'jsonl'] as const).map(
      (kind) => lstatSync(this.getPath(name, kind), { throwIfNoEntry: false })?.mtimeMs ?? 0,
    );
    return Math.max(...times);
  }

  /** With its first line read. Throws the sentence for the user. */
  private open(name: string): MatchRecord {
    if (!NAME.test(name)) throw new Error('There is no match of that name');
    const record =
      this.records.get(name) ??
      new MatchRecord(name, join(this.folder, name), readSavedMatch(this.getPath(name, 'json')));
    record.readHeader();
    if (record.saved === null && record.header === null) throw new Error('There is no match of that name');
    this.records.set(name, record);
    return record;
  }

  private async require(name: string): Promise<MatchRecord> {
    const record = this.open(name);
    await record.refresh();
    return record;
  }

  private getPath(name: string, kind: 'json' | 'jsonl'): string {
    return join(this.folder, `${name}.${kind}`);
  }
}

function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

function requirePlain(...paths: readonly string[]): void {
  const other = paths.find((path) => isThere(path) && !isPlainFile(path));
  if (other !== undefined) throw new Error(`${other} is no plain file of the match`);
}

/** Two ways to write one path. */
function isSame(a: string, b: string): boolean {
  if (resolve(a) === b) return true;
  try {
    return realpathSync(a) === realpathSync(b);
  } catch {
    return false;
  }
}

function createTableRow({ player, points, games, elo, against }: CrosstableRow): MatchTableRow {
  return { player, points, games, elo: makeFinite(elo?.elo), error: makeFinite(elo?.eloError), against };
}

const PAUSE_TIMEOUT_MS = 1000;
const LONGEST_COMPLAINT = 2000;

/** What `sardonyx match --live` prints. */
const newsSchema = v.variant('type', [
  v.object({ type: v.literal('position'), ...liveGameSchema.entries }),
  v.object({ type: v.literal('result'), game: v.number() }),
  v.object({ type: v.literal('report') }),
]);

/** `sardonyx match` in a process of its own: its live games, what it complains of, and its end. */
class MatchRun {
  private readonly child: ChildProcess;
  private readonly live = new Map<number, { readonly position: Omit<LiveGame, 'ageMs'>; readonly atMs: number }>();
  private errors = '';
  /** The first news that was none, in one sentence. */
  private misunderstanding = '';
  /** It was told to pause. */
  private isStopping = false;
  /** Resolves with why it ended before its time; '' = it did not. Never rejects. */
  readonly end: Promise<string>;

  constructor([program, ...args]: readonly string[]) {
    const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'], windowsHide: true });
    this.child = child;
    const lines = new LineReader((line) => this.takeLine(line));
    child.stdout.on('data', (chunk: Buffer) => lines.push(chunk)).on('end', () => lines.end());
    child.stderr.on('data', (chunk) => {
      this.errors = `${this.errors}${chunk}`.slice(-LONGEST_COMPLAINT);
    });
    this.end = new Promise((resolve) => {
      child.on('error', (error) => resolve(error.message));
      child.on('close', (status) => {
        const isFine = status === 0 || this.isStopping;
        const last = this.errors.trim().split('\n').at(-1) || 'The match ended without a reason';
        resolve(isFine ? this.misunderstanding : describeRefusal(last));
      });
    });
  }

  /** The running games by their numbers. */
  listLive(nowMs = Date.now()): LiveGame[] {
    return [...this.live.values()]
      .sort((a, b) => a.position.game - b.position.game)
      .map(({ position, atMs }) => ({ ...position, ageMs: nowMs - atMs }));
  }

  /** A match outlives being killed: a game that was cut short is played again. */
  pause(): void {
    if (this.isStopping) return;
    this.isStopping = true;
    this.child.kill('SIGINT');
    const timer = setTimeout(() => this.child.kill('SIGKILL'), PAUSE_TIMEOUT_MS);
    void this.end.then(() => clearTimeout(timer));
  }

  private takeLine(line: string): void {
    // A library of a device may write to stdout, too.
    if (!line.startsWith('{')) return;
    const news = readNews(line);
    if (news === null) this.misunderstanding ||= `The match has printed what is no news of it: ${cutText(line)}`;
    else if (news.type === 'result') this.live.delete(news.game);
    else if (news.type === 'position') {
      const { type: _type, ...position } = news;
      this.live.set(position.game, { position, atMs: Date.now() });
    }
  }
}

function readNews(line: string): v.InferOutput<typeof newsSchema> | null {
  try {
    return v.parse(newsSchema, JSON.parse(line));
  } catch {
    return null;
  }
}
