import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeLeafChannel } from '../../support/fake-leaf-channel.js';
import { HashGame, type HashGameOptions } from '../../support/hash-game.js';
import { type HarnessOptions, SearchHarness } from '../../support/search-harness.js';

const create = (options: HarnessOptions = {}, game: Partial<HashGameOptions> = { minMoves: 5 }): SearchHarness =>
  new SearchHarness(new FakeLeafChannel(new HashGame(game)), options);

test('playouts count only new visits, nodes count the reused ones too', () => {
  const harness = create();
  harness.run({ nodes: 300 });
  assert.equal(harness.run({ playouts: 50 }).infos.at(-1)?.nodes, 350);
  assert.equal(harness.run({ nodes: 400 }).infos.at(-1)?.nodes, 400);
  assert.equal(harness.run({ nodes: 100 }).infos.at(-1)?.nodes, 400);
  const asPlayouts = create({ params: { nodesAsPlayouts: true } });
  asPlayouts.run({ nodes: 100 });
  assert.equal(asPlayouts.run({ nodes: 100 }).infos.at(-1)?.nodes, 200);
});

test('a time budget counts from the start of the clock', () => {
  const harness = create({ tickMs: 1, params: { smartPruningFactor: 0 } });
  const startedAtMs = harness.now - 400;
  const { infos } = harness.run({ budgetMs: 1000, startedAtMs });
  const timeMs = infos.at(-1)?.timeMs ?? 0;
  assert.ok(timeMs >= 1000 && timeMs < 1010, `${timeMs} ms`);
});

test('a budget that has run out still gives a move', () => {
  const harness = create({ tickMs: 1 });
  for (const budgetMs of [0, -5]) {
    const { move, infos } = harness.run({ budgetMs });
    assert.notEqual(move, 0);
    assert.ok((infos.at(-1)?.nodes ?? 0) >= 1);
  }
});

test('the depth limit is the average depth', () => {
  const { infos } = create().run({ depth: 4 });
  assert.equal(infos.at(-1)?.depth, 4);
});

for (const search of ['tree', 'graph'] as const) {
  test(`depth and mate end although the best moves lead to known results, ${search}`, () => {
    for (let seed = 1; seed <= 12; seed++) {
      for (const game of [{ draws: 0.5 }, { draws: 0.2, tablebase: 0.3 }, { longestGame: 3 }, { repetitions: 0.5 }]) {
        for (const limits of [{ depth: 40 }, { mate: 1 }, { depth: 40, reportedLines: 3 }]) {
          const harness = create({ params: { search } }, { minMoves: 2, maxMoves: 4, transposes: true, seed, ...game });
          const { move, infos } = harness.run(limits);
          const nodes = infos.at(-1)?.nodes ?? 0;
          assert.ok(move === 0 || nodes < 200_000, `${JSON.stringify({ seed, ...game, ...limits })}: ${nodes} nodes`);
        }
      }
    }
  });
}

test('beside a proven win further lines are searched as asked; a line without a visit is left out', () => {
  const game = { minMoves: 4, maxMoves: 6, mates: 0.2 };
  let wins = 0;
  for (let seed = 1; seed <= 20; seed++) {
    for (const limits of [{ nodes: 200 }, { depth: 5 }, { nodes: 3 }]) {
      const { infos } = create({}, { ...game, seed }).run({ ...limits, reportedLines: 3 });
      for (const { lines } of infos) assert.ok(lines.slice(1).every(({ visits }) => visits > 0));
      const { lines = [], nodes = 0 } = infos.at(-1) ?? {};
      if (lines[0]?.mate !== 1) continue;
      wins++;
      if (limits.nodes === 200)
        assert.ok(lines.length === 3 && (nodes === 200 || lines.every(({ mate }) => mate !== null)));
      // On the clock of a game the win is played at once.
      const clock = {
        clock: { timeMs: 1e6, incrementMs: 0 },
        gamePly: 0,
        moveOverheadMs: 0,
        timeManager: 'legacy',
        slowmover: 1,
      };
      assert.ok(
        (create({}, { ...game, seed })
          .run({ reportedLines: 3, clock })
          .infos.at(-1)?.nodes ?? 0) < 50,
      );
    }
  }
  assert.ok(wins > 5);
});

test('the last info line is sent once', () => {
  for (let seed = 1; seed <= 10; seed++) {
    const { infos } = create({ minibatch: 4 }, { minMoves: 3, maxMoves: 8, mates: 0.1, seed }).run({ nodes: 100 });
    const [before, last] = infos
      .slice(-2)
      .map(({ lines, nodes, depth, seldepth }) => ({ lines, nodes, depth, seldepth }));
    assert.notDeepEqual(before, last);
  }
});

test('a mate that is short enough ends go mate, and is reported exactly', () => {
  const game = { minMoves: 3, maxMoves: 6, mates: 0.1, seed: 5 };
  const { infos } = create({}, game).run({ mate: 3 });
  const mate = infos.at(-1)?.lines[0]?.mate ?? null;
  assert.ok(mate !== null && mate > 0 && mate <= 3, `mate in ${mate}`);
  assert.equal(infos.at(-1)?.lines[0]?.pv.length, 2 * mate - 1);
});

test('one legal move is played at once, but searched when asked to', () => {
  const game = { minMoves: 1, maxMoves: 1 };
  assert.equal(create({}, game).run({ nodes: 1000 }).infos.at(-1)?.nodes, 1);
  assert.equal(
    create({ params: { smartPruningFactor: 0 } }, game)
      .run({ nodes: 1000 })
      .infos.at(-1)?.nodes,
    1000,
  );
});

