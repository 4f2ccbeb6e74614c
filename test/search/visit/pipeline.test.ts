import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPrng } from '#sardonyx/base/util/index.js';
import { MAX_PATH_LENGTH } from '#sardonyx/networks/leaves/index.js';
import { defaultSearchParams, type SearchParams, TreeSearch } from '#sardonyx/search/index.js';
import { NO_NODE } from '#sardonyx/search/tree/layout.js';
import { countChildren, getChildRecord, getInFlight, getRecordNode } from '#sardonyx/search/tree/read-tree.js';
import { FakeLeafChannel } from '../../support/fake-leaf-channel.js';
import { HashGame } from '../../support/hash-game.js';
import { type PlainNode, SearchHarness } from '../../support/search-harness.js';
import { verifyTree } from '../../support/verify-tree.js';

const RICH = { minMoves: 2, maxMoves: 20, mates: 0.03, draws: 0.03, tablebase: 0.02, repetitions: 0.05 };
const SILENT = {
  onInfo: () => undefined,
  onStats: () => undefined,
  onWarning: () => undefined,
  onBestMove: () => undefined,
};

/** One of several over the same channel. */
function createSearch(channel: FakeLeafChannel, rootRow: number): TreeSearch {
  const store = { maxBytes: 64 << 20, initialNodes: 1000 };
  const options = { channel, rootRow, store, random: createPrng(1), clock: () => 0 };
  const search = new TreeSearch(options, defaultSearchParams, { minibatch: 4, batchesInFlight: 1 });
  search.setPosition({
    rootFen: 'start',
    chess960: false,
    moves: [rootRow],
    blackToMove: false,
    gamePly: 0,
    pliesSinceRepetition: Number.POSITIVE_INFINITY,
  });
  return search;
}

const SHAPES = [
  { minibatch: 1, batchesInFlight: 1 },
  { minibatch: 1, batchesInFlight: 1, prefetch: 32 },
  { minibatch: 1, batchesInFlight: 3 },
  { minibatch: 8, batchesInFlight: 1 },
  { minibatch: 8, batchesInFlight: 3 },
  { minibatch: 8, batchesInFlight: 2, mostBatchesInFlight: 6 },
  { minibatch: 64, batchesInFlight: 2 },
];

for (const shape of SHAPES) {
  const name = Object.entries(shape).join(', ');

  test(`the order in which evaluators finish changes nothing: ${name}`, () => {
    for (let seed = 1; seed <= 3; seed++) {
      const game = new HashGame({ ...RICH, seed });
      const prompt = new SearchHarness(new FakeLeafChannel(game), { ...shape, params: { smartPruningFactor: 0 } });
      prompt.run({ nodes: 3000 });
      const expected = prompt.readTree();
      for (const probability of [0.02, 0.5]) {
        const random = createPrng(seed);
        const channel = new FakeLeafChannel(game, { delays: { random, probability } });
        const slow = new SearchHarness(channel, { ...shape, params: { smartPruningFactor: 0 } });
        slow.run({ nodes: 3000 });
        assert.deepEqual(slow.readTree(), expected);
      }
    }
  });

  test(`what a search without a clock reports does not depend on timing: ${name}`, () => {
    const game = new HashGame({ ...RICH, seed: 2 });
    const report = (probability: number | null) => {
      const delays = probability === null ? {} : { delays: { random: createPrng(3), probability } };
      const harness = new SearchHarness(new FakeLeafChannel(game, delays), shape);
      return harness.run({ nodes: 3000 }).infos;
    };
    const expected = report(null);
    assert.ok(expected.length > 3);
    assert.deepEqual(report(0.02), expected);
    assert.deepEqual(report(0.5), expected);
  });

  test(`a node limit is met exactly, no virtual loss and no slot is left behind: ${name}`, () => {
    for (const nodes of [1, 2, 5, 17, 100, 2500]) {
      const channel = new FakeLeafChannel(new HashGame(RICH));
      const harness = new SearchHarness(channel, { ...shape, params: { smartPruningFactor: 0 } });
      const { infos, move } = harness.run({ nodes });
      assert.equal(harness.search.tree.rootVisits, nodes);
      assert.equal(infos.at(-1)?.nodes, nodes);
      assert.notEqual(move, 0);
      assert.deepEqual(verifyTree(harness.search.tree).faults, []);
      assert.equal(channel.busy, 0);
      assert.equal(channel.findRoom(), 256);
    }
  });

  test(`a stop at any moment leaves a sound tree and the search can go on: ${name}`, () => {
    const random = createPrng(5);
    const channel = new FakeLeafChannel(new HashGame(RICH), { delays: { random, probability: 0.3 } });
    const harness = new SearchHarness(channel, shape);
    for (let round = 0; round < 40; round++) {
      const last = random.nextBelow(30);
      const { move } = harness.run({ infinite: true }, (search, steps) => {
        if (steps >= last) search.stop();
      });
      assert.notEqual(move, 0);
      assert.deepEqual(verifyTree(harness.search.tree).faults, []);
      if (round % 10 === 9) harness.play(move);
    }
  });
}

