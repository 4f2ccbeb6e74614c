/**
 * Rescores files of games. lc0's records are written to a folder with one gzip file a game; labelled games are written to a gzip
 * file of the same name. An output appears complete or not at all, and an existing one is not written again, so a killed run can
 * be repeated. A damaged game is reported and skipped.
 */
import {
  appendFileSync,
  createReadStream,
  createWriteStream,
  existsSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGzip, gzipSync } from 'node:zlib';
import { describeReadFailure } from '#platform/files.js';
import { createFolder } from '#platform/folders.js';
import { failure, type Result, readUntilBreak, success, unwrap } from '../../../base/util/index.js';
import { formatFen, formatUciMove, type Move, NO_MOVE, type Position } from '../../../chess/rules/index.js';
import type { Lc0Format, PolicyIndex } from '../../../networks/encoding/index.js';
import {
  attachGameLine,
  formatResult,
  labelledGames,
  parseLabelledGame,
  pgnGames,
  readV6Games,
  resolveMoves,
  v6Policy,
} from '../../records/index.js';
import { findGameFormat } from '../convert-input.js';
import { listInputs } from '../create-shards.js';
import { type DeblunderSettings, deblunder } from './deblunder.js';
import type { PolicySubstitutions } from './policy-substitutions.js';
import { changeInputFormat, type RecordedGame, readRecordedGame, writeRecordedGame } from './recorded-game.js';
import {
  adjustPolicies,
  correctPliesLeft,
  correctRecords,
  correctResults,
  type PolicyAdjustment,
  type ResultTables,
} from './rescore-tables.js';

export interface RescoreSettings {
  /** Null: results stay as they are. */
  readonly tables: ResultTables | null;
  /** Null: no deblundering. It needs the search values of lc0's records; other games have none. */
  readonly deblunder: DeblunderSettings | null;
  readonly policy: PolicyAdjustment;
  /** Policies of other records that take the place of the games' own; null = none. */
  readonly substitutions: PolicySubstitutions | null;
  /** Input format of the records that are written; null = as they were read. */
  readonly inputFormat: Lc0Format | null;
  /** Also appends the positions to a file in Stockfish's text format; null = no. */
  readonly plain: PlainSettings | null;
  /** Removes each input once its output is complete. */
  readonly deletesInputs: boolean;
}

export interface PlainSettings {
  readonly path: string;
  /** The best move's score or move in place of the played one's. */
  readonly takesBestScore: boolean;
  readonly takesBestMove: boolean;
}

export interface RescoreSummary {
  games: number;
  positions: number;
  damaged: number;
  /** Positions whose result the tables corrected. */
  corrected: number;
  /** Errors that deblundering found. */
  errors: number;
  /** Positions whose policy another record's has replaced. */
  substituted: number;
  /** Positions whose policy got a boost. */
  boosted: number;
  /** Inputs whose output existed already. */
  skipped: number;
}

export function createRescoreSummary(): RescoreSummary {
  return { games: 0, positions: 0, damaged: 0, corrected: 0, errors: 0, substituted: 0, boosted: 0, skipped: 0 };
}

export interface RescoreEvents {
  onProgress(summary: RescoreSummary): void;
  onWarning(text: string): void;
}

const PROGRESS_GAMES = 50;

/** Changes the records of one game. */
export function rescoreRecords(game: RecordedGame, settings: RescoreSettings, summary: RescoreSummary): void {
  const { tables } = settings;
  summary.substituted += settings.substitutions?.apply(game) ?? 0;
  if (tables !== null) summary.corrected += correctRecords(game, tables);
  summary.boosted += adjustPolicies(game, tables, settings.policy);
  if (tables !== null) correctPliesLeft(game, tables);
  if (settings.deblunder === null) return;
  const first =
    tables === null ? -1 : game.positions.findIndex(({ position }) => tables.probeResult(position) !== null);
  summary.errors += deblunder(game, settings.deblunder, first < 0 ? game.positions.length : first);
}

/** @returns the game's line with the results of single plies where they differ from the game's */
export function rescoreLine(line: string, settings: RescoreSettings, summary: RescoreSummary): Result<string> {
  const parsed = parseLabelledGame(line);
  if (!parsed.ok) return parsed;
  const decoded = resolveMoves(parsed.value, 0);
  if (!decoded.ok) return decoded;
  const { start, moves, whiteResult } = decoded.value;
  summary.positions += moves.length;
  if (settings.tables === null) return success(line);
  const positions: Position[] = [];
  for (const move of moves) {
    positions.push(start.clone());
    start.makeMove(move as Move);
  }
  const toWhite = (position: Position, result: number | null): number | null =>
    result === null || position.sideToMove === 0 ? result : 0 - result;
  const results = positions.map((position) => toWhite(position, whiteResult));
  summary.corrected += correctResults(positions, results, settings.tables);
  const raw = JSON.parse(line) as { plies: unknown[][] };
  raw.plies = raw.plies.map(([played, scores], ply) => {
    const result = toWhite(positions[ply], results[ply]);
    return result === whiteResult ? [played, scores] : [played, scores, formatResult(result)];
  });
  return success(JSON.stringify(raw));
}

