/**
 * The files of one match, as they grow: NAME.jsonl (results, with the conditions in its first line), NAME.pgn (games), and
 * NAME.json (what a page asked for) when a page started it. The files may come from a stranger: each is a plain file of the folder,
 * never a link, and is read a piece at a time, within limits. Only what was added since the last look is read.
 */

import { closeSync, constants, fstatSync, lstatSync, openSync, readSync } from 'node:fs';
import { basename } from 'node:path';
import * as v from 'valibot';
import { describeReadFailure } from '#platform/files.js';
import { nextTurn } from '#platform/threads.js';
import { unwrap } from '../../base/util/index.js';
import { parsePgnTags, splitPgn } from '../../chess/pgn/index.js';
import {
  type Crosstable,
  createCrosstable,
  createReport,
  distinguishNames,
  LARGEST_RESULTS_BYTES,
  type MatchReport,
  Schedule,
  TOURNAMENT_KINDS,
  Tournament,
  type TournamentKind,
} from '../../games/match/index.js';
import { END_REASONS } from '../../games/play/index.js';
import { parseSprt } from '../../games/statistics/index.js';
import type { CoursePoint, MatchGame } from '../protocol/replies.js';
import {
  LONGEST_NAME,
  type MatchSettings,
  MOST_GAMES,
  MOST_PLAYERS,
  matchSettingsSchema,
} from '../protocol/requests.js';

export function formatSprtFlag({ sprt }: MatchSettings): string | null {
  return sprt === null ? null : `elo0=${sprt.elo0} elo1=${sprt.elo1} model=logistic`;
}

/** Points of the charts over a whole match. */
const MOST_POINTS = 400;
/** Of NAME.json, and of a line of NAME.jsonl. */
const MOST_LINE_BYTES = 1 << 16;
/** Of the PGN of one game. */
const MOST_GAME_BYTES = 1 << 20;
const PIECE_BYTES = 1 << 18;
/** The server answers other pages at least so often while it reads. */
const TURN_MS = 20;
const NEWLINE = 10;

/** In one line. */
const text = v.pipe(v.string(), v.maxLength(LONGEST_NAME), v.regex(/^\P{Cc}*$/u));
const count = (most: number) => v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(most));

/** The first line of results, as far as it says what the games are. What is needed to go on is checked then. */
const headerSchema = v.object({
  conditions: v.unknown(),
  origin: v.object({
    players: v.pipe(v.array(text), v.minLength(2), v.maxLength(MOST_PLAYERS)),
    tournament: v.picklist(TOURNAMENT_KINDS),
    games: count(MOST_GAMES),
    concurrency: v.optional(v.pipe(count(64), v.minValue(1)), 1),
    recovers: v.optional(v.boolean(), false),
    event: v.optional(text),
    sprt: v.nullable(
      v.pipe(
        text,
        v.check((words) => parseSprt(words).ok),
      ),
    ),
    pgn: v.nullable(v.pipe(v.string(), v.maxLength(4096))),
  }),
});
const rowSchema = v.object({
  game: count(2 * MOST_GAMES * MOST_PLAYERS ** 2),
  white: text,
  black: text,
  result: v.picklist(['1-0', '0-1', '1/2-1/2']),
  reason: v.picklist(END_REASONS),
  plies: count(1e6),
  pgnBytes: v.optional(count(Number.MAX_SAFE_INTEGER)),
});

export type MatchHeader = v.InferOutput<typeof headerSchema>;

export class MatchRecord {
  /** Null until the first line of results was read. */
  header: MatchHeader | null = null;
  readonly games: MatchGame[] = [];
  readonly course: CoursePoint[] = [];
  private readonly pgnEnds: (number | undefined)[] = [];
  private tournament: Tournament | null = null;
  /** Whole lines that were read, and their bytes. */
  private linesRead = 0;
  private bytesRead = 0;
  private reading: Promise<void> | null = null;

  /** @param path without its ending. @param saved what a page asked for; null for a match of the command line */
  constructor(
    readonly name: string,
    private readonly path: string,
    readonly saved: MatchSettings | null,
  ) {}

  get resultsPath(): string {
    return `${this.path}.jsonl`;
  }

  get pgnPath(): string {
    return `${this.path}.pgn`;
  }

  /** Names as the games have them, in the order of the schedule. */
  get players(): readonly string[] {
    return this.header?.origin.players ?? distinguishNames(this.saved?.players ?? []);
  }

  get tournamentKind(): TournamentKind {
    return this.saved?.tournament ?? this.header?.origin.tournament ?? 'round-robin';
  }

  get sprt(): string | null {
    return this.saved === null ? (this.header?.origin.sprt ?? null) : formatSprtFlag(this.saved);
  }

  /** Games to play in all; a match that was made longer elsewhere has at least those that it played. */
  get total(): number {
    return Math.max(this.games.length, this.createSchedule().totalGames);
  }

  get report(): MatchReport | null {
    const { players, tournament, sprt } = this;
    if (tournament === null || players.length !== 2) return null;
    return createReport(
      [players[0], players[1]],
      tournament.pairings[0],
      sprt === null ? null : unwrap(parseSprt(sprt)),
    );
  }

  get crosstable(): Crosstable | null {
    return this.tournament === null ? null : createCrosstable(this.players, this.tournament);
  }

  /** Reads what is new. Rejects with the sentence for the user. */
  refresh(): Promise<void> {
    this.reading ??= this.readOn()
      .catch((error: Error) => {
        this.forget();
        throw error;
      })
      .finally(() => {
        this.reading = null;
      });
    return this.reading;
  }

