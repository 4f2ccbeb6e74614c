import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { createPrng, unwrap } from '#sardonyx/base/util/index.js';
import { formatSquare, type Move, parseFen, parseUciMove, START_FEN } from '#sardonyx/chess/rules/index.js';
import {
  getInputEncoding,
  getPolicyEncoding,
  type HistoryFill,
  LC0_FORMATS,
  LC0_MOVES,
  LC0_POLICY_SIZE,
  listPolicyEncodings,
  NO_POLICY_INDEX,
  type PolicyIndex,
} from '#sardonyx/networks/encoding/index.js';
import { repositoryRoot } from '../../support/shared-folder.js';

const STARTS = [
  START_FEN,
  'r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1',
  'n1n5/PPPk4/8/8/8/8/4Kppp/5N1N b - - 0 1',
  'bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w HFhf - 2 9',
  '8/8/3k4/8/8/2B5/8/K2R4 b - - 0 1',
];

/** The move of an index as lc0 lists it, seen from the mover's side: `e2e4`, `a7b8q`, `e1h1` for castling. */
function formatLc0PolicyIndex(index: PolicyIndex): string {
  const { from, to, promotion } = LC0_MOVES[index];
  return formatSquare(from) + formatSquare(to) + ['', '', '', 'b', 'r', 'q'][promotion];
}

function indexOf(fen: string, move: string): number {
  const position = unwrap(parseFen(fen));
  return unwrap(getPolicyEncoding('lc0-1858')).moveToIndex(position, unwrap(parseUciMove(position, move)), 0);
}

test('lc0-1858 numbers moves as lc0 lists them', () => {
  const golden: [string, number][] = [
    ['a1b1', 0],
    ['b1a3', 34],
    ['g1f3', 159],
    ['e2e4', 322],
    ['g2g4', 378],
    ['g6e4', 1332],
    ['a7a8q', 1792],
    ['h7h8b', 1857],
  ];
  for (const [text, index] of golden) assert.equal(formatLc0PolicyIndex(index as PolicyIndex), text);
  const names = Array.from({ length: LC0_POLICY_SIZE }, (_, i) => formatLc0PolicyIndex(i as PolicyIndex));
  assert.equal(new Set(names).size, LC0_POLICY_SIZE);
});

test('lc0-1858 sees moves from the side of the mover, castling as king takes rook, knight promotions as plain moves', () => {
  assert.equal(indexOf(START_FEN, 'e2e4'), 322);
  assert.equal(indexOf('rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR b KQkq - 0 1', 'e7e5'), 322);
  const castling = 'r3k2r/8/8/8/8/8/8/R3K2R b KQkq - 0 1';
  assert.equal(formatLc0PolicyIndex(indexOf(castling, 'e8g8') as PolicyIndex), 'e1h1');
  assert.equal(formatLc0PolicyIndex(indexOf(castling, 'e8c8') as PolicyIndex), 'e1a1');
  const promotion = '8/P3k3/8/8/8/8/4K3/8 w - - 0 1';
  assert.equal(formatLc0PolicyIndex(indexOf(promotion, 'a7a8n') as PolicyIndex), 'a7a8');
  assert.equal(formatLc0PolicyIndex(indexOf(promotion, 'a7a8r') as PolicyIndex), 'a7a8r');
});

for (const name of listPolicyEncodings()) {
  test(`${name}: over legal moves moveToIndex is injective and indexToMove its inverse, whatever the transform`, () => {
    const policy = unwrap(getPolicyEncoding(name));
    const canonical = unwrap(getInputEncoding('INPUT_112_WITH_CANONICALIZATION'));
    const masks = new Uint32Array(2 * canonical.planes);
    const values = new Float32Array(canonical.planes);
    const prng = createPrng(11);
    const legal = new Uint16Array(256);
    const seenTransforms = new Set<number>();
    for (const fen of STARTS) {
      const position = unwrap(parseFen(fen));
      for (let ply = 0; ply < 150; ply++) {
        const transform = name === 'lc0-1858' ? canonical.writePacked(position, 'no', masks, 0, values, 0) : 0;
        seenTransforms.add(transform);
        const count = position.generateLegalMoves(legal);
        if (count === 0) break;
        const moves = Array.from(legal.subarray(0, count), (move) => move as Move);
        const indices = moves.map((move) => policy.moveToIndex(position, move, transform));
        assert.ok(indices.every((index) => index !== NO_POLICY_INDEX && index < policy.size));
        const isUnderpromotion = (move: number): boolean => ((move >> 12) & 7) !== 0 && ((move >> 12) & 7) !== 5;
        const distinct = policy.injective ? moves : moves.filter((move) => !isUnderpromotion(move));
        assert.equal(new Set(indices).size, distinct.length);
        moves.forEach((move, i) => {
          const back = policy.indexToMove(position, indices[i], transform);
          if (distinct.includes(move)) assert.equal(back, move);
          else assert.equal(back & 0xfff, move & 0xfff);
        });
        position.makeMove(moves[prng.nextBelow(count)]);
      }
    }
    if (name === 'lc0-1858') assert.ok(seenTransforms.size >= 5, `transforms met: ${[...seenTransforms].join()}`);
  });
}

