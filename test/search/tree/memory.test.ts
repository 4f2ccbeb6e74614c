import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPrng } from '#sardonyx/base/util/index.js';
import { NO_NODE, NO_RECORD } from '#sardonyx/search/tree/layout.js';
import { NO_EDGES, TreeStore } from '#sardonyx/search/tree/store.js';
import { FakeLeafChannel } from '../../support/fake-leaf-channel.js';
import { HashGame } from '../../support/hash-game.js';
import { SearchHarness } from '../../support/search-harness.js';
import { verifyTree } from '../../support/verify-tree.js';

const FULL_BYTES = 4 << 20;

test('a full tree forgets its least visited lines and searches on', () => {
  for (const shape of [
    { minibatch: 1, batchesInFlight: 1 },
    { minibatch: 16, batchesInFlight: 3 },
  ]) {
    const channel = new FakeLeafChannel(new HashGame({ minMoves: 10 }));
    const harness = new SearchHarness(channel, { ...shape, maxBytes: FULL_BYTES });
    const { move, infos } = harness.run({ nodes: 40000 });
    const { tree } = harness.search;
    assert.notEqual(move, 0);
    assert.equal(infos.at(-1)?.nodes, 40000);
    assert.ok(tree.store.usedBytes <= FULL_BYTES + 4096, `${tree.store.usedBytes} bytes`);
    const { nodes, faults } = verifyTree(tree);
    assert.deepEqual(faults, []);
    assert.ok(nodes > 15000, `${nodes} nodes are left`);
    assert.equal(channel.evaluations, 40000);
  }
});

test('a node that is searched anew after it was forgotten passes over the moves that were proven lost', () => {
  for (let seed = 1; seed <= 2; seed++) {
    const channel = new FakeLeafChannel(new HashGame({ minMoves: 10, maxMoves: 30, mates: 0.01, seed }));
    const harness = new SearchHarness(channel, { maxBytes: 1 << 20, minibatch: 8, batchesInFlight: 3 });
    harness.run({ playouts: 15000 });
    assert.deepEqual(verifyTree(harness.search.tree).faults, []);
  }
});

test('forgetting keeps what was found: the value of the root is that of the unlimited search', () => {
  for (let seed = 1; seed <= 3; seed++) {
    const search = (maxBytes: number): number => {
      const channel = new FakeLeafChannel(new HashGame({ minMoves: 10, seed }));
      const harness = new SearchHarness(channel, { maxBytes, minibatch: 4, batchesInFlight: 2 });
      harness.run({ nodes: 40000 });
      return harness.readTree().wl;
    };
    assert.ok(Math.abs(search(64 << 20) - search(FULL_BYTES)) < 0.05);
  }
});

test('a small store grows by doubling and ends as a large one would', () => {
  const game = new HashGame({ minMoves: 5 });
  const search = (initialNodes: number) => {
    const harness = new SearchHarness(new FakeLeafChannel(game), { initialNodes, minibatch: 8, batchesInFlight: 2 });
    harness.run({ nodes: 20000 });
    return harness.readTree();
  };
  assert.deepEqual(search(64), search(50000));
});

test('where the system refuses larger tables the tree forgets in those that it has', (context) => {
  const channel = new FakeLeafChannel(new HashGame({ minMoves: 10 }));
  const harness = new SearchHarness(channel, { initialNodes: 4000, minibatch: 4, batchesInFlight: 2 });
  const original = globalThis.Int32Array;
  context.after(() => Object.assign(globalThis, { Int32Array: original }));
  const construct = (target: Int32ArrayConstructor, [size, ...rest]: unknown[]): Int32Array => {
    if (typeof size === 'number' && size > 100_000) throw new RangeError('Array buffer allocation failed');
    return Reflect.construct(target, [size, ...rest]);
  };
  Object.assign(globalThis, { Int32Array: new Proxy(original, { construct }) });
  const { infos } = harness.run({ nodes: 12000 });
  assert.equal(infos.at(-1)?.nodes, 12000);
  assert.ok(harness.search.tree.store.nodeCount <= 4000);
  assert.deepEqual(verifyTree(harness.search.tree).faults, []);
});

test('a node with its edges takes at most 220 bytes', () => {
  const game = new HashGame({ minMoves: 20, maxMoves: 46 });
  const harness = new SearchHarness(new FakeLeafChannel(game), { minibatch: 32, batchesInFlight: 2 });
  harness.run({ nodes: 15000 });
  const { store } = harness.search.tree;
  assert.ok(store.usedBytes / store.nodeCount <= 220, `${store.usedBytes / store.nodeCount}`);
});

test('the store never hands out the same memory twice', () => {
  const store = new TreeStore({ maxBytes: 1 << 20, initialNodes: 100 });
  const random = createPrng(3);
  const live: { kind: number; start: number; size: number }[] = [];
  const words = [new Uint8Array(40000), new Uint8Array(40000), new Uint8Array(250000)];
  for (let round = 0; round < 60000; round++) {
    if (random.nextFloat() < (round < 30000 ? 0.6 : 0.4)) {
      const kind = random.nextBelow(3);
      store.reserve(1, 256, 256);
      const sizeClass = random.nextBelow(6);
      const count = 1 + random.nextBelow(200);
      const size = kind === 0 ? 1 : kind === 1 ? 1 << sizeClass : count;
      const start =
        kind === 0 ? store.allocateNode() : kind === 1 ? store.allocateBlock(sizeClass) : store.allocateEdges(count);
      if (start === [NO_NODE, NO_RECORD, NO_EDGES][kind]) continue;
      for (let i = start; i < start + size; i++) {
        assert.equal(words[kind][i], 0);
        words[kind][i] = 1;
      }
      live.push({ kind, start, size });
    } else if (live.length > 0) {
      const index = random.nextBelow(live.length);
      const { kind, start, size } = live[index];
      live[index] = live[live.length - 1];
      live.pop();
      words[kind].fill(0, start, start + size);
      if (kind === 0) store.releaseNode(start as never);
      else if (kind === 1) store.releaseBlock(start as never, Math.log2(size));
      else store.releaseEdges(start, size);
    }
  }
  assert.equal(store.nodeCount, live.filter(({ kind }) => kind === 0).length);
});
