import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPrng, unwrap } from '#sardonyx/base/util/index.js';
import { type Move, parseFen, parseUciMove } from '#sardonyx/chess/rules/index.js';
import { LeafQueue } from '#sardonyx/networks/leaves/index.js';
import { EvaluatorPool } from '#sardonyx/networks/nn/index.js';
import { defaultSearchParams, SearchScheduler, TreeSearch } from '#sardonyx/search/index.js';
import {
  getChildCount,
  getLowerBound,
  getUpperBound,
  LOSS,
  NO_NODE,
  NODE_BLOCK,
  NODE_META,
  NODE_WORDS,
  type NodeIndex,
  RECORD_NODE,
  RECORD_WORDS,
  WIN,
} from '#sardonyx/search/tree/layout.js';
import type { TranspositionIndex } from '#sardonyx/search/tree/transposition-index.js';
import type { Tree } from '#sardonyx/search/tree/tree.js';
import { FakeLeafChannel } from '../support/fake-leaf-channel.js';
import { HashGame, type HashGameOptions } from '../support/hash-game.js';
import { type HarnessOptions, SearchHarness } from '../support/search-harness.js';
import { verifyTree } from '../support/verify-tree.js';

const GRAPH = { search: 'graph' } as const;

function createGraph(game: Partial<HashGameOptions>, options: HarnessOptions = {}): SearchHarness {
  const channel = new FakeLeafChannel(new HashGame({ transposes: true, maxMoves: 12, ...game }));
  return new SearchHarness(channel, { ...options, params: { ...GRAPH, ...options.params } });
}

const SHAPES = [
  { minibatch: 1, batchesInFlight: 1 },
  { minibatch: 16, batchesInFlight: 3 },
];

const GAMES: Record<string, Partial<HashGameOptions>> = {
  'plain positions': {},
  mates: { mates: 0.08 },
  'short games that are solved': { maxMoves: 3, mates: 0.15, draws: 0.1, longestGame: 8 },
  tablebases: { tablebase: 0.1, mates: 0.05 },
  'draws that only some paths find': { repetitions: 0.2, draws: 0.05 },
};

for (const [name, game] of Object.entries(GAMES)) {
  test(`a graph keeps its laws through a game: ${name}`, () => {
    for (const shape of SHAPES) {
      for (let seed = 1; seed <= 3; seed++) {
        const harness = createGraph({ ...game, seed }, shape);
        for (let ply = 0; ply < 8; ply++) {
          const { move } = harness.run({ playouts: 600 });
          assert.deepEqual(verifyTree(harness.search.tree).faults, []);
          if (move === 0) break;
          harness.play(move);
          assert.deepEqual(verifyTree(harness.search.tree).faults, []);
        }
        harness.search.tree.collectGarbage(1e9);
        assert.deepEqual(verifyTree(harness.search.tree).faults, []);
      }
    }
  });
}

test('each walk meets each node once, new ones and those of a walk that was cut off included', () => {
  const { tree } = createGraph({ maxMoves: 6 }).search;
  const graph = tree.graph as TranspositionIndex;
  const old = tree.createNode(0, 0, 0, 0, 0);
  graph.describe(old, 1, 2, 3);
  for (let walk = 0; walk < 600; walk++) {
    graph.beginWalk();
    const created = tree.createNode(0, 0, 0, 0, 0);
    graph.describe(created, 4, 5, 6);
    // Every third walk is cut off before it meets the old one.
    const met = walk % 3 === 0 ? [created] : [old, created];
    assert.deepEqual(
      met.map((node) => [graph.meetInWalk(node), graph.meetInWalk(node)]),
      met.map(() => [true, false]),
    );
    tree.store.releaseNode(created);
  }
});

test('lines that lead to the same position share its node', () => {
  const graph = createGraph({ maxMoves: 6 });
  const tree = createGraph({ maxMoves: 6 }, { params: { search: 'tree' } });
  const nodes = [graph, tree].map((harness) => {
    const { infos } = harness.run({ playouts: 4000 });
    assert.equal(infos.at(-1)?.nodes, 4000);
    return harness.search.tree.store.nodeCount;
  });
  assert.ok(nodes[0] < 0.85 * nodes[1], `${nodes}`);
  assert.ok(graph.channel.evaluations < 0.9 * tree.channel.evaluations);
});

test('without transpositions a graph visits what the tree visits', () => {
  for (const search of ['graph', 'tree'] as const) {
    const harness = createGraph({ transposes: false, mates: 0.05 }, { params: { search } });
    harness.run({ playouts: 3000 });
    const { wl, children } = harness.readTree();
    const visits = children.map((child) => [child.move, child.visits]);
    if (search === 'graph') expected = { wl, visits };
    else {
      assert.deepEqual(visits, expected.visits);
      assert.ok(Math.abs(wl - expected.wl) < 1e-4);
    }
  }
});
let expected = { wl: 0, visits: [] as number[][] };

