/**
 * Writes a finished self-play game as lc0 training records (V6), gzipped, one file a game. It replays the game to make the
 * records, so that running games need not keep 8 kilobytes a position.
 */
import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { createFolder } from '#platform/folders.js';
import { unwrap } from '../../base/util/index.js';
import { formatUciMove, parseFen } from '../../chess/rules/index.js';
import { type HistoryFill, LC0_FORMATS } from '../../networks/encoding/index.js';
import { countWhiteHalfPoints, type EndReason } from '../play/index.js';
import { attachGameLine, V6GameRecorder } from '../records/index.js';
import type { SelfPlayGame } from './self-play-game.js';

const compress = promisify(gzip);

/** Ends that do not follow from the rules. */
const ADJUDICATIONS: ReadonlySet<EndReason> = new Set(['resignation', 'tablebase', 'max-plies']);

/** The format of the records: the network's own if it is one of lc0's, else the classical one, from which others can be made. */
export function chooseRecordFormat(networkInput: string): string {
  return LC0_FORMATS.some(({ name }) => name === networkInput) ? networkInput : 'lc0-112';
}

/**
 * @param format of the records
 * @returns the path, whose name is lc0's; the file appears whole or not at all. A game without records writes nothing and returns ''.
 */
export async function writeTrainingFile(
  folder: string,
  index: number,
  game: SelfPlayGame,
  format: string,
  historyFill: HistoryFill,
): Promise<string> {
  const recorder = new V6GameRecorder(format, historyFill);
  const position = unwrap(parseFen(game.opening.fen));
  const moves = [...game.opening.moves, ...game.played.map(({ move }) => move)];
  let made = 0;
  for (const record of game.records) {
    while (made < record.ply) position.makeMove(moves[made++]);
    recorder.add(position, record.ply, record);
  }
  const bytes = recorder.finish({
    whiteResult: countWhiteHalfPoints(game.end.result) - 1,
    plies: moves.length,
    isAdjudicated: ADJUDICATIONS.has(game.end.reason),
    isTooLong: game.end.reason === 'max-plies',
  });
  if (bytes.length === 0) return '';
  const path = join(folder, `game_${String(index).padStart(6, '0')}.gz`);
  const line = {
    fen: game.opening.fen,
    moves: moves.map((move) => formatUciMove(move, true)),
    plies: game.records.map(({ ply }) => ply),
  };
  createFolder(folder);
  await writeFile(`${path}.tmp`, attachGameLine(await compress(bytes), line));
  await rename(`${path}.tmp`, path);
  return path;
}
