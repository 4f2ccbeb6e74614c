import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPrng, unwrap } from '#sardonyx/base/util/index.js';
import {
  computeOutcome,
  findMate,
  formatFen,
  formatUciMove,
  listLegalMoves,
  parseFen,
} from '#sardonyx/chess/rules/index.js';
import { isLost, solve } from '../../support/mate-solver.js';

const PLENTY = 1_000_000;
const STARTS = [
  '4k3/8/3Q4/8/8/8/8/4K2R w K - 0 1',
  '8/8/8/3k4/8/2K5/1R6/8 w - - 0 1',
  'r1bk2nr/p2p1pNp/n2B4/1p1NP2P/6P1/3P1Q2/P1P1K3/q5b1 w - - 1 22',
  '6k1/pp4p1/2p5/2bp4/8/P5Pb/1P3rrP/2BRRN1K b - - 0 1',
  '2rr2k1/2q2ppp/8/8/8/3Q4/3R1PPP/3R2K1 w - - 0 1',
  '8/6P1/5K1k/8/8/8/8/8 w - - 0 1',
];

test('in random games it agrees with a plain solver, and its line is a mate of that length', () => {
  const random = createPrng(5);
  let mates = 0;
  for (const fen of STARTS) {
    for (let game = 0; game < 12; game++) {
      const position = unwrap(parseFen(fen));
      for (let ply = 0; ply < 6 && computeOutcome(position) === 'ongoing'; ply++) {
        const before = formatFen(position);
        const { line, refuted } = findMate(position, { moves: 2, effort: PLENTY });
        assert.equal(formatFen(position), before);
        const length = solve(position, 2);
        assert.equal(line === null ? null : (line.length + 1) / 2, length, before);
        assert.equal(refuted, length === null ? 2 : length - 1);
        for (const move of line ?? []) position.makeMove(move);
        if (line !== null) assert.equal(computeOutcome(position), 'checkmate');
        for (const _ of line ?? []) position.unmakeMove();
        mates += line === null ? 0 : 1;
        const moves = listLegalMoves(position);
        position.makeMove(moves[Math.floor(random.nextFloat() * moves.length)]);
      }
    }
  }
  assert.ok(mates > 20, `${mates} mates`);
});

test('a mate in three is found with the longest defence', () => {
  const position = unwrap(parseFen('r5rk/5p1p/5R2/4B3/8/8/7P/7K w - - 0 1'));
  const { line } = findMate(position, { moves: 4, effort: PLENTY });
  assert.deepEqual(
    line?.map((move) => formatUciMove(move, false)),
    ['f6a6', 'f7f6', 'e5f6', 'g8g7', 'a6a8'],
  );
});

test('it gives up when its effort is used up', () => {
  const position = unwrap(parseFen(STARTS[2]));
  const { line, refuted, visited } = findMate(position, { moves: 2, effort: 30 });
  assert.deepEqual({ line, refuted }, { line: null, refuted: 0 });
  assert.ok(visited >= 30);
});

test('only the candidates count as first moves', () => {
  const position = unwrap(parseFen('7k/8/5K2/8/8/8/8/R7 w - - 0 1'));
  const candidates = listLegalMoves(position).filter((move) => formatUciMove(move, false) !== 'f6f7');
  const { line } = findMate(position, { moves: 2, effort: PLENTY, candidates });
  assert.equal(formatUciMove(line?.[0] ?? candidates[0], false), 'f6g6');
});

test('a mate beyond the fifty-move rule is none, on its hundredth ply it is one', () => {
  const late = '7k/8/5K2/8/8/8/8/R7 w - - 98 90';
  assert.equal(findMate(unwrap(parseFen(late)), { moves: 3, effort: PLENTY }).line, null);
  assert.equal(
    findMate(unwrap(parseFen('6k1/8/6K1/8/8/8/8/R7 w - - 99 90')), { moves: 1, effort: 99 }).line?.length,
    1,
  );
});

test('who is mated has no mate', () => {
  const position = unwrap(parseFen('R5k1/5ppp/8/8/8/8/8/6K1 b - - 0 1'));
  assert.ok(isLost(position, 0));
  const { line, refuted } = findMate(position, { moves: 3, effort: PLENTY });
  assert.deepEqual({ line, refuted }, { line: null, refuted: 3 });
});

test('a long mate by checks is found in few positions', () => {
  const position = unwrap(parseFen('r3q2r/2p1k1p1/p5p1/1p2Nb2/1P2nB2/P7/2PNQbPP/R2R3K b - - 0 1'));
  const { line, visited } = findMate(position, { moves: 3, checks: 8, effort: 5000 });
  assert.equal(line?.length, 11);
  for (const [ply, move] of (line ?? []).entries()) {
    position.makeMove(move);
    if (ply % 2 === 0) assert.ok(position.inCheck());
  }
  assert.equal(computeOutcome(position), 'checkmate');
  for (const _ of line ?? []) position.unmakeMove();
  for (const effort of [visited + 1, 100_000])
    assert.deepEqual(findMate(position, { moves: 3, checks: 8, effort }).line, line);
  assert.equal(findMate(position, { moves: 3, checks: 8, effort: visited }).line, null);
  assert.equal(findMate(position, { moves: 3, checks: 5, effort: 100_000 }).line, null);
});

test('a quiet mate is preferred to a longer one by checks', () => {
  const position = unwrap(parseFen('3R4/7K/2Q5/8/8/7k/8/8 w - - 0 1'));
  const byChecks = findMate(position, { moves: 1, checks: 8, effort: PLENTY });
  const any = findMate(position, { moves: 4, checks: 8, effort: PLENTY });
  assert.ok((any.line?.length ?? 0) < (byChecks.line?.length ?? 0));
  assert.ok(any.visited > byChecks.visited);
  // Who has less effort finds the longer one.
  assert.deepEqual(findMate(position, { moves: 4, checks: 8, effort: any.visited }).line, byChecks.line);
});

test('an effort above the positions visited finds the same mate, and no smaller one finds it', () => {
  const position = unwrap(parseFen('7k/8/5K2/8/8/8/8/R7 w - - 0 1'));
  const { line, visited } = findMate(position, { moves: 3, effort: PLENTY });
  assert.equal(line?.length, 3);
  assert.deepEqual(findMate(position, { moves: 2, effort: visited + 1 }), { line, refuted: 1, visited });
  assert.equal(findMate(position, { moves: 3, effort: visited }).line, null);
});