test('a search that gets new parameters searches like one that was made with them', () => {
  const game = new HashGame({ ...RICH, seed: 8 });
  const changes = {
    cpuct: 3,
    cpuctBase: 100,
    fpuValue: 0.1,
    drawScore: 0.2,
    movesLeftMaxEffect: 0.2,
    wideningFactor: 2,
    twoFoldDraws: false,
    stickyEndgames: false,
    outOfOrderEval: false,
    smartPruningFactor: 0,
  };
  for (const search of ['tree', 'graph'] as const) {
    const made = new SearchHarness(new FakeLeafChannel(game), { minibatch: 8, params: { ...changes, search } });
    const changed = new SearchHarness(new FakeLeafChannel(game), { minibatch: 8, params: { search } });
    made.run({ nodes: 1000 });
    changed.run({ nodes: 300 });
    const before = changed.readTree();
    changed.configure({ ...changes, search });
    assert.deepEqual(changed.readTree(), before);
    changed.search.clearTree();
    changed.run({ nodes: 1000 });
    assert.deepEqual(changed.readTree(), made.readTree());
  }
});

test('a search that gets another number of batches searches like one that was made with it', () => {
  const game = new HashGame({ ...RICH, seed: 9 });
  const params = { smartPruningFactor: 0 };
  const changed = new SearchHarness(new FakeLeafChannel(game), { params });
  for (const batching of [...SHAPES].reverse()) {
    const made = new SearchHarness(new FakeLeafChannel(game), { ...batching, params });
    made.run({ nodes: 800 });
    changed.configure({}, batching);
    changed.search.clearTree();
    changed.run({ nodes: 800 });
    assert.deepEqual(changed.readTree(), made.readTree());
  }
});

test('a limit of the rate changes when leaves are gathered, and not which', () => {
  const game = new HashGame({ ...RICH, seed: 6 });
  const search = (nodesPerSecondLimit: number, tickMs: number, probability: number) => {
    const delays = { random: createPrng(9), probability };
    const harness = new SearchHarness(new FakeLeafChannel(game, { delays }), {
      minibatch: 8,
      batchesInFlight: 3,
      tickMs,
      params: { nodesPerSecondLimit, smartPruningFactor: 0 },
    });
    harness.run({ nodes: 1500 });
    return harness.readTree();
  };
  const expected = search(0, 0, 1);
  assert.deepEqual(search(1000, 1, 0.5), expected);
  assert.deepEqual(search(5000, 0.1, 0.1), expected);
});

test('settled games without out-of-order evaluation give the same laws', () => {
  const game = new HashGame({ ...RICH, mates: 0.1 });
  const params = { outOfOrderEval: false, smartPruningFactor: 0 };
  const harness = new SearchHarness(new FakeLeafChannel(game), { minibatch: 16, batchesInFlight: 2, params });
  harness.run({ nodes: 4000 });
  assert.equal(harness.search.tree.rootVisits, 4000);
  assert.deepEqual(verifyTree(harness.search.tree).faults, []);
});

test('a large batch on a small tree collides instead of searching nonsense', () => {
  const harness = new SearchHarness(new FakeLeafChannel(new HashGame({ maxMoves: 3 })), {
    minibatch: 128,
    batchesInFlight: 1,
    params: { smartPruningFactor: 0 },
  });
  harness.run({ nodes: 500 });
  const { collisions, batches } = harness.search.counters;
  assert.ok(collisions > 0);
  assert.ok(batches > 20, `${batches} batches`);
});

