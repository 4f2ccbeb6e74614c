import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SearchLimits, SearchParams } from '#sardonyx/search/index.js';
import { FakeLeafChannel } from '../../support/fake-leaf-channel.js';
import { HashGame } from '../../support/hash-game.js';
import { SearchHarness } from '../../support/search-harness.js';
import { verifyTree } from '../../support/verify-tree.js';

test('played moves keep their subtree and free the rest', () => {
  const harness = new SearchHarness(new FakeLeafChannel(new HashGame({})), { minibatch: 8, batchesInFlight: 2 });
  const { move, ponder } = harness.run({ nodes: 5000 });
  const child = harness.readTree().children.find((node) => node.move === move);
  const reply = child?.children.find((node) => node.move === ponder);
  assert.ok(reply !== undefined && reply.visits > 10);
  assert.equal(harness.play(move, ponder), true);
  assert.equal(harness.search.tree.rootVisits, reply.visits);
  assert.deepEqual(harness.readTree().children, reply.children);
  const { infos } = harness.run({ playouts: 100 });
  assert.equal(infos.at(-1)?.nodes, reply.visits + 100);
  harness.search.tree.collectGarbage(1e9);
  const { nodes, faults } = verifyTree(harness.search.tree);
  assert.deepEqual(faults, []);
  assert.equal(harness.search.tree.store.nodeCount, nodes);
});

test('freed memory is used again: a long game does not grow', () => {
  const harness = new SearchHarness(new FakeLeafChannel(new HashGame({})), { minibatch: 8, batchesInFlight: 2 });
  let usedAfterTen = 0;
  for (let ply = 0; ply < 30; ply++) {
    const { move } = harness.run({ nodes: 1500 });
    harness.play(move);
    if (ply === 10) usedAfterTen = harness.search.tree.store.usedBytes;
  }
  assert.ok(harness.search.tree.store.usedBytes < 1.3 * usedAfterTen);
  assert.deepEqual(verifyTree(harness.search.tree).faults, []);
});

test('a step back, another game or another first position starts an empty tree', () => {
  const harness = new SearchHarness(new FakeLeafChannel(new HashGame({})));
  const { move } = harness.run({ nodes: 200 });
  harness.play(move);
  assert.ok(harness.search.tree.rootVisits > 0);
  assert.equal(harness.setPosition({ moves: [] }), false);
  assert.equal(harness.search.tree.rootVisits, 0);
  harness.run({ nodes: 200 });
  assert.equal(harness.setPosition({ rootFen: 'other', moves: [] }), false);
  assert.equal(harness.search.tree.rootVisits, 0);
  harness.run({ nodes: 200 });
  assert.equal(harness.setPosition({ rootFen: 'other', moves: [] }), true);
  assert.equal(harness.search.tree.rootVisits, 200);
  harness.search.clearTree();
  assert.equal(harness.search.tree.rootVisits, 0);
});

test('a search among other root moves, and one with other values, gives what it would give from the start', () => {
  const create = (params: Partial<SearchParams> = {}) =>
    new SearchHarness(new FakeLeafChannel(new HashGame({ minMoves: 6 })), { params });
  const first = create();
  const { infos } = first.run({ nodes: 300 });
  const [a, b, c] = first.readTree().children.map(({ move }) => move);
  const fresh = (limits: Partial<SearchLimits>) => create().run(limits).infos.at(-1);
  for (const analyseMode of [false, true]) {
    first.configure({ analyseMode });
    first.setPosition();
    for (const searchMoves of [[a], [b], [b, c], [c], [], [c], [c, b]]) {
      for (const nodes of analyseMode ? [200] : [1, 200]) {
        const { infos: again } = first.run({ nodes, searchMoves });
        const line = again.at(-1)?.lines[0];
        assert.ok(searchMoves.length === 0 || (line !== undefined && line.visits > 0));
        if (!analyseMode || nodes === 200) {
          const { nodes: count, lines } = fresh({ nodes: 200, searchMoves }) ?? { nodes: 0, lines: [] };
          if (nodes === 200) assert.deepEqual([again.at(-1)?.nodes, again.at(-1)?.lines], [count, lines]);
        }
      }
    }
  }
  assert.equal(infos.at(-1)?.nodes, 300);

  const contempt = { contempt: '100', wdlCalibrationElo: 2000, contemptMode: 'play' } as const;
  const play = (harness: SearchHarness, changes: Partial<SearchParams>) => {
    harness.configure({ ...contempt, ...changes });
    return harness.run({ nodes: 200 }).infos.at(-1)?.lines;
  };
  const game = create(contempt);
  game.run({ nodes: 300 });
  game.play(a);
  // The engine plays the other side now, with contempt for this one; then its opponent is another one.
  for (const changes of [{}, { contempt: '-50' }, { contemptMode: 'disable' as const }, { twoFoldDraws: false }]) {
    const other = create();
    other.play(a);
    assert.deepEqual(play(game, changes), play(other, changes), JSON.stringify(changes));
  }
});

