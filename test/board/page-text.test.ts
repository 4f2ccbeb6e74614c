import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ARROW_SHADES, createArrows } from '#sardonyx/board/game/board-moves.js';
import {
  describeWinner,
  formatClock,
  formatCount,
  formatScore,
  formatSigned,
  formatSuperiority,
  formatWdl,
  getWhitePoints,
  getWhiteWdl,
  splitEngineNote,
} from '#sardonyx/board/game/page-text.js';
import type { MoveRow } from '#sardonyx/board/protocol/replies.js';

test('scores are from White’s view', () => {
  assert.equal(formatScore({ kind: 'cp', value: 31 }, false), '+0.31');
  assert.equal(formatScore({ kind: 'cp', value: 31 }, true), '−0.31');
  assert.equal(formatScore({ kind: 'cp', value: 1234 }, false), '+12.3');
  const edges = [2000, 2001, 31_000, -31_000].map((value) => formatScore({ kind: 'cp', value }, false));
  assert.deepEqual(edges, ['+20.0', '+20.0', '+20.0', '−20.0']);
  assert.equal(formatScore({ kind: 'cp', value: 0 }, true), '+0.00');
  assert.equal(formatScore({ kind: 'mate', value: 3 }, true), '−20.0');
  assert.equal(formatScore({ kind: 'mate', value: -2 }, true), '+20.0');
  assert.equal(formatScore({ kind: 'mate', value: 0 }, true), '+20.0');
  const wdl = { win: 500, draw: 300, loss: 200 };
  assert.deepEqual(getWhiteWdl({ wdl }, true), { win: 200, draw: 300, loss: 500 });
  assert.equal(getWhitePoints({ wdl }, false), 0.65);
  assert.equal(getWhitePoints({ wdl }, true), 0.35);
});

test('who wins is said from 99 % on, and when it is proven', () => {
  const say = (win: number, draw: number, isBlack: boolean, isProven: boolean) =>
    describeWinner({ wdl: { win, draw, loss: 1000 - win - draw } }, isBlack, isProven);
  assert.equal(say(985, 10, false, false), 'White wins');
  assert.equal(say(985, 9, false, false), '');
  assert.equal(say(985, 10, true, false), 'Black wins');
  assert.equal(say(0, 0, true, true), 'White wins, proven');
  assert.equal(say(0, 1000, true, true), 'Draw, proven');
  assert.equal(formatWdl({ win: 364, draw: 370, loss: 266 }), 'W 36 D 37 L 27');
});

test('numbers are short', () => {
  assert.deepEqual([999, 12_345, 123_456, 12_345_678].map(formatCount), ['999', '12.3 k', '123 k', '12.3 M']);
  assert.equal(formatSigned(-0.0001, 2), '+0.00');
  assert.equal(formatSigned(-0.5, 2), '−0.50');
});

test('a clock shows tenths when it matters', () => {
  assert.deepEqual([-5, 9_960, 65_000, 3_600_000].map(formatClock), ['0:00.0', '0:09.9', '1:05', '1:00:00']);
});

function createRow(move: string, visits: number, prior: number, q: number): MoveRow {
  return { move, visits, prior, q, draw: 0, movesLeft: null, u: null, s: null, v: null, bound: 'none' };
}

test('arrows: share by visits or policy, colour by the loss against the best move, few of them', () => {
  const rows = [
    createRow('e2e4', 600, 0.2, 0.3),
    createRow('d2d4', 390, 0.5, 0.28),
    createRow('a2a3', 9, 0.25, -0.4),
    createRow('h2h3', 1, 0.05, 0.3),
  ];
  const byVisits = createArrows(rows, [], 'visits');
  assert.deepEqual(
    byVisits.map(({ move }) => move),
    ['e2e4', 'd2d4'],
  );
  assert.equal(byVisits[0].shade, 0);
  const byPolicy = createArrows(rows, [], 'policy');
  assert.deepEqual(
    byPolicy.map(({ move }) => move),
    ['d2d4', 'a2a3', 'e2e4', 'h2h3'],
  );
  assert.equal(byPolicy[1].shade, ARROW_SHADES - 1);
  assert.deepEqual(createArrows([], [], 'visits'), []);
});

test('what programs write after each move is a note beside it; words of people are comments', () => {
  const split = (comment: string, isBlack = false) => Object.values(splitEngineNote(comment, isBlack));
  assert.deepEqual(split('+0.31/12 0.5s'), ['+0.31', '']);
  assert.deepEqual(split('+0.31/12 0.5s', true), ['−0.31', '']);
  assert.deepEqual(split('-M4/7 12.3s, White mates', true), ['+20.0', 'White mates']);
  assert.deepEqual(split('M4/7 12.3s'), ['+20.0', '']);
  assert.deepEqual(split('0.00'), ['+0.00', '']);
  assert.deepEqual(split('-12.3'), ['−12.3', '']);
  assert.deepEqual(split('book'), ['book', '']);
  assert.deepEqual(split('book, Draw by adjudication'), ['book', 'Draw by adjudication']);
  assert.deepEqual(split('0.067s'), ['0.067s', '']);
  assert.deepEqual(split(''), ['', '']);
  for (const text of ['bookish', 'A solid start', '+0.31 was shown', '3s too late']) {
    assert.deepEqual(split(text), ['', text]);
  }
});

test('who is the stronger one is said from twenty games on, and never as a certainty', () => {
  assert.equal(formatSuperiority(0.99, 19), '');
  assert.equal(formatSuperiority(0.873, 20), '87.3 %');
  assert.equal(formatSuperiority(0.99999, 40), '> 99.9 %');
  assert.equal(formatSuperiority(0, 40), '< 0.1 %');
});
