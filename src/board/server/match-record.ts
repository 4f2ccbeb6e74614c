/**
 * The files of one match, as they grow: NAME.jsonl (results, with the command in its first line), NAME.pgn (games), and NAME.json
 * (what the page asked for) when a page started it. Only what was added since the last look is read.
 */
import { closeSync, existsSync, openSync, readFileSync, readSync, statSync } from 'node:fs';
import { splitPgn } from '../../pgn/index.js';
import {
  type Crosstable,
  createCrosstable,
  createReport,
  type LoggedGame,
  type MatchOrigin,
  type MatchReport,
  type PlayerSpec,
  parseSprt,
  Schedule,
  Tournament,
  type TournamentKind,
} from '../../selfplay/index.js';
import { unwrap } from '../../util/index.js';
import type { CoursePoint, MatchGame } from '../protocol/replies.js';

/** What the .json file of a match holds. */
export interface SavedMatch {
  readonly players: readonly string[];
  readonly tournament: TournamentKind;
  /** Of each pairing. */
  readonly games: number;
  readonly conditions: string;
  readonly sprt: string | null;
  /** Of `sardonyx match`. */
  readonly args: readonly string[];
}

interface Header {
  readonly conditions: { readonly players?: readonly PlayerSpec[] };
  readonly origin?: MatchOrigin;
}

type GameRow = LoggedGame & { readonly pgnBytes?: number };

/** Points of the charts over a whole match. */
const MOST_POINTS = 400;

export class MatchRecord {
  readonly games: MatchGame[] = [];
  readonly course: CoursePoint[] = [];
  private readonly pgnEnds: (number | undefined)[] = [];
  private header: Header | null = null;
  private tournament: Tournament | null = null;
  /** Bytes of whole lines that were read. */
  private bytesRead = 0;

  /** @param path without its ending. */
  constructor(
    readonly name: string,
    private readonly path: string,
    readonly saved: SavedMatch | null,
  ) {}

  get origin(): MatchOrigin | null {
    return this.header?.origin ?? null;
  }

  get playerSpecs(): readonly PlayerSpec[] {
    return this.header?.conditions.players ?? [];
  }

  get resultsPath(): string {
    return `${this.path}.jsonl`;
  }

  get pgnPath(): string {
    return this.saved === null ? (this.origin?.pgn ?? '') : `${this.path}.pgn`;
  }

  /** Names as the games have them, in the order of the schedule. */
  get players(): readonly string[] {
    return this.origin?.players ?? this.saved?.players ?? [];
  }

  get tournamentKind(): TournamentKind {
    return this.saved?.tournament ?? this.origin?.tournament ?? 'round-robin';
  }

  get sprt(): string | null {
    return this.saved === null ? (this.origin?.sprt ?? null) : this.saved.sprt;
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

  /** Reads what is new. Throws the sentence for the user. */
  refresh(): void {
    const size = statSync(this.resultsPath, { throwIfNoEntry: false })?.size ?? 0;
    if (size < this.bytesRead) this.forget();
    if (size === this.bytesRead) return;
    const bytes = readPart(this.resultsPath, this.bytesRead, size);
    const length = bytes.lastIndexOf(0x0a) + 1;
    this.bytesRead += length;
    for (const line of bytes.toString('utf8', 0, length).split('\n').slice(0, -1)) this.take(line);
  }

  /** The PGN of a game. Throws the sentence for the user. @param game its place in `games` */
  readPgn(game: number): string {
    const end = this.pgnEnds[game];
    if (end === undefined || !existsSync(this.pgnPath)) throw new Error('There is no such game yet');
    const bytes = readPart(this.pgnPath, this.pgnEnds[game - 1] ?? 0, end);
    const last = splitPgn(bytes).at(-1);
    if (last === undefined) throw new Error('There is no such game yet');
    return last.text;
  }

  private take(line: string): void {
    try {
      if (this.header === null) this.header = JSON.parse(line) as Header;
      else this.add(JSON.parse(line) as GameRow);
    } catch {
      throw new Error(`The results of the match ${this.name} are damaged`);
    }
  }

  private add({ game, white, black, result, reason, plies, pgnBytes }: GameRow): void {
    this.tournament ??= new Tournament(this.createSchedule());
    this.tournament.add(game, { result, reason });
    this.games.push({ white, black, result, reason, plies });
    this.pgnEnds.push(pgnBytes);
    const step = Math.max(1, Math.ceil(this.total / MOST_POINTS));
    if (this.games.length % step === 0) this.course.push(this.createPoint());
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
    const games = this.saved?.games ?? this.origin?.games ?? 0;
    return new Schedule(this.tournamentKind, Math.max(2, this.players.length), games);
  }

  private forget(): void {
    this.games.length = 0;
    this.course.length = 0;
    this.pgnEnds.length = 0;
    this.header = null;
    this.tournament = null;
    this.bytesRead = 0;
  }
}

/** What a page saved of a match that it started; null when there is no such file. Throws the sentence for the user. */
export function readSavedMatch(path: string, name: string): SavedMatch | null {
  if (!existsSync(path)) return null;
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as SavedMatch;
  } catch {
    throw new Error(`The match ${name} cannot be read`);
  }
}

/** JSON has no infinity: all games won, or lost. */
export function makeFinite(value: number | undefined): number | null {
  return value !== undefined && Number.isFinite(value) ? value : null;
}

function readPart(path: string, start: number, end: number): Buffer {
  const bytes = Buffer.alloc(Math.max(0, end - start));
  const file = openSync(path, 'r');
  try {
    return bytes.subarray(0, readSync(file, bytes, 0, bytes.length, start));
  } finally {
    closeSync(file);
  }
}
