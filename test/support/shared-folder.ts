/**
 * Some tests compare with material that is too large or differently licensed to live in the repository: real lc0
 * networks, labelled games, tablebases. They look for it in a `shared` folder beside the checkout and skip without it.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { EngineSpec } from '#sardonyx/games/engines/index.js';

export const repositoryRoot = fileURLToPath(new URL('../../../', import.meta.url));

/** The path of a file below `../shared`, and the reason to skip a test (false when the file is there). */
export function findShared(relativePath: string): { readonly path: string; readonly skip: string | false } {
  const path = join(repositoryRoot, '..', 'shared', relativePath);
  return { path, skip: existsSync(path) ? false : `../shared/${relativePath} is not on this machine` };
}

/** How tests start the fake engine. */
export function fakeEngine(...args: string[]): EngineSpec {
  const script = join(repositoryRoot, 'build', 'test', 'support', 'fake-uci-engine.js');
  return { command: process.execPath, args: [script, ...args], name: null, folder: null, options: [] };
}

const places = [
  '/usr/games/stockfish',
  '/usr/bin/stockfish',
  '/usr/local/bin/stockfish',
  '/opt/homebrew/bin/stockfish',
];
const stockfishPath = places.find((path) => existsSync(path)) ?? '';

export const stockfish: EngineSpec = { command: stockfishPath, args: [], name: null, folder: null, options: [] };
export const skipWithoutStockfish: string | false = stockfishPath === '' ? 'Stockfish is not on this machine' : false;