test('a move that was never looked at starts an empty tree', () => {
  const harness = new SearchHarness(new FakeLeafChannel(new HashGame({ minMoves: 30 })));
  harness.run({ nodes: 3 });
  harness.play(4711);
  assert.equal(harness.search.tree.rootVisits, 0);
  assert.notEqual(harness.run({ nodes: 50 }).move, 0);
  assert.deepEqual(verifyTree(harness.search.tree).faults, []);
});

test('the same input twice gives the same tree, also after a new game', () => {
  const harness = new SearchHarness(new FakeLeafChannel(new HashGame({})), { minibatch: 8, batchesInFlight: 3 });
  harness.run({ nodes: 2000 });
  const first = harness.readTree();
  harness.search.clearTree();
  harness.run({ nodes: 2000 });
  assert.deepEqual(harness.readTree(), first);
});

test('a position that was a draw by repetition in the tree is searched when it is the root', () => {
  const game = new HashGame({ minMoves: 2, maxMoves: 4, repetitions: 0.5, seed: 9 });
  const harness = new SearchHarness(new FakeLeafChannel(game));
  for (let ply = 0; ply < 20; ply++) {
    const { move } = harness.run({ nodes: Math.max(300, harness.search.tree.rootVisits + 100) });
    harness.play(move);
    assert.deepEqual(verifyTree(harness.search.tree).faults, []);
  }
});

for (const search of ['tree', 'graph'] as const) {
  test(`in analysis a ${search} is kept when one steps back and forth`, () => {
    const channel = new FakeLeafChannel(new HashGame({ transposes: true, minMoves: 4, maxMoves: 8 }));
    const shape = { minibatch: 8, batchesInFlight: 2 };
    const harness = new SearchHarness(channel, { ...shape, params: { search, analyseMode: true } });
    const { tree } = harness.search;
    const check = (): void => {
      tree.collectGarbage(1e9);
      assert.deepEqual(verifyTree(tree).faults, []);
    };
    const { move } = harness.run({ nodes: 3000 });
    harness.play(move);
    const expected = tree.rootVisits;
    assert.ok(expected > 100);
    const { move: reply } = harness.run({ nodes: 4000 });
    check();
    harness.setPosition({ moves: [] });
    check();
    assert.equal(tree.rootVisits, 3000);
    harness.run({ playouts: 10 });
    harness.setPosition({ moves: [move] });
    assert.equal(tree.rootVisits, 4000);
    harness.setPosition({ moves: [move, reply] });
    assert.ok(tree.rootVisits > 0);
    harness.run({ playouts: 500 });
    check();
    harness.setPosition({ moves: [99] });
    assert.equal(tree.rootVisits, 0);
    harness.run({ playouts: 500 });
    harness.setPosition({ moves: [move] });
    assert.equal(tree.rootVisits, 4000);
    check();
    harness.configure({ search, analyseMode: false });
    harness.setPosition({ moves: [move] });
    assert.equal(tree.rootVisits, 4000);
    harness.setPosition({ moves: [] });
    assert.equal(tree.rootVisits, 0);
    check();
    assert.equal(verifyTree(tree).nodes, 0);
  });

  test(`trees that were left make room for the ${search} that is searched`, () => {
    const channel = new FakeLeafChannel(new HashGame({ minMoves: 10 }));
    const params = { search, analyseMode: true };
    const harness = new SearchHarness(channel, { minibatch: 8, batchesInFlight: 2, maxBytes: 4 << 20, params });
    for (let ply = 0; ply < 40; ply++) {
      const { move, infos } = harness.run({ playouts: 1500 });
      assert.ok((infos.at(-1)?.nodes ?? 0) >= 1500);
      if (ply % 3 === 2) harness.setPosition({ moves: harness.played.slice(0, -2) });
      else harness.play(move);
    }
    const { tree } = harness.search;
    tree.collectGarbage(1e9);
    assert.deepEqual(verifyTree(tree).faults, []);
  });
}
