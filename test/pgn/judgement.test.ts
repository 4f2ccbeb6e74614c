import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AnalysedPosition } from '#sardonyx/cli/commands/analyse/analyse-games.js';
import { createRemarks, formatEvaluation } from '#sardonyx/pgn/judgement.js';

function createPosition(changes: Partial<AnalysedPosition>): AnalysedPosition {
  return {
    ply: 0,
    fen: '4k3/8/8/8/8/8/8/4K3 w - - 0 1',
    played: 'e1e2',
    playedSan: 'Ke2',
    best: 'e1d1',
    bestSan: 'Kd1',
    score: { kind: 'cp', value: 50 },
    wdl: [600, 300, 100],
    depth: 3,
    nodes: 100,
    lines: [{ score: { kind: 'cp', value: 50 }, wdl: [600, 300, 100], pv: ['e1d1'], pvSan: ['Kd1'] }],
    ...changes,
  };
}

test('remarks tell the evaluation in White’s view and judge what was lost', () => {
  const black = '4k3/8/8/8/8/8/4K3/8 b - - 1 1';
  const fine = createPosition({ fen: black, score: { kind: 'cp', value: -45 }, wdl: [100, 310, 590] });
  assert.deepEqual(createRemarks([createPosition({}), fine]), [
    { evaluation: '0.45', nag: 0, text: '', betterLine: [] },
  ]);
  const blunder = createPosition({ fen: black, score: { kind: 'mate', value: 3 }, wdl: [1000, 0, 0] });
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
