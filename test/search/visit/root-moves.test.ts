import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPrng, drawGamma } from '#sardonyx/base/util/index.js';
import { getEdgeCount, getMove, getPrior } from '#sardonyx/search/tree/read-tree.js';
import { FakeLeafChannel } from '../../support/fake-leaf-channel.js';
import { HashGame } from '../../support/hash-game.js';
import { SearchHarness } from '../../support/search-harness.js';
import { verifyTree } from '../../support/verify-tree.js';

const GAME = { minMoves: 20, maxMoves: 30 };

test('searchmoves searches only these, also in a tree that knows others', () => {
  const harness = new SearchHarness(new FakeLeafChannel(new HashGame(GAME)), { minibatch: 4, batchesInFlight: 2 });
  harness.run({ nodes: 500 });
  const before = harness.readTree();
  const unvisited = 20;
  const wanted = [before.children[3].move, unvisited];
  const { move, infos } = harness.run({ playouts: 300, searchMoves: [...wanted, 9999] });
  const after = harness.readTree();
  assert.ok(wanted.includes(move));
  for (const child of after.children) {
    const visits = before.children.find((other) => other.move === child.move)?.visits ?? 0;
    if (!wanted.includes(child.move)) assert.equal(child.visits, visits);
  }
  assert.ok(infos.at(-1)?.lines.every((line) => wanted.includes(line.pv[0])));
  assert.deepEqual(verifyTree(harness.search.tree).faults, []);
  harness.run({ playouts: 2000 });
  assert.deepEqual(verifyTree(harness.search.tree).faults, []);
});

test('one move of searchmoves gets all visits and no early end', () => {
  const harness = new SearchHarness(new FakeLeafChannel(new HashGame(GAME)));
  const { move, infos } = harness.run({ nodes: 400, searchMoves: [7] });
  assert.equal(move, 7);
  assert.equal(infos.at(-1)?.nodes, 400);
  assert.deepEqual(
    harness.readTree().children.map((child) => [child.move, child.visits]),
    [[7, 399]],
  );
});

test('searchmoves of which the position has none are ignored', () => {
  const free = new SearchHarness(new FakeLeafChannel(new HashGame(GAME)));
  const bound = new SearchHarness(new FakeLeafChannel(new HashGame(GAME)));
  free.run({ nodes: 300 });
  bound.run({ nodes: 300, searchMoves: [50000] });
  assert.deepEqual(bound.readTree(), free.readTree());
});

test('root noise spreads the visits and is gone after the search', () => {
  const noisy = { dirichletNoiseEpsilon: 0.5, dirichletNoiseAlpha: 0.3 };
  const harness = new SearchHarness(new FakeLeafChannel(new HashGame(GAME)), { params: noisy, seed: 7 });
  const plain = new SearchHarness(new FakeLeafChannel(new HashGame(GAME)));
  plain.run({ nodes: 200 });
  harness.run({ nodes: 200 });
  assert.notDeepEqual(harness.readTree(), plain.readTree());
  const rows = (which: SearchHarness) =>
    which
      .run({ playouts: 1, searchMoves: [], reportedStats: 'atEnd' })
      .rows.map(({ move, prior }) => [move, prior])
      .sort((a, b) => a[0] - b[0]);
  harness.configure({ dirichletNoiseEpsilon: 0 });
  assert.deepEqual(rows(harness), rows(plain));
  assert.deepEqual(verifyTree(harness.search.tree).faults, []);
});

test('noise that leaves moves no prior is gone after the search as well', () => {
  for (const noise of [{ dirichletNoiseEpsilon: 1, dirichletNoiseAlpha: 0.03 }, { gumbelNoiseScale: 10 }]) {
    const plain = new SearchHarness(new FakeLeafChannel(new HashGame(GAME)));
    const noisy = new SearchHarness(new FakeLeafChannel(new HashGame(GAME)), { params: noise, seed: 7 });
    plain.run({ playouts: 1 });
    noisy.run({ playouts: 50 });
    assert.deepEqual(readPriors(noisy), readPriors(plain));
  }
});

