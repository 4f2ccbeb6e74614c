import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  FORGOTTEN_BIT,
  getChildCount,
  NO_NODE,
  NODE_BLOCK,
  NODE_META,
  NODE_SQUARE,
  NODE_WL,
  NODE_WORDS,
  type NodeIndex,
  RECORD_DOUBLES,
  RECORD_NODE,
  RECORD_VISITS,
  RECORD_WL,
  RECORD_WORDS,
  TERMINAL_MASK,
} from '#sardonyx/search/tree/layout.js';
import type { Tree } from '#sardonyx/search/tree/tree.js';
import { FakeLeafChannel } from '../../support/fake-leaf-channel.js';
import { HashGame } from '../../support/hash-game.js';
import { type HarnessOptions, SearchHarness } from '../../support/search-harness.js';

const SPREAD = { cpuctUtilityStdevScale: 0.8 };

/** The sum of squares of a node is that of its own value and of its moves; a terminal has one value only. */
function checkSquares(tree: Tree): number {
  const { nodeWords, nodeFloats, recordWords, recordDoubles } = tree.store;
  let checked = 0;
  const check = (node: NodeIndex, record: number): void => {
    const at = node * NODE_WORDS;
    const meta = nodeWords[at + NODE_META];
    const block = nodeWords[at + NODE_BLOCK];
    const visits = recordWords[record * RECORD_WORDS + RECORD_VISITS];
    let sum = nodeFloats[at + NODE_WL] ** 2;
    for (let child = block; child < block + getChildCount(meta); child++) {
      const below = recordWords[child * RECORD_WORDS + RECORD_NODE] as NodeIndex;
      const n = recordWords[child * RECORD_WORDS + RECORD_VISITS];
      if (below !== NO_NODE) check(below, child);
      const own = recordDoubles[child * RECORD_DOUBLES + RECORD_WL] ** 2;
      sum += n * (below === NO_NODE ? own : nodeFloats[below * NODE_WORDS + NODE_SQUARE]);
    }
    const actual = nodeFloats[at + NODE_SQUARE];
    if ((meta & FORGOTTEN_BIT) !== 0) return;
    const isTerminal = (meta & TERMINAL_MASK) !== 0;
    const expected = isTerminal ? recordDoubles[record * RECORD_DOUBLES + RECORD_WL] ** 2 : sum / visits;
    assert.ok(Math.abs(actual - expected) < 1e-3, `node ${node}: ${actual} and not ${expected}`);
    checked++;
  };
  check(tree.rootNode, tree.rootRecord);
  return checked;
}

const GAMES = {
  'plain positions': {},
  mates: { maxMoves: 12, mates: 0.08 },
  'short games that are solved': { maxMoves: 3, mates: 0.15, draws: 0.1, longestGame: 8 },
  'everything at once': { maxMoves: 9, mates: 0.05, draws: 0.05, tablebase: 0.05, repetitions: 0.1 },
};

for (const [name, game] of Object.entries(GAMES)) {
  test(`the mean squares of a tree add up through a game: ${name}`, () => {
    for (const shape of [
      { minibatch: 1, batchesInFlight: 1 },
      { minibatch: 8, batchesInFlight: 3 },
    ]) {
      for (let seed = 1; seed <= 3; seed++) {
        const channel = new FakeLeafChannel(new HashGame({ ...game, seed }));
        const harness = new SearchHarness(channel, { ...shape, params: SPREAD });
        for (let ply = 0; ply < 8; ply++) {
          const { move } = harness.run({ playouts: 500 });
          checkSquares(harness.search.tree);
          if (move === 0) break;
          harness.play(move);
        }
      }
    }
  });
}

test('the mean square of the root is the one that a walk over the tree finds', () => {
  const harness = new SearchHarness(new FakeLeafChannel(new HashGame({ minMoves: 5 })), { params: SPREAD });
  harness.run({ nodes: 2000 });
  const { tree } = harness.search;
  assert.ok(checkSquares(tree) > 1500);
  const kept = tree.store.nodeFloats[tree.rootNode * NODE_WORDS + NODE_SQUARE];
  assert.ok(Math.abs(kept - (harness.search.describeRoot(1)?.meanSquare ?? 0)) < 1e-4);
});

test('the spread widens or narrows the search of a tree, and changes nothing in a graph', () => {
  const readVisits = (options: HarnessOptions, params: object = {}) => {
    const harness = new SearchHarness(new FakeLeafChannel(new HashGame({ minMoves: 10, seed: 3 })), options);
    harness.run({ nodes: 300 });
    harness.configure({ ...options.params, ...params });
    harness.search.clearTree();
    harness.run({ nodes: 3000 });
    return harness.readTree().children.map(({ visits }) => visits);
  };
  const plain = readVisits({});
  const wide = readVisits({ params: { ...SPREAD, cpuctUtilityStdevPrior: 0.05 } });
  const narrow = readVisits({ params: { ...SPREAD, cpuctUtilityStdevPrior: 2 } });
  assert.ok(Math.max(...wide) < Math.max(...plain));
  assert.ok(Math.max(...narrow) > Math.max(...plain));
  const graph = { params: { search: 'graph' } as const };
  assert.deepEqual(readVisits(graph, SPREAD), readVisits(graph));
});

test('a tree whose spread was not kept is not used with it', () => {
  const harness = new SearchHarness(new FakeLeafChannel(new HashGame()));
  harness.run({ nodes: 100 });
  harness.configure({ cpuct: 2 });
  assert.equal(harness.search.tree.rootVisits, 100);
  harness.configure(SPREAD);
  assert.equal(harness.search.tree.rootVisits, 0);
});
