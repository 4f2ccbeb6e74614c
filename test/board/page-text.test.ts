import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ARROW_SHADES, createArrows } from '#sardonyx/board/game/board-moves.js';
import {
  formatClock,
  formatCount,
  formatScore,
  formatSigned,
  formatSuperiority,
  getWhitePoints,
  getWhiteWdl,
  splitEngineNote,
} from '#sardonyx/board/game/page-text.js';
import type { MoveRow } from '#sardonyx/board/protocol/replies.js';

test('scores are from White’s view', () => {
  assert.equal(formatScore({ kind: 'cp', value: 31 }, false), '+0.31');
  assert.equal(formatScore({ kind: 'cp', value: 31 }, true), '−0.31');
  assert.equal(formatScore({ kind: 'cp', value: 1234 }, false), '+12.3');
  assert.equal(formatScore({ kind: 'mate', value: 3 }, true), '#−3');
  assert.equal(formatScore({ kind: 'mate', value: -2 }, true), '#2');
  const wdl = { win: 500, draw: 300, loss: 200 };
  assert.deepEqual(getWhiteWdl({ wdl }, true), { win: 200, draw: 300, loss: 500 });
  assert.equal(getWhitePoints({ wdl }, false), 0.65);
  assert.equal(getWhitePoints({ wdl }, true), 0.35);
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

test('arrows: width by visits or policy, colour by the loss against the best move, few of them', () => {
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
  // The board never removes an arrowhead, so that there may be few widths.
  const widths = Array.from({ length: 1000 }, (_, n) => {
    const two = [createRow('e2e4', n, 0.5, 0), createRow('d2d4', 1000 - n, 0.5, 0)];
    return createArrows(two, [], 'visits').map(({ width }) => width);
  });
  assert.ok(new Set(widths.flat()).size <= 6);
});

test('what programs write after each move is a note beside it; words of people are comments', () => {
  const split = (comment: string) => Object.values(splitEngineNote(comment));
  assert.deepEqual(split('+0.31/12 0.5s'), ['+0.31', '']);
  assert.deepEqual(split('-M4/7 12.3s, White mates'), ['-M4', 'White mates']);
  for (const note of ['0.00', '-12.3', 'book']) assert.deepEqual(split(note), [note, '']);
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
