/**
 * The files of a match: a results file, which has a line with the conditions and then one JSON line a game, and a PGN file. A
 * game counts when its results line is complete. The line holds the length of the PGN file after the game, so that both files
 * agree when a match that was killed between the two writes is resumed. Other text in the PGN file stays. A lock keeps a second
 * process from writing the same results.
 */
import { appendFileSync, existsSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { describeWriteFailure } from '#platform/files.js';
import { failure, type Result, success } from '../../base/util/index.js';
import { parsePgnTags, splitPgn } from '../../chess/pgn/index.js';
import { type FinishedGameText, formatGame, type GameEnd } from '../play/index.js';
import type { TournamentKind } from './schedule.js';

export interface LoggedGame extends GameEnd {
  readonly game: number;
  readonly white: string;
  readonly black: string;
  readonly opening: string;
  readonly plies: number;
  readonly fault?: string;
  /** Of a self-play game that ignored resignation: the threshold that would have misjudged it. */
  readonly falsePositiveThreshold?: number;
}

/** What a match is beside its conditions, so that another program can show it and go on with it. Data, not a command. */
export interface MatchOrigin {
  /** As the games call them, in the order of the schedule. */
  readonly players: readonly string[];
  readonly tournament: TournamentKind;
  /** Of each pairing. */
  readonly games: number;
  /** Games at the same time. */
  readonly concurrency: number;
  /** It goes on however often an engine crashes. */
  readonly recovers: boolean;
  /** Tag of the PGN. */
  readonly event: string;
  /** Words of `--sprt`; null without a test. */
  readonly sprt: string | null;
  /** Absolute path of the PGN file; null without one. */
  readonly pgn: string | null;
}

/** Of a file of results that is read: three quarters of a million games. */
export const LARGEST_RESULTS_BYTES = 1 << 27;

/** How JSON.stringify begins the first line of a results file. */
const HEADER_START = '{"conditions":';

export class MatchLog {
  private constructor(
    private readonly resultsPath: string | null,
    private readonly pgnPath: string | null,
    /** Games of earlier runs. */
    readonly earlier: readonly LoggedGame[],
  ) {}

  /**
   * @param conditions everything that must be the same for games to be counted together; JSON
   * @param resultsPath null = the match cannot be resumed, and PGN is appended to
   * @param origin written into a new results file, or into one without a game: a match that could not start has left it
   */
  static open(
    conditions: object,
    resultsPath: string | null,
    pgnPath: string | null,
    origin?: MatchOrigin,
  ): Result<MatchLog> {
    const begin = (): Result<MatchLog> => {
      if (resultsPath !== null) writeFileSync(resultsPath, `${JSON.stringify({ conditions, origin })}\n`);
      return success(new MatchLog(resultsPath, pgnPath, []));
    };
    if (resultsPath === null || !existsSync(resultsPath) || statSync(resultsPath).size === 0) return begin();
    if (statSync(resultsPath).size > LARGEST_RESULTS_BYTES) {
      return failure(`${resultsPath} is larger than ${LARGEST_RESULTS_BYTES >> 20} MB; choose another --results`);
    }
    const text = readFileSync(resultsPath, 'utf8');
    const length = text.lastIndexOf('\n') + 1;
    const lines = text.slice(0, length).split('\n').slice(0, -1);
    let rows: (LoggedGame & { pgnBytes?: number })[];
    try {
      const [header, ...games] = lines.map((line) => JSON.parse(line));
      if (games.length === 0 && text.startsWith(HEADER_START)) return begin();
      if (!isDeepStrictEqual(header?.conditions, JSON.parse(JSON.stringify(conditions)))) {
        return failure(`${resultsPath} belongs to a match under other conditions; choose another --results`);
      }
      rows = games;
    } catch (error) {
      return failure(`${resultsPath} is damaged: ${(error as Error).message}`);
    }
    truncateSync(resultsPath, Buffer.byteLength(text.slice(0, length)));
    const pgnBytes = rows.at(-1)?.pgnBytes;
    if (pgnPath !== null && pgnBytes !== undefined && existsSync(pgnPath) && statSync(pgnPath).size > pgnBytes) {
      dropUnloggedGame(pgnPath, pgnBytes);
    }
    return success(new MatchLog(resultsPath, pgnPath, rows));
  }

  /** The conditions in an existing results file; null when there is none to read. */
  static readConditions(resultsPath: string): Readonly<Record<string, unknown>> | null {
    try {
      return JSON.parse(readFileSync(resultsPath, 'utf8').split('\n', 1)[0]).conditions ?? null;
    } catch {
      return null;
    }
  }

  /**
   * Writes a game that has just ended.
   * @param game its number
   * @param more what only some games have
   */
  add(
    game: number,
    finished: Omit<FinishedGameText, 'date'>,
    more: Pick<LoggedGame, 'fault' | 'falsePositiveThreshold'>,
  ): LoggedGame {
    const { white, black, opening, played, end } = finished;
    const plies = opening.moves.length + played.length;
    const row = { game, white, black, opening: opening.origin, ...end, plies, ...more };
    const date = new Date().toISOString().slice(0, 10).replaceAll('-', '.');
    if (this.pgnPath !== null) append(this.pgnPath, formatGame({ ...finished, date }));
    if (this.resultsPath === null) return row;
    const pgnBytes = this.pgnPath === null ? undefined : statSync(this.pgnPath).size;
    append(this.resultsPath, `${JSON.stringify({ ...row, pgnBytes })}\n`);
    return row;
  }
}

function append(path: string, text: string): void {
  try {
    appendFileSync(path, text);
  } catch (error) {
    throw new Error(`${path} cannot be written: ${describeWriteFailure(error)}`);
  }
}

/**
 * Removes a game that is in the PGN file and not in the results: the match was killed between the two writes, and the game
 * will be played again.
 * @param length of the file after the last game in the results
 */
function dropUnloggedGame(pgnPath: string, length: number): void {
  const bytes = readFileSync(pgnPath);
  const tail = bytes.toString('utf8', length);
  const [game, ...others] = splitPgn(tail);
  const round = game === undefined ? undefined : parsePgnTags(game.text).get('Round');
  const isOfAnotherMatch = round !== undefined && bytes.toString('utf8', 0, length).includes(`[Round "${round}"]`);
  if (others.length === 0 && tail.startsWith('[Event '.slice(0, tail.length)) && !isOfAnotherMatch) {
    truncateSync(pgnPath, length);
  }
}