/** Path of the output of an input: a file of lines, or a folder of records. */
function getOutputPath(input: string, folder: string, isLines: boolean): string {
  const name = basename(input).replace(/\.(?:gz|zst|bz2|zip|tgz)$/, '');
  return join(folder, isLines ? `${name.replace(/\.jsonl?$/, '')}.jsonl.gz` : name.replace(/\.(?:tar|v6)$/, ''));
}

/** Fails for a file of another kind, and if two inputs would become one output. Rejects if an output cannot be written. */
export async function rescoreGames(
  inputs: readonly string[],
  folder: string,
  settings: RescoreSettings,
  events: RescoreEvents,
): Promise<Result<RescoreSummary>> {
  const paths = await listInputs(inputs);
  if (!paths.ok) return paths;
  const jobs = new Map<string, string>();
  for (const path of paths.value) {
    const format = unwrap(await findGameFormat(path));
    if (format === pgnGames)
      return failure(`${path}: PGN files cannot be rescored; only lc0 records and labelled games can`);
    const output = getOutputPath(path, folder, format === labelledGames);
    if (jobs.has(output)) return failure(`${path} and ${jobs.get(output)} would both become ${output}`);
    jobs.set(output, path);
  }
  createFolder(folder);
  if (settings.plain !== null) appendFileSync(settings.plain.path, '');
  const summary = createRescoreSummary();
  const job = { settings, summary, events };
  for (const [output, path] of jobs) {
    if (existsSync(output)) {
      summary.skipped++;
      continue;
    }
    const [part, plainPart] = [`${output}.part`, `${output}.plain.part`];
    const { damaged } = summary;
    for (const unfinished of [part, plainPart]) rmSync(unfinished, { recursive: true, force: true });
    if (output.endsWith('.jsonl.gz')) await rescoreLines(path, part, job);
    else await rescoreRecordFiles(path, part, plainPart, job);
    if (settings.plain !== null && existsSync(plainPart)) {
      await pipeline(createReadStream(plainPart), createWriteStream(settings.plain.path, { flags: 'a' }));
      rmSync(plainPart);
    }
    renameSync(part, output);
    if (settings.deletesInputs && summary.damaged === damaged) rmSync(path, { recursive: true });
    else if (settings.deletesInputs) events.onWarning(`${path} is kept, because not all of it could be read`);
  }
  return success(summary);
}

interface Job {
  readonly settings: RescoreSettings;
  readonly summary: RescoreSummary;
  readonly events: RescoreEvents;
}

function count({ summary, events }: Job, path: string, problem: string | null): void {
  summary.games++;
  if (problem !== null) {
    summary.damaged++;
    events.onWarning(`${basename(path)}: game ${summary.games} skipped: ${problem}`);
  }
  if (summary.games % PROGRESS_GAMES === 0) events.onProgress(summary);
}

/** @param plainPart where the positions in Stockfish's text format go until all of the input is rescored */
async function rescoreRecordFiles(path: string, into: string, plainPart: string, job: Job): Promise<void> {
  createFolder(into);
  let number = 0;
  const games = readUntilBreak(readV6Games(path), (error) => count(job, path, describeReadFailure(error)));
  for await (const raw of games) {
    const game = readRecordedGame(raw);
    if (!game.ok) {
      count(job, path, game.error);
      continue;
    }
    rescoreRecords(game.value, job.settings, job.summary);
    const { plain, inputFormat } = job.settings;
    if (plain !== null) appendFileSync(plainPart, formatPlain(game.value, plain));
    job.summary.positions += game.value.positions.length;
    const written = inputFormat === null ? game.value : changeInputFormat(game.value, inputFormat);
    const packed = gzipSync(writeRecordedGame(written));
    const { line } = written;
    const file = join(into, `game_${String(number++).padStart(6, '0')}.gz`);
    writeFileSync(file, line === null ? packed : attachGameLine(packed, line));
    count(job, path, null);
  }
}

/** Stockfish's text format of training positions, with lc0's scores (trainingdata/rescorer.cc: AsNnueString). */
export function formatPlain({ positions }: RecordedGame, plain: PlainSettings): string {
  return positions
    .map(({ record, position, transform }) => {
      const index = plain.takesBestMove ? record.bestIndex : record.playedIndex;
      const move = v6Policy.indexToMove(position, index as PolicyIndex, transform);
      const q = plain.takesBestScore ? record.bestQ : record.playedQ;
      const score = Math.round((660.6 * q) / (1 - 0.9751875 * q ** 10));
      const lines = [
        `fen ${formatFen(position)}`,
        `move ${formatUciMove(move, false)}`,
        `score ${score}`,
        `ply ${position.gamePly}`,
        `result ${Math.round(record.resultQ)}`,
        'e',
      ];
      return record.visits === 0 || move === NO_MOVE ? '' : `${lines.join('\n')}\n`;
    })
    .join('');
}

async function rescoreLines(path: string, into: string, job: Job): Promise<void> {
  const lines = readUntilBreak(labelledGames.readGames(path), (error) => count(job, path, describeReadFailure(error)));
  async function* rescored(): AsyncGenerator<string> {
    for await (const line of lines) {
      const done = rescoreLine(line, job.settings, job.summary);
      count(job, path, done.ok ? null : done.error);
      if (done.ok) yield `${done.value}\n`;
    }
  }
  await pipeline(rescored, createGzip(), createWriteStream(into));
}
