/**
 * Matches: `sardonyx match` in processes of their own, over its own files, so that either can take over from the other. Pausing
 * ends the process; going on starts it again with the arguments with which the match began, here or on a command line.
 */
import { existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type Crosstable, findLockOwner } from '../../selfplay/index.js';
import type { MatchServices } from '../desk/page-session.js';
import type { MatchEntry, MatchOffer, MatchState, MatchTableRow } from '../protocol/replies.js';
import type { RequestOf } from '../protocol/requests.js';
import type { MatchBooks } from './match-books.js';
import { type MatchPlayers, readPlayerSpecs } from './match-players.js';
import { MatchRecord, makeFinite, readSavedMatch, type SavedMatch } from './match-record.js';
import { MatchRun } from './match-run.js';

const NAME = /^[\w-][\w.-]{0,79}$/;
const MOST_RUNNING = 2;
const STOP_PATIENCE_MS = 1500;

type MatchRequest = Omit<RequestOf<'startMatch'>, 'id' | 'type'>;
type CrosstableRow = Crosstable['table'][number];

export class Matches implements MatchServices {
  private readonly folder: string;
  private readonly records = new Map<string, MatchRecord>();
  private readonly runs = new Map<string, MatchRun>();
  private readonly problems = new Map<string, string>();

  constructor(
    folder: string,
    private readonly command: readonly string[],
    private readonly offered: MatchPlayers,
    readonly books: MatchBooks,
  ) {
    this.folder = resolve(folder);
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
      const record = this.find(name);
      if (record === null) return [];
      return [{ entry: { name, players: record.players, isRunning: this.runs.has(name) }, changedAtMs }];
    });
    return entries.sort((a, b) => b.changedAtMs - a.changedAtMs).map(({ entry }) => entry);
  }

  read(name: string, from: number): MatchState {
    const record = this.require(name);
    const { saved, players, total, games, course, report, crosstable } = record;
    const run = this.runs.get(name);
    return {
      name,
      players,
      conditions: saved?.conditions ?? 'started on the command line',
      total,
      isRunning: run !== undefined,
      isElsewhere: run === undefined && findLockOwner(record.resultsPath) !== null,
      problem: this.problems.get(name) ?? '',
      played: games.length,
      games: games.slice(from),
      table: (crosstable?.table ?? []).map(createTableRow),
      elo:
        report?.elo == null
          ? null
          : { elo: makeFinite(report.elo.elo), error: makeFinite(report.elo.eloError), los: report.elo.los },
      sprt: report?.sprt ?? null,
      course: course.filter(({ game }) => game > from),
      boards: run?.listBoards() ?? [],
    };
  }

  readGame(name: string, game: number): string {
    return this.require(name).readPgn(game);
  }

  /** The path of all games of a match; null when there are none yet. Throws the sentence for the user. */
  findPgn(name: string): string | null {
    const { pgnPath } = this.require(name);
    return existsSync(pgnPath) ? pgnPath : null;
  }

  start(request: MatchRequest): string {
    const words = request.players.map((player) => this.offered.getWords(player));
    mkdirSync(this.folder, { recursive: true });
    const book = request.book === null ? null : this.books.keep(request.book, join(this.folder, 'books'));
    const name = new Date().toISOString().slice(0, 19).replaceAll(':', '-');
    if (existsSync(this.getPath(name, 'json'))) throw new Error('A match has just been started: wait a second');
    writeFileSync(this.getPath(name, 'json'), `${JSON.stringify(createSavedMatch(request, words, book), null, 2)}\n`);
    this.resume(name);
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
    const record = this.require(name);
    if (this.isElsewhere(name)) throw new Error('Another process plays this match');
    const { saved, origin } = record;
    this.offered.requireOffered([...record.playerSpecs, ...(saved === null ? [] : readPlayerSpecs(saved.args))]);
    const files = ['--results', record.resultsPath, '--pgnout', this.getPath(name, 'pgn')];
    const args = saved === null ? (origin?.args ?? []) : ['match', ...saved.args, ...files];
    const live = args.includes('--live') ? [] : ['--live'];
    const run = new MatchRun([...this.command, ...args, ...live], saved === null ? (origin?.folder ?? null) : null);
    this.runs.set(name, run);
    this.problems.delete(name);
    void run.end.then((problem) => {
      this.runs.delete(name);
      if (problem !== '') this.problems.set(name, problem);
    });
  }

  async close(): Promise<void> {
    const ends = [...this.runs.values()].map((run) => {
      run.pause();
      return run.end;
    });
    await Promise.race([Promise.all(ends), new Promise((resolve) => setTimeout(resolve, STOP_PATIENCE_MS))]);
  }

  private isElsewhere(name: string): boolean {
    return !this.runs.has(name) && findLockOwner(this.getPath(name, 'jsonl')) !== null;
  }

  private listNames(): { readonly name: string; readonly changedAtMs: number }[] {
    if (!existsSync(this.folder)) return [];
    const files = readdirSync(this.folder).flatMap((file) => /^(.+)\.jsonl?$/.exec(file)?.[1] ?? []);
    return [...new Set(files)]
      .filter((name) => NAME.test(name))
      .map((name) => ({ name, changedAtMs: this.getChangeTime(name) }));
  }

  private getChangeTime(name: string): number {
    const times = (['json', 'jsonl'] as const).map(
      (kind) => statSync(this.getPath(name, kind), { throwIfNoEntry: false })?.mtimeMs ?? 0,
    );
    return Math.max(...times);
  }

  /** Null for a file of results that no match of this version has written, and for one that cannot be read. */
  private find(name: string): MatchRecord | null {
    try {
      return this.require(name);
    } catch {
      return null;
    }
  }

  private require(name: string): MatchRecord {
    if (!NAME.test(name)) throw new Error('There is no match of that name');
    const path = join(this.folder, name);
    const record =
      this.records.get(name) ?? new MatchRecord(name, path, readSavedMatch(this.getPath(name, 'json'), name));
    record.refresh();
    if (record.saved === null && record.origin === null) throw new Error('There is no match of that name');
    this.records.set(name, record);
    return record;
  }

  private getPath(name: string, kind: 'json' | 'jsonl' | 'pgn'): string {
    return join(this.folder, `${name}.${kind}`);
  }
}

