/**
 * Writes a finished self-play game as lc0 training records (V6), gzipped, one file a game. It replays the game to make the
 * records, so that running games need not keep 8 kilobytes a position.
 */
import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { createFolder } from '#platform/folders.js';
import { formatUciMove, type Move } from '../../chess/rules/index.js';
import { type HistoryFill, LC0_FORMATS } from '../../networks/encoding/index.js';
import type { NodeValue } from '../../search/index.js';
import { createOpeningPosition } from '../openings/index.js';
import { countWhiteHalfPoints } from '../play/index.js';
import { attachGameLine, type GameLine, type SearchValue, V6GameRecorder } from '../records/index.js';
import type { SearchRecord } from './search-record.js';
import type { SelfPlayGame } from './self-play-game.js';

const compress = promisify(gzip);

/** The format of the records: the network's own if it is one of lc0's, else the classical one, from which others can be made. */
export function chooseRecordFormat(networkInput: string): string {
  return LC0_FORMATS.some(({ name }) => name === networkInput) ? networkInput : 'lc0-112';
}

export interface TrainingRecords {
  readonly bytes: Buffer;
  readonly line: GameLine;
}

export function createTrainingRecords(game: SelfPlayGame, format: string, historyFill: HistoryFill): TrainingRecords {
  const recorder = new V6GameRecorder(format, historyFill);
  const position = createOpeningPosition(game.opening);
  const bookPlies = game.opening.moves.length;
  const records = new Map<number, SearchRecord[]>(); // surprising positions have several
  for (const record of game.records) records.set(record.ply, [...(records.get(record.ply) ?? []), record]);
  const moves = [...game.opening.moves, ...game.played.map(({ move }) => move)];
  const plies: number[] = [];
  for (const [i, { move }] of game.played.entries()) {
    const ply = bookPlies + i;
    for (const record of records.get(ply) ?? []) {
      plies.push(ply);
      recorder.add(position, ply, {
        moves: record.moves,
        visits: record.visits,
        priors: record.priors,
        played: record.played as Move,
        best: record.best as Move,
        root: toSearchValue(record.root),
        bestValue: toSearchValue(record.bestValue),
        playedValue: toSearchValue(record.playedValue),
        network: toSearchValue(record.own),
        isBestProven: record.isBestProven,
        rootVisits: record.rootVisits,
      });
    }
    position.makeMove(move);
  }
  const bytes = recorder.finish({
    whiteResult: countWhiteHalfPoints(game.end.result) - 1,
    plies: bookPlies + game.played.length,
    isAdjudicated: game.isAdjudicated,
    isTooLong: game.end.reason === 'max-plies',
  });
  return { bytes, line: { fen: game.opening.fen, moves: moves.map((move) => formatUciMove(move, true)), plies } };
}

function toSearchValue({ wl, d, m }: NodeValue): SearchValue {
  return { q: wl, d, m };
}

/** lc0's name of a game's file in its folder. */
export function formatTrainingName(index: number): string {
  return `game_${String(index).padStart(6, '0')}.gz`;
}

/** @returns the path; the file appears whole or not at all. An empty game writes nothing and returns ''. */
export async function writeTrainingFile(folder: string, index: number, records: TrainingRecords): Promise<string> {
  if (records.bytes.length === 0) return '';
  const path = join(folder, formatTrainingName(index));
  createFolder(folder);
  await writeFile(`${path}.tmp`, attachGameLine(await compress(records.bytes), records.line));
  await rename(`${path}.tmp`, path);
  return path;
}
