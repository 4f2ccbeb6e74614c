import assert from 'node:assert/strict';
import { test } from 'node:test';
import { defaultSearchParams } from '#sardonyx/search/index.js';
import { computeTemperature } from '#sardonyx/search/root/move-choice.js';
import { FakeLeafChannel } from '../../support/fake-leaf-channel.js';
import { HashGame } from '../../support/hash-game.js';
import { SearchHarness } from '../../support/search-harness.js';

test('temperature decays with the moves of the game, down to its floor', () => {
  const params = { ...defaultSearchParams, temperature: 1, tempDecayMoves: 10, tempDecayDelayMoves: 5 };
  assert.equal(computeTemperature(params, 0), 1);
  assert.equal(computeTemperature(params, 10), 1);
  assert.equal(computeTemperature(params, 20), 0.5);
  assert.equal(computeTemperature(params, 40), 0);
  assert.equal(computeTemperature({ ...params, tempEndgame: 0.2 }, 40), 0.2);
  assert.equal(computeTemperature({ ...params, tempCutoffMove: 3, tempEndgame: 0.3 }, 4), 0.3);
  assert.equal(computeTemperature({ ...defaultSearchParams, temperature: 0.7 }, 100), 0.7);
});

test('temperature 1 plays moves as often as they were visited', () => {
  const harness = new SearchHarness(new FakeLeafChannel(new HashGame({ minMoves: 5, maxMoves: 5 })), {
    params: { temperature: 1 },
  });
  harness.run({ nodes: 400 });
  const counts = new Map<number, number>();
  const rounds = 4000;
  for (let round = 0; round < rounds; round++) {
    const { move } = harness.run({ nodes: 400 });
    counts.set(move, (counts.get(move) ?? 0) + 1);
  }
  for (const { move, visits } of harness.readTree().children) {
    assert.ok(Math.abs((counts.get(move) ?? 0) / rounds - visits / 399) < 0.04);
  }
});

test('the last report begins with the move that was drawn', () => {
  const harness = new SearchHarness(new FakeLeafChannel(new HashGame({ minMoves: 8 })), {
    params: { temperature: 2 },
  });
  const leaders = new Set<number>();
  for (let round = 0; round < 30; round++) {
    const { move, infos } = harness.run({ nodes: 400, reportedLines: 3 });
    const lines = infos.at(-1)?.lines ?? [];
    assert.equal(lines[0].pv[0], move);
    assert.equal(new Set(lines.map(({ pv }) => pv[0])).size, 3);
    leaders.add(move);
  }
  assert.ok(leaders.size > 2);
});

test('the last report begins with the move that was drawn, also where nobody has visited it', () => {
  const harness = new SearchHarness(new FakeLeafChannel(new HashGame({ minMoves: 20, seed: 3 })), {
    params: { temperature: 1 },
  });
  for (let round = 0; round < 20; round++) {
    harness.search.clearTree();
    const { move, infos } = harness.run({ nodes: 1 });
    assert.equal(infos.at(-1)?.lines[0].pv[0], move);
  }
});

test('among searchmoves that nobody visited, temperature 1 plays moves as often as their priors say, and shows all', () => {
  const params = { temperature: 1 };
  const harness = new SearchHarness(new FakeLeafChannel(new HashGame({ minMoves: 8 })), { params });
  const searchMoves = [1, 3, 4];
  const counts = new Map<number, number>();
  const rounds = 2000;
  for (let round = 0; round < rounds; round++) {
    harness.search.clearTree();
    const { move, infos } = harness.run({ nodes: 1, searchMoves, reportedLines: 5 });
    counts.set(move, (counts.get(move) ?? 0) + 1);
    const shown = infos.at(-1)?.lines.map(({ pv }) => pv[0]) ?? [];
    assert.equal(shown[0], move);
    assert.deepEqual(shown.toSorted(), searchMoves);
  }
  const { rows } = harness.run({ nodes: 1, searchMoves, reportedStats: 'atEnd' });
  const priors = rows.filter(({ move }) => searchMoves.includes(move));
  const sum = priors.reduce((total, { prior }) => total + prior, 0);
  for (const { move, prior } of priors)
    assert.ok(
      Math.abs((counts.get(move) ?? 0) / rounds - prior / sum) < 0.05,
      `${counts.get(move)} of prior ${prior / sum}`,
    );
});

test('the value cutoff keeps bad moves from being drawn', () => {
  const harness = new SearchHarness(new FakeLeafChannel(new HashGame({ minMoves: 8 })), {
    params: { temperature: 10, tempValueCutoff: 0 },
  });
  const first = harness.run({ nodes: 500 });
  const root = harness.readTree();
  const mostVisited = [...root.children].sort((a, b) => b.visits - a.visits)[0];
  for (let round = 0; round < 50; round++) {
    const { move } = harness.run({ nodes: 500 });
    const child = root.children.find((other) => other.move === move);
    assert.ok(child !== undefined && child.wl >= mostVisited.wl);
  }
  assert.notEqual(first.move, 0);
});

test('lines of MultiPV are ordered best first and begin with different moves', () => {
  const harness = new SearchHarness(new FakeLeafChannel(new HashGame({ minMoves: 10 })));
  const lines = harness.run({ nodes: 1000, reportedLines: 4 }).infos.at(-1)?.lines ?? [];
  assert.equal(lines.length, 4);
  assert.equal(new Set(lines.map(({ pv }) => pv[0])).size, 4);
  for (let i = 1; i < lines.length; i++) assert.ok(lines[i].visits <= lines[i - 1].visits);
});

test('more lines than moves shows every move once', () => {
  const harness = new SearchHarness(new FakeLeafChannel(new HashGame({ minMoves: 3, maxMoves: 3 })));
  assert.equal(harness.run({ nodes: 1000, reportedLines: 500 }).infos.at(-1)?.lines.length, 3);
});

test('a proven win is played even with few visits, the shorter one first; losses are put off', () => {
  for (let seed = 1; seed <= 30; seed++) {
    const harness = new SearchHarness(
      new FakeLeafChannel(new HashGame({ minMoves: 3, maxMoves: 5, mates: 0.12, seed })),
    );
    const { move, infos } = harness.run({ nodes: 800 });
    const root = harness.readTree();
    const wins = root.children.filter(({ terminal, wl }) => terminal !== 0 && wl === 1);
    const line = infos.at(-1)?.lines[0];
    if (wins.length > 0) {
      const shortest = Math.min(...wins.map(({ m }) => m));
      assert.equal(root.children.find((child) => child.move === move)?.m, shortest);
      assert.equal(line?.mate, Math.trunc(shortest / 2) + 1);
    } else {
      const chosen = root.children.find((child) => child.move === move);
      const isLost = (child: { terminal: number; wl: number } | undefined): boolean =>
        child !== undefined && child.terminal !== 0 && child.wl === -1;
      if (isLost(chosen)) assert.ok(root.children.every(isLost));
    }
  }
});

test('rows of the move statistics ascend and agree with the tree', () => {
  const harness = new SearchHarness(new FakeLeafChannel(new HashGame({ minMoves: 10 })));
  const { rows } = harness.run({ nodes: 500, reportedStats: 'atEnd' });
  assert.equal(
    rows.reduce((sum, { visits }) => sum + visits, 0),
    499,
  );
  for (let i = 1; i < rows.length; i++) assert.ok(rows[i].visits >= rows[i - 1].visits);
  for (const row of rows) {
    assert.equal(row.wl === null, row.visits === 0);
    assert.ok(row.s !== null && row.u !== null);
  }
});

// lc0's policyhead and valuehead: one look at the network.

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
