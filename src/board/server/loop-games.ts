/** The games of a training loop, to be replayed: self-play, gates and measuring, as PGN in the folders of their tasks. */
import { createReadStream, existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { readPgn } from '../../pgn/index.js';
import { decodeText } from '../../util/index.js';
import type { LoopGameKind, LoopGames } from '../protocol/replies.js';
import { getGenerationFolder } from './loop-state.js';

const KINDS: readonly LoopGameKind[] = ['games', 'gate', 'measure'];

/** How many games of each kind there are. */
export async function countLoopGames(folder: string, generation: number): Promise<LoopGames> {
  const counts = { games: 0, gate: 0, measure: 0 };
  for (const kind of KINDS) {
    for (const path of listFiles(folder, generation, kind)) {
      for await (const _ of readPgn(decodeText(createReadStream(path)))) counts[kind]++;
    }
  }
  return counts;
}

/** The PGN of one game, counted from 0 through all tasks. Rejects with the sentence for the user. */
export async function readLoopGame(
  folder: string,
  generation: number,
  kind: LoopGameKind,
  game: number,
): Promise<string> {
  let number = 0;
  for (const path of listFiles(folder, generation, kind)) {
    for await (const { text } of readPgn(decodeText(createReadStream(path)))) if (number++ === game) return text;
  }
  throw new Error('There is no such game');
}

function listFiles(folder: string, generation: number, kind: LoopGameKind): string[] {
  const path = join(getGenerationFolder(folder, generation), kind);
  if (!existsSync(path)) return [];
  return readdirSync(path)
    .filter((task) => !task.endsWith('.part'))
    .sort()
    .map((task) => join(path, task, 'games.pgn'))
    .filter((file) => existsSync(file));
}
