import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { readLoopState } from '#sardonyx/board/server/loop-control.js';

test('the state of a training loop is read as the loop writes it; where there is none, a sentence says so', () => {
  const folder = mkdtempSync(join(tmpdir(), 'sardonyx-loop-'));
  try {
    assert.throws(() => readLoopState(folder), /no training loop/);
    const rows = [
      {
        number: 1,
        base: 0,
        games: 100,
        positions: 7000,
        policy_loss: 2.5,
        value_loss: 0.9,
        promoted: true,
        elo: 80,
        gate: { wins: 30, draws: 5, losses: 15, pairs: [0, 0, 0, 0, 0], llr: null },
      },
      { number: 2, base: 1, games: null, gate: null, promoted: null, elo: null },
    ];
    writeFileSync(
      join(folder, 'state.json'),
      JSON.stringify({ current: { number: 2 }, stage: 'selfplay', best: 1, generations: rows }),
    );
    const state = readLoopState(folder);
    assert.deepEqual([state.generation, state.stage, state.best], [2, 'selfplay', 1]);
    assert.deepEqual(state.generations[0].gate, [30, 5, 15]);
    assert.equal(state.generations[1].policyLoss, null);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