test('planes and moves are transformed alike: the index of a rook move names the squares that its plane shows', () => {
  const policy = unwrap(getPolicyEncoding('lc0-1858'));
  const encoding = unwrap(getInputEncoding('INPUT_112_WITH_CANONICALIZATION'));
  const masks = new Uint32Array(2 * encoding.planes);
  const values = new Float32Array(encoding.planes);
  for (const fen of [
    '8/8/8/7K/8/4k3/8/1R6 w - - 0 1',
    '1R6/8/2k5/8/K7/8/8/8 w - - 0 1',
    '4K3/8/8/2k5/8/8/6R1/8 w - - 0 1',
  ]) {
    const position = unwrap(parseFen(fen));
    const legal = new Uint16Array(256);
    const count = position.generateLegalMoves(legal);
    for (let i = 0; i < count; i++) {
      const transform = encoding.writePacked(position, 'no', masks, 0, values, 0);
      const move = legal[i] as Move;
      if ((position.board[move & 63] & 7) !== 4) continue;
      const name = formatLc0PolicyIndex(policy.moveToIndex(position, move, transform));
      const from = name.charCodeAt(0) - 97 + 8 * (Number(name[1]) - 1);
      assert.equal((masks[6 + (from >> 5)] >>> (from & 31)) & 1, 1, `${fen} ${name}`);
    }
  }
});

test('from-to-4096 and alphazero-4672 number moves from the side of the mover', () => {
  const golden: [string, string, number, number][] = [
    [START_FEN, 'e2e4', 12 * 64 + 28, 12 * 73 + 1],
    [START_FEN, 'g1f3', 6 * 64 + 21, 6 * 73 + 63],
    ['4k3/8/8/8/8/8/6p1/4K2R b - - 0 1', 'g2h1n', 54 * 64 + 63, 54 * 73 + 64 + 2],
    ['4k3/8/8/8/8/8/6p1/4K2R b - - 0 1', 'g2g1q', 54 * 64 + 62, 54 * 73],
    ['4k3/8/8/8/8/8/8/4K2R w K - 0 1', 'e1g1', 4 * 64 + 7, 4 * 73 + 2 * 7 + 2],
  ];
  for (const [fen, text, fromTo, alphazero] of golden) {
    const position = unwrap(parseFen(fen));
    const move = unwrap(parseUciMove(position, text));
    assert.equal(unwrap(getPolicyEncoding('from-to-4096')).moveToIndex(position, move, 0), fromTo, text);
    assert.equal(unwrap(getPolicyEncoding('alphazero-4672')).moveToIndex(position, move, 0), alphazero, text);
  }
});

test('an index that no legal move has gives no move', () => {
  const position = unwrap(parseFen(START_FEN));
  assert.equal(unwrap(getPolicyEncoding('lc0-1858')).indexToMove(position, 0 as PolicyIndex, 0), 0);
});

test('unknown encodings are refused by name', () => {
  const input = getInputEncoding('lc0-113');
  assert.ok(!input.ok && input.error.includes('lc0-113') && input.error.includes('lc0-112'));
  assert.ok(!getPolicyEncoding('uci').ok);
  assert.ok(getInputEncoding('INPUT_CLASSICAL_112_PLANE').ok);
});

// lc0's own encoder (September 2025) run over these positions, all formats: transform, FNV-1a of the planes written in
// hex, FNV-1a of the sorted policy indices.

interface GoldenRow {
  readonly fen: string;
  readonly moves: string;
  readonly fill: HistoryFill;
  readonly formats: Readonly<Record<string, [transform: number, planes: number, indices: number]>>;
}

const golden = JSON.parse(
  readFileSync(join(repositoryRoot, 'test', 'networks', 'encoding', 'golden', 'lc0-planes.json'), 'utf8'),
) as GoldenRow[];

const TRANSPOSE = 4;
const legal = new Uint16Array(256);

function hash(text: string): number {
  let h = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 0x01000193);
  return h >>> 0;
}

for (const format of LC0_FORMATS) {
  test(`${format.name}: planes, transforms and move numbers are lc0's`, () => {
    const encoding = unwrap(getInputEncoding(format.name));
    const policy = unwrap(getPolicyEncoding('lc0-1858'));
    const words = new Uint32Array(224);
    const values = new Float32Array(112);
    for (const { fen, moves, fill, formats } of golden) {
      const position = unwrap(parseFen(fen));
      for (const text of moves.split(' ').filter(Boolean)) position.makeMove(unwrap(parseUciMove(position, text)));
      const [transform, planes, indices] = formats[format.id];
      assert.equal(encoding.writePacked(position, fill, words, 0, values, 0), transform, `${fen} ${moves}`);
      const masks = Array.from({ length: 112 }, (_, i) => (BigInt(words[2 * i + 1]) << 32n) | BigInt(words[2 * i]));
      assert.equal(hash(masks.map((mask) => mask.toString(16)).join(' ')), planes, `${fen} ${moves} ${fill}`);
      // lc0's move table no longer fits its planes when they are transposed (planes.ts).
      if (transform >= TRANSPOSE) continue;
      const count = position.generateLegalMoves(legal);
      const numbers = Array.from(legal.subarray(0, count), (move) =>
        policy.moveToIndex(position, move as Move, transform),
      );
      assert.equal(hash(numbers.sort((a, b) => a - b).join(' ')), indices, `${fen} ${moves}`);
    }
  });
}
