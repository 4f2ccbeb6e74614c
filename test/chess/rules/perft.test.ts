import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { unwrap } from '#sardonyx/base/util/index.js';
import { formatUciMove, Position, parseFen, perft, perftDivide, START_FEN } from '#sardonyx/chess/rules/index.js';
import { repositoryRoot } from '../../support/shared-folder.js';

const goldenFolder = join(repositoryRoot, 'test', 'chess', 'rules', 'golden');

/** Set to run the rows that take longer than a second or two each. */
const isSlowTier = process.env.SARDONYX_SLOW_TESTS === '1';

// Source: chessprogramming wiki, "Perft Results". Index = depth.
const STANDARD: Record<string, { fen: string; nodes: number[]; slow?: number[] }> = {
  'the start position': {
    fen: START_FEN,
    nodes: [1, 20, 400, 8902, 197281, 4865609],
    slow: [119060324],
  },
  'position 2, Kiwipete': {
    fen: 'r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1',
    nodes: [1, 48, 2039, 97862, 4085603],
    slow: [193690690],
  },
  'position 3': {
    fen: '8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1',
    nodes: [1, 14, 191, 2812, 43238, 674624, 11030083],
    slow: [178633661],
  },
  'position 4': {
    fen: 'r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq - 0 1',
    nodes: [1, 6, 264, 9467, 422333, 15833292],
    slow: [706045033],
  },
  'position 4 mirrored': {
    fen: 'r2q1rk1/pP1p2pp/Q4n2/bbp1p3/Np6/1B3NBn/pPPP1PPP/R3K2R b KQ - 0 1',
    nodes: [1, 6, 264, 9467, 422333, 15833292],
    slow: [706045033],
  },
  'position 5': {
    fen: 'rnbq1k1r/pp1Pbppp/2p5/8/2B5/8/PPP1NnPP/RNBQK2R w KQ - 1 8',
    nodes: [1, 44, 1486, 62379, 2103487, 89941194],
  },
  'position 6': {
    fen: 'r4rk1/1pp1qppp/p1np1n2/2b1p1B1/2B1P1b1/P1NP1N2/1PP1QPPP/R4RK1 w - - 0 10',
    nodes: [1, 46, 2079, 89890, 3894594],
    slow: [164075551],
  },
};

for (const [name, { fen, nodes, slow = [] }] of Object.entries(STANDARD)) {
  test(`Perft of ${name} is exact`, () => {
    const position = unwrap(parseFen(fen));
    const expected = isSlowTier ? [...nodes, ...slow] : nodes;
    assert.deepEqual(
      expected.map((_, depth) => perft(position, depth)),
      expected,
    );
  });
}

interface PerftCase {
  readonly name: string;
  readonly fen: string;
  readonly depth: number;
  readonly nodes: number;
}

const cases = JSON.parse(readFileSync(join(goldenFolder, 'perft-cases.json'), 'utf8')) as PerftCase[];
for (const { name, fen, depth, nodes } of cases) {
  test(`Perft agrees with python-chess on ${name}`, () => {
    assert.equal(perft(unwrap(parseFen(fen)), depth), nodes, fen);
  });
}

test('Perft 3 of five hundred random positions, most of them of Chess960, agrees with python-chess', () => {
  const rows = JSON.parse(readFileSync(join(goldenFolder, 'perft-random.json'), 'utf8')) as [string, number][];
  assert.equal(rows.length, 500);
  for (const [fen, nodes] of rows) assert.equal(perft(unwrap(parseFen(fen)), 3), nodes, fen);
});

test('Divide lists every legal move once and sums to perft', () => {
  const rows = [...perftDivide(new Position(), 3)];
  assert.equal(new Set(rows.map((row) => row.move)).size, 20);
  assert.equal(
    rows.reduce((sum, row) => sum + row.nodes, 0),
    8902,
  );
  assert.equal(rows.find((row) => formatUciMove(row.move, false) === 'e2e4')?.nodes, 600);
});

test('Counting moves and listing them agree in every position of a perft', () => {
  const position = unwrap(parseFen('r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1'));
  let leaves = 0;
  const walk = (depth: number): void => {
    const moves = new Uint16Array(256);
    const count = position.generateLegalMoves(moves);
    assert.equal(position.countLegalMoves(), count);
    if (depth === 0) leaves += count;
    for (let i = 0; depth > 0 && i < count; i++) {
      position.makeMove(moves[i] as Parameters<Position['makeMove']>[0]);
      walk(depth - 1);
      position.unmakeMove();
    }
  };
  walk(2);
  assert.equal(leaves, 97862);
});
