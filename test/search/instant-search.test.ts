/** lc0's policyhead and valuehead: one look at the network. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeLeafChannel } from '../support/fake-leaf-channel.js';
import { HashGame } from '../support/hash-game.js';
import { SearchHarness } from '../support/search-harness.js';

const GAME = { minMoves: 6, maxMoves: 30, mates: 0.02, draws: 0.05 };

test('policyhead plays the likeliest move after one visit, whatever was searched before', () => {
  for (let seed = 1; seed <= 20; seed++) {
    const game = new HashGame({ ...GAME, seed });
    const harness = new SearchHarness(new FakeLeafChannel(game), { params: { search: 'policyhead' } });
    for (let round = 0; round < 2; round++) {
      const { move, rows, infos } = harness.run({ nodes: 500, reportedStats: 'atEnd' });
      const likeliest = rows.reduce((best, row) => (row.prior > best.prior ? row : best));
      assert.equal(move, likeliest.move);
      assert.equal(infos.at(-1)?.nodes, 1);
    }
  }
});

test('valuehead looks at each move once and plays the one with the best value', () => {
  for (const minibatch of [1, 8]) {
    for (let seed = 1; seed <= 20; seed++) {
      const harness = new SearchHarness(new FakeLeafChannel(new HashGame({ ...GAME, seed })), {
        params: { search: 'valuehead' },
        minibatch,
        batchesInFlight: minibatch === 1 ? 1 : 3,
      });
      const { move, rows } = harness.run({ infinite: false, reportedStats: 'atEnd' });
      assert.ok(rows.every(({ visits }) => visits === 1));
      const best = Math.max(...rows.map(({ q }) => q));
      assert.equal(rows.find((row) => row.move === move)?.q, best);
    }
  }
});

test('valuehead looks at each move whatever the limit says', () => {
  for (const limit of [{ nodes: 1 }, { nodes: 3 }, { depth: 1 }, { playouts: 2 }, { budgetMs: 0 }, { mate: 1 }]) {
    const harness = new SearchHarness(new FakeLeafChannel(new HashGame({ ...GAME, seed: 5 })), {
      params: { search: 'valuehead' },
    });
    const { rows } = harness.run({ ...limit, reportedStats: 'atEnd' });
    assert.ok(rows.length > 1 && rows.every(({ visits }) => visits === 1), JSON.stringify(limit));
  }
});

test('valuehead keeps to the moves that are asked for', () => {
  const harness = new SearchHarness(new FakeLeafChannel(new HashGame({ ...GAME, seed: 3 })), {
    params: { search: 'valuehead' },
  });
  const all = harness.run({ reportedStats: 'atEnd' }).rows.map(({ move }) => move);
  const searchMoves = all.slice(0, 3);
  const { move, rows } = harness.run({ searchMoves, reportedStats: 'atEnd' });
  assert.ok(searchMoves.includes(move));
  assert.equal(rows.filter(({ visits }) => visits === 1).length, 3);
});

test('go infinite waits for stop', () => {
  const harness = new SearchHarness(new FakeLeafChannel(new HashGame(GAME)), { params: { search: 'policyhead' } });
  let lastStep = 0;
  harness.run({ infinite: true }, (search, steps) => {
    lastStep = steps;
    if (steps === 50) search.stop();
  });
  assert.ok(lastStep >= 50);
});