test('the same graph whatever the order in which evaluators answer', () => {
  const search = (seed: number | null) => {
    const delays = seed === null ? {} : { delays: { random: createPrng(seed), probability: 0.3 } };
    const channel = new FakeLeafChannel(new HashGame({ transposes: true, mates: 0.03 }), delays);
    const harness = new SearchHarness(channel, { params: GRAPH, minibatch: 8, batchesInFlight: 3 });
    harness.run({ playouts: 3000 });
    return harness.readTree().children.map(({ move, visits, wl }) => [move, visits, wl]);
  };
  assert.deepEqual(search(1), search(null));
  assert.deepEqual(search(2), search(null));
});

test('what a graph searches after a move does not depend on how much of the old one has been freed', () => {
  const search = (isFreed: boolean) => {
    const harness = createGraph({ seed: 2, minMoves: 3, maxMoves: 5 });
    harness.play(harness.run({ playouts: 20_000 }).move);
    assert.ok(harness.search.tree.hasGarbage);
    if (isFreed) harness.search.tree.collectGarbage(1e9);
    harness.run({ playouts: 3000 });
    return harness.readTree().children.map(({ move, visits, wl }) => [move, visits, wl]);
  };
  assert.deepEqual(search(false), search(true));
});

test('large batches never end a search early: what is closed for one line opens for all that meet it', () => {
  for (let seed = 1; seed <= 3; seed++) {
    const harness = createGraph({ minMoves: 2, maxMoves: 6, seed }, { minibatch: 64, batchesInFlight: 3 });
    const { infos, warnings } = harness.run({ playouts: 6000 });
    assert.equal(infos.at(-1)?.nodes, 6000);
    assert.deepEqual(warnings, []);
  }
});

test('a full graph forgets its least visited lines and searches on', () => {
  for (const shape of SHAPES) {
    const harness = createGraph({ minMoves: 10, maxMoves: 40 }, { ...shape, maxBytes: 4 << 20 });
    const { infos } = harness.run({ playouts: 30000 });
    assert.equal(infos.at(-1)?.nodes, 30000);
    const { tree } = harness.search;
    assert.ok(tree.store.usedBytes <= (4 << 20) + 4096);
    tree.collectGarbage(1e9);
    const { nodes, faults } = verifyTree(tree);
    assert.deepEqual(faults, []);
    assert.ok(nodes > 8000, `${nodes}`);
  }
});

test('freed memory of a graph is used again: a long game does not grow', () => {
  const harness = createGraph({}, { minibatch: 8, batchesInFlight: 2 });
  let usedInTheMiddle = 0;
  for (let ply = 0; ply < 40; ply++) {
    harness.play(harness.run({ playouts: 1000 }).move);
    if (ply === 20) usedInTheMiddle = harness.search.tree.store.usedBytes;
  }
  // Peaks of what was kept differ by half; twenty searches that were never freed would be ten times as much.
  assert.ok(harness.search.tree.store.usedBytes < 2 * usedInTheMiddle);
});

test('a graph that is stopped in the middle has no visit in flight', () => {
  const harness = createGraph({}, { minibatch: 16, batchesInFlight: 3 });
  for (let round = 0; round < 20; round++) {
    harness.run({ infinite: true }, (search, steps) => {
      if (steps === 7 + round) search.stop();
    });
    assert.deepEqual(verifyTree(harness.search.tree).faults, []);
  }
});

test('a graph is not kept across a repetition, which its nodes do not know; a tree is', () => {
  for (const [kind, isKept] of [
    ['graph', false],
    ['tree', true],
  ] as const) {
    const harness = createGraph({}, { params: { search: kind } });
    const first = harness.run({ playouts: 2000 });
    harness.played.push(first.move, first.ponder);
    assert.equal(harness.setPosition({ pliesSinceRepetition: 1 }), isKept, kind);
    const second = harness.run({ playouts: 2000 });
    harness.played.push(second.move, second.ponder);
    assert.equal(harness.setPosition({ pliesSinceRepetition: 2 }), true, 'what an earlier root knew is kept');
    assert.ok(harness.search.tree.rootVisits > 0);
  }
});

test('changing the option changes the store', () => {
  const harness = createGraph({}, { params: { search: 'tree' } });
  harness.run({ playouts: 500 });
  assert.equal(harness.search.tree.graph, null);
  harness.configure(GRAPH);
  assert.equal(harness.search.tree.rootVisits, 0);
  harness.run({ playouts: 500 });
  assert.notEqual(harness.search.tree.graph, null);
  assert.deepEqual(verifyTree(harness.search.tree).faults, []);
});