  /** Reads the first line alone. Throws the sentence for the user. */
  readHeader(): void {
    if (this.header !== null) return;
    const { bytes } = readPart(this.resultsPath, 0, MOST_LINE_BYTES);
    const end = bytes.indexOf(NEWLINE);
    if (end >= 0) this.header = this.parse(headerSchema, bytes.toString('utf8', 0, end));
  }

  /** The PGN of a game. Throws the sentence for the user. @param game its place in `games` */
  readPgn(game: number): string {
    const end = this.pgnEnds[game] ?? 0;
    const start = Math.max(this.pgnEnds[game - 1] ?? 0, end - MOST_GAME_BYTES);
    // Another program may have appended text of its own before.
    const last = splitPgn(readPart(this.pgnPath, start, end).bytes.toString('utf8')).at(-1);
    if (last === undefined || parsePgnTags(last.text).size === 0) throw new Error('There is no such game yet');
    return last.text;
  }

  private async readOn(): Promise<void> {
    const size = readPart(this.resultsPath, 0, 0).fileBytes;
    if (size > LARGEST_RESULTS_BYTES) throw this.describeDamage();
    if (size < this.bytesRead) this.forget();
    let turnBeganAtMs = performance.now();
    while (this.bytesRead < size) {
      const { bytes } = readPart(this.resultsPath, this.bytesRead, Math.min(size, this.bytesRead + PIECE_BYTES));
      const length = bytes.lastIndexOf(NEWLINE) + 1;
      if (length === 0 && bytes.length > MOST_LINE_BYTES) throw this.describeDamage();
      if (length === 0) return;
      for (const line of bytes.toString('utf8', 0, length - 1).split('\n')) {
        this.take(line);
        if (performance.now() - turnBeganAtMs < TURN_MS) continue;
        await nextTurn();
        turnBeganAtMs = performance.now();
      }
      this.bytesRead += length;
    }
  }

  private take(line: string): void {
    if (line.length > MOST_LINE_BYTES || this.games.length >= MOST_GAMES) throw this.describeDamage();
    if (this.linesRead++ === 0) this.header = this.parse(headerSchema, line);
    else this.add(this.parse(rowSchema, line));
  }

  private add({ game, white, black, result, reason, plies, pgnBytes }: v.InferOutput<typeof rowSchema>): void {
    this.tournament ??= new Tournament(this.createSchedule());
    this.tournament.add(game, { result, reason });
    this.games.push({ white, black, result, reason, plies });
    this.pgnEnds.push(pgnBytes);
    const step = Math.max(1, Math.ceil(this.total / MOST_POINTS));
    if (this.games.length % step === 0) this.course.push(this.createPoint());
  }

  private parse<Schema extends v.GenericSchema>(schema: Schema, line: string): v.InferOutput<Schema> {
    try {
      return v.parse(schema, JSON.parse(line));
    } catch {
      throw this.describeDamage();
    }
  }

  private describeDamage(): Error {
    return new Error(`The results of the match ${this.name} are damaged`);
  }

  private createPoint(): CoursePoint {
    const { report, crosstable, players, games } = this;
    const estimates =
      report === null
        ? players.map((player) => crosstable?.table.find((row) => row.player === player)?.elo ?? null)
        : [report.elo];
    return {
      game: games.length,
      elo: estimates.map((estimate) => makeFinite(estimate?.elo)),
      error: estimates.map((estimate) => makeFinite(estimate?.eloError)),
      llr: report?.sprt?.llr ?? null,
    };
  }

  private createSchedule(): Schedule {
    const games = this.saved?.games ?? this.header?.origin.games ?? 0;
    return new Schedule(this.tournamentKind, Math.max(2, this.players.length), games);
  }

  private forget(): void {
    this.games.length = 0;
    this.course.length = 0;
    this.pgnEnds.length = 0;
    this.header = null;
    this.tournament = null;
    this.linesRead = 0;
    this.bytesRead = 0;
  }
}

/** What a page asked for; null when there is no such file, and when it holds anything else. */
export function readSavedMatch(path: string): MatchSettings | null {
  try {
    return v.parse(matchSettingsSchema, JSON.parse(readPart(path, 0, MOST_LINE_BYTES).bytes.toString('utf8')));
  } catch {
    return null;
  }
}

/** JSON has no infinity: all games won, or lost. */
export function makeFinite(value: number | undefined): number | null {
  return value !== undefined && Number.isFinite(value) ? value : null;
}

/** Not a link, which may lead out of the folder. */
export function isPlainFile(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
}

/**
 * Reads a part of a plain file; a file that is missing is an empty one. A link, a pipe or a device is refused: a link would show
 * files outside the folder, the others may never answer. Throws the sentence for the user.
 */
function readPart(path: string, start: number, end: number): { readonly bytes: Buffer; readonly fileBytes: number } {
  const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;
  let file: number;
  try {
    file = openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { bytes: Buffer.alloc(0), fileBytes: 0 };
    throw describeUnread(path, error);
  }
  try {
    const stats = fstatSync(file);
    if (!stats.isFile()) throw describeUnread(path, null);
    const bytes = Buffer.alloc(Math.max(0, Math.min(end, stats.size) - start));
    return { bytes: bytes.subarray(0, readSync(file, bytes, 0, bytes.length, start)), fileBytes: stats.size };
  } finally {
    closeSync(file);
  }
}

function describeUnread(path: string, error: unknown): Error {
  const { code } = (error ?? { code: 'ELOOP' }) as NodeJS.ErrnoException;
  const isOther = code === 'ELOOP' || code === 'ENXIO';
  return new Error(`${basename(path)} cannot be read: ${isOther ? 'it is no plain file' : describeReadFailure(error)}`);
}
