/**
 * Converts one input file to shards. A damaged game is reported and skipped; after a damaged stream the rest of the file is
 * skipped. If shards cannot be written, the run ends, and the next run continues with that file.
 */

import { accessSync, constants } from 'node:fs';
import { basename } from 'node:path';
import { describeReadFailure } from '#platform/files.js';
import { BrokenInput, failure, RefusedInput, type Result, readUntilBreak, success } from '../../base/util/index.js';
import type { InputKind } from '../../chess/archives/index.js';
import {
  findInputKind,
  type GameFormat,
  isV6Folder,
  labelledGames,
  pgnGames,
  ReadingProblems,
  TAR_FILE,
  v6Games,
} from '../records/index.js';
import { ShardWriter } from './shard-writer.js';
import type { FromShardsWorker, ShardsTask } from './shards-messages.js';

export const KNOWN_KINDS =
  '.jsonl and .pgn (plain, .gz, .zst, .bz2 or .zip), lc0 records (.gz, .tar, .tar.gz or a folder of .gz)';

const PROGRESS_GAMES = 50;
/** A file of another kind would cause a warning on every line; the first ones suffice. */
const MAX_WARNINGS = 20;

export async function findGameFormat(path: string): Promise<Result<GameFormat<unknown>>> {
  const isRecords = TAR_FILE.test(path) || /\.v6(?:\.gz|\.zst|\.bz2)?$/.test(path) || path.endsWith('.gz');
  let kind: InputKind | null = null;
  try {
    kind = await findInputKind(path);
  } catch (error) {
    if (!isRecords) return failure(`${path} cannot be read: ${describeReadFailure(error)}`);
  }
  if (kind === 'labels') return success(labelledGames as GameFormat<unknown>);
  if (kind === 'pgn') return success(pgnGames as GameFormat<unknown>);
  if (kind === null && (isRecords || isV6Folder(path))) return success(v6Games as GameFormat<unknown>);
  return failure(`${path} is not a file of games; supported are ${KNOWN_KINDS}`);
}

/** Rejects when shards cannot be written. */
export async function convertInput(task: ShardsTask, report: (message: FromShardsWorker) => void): Promise<void> {
  const found = await findGameFormat(task.path);
  if (!found.ok) {
    // A file of a folder that holds no games; or it is gone or locked, which may be otherwise the next time.
    report({ type: 'warning', text: found.error });
    report({ type: 'done', damaged: 1, isRefused: !isReadable(task.path) });
    return;
  }
  const format = found.value;
  const writer = new ShardWriter(task);
  let games = 0;
  const damaged = new ReadingProblems('games');
  let warned = 0;
  let positions = 0;
  let bytes = 0;
  let reportedPositions = 0;
  const tell = (text: string, count: number, kind: string): void => {
    if (count <= MAX_WARNINGS) report({ type: 'warning', text: `${basename(task.path)}: ${text}` });
    if (count === MAX_WARNINGS)
      report({ type: 'warning', text: `${basename(task.path)}: further ${kind} are not shown` });
  };
  const warn = (text: string): void => tell(text, ++warned, 'warnings');
  // Counted apart, so that they do not hide what is damaged.
  let notes = 0;
  const note = (text: string): void => tell(`game ${games}: ${text}`, ++notes, 'notes');
  const reportProgress = (): void => {
    report({ type: 'progress', bytes, positions: positions - reportedPositions });
    bytes = 0;
    reportedPositions = positions;
  };
  const countBytes = (count: number): void => {
    bytes += count;
  };
  let isRefused = false;
  const rawGames = readUntilBreak(format.readGames(task.path, countBytes), (error) => {
    // What the file system does not give now, it may give the next time.
    isRefused = error instanceof RefusedInput || !(error instanceof BrokenInput);
    warn(`unreadable after game ${games}: ${describeReadFailure(error)}`);
  });
  for await (const game of rawGames) {
    games++;
    if (games <= task.skipGames) continue;
    const written = format.writeGame(game, writer, task.settings.filter, note);
    if (written.ok) positions += written.value;
    else {
      warn(`game ${games} skipped: ${written.error}`);
      const why = damaged.add(`game ${games}: ${written.error}`, games - damaged.count - 1);
      if (why !== null) {
        warned++;
        tell(`given up after game ${games}: ${why}`, 1, 'warnings');
        break;
      }
    }
    if (games % PROGRESS_GAMES === 0) reportProgress();
    if (positions >= task.maxPositions) break;
    if (writer.isPartFull) report({ type: 'part', games, counts: writer.finishPart() });
  }
  report({ type: 'part', games, counts: writer.finishPart() });
  reportProgress();
  report({ type: 'done', damaged: warned, isRefused });
}

function isReadable(path: string): boolean {
  try {
    accessSync(path, constants.R_OK);
    return true;
  } catch {
    return false;
  }
}