interface Line {
  readonly fen: string;
  readonly moves: readonly string[];
}

async function searchPosition(pool: EvaluatorPool, { fen, moves }: Line, nodes: number): Promise<TreeSearch> {
  const scheduler = new SearchScheduler();
  const queue = new LeafQueue(pool.handle);
  const store = { maxBytes: 64 << 20, initialNodes: 1000 };
  const params = { ...defaultSearchParams, ...GRAPH, smartPruningFactor: 0 };
  const search = new TreeSearch(
    { channel: queue, rootRow: 0, store, random: createPrng(1), clock: scheduler.clock },
    params,
    { minibatch: 4, batchesInFlight: 2 },
  );
  const position = unwrap(parseFen(fen));
  const played: Move[] = [];
  for (const text of moves) {
    const move = unwrap(parseUciMove(position, text));
    played.push(move);
    position.makeMove(move);
  }
  search.setPosition({
    rootFen: fen,
    chess960: false,
    moves: played,
    blackToMove: position.sideToMove === 1,
    gamePly: position.gamePly,
    pliesSinceRepetition: position.pliesSinceAnyRepetition(),
  });
  await scheduler.run(queue, search, { playouts: nodes });
  return search;
}

function visitNodes(
  { store }: Tree,
  top: NodeIndex,
  look: (node: NodeIndex, block: number, end: number) => void,
): void {
  const seen = new Set<number>();
  const pending = [top];
  for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
    if (node === NO_NODE || seen.has(node)) continue;
    seen.add(node);
    const block = store.nodeWords[node * NODE_WORDS + NODE_BLOCK];
    const end = block + getChildCount(store.nodeWords[node * NODE_WORDS + NODE_META]);
    look(node, block, end);
    for (let i = block; i < end; i++) pending.push(store.recordWords[i * RECORD_WORDS + RECORD_NODE] as NodeIndex);
  }
}

function countRepetitions(tree: Tree): number {
  let count = 0;
  visitNodes(tree, tree.rootNode, (_, block, end) => {
    for (let record = block; record < end; record++) count += tree.graph?.repetitionVisits[record] ?? 0;
  });
  return count;
}

function countProven(tree: Tree): number {
  let count = 0;
  visitNodes(tree, tree.rootNode, (node) => {
    const meta = tree.store.nodeWords[node * NODE_WORDS + NODE_META];
    if (getLowerBound(meta) > LOSS || getUpperBound(meta) < WIN) count++;
  });
  return count;
}

function assertEndsAtRepetition(fen: string, pv: readonly Move[]): void {
  const position = unwrap(parseFen(fen));
  pv.forEach((move, i) => {
    assert.equal(position.repetitions(), 0, `the line goes on after ${i} of ${pv.length} moves`);
    position.makeMove(move);
  });
}

test('on the board: transpositions are shared, repetitions are draws of their own path', async () => {
  const pool = await EvaluatorPool.create({ backend: 'hash', threads: 1 });
  try {
    const start = 'rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1';
    const opening = await searchPosition(pool, { fen: start, moves: [] }, 20000);
    assert.deepEqual(verifyTree(opening.tree).faults, []);
    assert.ok(opening.tree.store.nodeCount < 19000, `${opening.tree.store.nodeCount}`);
    // Kings alone with a blocked pawn pair: almost every line comes back to where it was.
    const trap = await searchPosition(pool, { fen: '4k3/8/8/p7/P7/8/8/4K3 w - - 0 1', moves: [] }, 20000);
    assert.deepEqual(verifyTree(trap.tree).faults, []);
    // Shared nodes are met on paths that they repeat; such draws count, and prove nothing.
    assert.ok(countRepetitions(trap.tree) > 20);
    assert.equal(countProven(trap.tree), 0);
    const inGame = { fen: '4k3/8/8/p7/P7/8/8/4K3 w - - 90 80', moves: ['e1e2', 'e8e7', 'e2e1', 'e7e8', 'e1d1'] };
    const nearFifty = await searchPosition(pool, inGame, 20000);
    assert.deepEqual(verifyTree(nearFifty.tree).faults, []);
    assert.ok(verifyTree(nearFifty.tree).terminals > 100);
    assert.equal(countProven(nearFifty.tree), 0);
    const king = { fen: '6k1/8/8/8/8/8/8/K6Q w - - 0 1', moves: [] };
    const lines = (await searchPosition(pool, king, 800)).describeRoot(100)?.moves ?? [];
    // Before repetitions were asked of the line, one of these went on: h1c6 g8f7 c6f6 f7g8 f6c6 g8f7 c6f3.
    for (const { pv } of lines) assertEndsAtRepetition(king.fen, pv as readonly Move[]);
    assert.ok(lines.some(({ pv }) => pv.length > 4));
  } finally {
    await pool.dispose();
  }
});