test('a batch is sent, full or not, when its collisions have used up their visits or their events', () => {
  const gather = (params: Partial<SearchParams>): { collisions: number; batches: number } => {
    const channel = new FakeLeafChannel(new HashGame({ minMoves: 20 }), { slotCount: 192 });
    const options = { minibatch: 64, batchesInFlight: 3, params: { smartPruningFactor: 0, ...params } };
    const harness = new SearchHarness(channel, options);
    harness.run({ nodes: 2000 });
    return harness.search.counters;
  };
  const always = { maxCollisionVisitsScalingEnd: 0 };
  for (const visits of [1, 4]) {
    const { collisions, batches } = gather({ ...always, maxCollisionVisits: visits });
    assert.ok(collisions > 0 && collisions <= visits * batches, `${collisions} collisions in ${batches} batches`);
  }
  const first = gather({ ...always, maxCollisionEvents: 1 });
  const many = gather({ ...always, maxCollisionEvents: 50 });
  assert.ok(many.batches < first.batches, `${many.batches} and ${first.batches} batches`);
});

test('visits that collide stay in flight on the path to the leaf’s parent until a batch is backed up', () => {
  const delays = { random: createPrng(1), probability: 0.1 };
  const channel = new FakeLeafChannel(new HashGame({ minMoves: 1, maxMoves: 1 }), { delays });
  const params = { smartPruningFactor: 0, maxCollisionVisits: 3, maxCollisionVisitsScalingEnd: 0 };
  const harness = new SearchHarness(channel, { minibatch: 4, batchesInFlight: 2, params });
  const seen: number[][] = [];
  harness.run({ nodes: 6 }, ({ tree }) => {
    if (tree.rootVisits === 0 || channel.busy === 0 || seen.length === tree.rootVisits) return;
    const line = [getInFlight(tree, tree.rootRecord)];
    for (let node = tree.rootNode; node !== NO_NODE && countChildren(tree, node) > 0; ) {
      const child = getChildRecord(tree, node, 0);
      line.push(getInFlight(tree, child));
      node = getRecordNode(tree, child);
    }
    seen.push(line);
  });
  // One leaf and three visits that collide with it, or as many as are left to be made.
  assert.deepEqual(seen.slice(0, 3), [
    [4, 1],
    [4, 4, 1],
    [4, 4, 4, 1],
  ]);
});

test('few walks collide, because one holds as many visits as turn the next away, and batches of 8 are nearly full', () => {
  for (let seed = 1; seed <= 3; seed++) {
    const harness = new SearchHarness(new FakeLeafChannel(new HashGame({ minMoves: 20, seed })), {
      minibatch: 8,
      batchesInFlight: 3,
    });
    harness.run({ nodes: 2000 });
    const { playouts, batches, collisions } = harness.search.counters;
    assert.ok(playouts >= 7 * batches, `${playouts} playouts in ${batches} batches`);
    assert.ok(collisions <= 0.3 * playouts, `${collisions} collisions in ${playouts} playouts`);
  }
});

test('more batches are in flight as the tree grows: at most one leaf for 64 visits of the root', () => {
  const channel = new FakeLeafChannel(new HashGame({ minMoves: 20 }), {
    delays: { random: createPrng(1), probability: 0.02 },
  });
  const harness = new SearchHarness(channel, { minibatch: 8, batchesInFlight: 2, mostBatchesInFlight: 5 });
  const seen = new Set<number>();
  harness.run({ nodes: 8000 }, (search) => {
    const { rootVisits } = search.tree;
    const batches = Math.ceil(channel.busy / 8);
    seen.add(batches);
    assert.ok(batches <= Math.min(5, Math.max(2, Math.floor(rootVisits / 64 / 8))), `${batches} at ${rootVisits}`);
  });
  assert.ok(
    [2, 3, 4, 5].every((count) => seen.has(count)),
    [...seen].join(),
  );
});

test('progressive widening lets moves in as visits grow, the likeliest first', () => {
  const game = new HashGame({ minMoves: 30, maxMoves: 30, seed: 2 });
  const params = { wideningFactor: 1, wideningExponent: 0.5, smartPruningFactor: 0, cpuct: 20 };
  const check = (node: PlainNode): void => {
    // The last move was let in when the node had fewer visits than now.
    assert.ok(
      node.children.length <= Math.max(1, Math.floor(Math.sqrt(node.visits))),
      `${node.children.length} of ${node.visits}`,
    );
    for (const child of node.children) check(child);
  };
  for (const shape of SHAPES.slice(0, 4)) {
    const narrow = new SearchHarness(new FakeLeafChannel(game), { ...shape, params });
    const wide = new SearchHarness(new FakeLeafChannel(game), { ...shape, params: { ...params, wideningFactor: 0 } });
    narrow.run({ nodes: 400 });
    wide.run({ nodes: 400 });
    assert.equal(narrow.readTree().children.length, 19);
    assert.ok(wide.readTree().children.length > 25);
    check(narrow.readTree());
    assert.deepEqual(verifyTree(narrow.search.tree).faults, []);
  }
});

