/** The games of a training loop, to be replayed: self-play, gates and measuring, as PGN in the folders of their tasks. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { splitPgn } from '../../pgn/index.js';
import type { LoopGameKind, LoopGames } from '../protocol/replies.js';
import { getGenerationFolder } from './loop-state.js';

const KINDS: readonly LoopGameKind[] = ['games', 'gate', 'measure'];

/** How many games of each kind there are. */
export function countLoopGames(folder: string, generation: number): LoopGames {
  const counts = KINDS.map((kind) => {
    const texts = listFiles(folder, generation, kind).map((path) => readFileSync(path, 'latin1'));
    return [kind, texts.reduce((sum, text) => sum + (text.match(/^\[Event /gm)?.length ?? 0), 0)] as const;
  });
  return Object.fromEntries(counts) as LoopGames;
}

/** The PGN of one game, counted from 0 through all tasks. Throws the sentence for the user. */
export function readLoopGame(folder: string, generation: number, kind: LoopGameKind, game: number): string {
  let before = 0;
  for (const path of listFiles(folder, generation, kind)) {
    const games = splitPgn(readFileSync(path, 'utf8'));
    const found = games[game - before];
    if (found !== undefined) return found.text;
    before += games.length;
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