/** @param book path; null = the initial position */
function createSavedMatch(request: MatchRequest, words: readonly string[], book: string | null): SavedMatch {
  const { players, tournament, clock, nodes, games, concurrency, sprt, chess960 } = request;
  if (sprt !== null && players.length > 2) throw new Error('A sequential test needs two players');
  const test = sprt === null ? null : `elo0=${sprt.elo0} elo1=${sprt.elo1} model=logistic`;
  const limit = clock === null ? `nodes=${nodes}` : `tc=${clock.seconds}+${clock.increment}`;
  return {
    players: distinguishNames(players),
    tournament,
    games,
    conditions: [
      limit,
      ...(players.length > 2 ? [tournament] : []),
      ...(request.book === null ? [] : [request.book]),
      ...(test === null ? [] : [`SPRT ${test}`]),
      ...(chess960 ? ['Chess960'] : []),
    ].join(', '),
    sprt: test,
    args: [
      ...words.flatMap((word) => ['--engine', word]),
      ...['--each', limit, '--games', String(games), '--rating-interval', '0', '--concurrency', String(concurrency)],
      ...(players.length > 2 ? ['--tournament', tournament] : []),
      ...(book === null ? [] : ['--openings', book]),
      ...(test === null ? [] : ['--sprt', test]),
      ...(chess960 ? ['--chess960'] : []),
    ],
  };
}

function distinguishNames(names: readonly string[]): string[] {
  return names.map((name, i) => (names.filter((other) => other === name).length > 1 ? `${name} ${i + 1}` : name));
}

function createTableRow({ player, points, games, wins, draws, losses, elo, against }: CrosstableRow): MatchTableRow {
  return {
    player,
    points,
    games,
    wins,
    draws,
    losses,
    elo: makeFinite(elo?.elo),
    error: makeFinite(elo?.eloError),
    against,
  };
}