test('batches change the visits little: the best move keeps its share', () => {
  const game = new HashGame({ minMoves: 20, seed: 4 });
  const share = (minibatch: number, batchesInFlight: number): number => {
    const harness = new SearchHarness(new FakeLeafChannel(game), { minibatch, batchesInFlight });
    harness.run({ nodes: 5000 });
    const root = harness.readTree();
    return Math.max(...root.children.map(({ visits }) => visits)) / root.visits;
  };
  assert.ok(Math.abs(share(1, 1) - share(16, 3)) < 0.08);
});

test('a stopped search answers from its tree, however long evaluators keep leaves of the search before', () => {
  const random = { probability: 1, nextFloat: () => 0.5, nextBelow: () => 0 };
  const delays = { random: random as never, probability: 1 };
  const channel = new FakeLeafChannel(new HashGame(), { delays });
  const harness = new SearchHarness(channel, { minibatch: 4, batchesInFlight: 3 });
  harness.run({ infinite: true }, (search, steps) => {
    if (steps < 50) return;
    delays.probability = 0;
    search.stop();
  });
  assert.ok(channel.busy > 0, 'leaves are under way');
  harness.setPosition();
  const { move } = harness.run({ infinite: true }, (search) => search.stop());
  assert.notEqual(move, 0);
  assert.ok(channel.busy > 0);
  delays.probability = 1;
  assert.equal(harness.run({ nodes: 500 }).infos.at(-1)?.nodes, 500);
  assert.equal(channel.busy, 0);
});

test('when no evaluator can answer the search ends with a warning', () => {
  const game = new HashGame({});
  for (const failsAfter of [0, 50]) {
    const harness = new SearchHarness(new FakeLeafChannel(game, { failsAfter }), { minibatch: 4, batchesInFlight: 2 });
    const { move, warnings } = harness.run({ infinite: true });
    assert.equal(move !== 0, failsAfter > 0);
    assert.equal(warnings.length, 1);
    assert.deepEqual(verifyTree(harness.search.tree).faults, []);
  }
});

for (const search of ['tree', 'graph'] as const) {
  test(`leaves that failed are gathered again while other evaluators live: ${search}`, () => {
    for (const shape of SHAPES) {
      for (const failsAfter of [0, 100]) {
        const options = { failsAfter, failsUntil: failsAfter + 30, liveEvaluators: 1 };
        const channel = new FakeLeafChannel(new HashGame(RICH), options);
        const harness = new SearchHarness(channel, { ...shape, params: { smartPruningFactor: 0, search } });
        const { move, warnings } = harness.run({ nodes: 1000 });
        assert.notEqual(move, 0);
        assert.deepEqual(warnings, []);
        assert.equal(harness.search.tree.rootVisits, 1000);
        assert.deepEqual(verifyTree(harness.search.tree).faults, []);
        assert.equal(channel.busy, 0);
      }
    }
  });
}

test('a search that finds every slot taken waits for the others, and gets its playouts', () => {
  const channel = new FakeLeafChannel(new HashGame(), {
    slotCount: 8,
    delays: { random: createPrng(5), probability: 0.05 },
  });
  const searches = [0, 1, 2, 3].map((row) => createSearch(channel, row));
  for (const search of searches) search.start({ startedAtMs: 0, playouts: 500 }, SILENT);
  let crowdedOut = 0;
  while (searches.some((search) => search.isRunning)) {
    for (const search of searches) if (search.step() === 'crowded out') crowdedOut++;
  }
  assert.deepEqual(
    searches.map((search) => search.counters.playouts),
    [500, 500, 500, 500],
  );
  assert.ok(crowdedOut > 0);
});

test('a path as long as evaluators accept ends there, also where its next move is new', () => {
  const harness = new SearchHarness(new FakeLeafChannel(new HashGame({ minMoves: 1, maxMoves: 1 })), {
    params: { smartPruningFactor: 0 },
  });
  const { infos, warnings } = harness.run({ playouts: 1100 });
  assert.ok((infos.at(-1)?.seldepth ?? 0) <= MAX_PATH_LENGTH);
  assert.match(warnings.join(), /^The best line is as long as a path can be[^.]*$/);
  const endless = harness.run({ infinite: true }, (search, steps) => {
    if (steps > 10) search.stop();
  });
  assert.deepEqual(
    endless.warnings.map((text) => text.slice(0, 8)),
    ['The best', 'WARNING:'],
  );
});
