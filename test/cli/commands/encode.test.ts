import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runCommand } from '../../support/run-command.js';

interface Encoded {
  fen: string;
  sideToMove: string;
  masks: string[];
  values: number[];
  board: string;
  squares: number[];
  legal: { move: string; index: number }[];
}

const run = (...args: string[]) => runCommand(['encode', ...args]);

async function encode(...args: string[]): Promise<Encoded> {
  const { stdout, stderr, status } = await run('--json', ...args);
  assert.equal(status, 0, stderr);
  return JSON.parse(stdout) as Encoded;
}

test('the start position has sixteen pawns in two planes and twenty moves with indices of their own', async () => {
  const { masks, values, board, squares, legal } = await encode();
  assert.equal(masks.length, 112);
  assert.equal(masks[0], '000000000000ff00');
  assert.equal(masks[6], '00ff000000000000');
  assert.equal(values.length, 112);
  assert.equal(board.slice(0, 16), 'RNBQKBNRPPPPPPPP');
  assert.deepEqual(
    squares,
    Array.from({ length: 64 }, (_, square) => square),
  );
  assert.equal(legal.length, 20);
  assert.equal(new Set(legal.map(({ index }) => index)).size, 20);
});

test('for Black the encoding’s first rank is the board’s eighth', async () => {
  const { sideToMove, squares, board, masks, legal } = await encode('--moves', 'e2e4');
  assert.equal(sideToMove, 'black');
  assert.deepEqual(squares.slice(0, 3), [56, 57, 58]);
  assert.equal(masks[0], '000000000000ff00');
  assert.equal(board[28], 'P');
  assert.ok(legal.some(({ move }) => move === 'e7e5'));
});

test('every piece of a transformed board stands where the squares say', async () => {
  const fen = '8/8/4k3/8/8/2K5/1Q6/8 w - - 0 1';
  const { masks, squares, board } = await encode(fen, '--encoding', 'INPUT_112_WITH_CANONICALIZATION_V2');
  for (const [plane, letter] of [
    [4, 'Q'],
    [5, 'K'],
    [11, 'k'],
  ] as const) {
    const bits = BigInt(`0x${masks[plane]}`);
    const found = squares.filter((_, square) => ((bits >> BigInt(square)) & 1n) === 1n);
    assert.deepEqual(found, [board.indexOf(letter)]);
  }
});

test('a seed’s encoding is written for people too, and a bad position is one sentence', async () => {
  const { stdout, status } = await run('--encoding', 'mini-19', '--policy', 'from-to-4096');
  assert.equal(status, 0);
  assert.match(stdout, /^plane 0 × 1\n(?: {2}\.{8}\n){6} {2}1{8}\n/);
  assert.match(stdout, /\ne2e4 796\n/);
  const bad = await run('8/8/8/8/8/8/8/8 w - - 0 1');
  assert.equal(bad.status, 1);
  assert.equal(bad.stdout, '');
  assert.equal(bad.stderr.trim().split('\n').length, 1);
});