test('a position without moves has no best move, and infinite waits for stop all the same', () => {
  const over = { longestGame: 0 };
  const { move, infos } = create({}, over).run({ nodes: 100 });
  assert.equal(move, 0);
  assert.deepEqual(infos, []);
  let wasRunning = false;
  const waited = create({}, over).run({ infinite: true }, (search, steps) => {
    if (steps < 200) return;
    wasRunning = search.isRunning;
    search.stop();
  });
  assert.ok(wasRunning);
  assert.equal(waited.move, 0);
});

test('go infinite with a node limit says that it is done, once, and answers only after stop', () => {
  const harness = create({ minibatch: 4, batchesInFlight: 2 });
  let nodesAtStop = 0;
  const { warnings, move } = harness.run({ infinite: true, nodes: 200 }, (search, steps) => {
    nodesAtStop = search.counters.playouts;
    if (steps > 1000) search.stop();
  });
  assert.equal(nodesAtStop, 200);
  assert.equal(warnings.length, 1);
  assert.match(warnings[0], /does not make any progress/);
  assert.notEqual(move, 0);
});

test('a ponder search waits for stop, and speaks of the expected move alone', () => {
  const expected = create({}).run({ nodes: 50 }).infos.at(-1)?.lines[0].pv[0] ?? 0;
  const harness = create({});
  let steps = 0;
  const { infos } = harness.run({ ponder: true, reportedMove: expected }, (search) => {
    if (++steps === 2000) search.stop();
  });
  assert.ok(steps >= 2000);
  const lines = infos.flatMap((info) => info.lines);
  assert.ok(lines.length > 0);
  assert.ok(lines.every(({ pv }) => pv[0] === expected));
});

test('smart pruning stops when nothing can overtake the best move, but only by a clock', () => {
  const limits = { budgetMs: 100_000 };
  const game = { minMoves: 2, maxMoves: 3, seed: 3 };
  const pruned = create({ tickMs: 1, params: { smartPruningFactor: 1.33 } }, game).run({ ...limits, nodes: 3000 });
  assert.ok((pruned.infos.at(-1)?.nodes ?? 0) < 3000);
  const counted = create({ params: { smartPruningFactor: 1.33 } }, game).run({ nodes: 3000 });
  assert.equal(counted.infos.at(-1)?.nodes, 3000);
  const full = create({ tickMs: 1, params: { smartPruningFactor: 0 } }, game).run({ ...limits, nodes: 3000 });
  assert.equal(full.infos.at(-1)?.nodes, 3000);
});

test('in analysis the time of go movetime is used, whether moves are forced, proven or out of reach, and a clock is as in a game', () => {
  const clock = {
    clock: { timeMs: 1e6, incrementMs: 0 },
    gamePly: 0,
    moveOverheadMs: 0,
    timeManager: 'legacy',
    slowmover: 1,
  };
  for (const game of [
    { minMoves: 2, maxMoves: 3, seed: 3 },
    { minMoves: 1, maxMoves: 1 },
    { minMoves: 3, mates: 0.5 },
  ]) {
    const run = (analyseMode: boolean, limits: object): number =>
      create({ tickMs: 1, params: { analyseMode } }, game).run(limits).infos.at(-1)?.timeMs ?? 0;
    assert.ok(run(false, { budgetMs: 900 }) < 900);
    assert.ok(run(true, { budgetMs: 900 }) >= 900);
    assert.equal(run(true, { clock }), run(false, { clock }));
  }
});

test('the KLD stopper ends a search whose visits have settled', () => {
  const params = { minimumKldGainPerNode: 0.0001, smartPruningFactor: 0 };
  const { infos } = create({ params }).run({ nodes: 50_000 });
  const nodes = infos.at(-1)?.nodes ?? 0;
  assert.ok(nodes > 100 && nodes < 20_000, `${nodes} nodes`);
});

test('the nodes-per-second limit holds', () => {
  const harness = create({ tickMs: 1, params: { nodesPerSecondLimit: 100, smartPruningFactor: 0 } });
  const { infos } = harness.run({ budgetMs: 5000 });
  const nodes = infos.at(-1)?.nodes ?? 0;
  assert.ok(nodes > 400 && nodes < 520, `${nodes} nodes in 5 s`);
});

test('a nodes-per-second limit that never holds a search back lets it stop early as if there were none', () => {
  for (const nodesPerSecondLimit of [0, 10_000_000]) {
    const harness = create({ tickMs: 1, params: { nodesPerSecondLimit } }, { minMoves: 2, maxMoves: 3, seed: 3 });
    const timeMs = harness.run({ budgetMs: 10_000 }).infos.at(-1)?.timeMs ?? 0;
    assert.ok(timeMs < 9000, `${timeMs} ms`);
  }
});

test('go nodes 1 answers with the move of the highest prior, an info line and a score', () => {
  const harness = create();
  const { move, ponder, infos } = harness.run({ nodes: 1 });
  const answer = new HashGame({ minMoves: 5 }).evaluate([], 0);
  assert.equal(move, answer.moves[0]);
  assert.equal(ponder, 0);
  const line = infos.at(-1)?.lines[0];
  assert.deepEqual(line?.pv, [move]);
  assert.ok(Math.abs((line?.searched?.wl ?? 9) - answer.wl) < 1e-6);
});