/** Priors of the root's moves, in the order of the moves. */
function readPriors({ search: { tree } }: SearchHarness): number[][] {
  const edges = Array.from({ length: getEdgeCount(tree, tree.rootNode) }, (_, edge) => edge);
  const priors = edges.map((edge) => [getMove(tree, tree.rootNode, edge), getPrior(tree, tree.rootNode, edge)]);
  return priors.sort((a, b) => a[0] - b[0]);
}

test('the same seed draws the same noise', () => {
  const search = (seed: number) => {
    const harness = new SearchHarness(new FakeLeafChannel(new HashGame(GAME)), {
      params: { dirichletNoiseEpsilon: 0.25 },
      seed,
    });
    harness.run({ nodes: 300 });
    return harness.readTree();
  };
  assert.deepEqual(search(3), search(3));
  assert.notDeepEqual(search(3), search(4));
});

test('gumbel noise of scale 1 puts each move first as often as its prior says', () => {
  const first = new Map<number, number>();
  const harness = new SearchHarness(new FakeLeafChannel(new HashGame({ minMoves: 4, maxMoves: 4 })), {
    params: { gumbelNoiseScale: 1 },
    seed: 5,
  });
  const games = 2000;
  for (let i = 0; i < games; i++) {
    harness.search.clearTree();
    harness.run({ nodes: 2 });
    const { move } = harness.readTree().children[0];
    first.set(move, (first.get(move) ?? 0) + 1);
  }
  harness.configure({ gumbelNoiseScale: 0 });
  for (const { move, prior } of harness.run({ playouts: 1, reportedStats: 'atEnd' }).rows) {
    const share = (first.get(move) ?? 0) / games;
    assert.ok(Math.abs(share - prior) < 0.05, `${share} of prior ${prior}`);
  }
});

test('gamma samples have mean and variance alpha', () => {
  const random = createPrng(11);
  for (const alpha of [0.3, 1, 4]) {
    const samples = Array.from({ length: 40000 }, () => drawGamma(alpha, random));
    const mean = samples.reduce((sum, x) => sum + x, 0) / samples.length;
    const variance = samples.reduce((sum, x) => sum + (x - mean) ** 2, 0) / samples.length;
    assert.ok(Math.abs(mean - alpha) < 0.05 * alpha + 0.01, `mean ${mean} of alpha ${alpha}`);
    assert.ok(Math.abs(variance - alpha) < 0.1 * alpha + 0.02, `variance ${variance} of alpha ${alpha}`);
  }
});

test('a search to a depth ends beside a mate, though its lines grow no deeper', () => {
  const game = new HashGame({ maxMoves: 4, mates: 0.5 });
  const harness = new SearchHarness(new FakeLeafChannel(game), { params: { smartPruningFactor: 0 } });
  const { infos } = harness.run({ depth: 200 });
  assert.equal(infos.at(-1)?.lines[0].mate !== null, true);
});

test('known mates are found, with their length and a line as long', () => {
  for (let seed = 1; seed <= 20; seed++) {
    const game = new HashGame({ maxMoves: 4, mates: 0.15, longestGame: 8, seed });
    const harness = new SearchHarness(new FakeLeafChannel(game), {
      minibatch: 8,
      batchesInFlight: 2,
      params: { smartPruningFactor: 0 },
    });
    const line = harness.run({ nodes: 3000 }).infos.at(-1)?.lines[0];
    assert.ok(line !== undefined);
    if (line.mate === null) continue;
    // A mate of n moves is 2n − 1 plies for the winner, 2n for the loser.
    assert.equal(line.pv.length, line.mate > 0 ? 2 * line.mate - 1 : -2 * line.mate, `seed ${seed}: mate ${line.mate}`);
  }
});
