import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPrng, unwrap } from '#sardonyx/base/util/index.js';
import { formatUciMove, type Move, parseFen, START_FEN } from '#sardonyx/chess/rules/index.js';
import { sortEdgesAsLc0 } from '#sardonyx/networks/leaves/edge-order.js';
import { sortEdges } from '#sardonyx/networks/leaves/edge-priors.js';
import { decodePrior, encodePrior } from '#sardonyx/networks/leaves/index.js';
import { computeFastExp } from '#sardonyx/networks/nn/evaluators/value-head.js';

test('the codes of 0 and 1 and of powers of two are exact', () => {
  assert.equal(encodePrior(0), 0);
  assert.equal(encodePrior(1), 0xf800);
  assert.equal(decodePrior(0), 2 ** -31);
  for (let exponent = 0; exponent < 30; exponent++) {
    assert.equal(decodePrior(encodePrior(2 ** -exponent)), 2 ** -exponent);
  }
});

test('decoding and encoding a code gives the code back', () => {
  for (let code = 0; code <= 0xf800; code++) assert.equal(encodePrior(decodePrior(code)), code);
});

test('codes order as priors do and lose at most one part in 4096', () => {
  const prng = createPrng(7);
  for (let i = 0; i < 10_000; i++) {
    const [a, b] = [prng.nextFloat(), prng.nextFloat() ** 8];
    assert.equal(Math.sign(encodePrior(a) - encodePrior(b)) * Math.sign(a - b) >= 0, true);
    assert.ok(Math.abs(decodePrior(encodePrior(a)) - a) <= a / 4096 + 2 ** -31);
  }
});

test('the fast exponential is right to 0.27 % below zero, and at the ends', () => {
  assert.equal(computeFastExp(0), 1);
  assert.equal(computeFastExp(-1000), 0);
  assert.equal(computeFastExp(Number.NEGATIVE_INFINITY), 0);
  assert.ok(Number.isNaN(computeFastExp(Number.NaN)));
  for (let x = -80; x < 0; x += 0.0137) {
    const error = Math.abs(computeFastExp(x) / Math.exp(x) - 1);
    assert.ok(error < 0.0027, `e^${x} is off by ${error}`);
  }
});

test('edges are sorted by prior, descending, and equal priors keep their order', () => {
  const prng = createPrng(3);
  for (let round = 0; round < 2000; round++) {
    const count = 1 + prng.nextBelow(218);
    const offset = prng.nextBelow(30);
    // Few distinct codes in some rounds, all of them in others.
    const range = 1 + prng.nextBelow(round % 2 === 0 ? 5 : 0xf801);
    const moves = new Uint16Array(256);
    const codes = new Uint16Array(256);
    for (let i = 0; i < count; i++) {
      moves[offset + i] = i + 1;
      codes[offset + i] = prng.nextBelow(range);
    }
    const expected = Array.from({ length: count }, (_, i) => ({ move: i + 1, code: codes[offset + i] }));
    expected.sort((a, b) => b.code - a.code || a.move - b.move);
    sortEdges(moves, codes, offset, count);
    const found = expected.map((_, i) => ({ move: moves[offset + i], code: codes[offset + i] }));
    assert.deepEqual(found, expected);
  }
});

test('equal priors are ordered as lc0 and std::sort of libstdc++ order them', () => {
  // Priors in lc0's order of moves: 1 where the square of the number is divisible by 3, else 2. The result is that of a C++ program.
  const pawns = [...'abcdefgh'].flatMap((file) => [`${file}2${file}3`, `${file}2${file}4`]);
  const listed = ['b1a3', 'b1c3', 'g1f3', 'g1h3', ...pawns];
  const sorted = 'd2d3 h2h4 g2g4 g2g3 f2f3 e2e4 d2d4 c2c3 b2b4 a2a4 a2a3 g1f3 b1c3 c2c4 b1a3 b2b3 e2e3 f2f4 g1h3 h2h3';
  for (const isBlack of [false, true]) {
    const position = unwrap(parseFen(isBlack ? START_FEN.replace(' w ', ' b ') : START_FEN));
    const toMover = (uci: string): string => (isBlack ? uci.replace(/[1-8]/g, (rank) => `${9 - Number(rank)}`) : uci);
    const moves = new Uint16Array(256);
    const count = position.generateLegalMoves(moves);
    const nameAt = (i: number): string => toMover(formatUciMove(moves[i] as Move, false));
    const priors = Uint16Array.from({ length: count }, (_, i) => 1 + (listed.indexOf(nameAt(i)) ** 2 % 3));
    sortEdgesAsLc0(position, moves, priors, 0, count);
    assert.equal(Array.from({ length: count }, (_, i) => nameAt(i)).join(' '), sorted);
    assert.deepEqual(
      [...priors],
      [...priors].sort((a, b) => b - a),
    );
  }
});
