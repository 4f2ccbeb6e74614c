/** Mates in two (checked with Stockfish 15.1), found by the bundled network within 800 nodes. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Chess } from 'chess.js';
import { DEFAULT_NETWORK, withEngine } from './uci-process.js';

const FILE = fileURLToPath(new URL('../../uci-tests/mates-in-2.epd', import.meta.url));

function readMates(): { fen: string; best: string }[] {
  return readFileSync(FILE, 'utf8')
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => {
      const [, position, san] = /^(\S+ \S+ \S+ \S+) bm (\S+);/.exec(line) ?? [];
      const fen = `${position} 0 1`;
      return { fen, best: new Chess(fen).move(san).lan };
    });
}

const skip = existsSync(DEFAULT_NETWORK) ? false : 'there is no trained network';

test('the mates in two are found within 800 nodes', { skip }, async () => {
  const missed: string[] = [];
  await withEngine(
    [],
    async (engine) => {
      for (const { fen, best } of readMates()) {
        const lines = await engine.ask(['ucinewgame', `position fen ${fen}`, 'go nodes 800'], 'bestmove');
        const [, move] = (lines.at(-1) ?? '').split(' ');
        if (move !== best) missed.push(`${fen}: ${move} instead of ${best}`);
      }
    },
    [],
  );
  assert.deepEqual(missed, []);
});
