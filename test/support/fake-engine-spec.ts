/** How tests start the fake engine, and what they need of a real one. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { EngineSpec } from '#sardonyx/selfplay/index.js';
import { repositoryRoot } from './shared-folder.js';

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
