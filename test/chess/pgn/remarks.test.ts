import assert from 'node:assert/strict';
import { test } from 'node:test';
import { unwrap } from '#sardonyx/base/util/index.js';
import {
  annotateGame,
  formatPgn,
  type PgnGame,
  type Remark,
  readPgnGame,
  splitPgn,
} from '#sardonyx/chess/pgn/index.js';
import { createRemarks, formatEvaluation } from '#sardonyx/chess/pgn/remarks.js';
import type { AnalysedPosition } from '#sardonyx/cli/commands/analyse/analyse-position.js';

function createPosition(changes: Partial<AnalysedPosition>): AnalysedPosition {
  return {
    ply: 0,
    fen: '4k3/8/8/8/8/8/8/4K3 w - - 0 1',
    played: 'e1e2',
    playedSan: 'Ke2',
    best: 'e1d1',
    bestSan: 'Kd1',
    score: { kind: 'cp', value: 50 },
    wdl: { win: 600, draw: 300, loss: 100 },
    depth: 3,
    nodes: 100,
    lines: [
      { score: { kind: 'cp', value: 50 }, wdl: { win: 600, draw: 300, loss: 100 }, pv: ['e1d1'], pvSan: ['Kd1'] },
    ],
    ...changes,
  };
}

test('remarks tell the evaluation in White’s view and judge what was lost', () => {
  const black = '4k3/8/8/8/8/8/4K3/8 b - - 1 1';
  const fine = createPosition({
    fen: black,
    score: { kind: 'cp', value: -45 },
    wdl: { win: 100, draw: 310, loss: 590 },
  });
  assert.deepEqual(createRemarks([createPosition({}), fine]), [
    { evaluation: '0.45', nag: 0, text: '', betterLine: [] },
  ]);
  const blunder = createPosition({
    fen: black,
    score: { kind: 'mate', value: 3 },
    wdl: { win: 1000, draw: 0, loss: 0 },
  });
  assert.deepEqual(createRemarks([createPosition({}), blunder]), [
    { evaluation: '#-3', nag: 4, text: 'Blunder. Kd1 was best.', betterLine: ['Kd1'] },
  ]);
  const best = createPosition({ played: 'e1d1', playedSan: 'Kd1' });
  assert.equal(createRemarks([best, blunder])[0].nag, 0);
});

test('evaluations are pawns or mates', () => {
  assert.equal(formatEvaluation({ kind: 'cp', value: -7 }, false), '-0.07');
  assert.equal(formatEvaluation({ kind: 'cp', value: -7 }, true), '0.07');
  assert.equal(formatEvaluation({ kind: 'mate', value: 2 }, true), '#-2');
  assert.equal(formatEvaluation({ kind: 'mate', value: 0 }, false), '#-0');
  assert.equal(formatEvaluation({ kind: 'mate', value: 0 }, true), '#0');
});

const BLUNDER = { nag: 4, text: 'Blunder. d4 was best.', betterLine: ['d4', 'exd4', 'Nf3'] };
const FINE = { nag: 0, text: '', betterLine: [] };

function readGame(text: string): PgnGame {
  return unwrap(readPgnGame(splitPgn(text)[0]));
}

function formatGame(game: PgnGame, remarks: readonly Remark[]): string {
  return formatPgn(annotateGame(game, remarks));
}

/** The moves with a remark on the last one, and nothing but an evaluation on the others. */
function annotateLast(moves: string, remark: Omit<Remark, 'evaluation'>): string {
  const game = readGame(moves);
  const last = game.moves.length - 1;
  const text = formatGame(
    game,
    game.moves.map((_, index) => ({ evaluation: `0.${index + 1}0`, ...(index === last ? remark : FINE) })),
  );
  return text.slice(text.indexOf('\n\n')).trim();
}

test('a judged move gets a glyph, words, an evaluation and the better line as a variation', () => {
  assert.equal(
    annotateLast('1. e4 e5 2. Ke2 *', BLUNDER),
    '1. e4 { [%eval 0.10] } e5 { [%eval 0.20] } ' +
      '2. Ke2 $4 { Blunder. d4 was best. [%eval 0.30] } (2. d4 exd4 3. Nf3) *',
  );
});

test('the author’s comments, glyphs and variations stand before the engine’s', () => {
  assert.equal(
    annotateLast('1. e4 $146 {Tal smiled} (1. c4 {or {so} $10) *', BLUNDER),
    '1. e4 $146 $4 { Tal smiled Blunder. d4 was best. [%eval 0.10] } ' + '(1. c4 $10 { or {so }) (1. d4 exd4 2. Nf3) *',
  );
});

test('an evaluation of the input is replaced; clocks and arrows stay', () => {
  const evaluated = '1. e4 { strong [%eval 0.35,18] [%clk 0:05:00] } { [%eval #-3] } { [%cal Ge2e4] } *';
  assert.equal(annotateLast(evaluated, FINE), '1. e4 { strong [%eval 0.10] [%clk 0:05:00] [%cal Ge2e4] } *');
  assert.equal(annotateLast('1. e4 { [%eval\n0.35] } *', FINE), '1. e4 { [%eval 0.10] } *');
});

test('a move that the author has judged gets no second glyph, and a variation that is there no copy', () => {
  for (const glyph of ['!', '$4', '?!']) assert.doesNotMatch(annotateLast(`1. e4 ${glyph} *`, BLUNDER), /\$\d \$/);
  const twice = annotateLast('1. e4 (1. d4 d5 {good}) *', BLUNDER);
  assert.match(twice, /\(1\. d4 d5 \{ good \}\) \*$/);
});

test('remarks that are there already change nothing', () => {
  for (const moves of ['1. e4 *', '1. e4 $2 {a} {[%clk 0:00:01]} (1. c4) *']) {
    const game = readGame(moves);
    const remarks = [{ evaluation: '-1.20', ...BLUNDER }];
    const once = formatGame(game, remarks);
    assert.equal(formatGame(readGame(once), remarks), once);
  }
});

test('the game itself is left as it was', () => {
  const game = readGame('1. e4 {fine} e5 *');
  const before = structuredClone(game.tree.moves);
  formatGame(game, [{ evaluation: '0.10', ...BLUNDER }]);
  assert.deepEqual(structuredClone(game.tree.moves), before);
});

test('moves behind the last remark keep their comments', () => {
  const game = readGame('1. e4 e5 {solid} (1... c5) 2. Nf3 *');
  const text = formatGame(game, [{ evaluation: '0.10', ...FINE }]);
  assert.match(text, /1\. e4 \{ \[%eval 0\.10\] \} e5 \{ solid \} \(1\.\.\. c5\) 2\. Nf3 \*/);
});
