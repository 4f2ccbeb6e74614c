import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeLeafChannel } from '../../support/fake-leaf-channel.js';
import { HashGame } from '../../support/hash-game.js';
import { type PlainNode, SearchHarness } from '../../support/search-harness.js';

/** Slow and right: every node's own evaluation once, read off the averages; terminal nodes as often as they were visited. */
function sumSquares(node: PlainNode): number {
  const below = node.children.reduce((sum, child) => sum + child.visits, 0);
  if (below === 0 || node.terminal !== 0) return node.visits * node.wl ** 2;
  // The average of a node is that of its own value and its children's, in the other view.
  const own = node.visits * node.wl + node.children.reduce((sum, child) => sum + child.visits * child.wl, 0);
  return own ** 2 + node.children.reduce((sum, child) => sum + sumSquares(child), 0);
}

test('the mean square of a move is that of all evaluations below it', () => {
  const game = new HashGame({ minMoves: 5, maxMoves: 12 });
  const harness = new SearchHarness(new FakeLeafChannel(game), { minibatch: 3, batchesInFlight: 2 });
  harness.run({ nodes: 1500 });
  const root = harness.search.describeRoot(100);
  const tree = harness.readTree();
  assert.ok(root !== null);
  assert.equal(root.visits, 1500);
  assert.equal(root.moves.length, tree.children.filter(({ visits }) => visits > 0).length);
  for (const { pv, visits, q, meanSquare, pvVisits } of root.moves) {
    const child = tree.children.find(({ move }) => move === pv[0]);
    assert.ok(child !== undefined);
    assert.equal(visits, child.visits);
    assert.equal(pvVisits[0], visits);
    assert.ok(Math.abs(q - child.wl) < 1e-9);
    assert.ok(meanSquare >= q * q - 1e-9);
    assert.ok(Math.abs(meanSquare - sumSquares(child) / visits) < 1e-5, `${meanSquare} ${sumSquares(child) / visits}`);
  }
  assert.ok(Math.abs(root.meanSquare - sumSquares(tree) / tree.visits) < 1e-5);
});

test('without visited moves all are described, and after a limit only the best', () => {
  const harness = new SearchHarness(new FakeLeafChannel(new HashGame({ minMoves: 20, maxMoves: 30 })));
  assert.equal(harness.search.describeRoot(3), null);
  harness.run({ nodes: 1 });
  const alone = harness.search.describeRoot(3);
  assert.equal(alone?.moves.length, alone?.legalMoves.length);
  assert.ok(alone?.moves.every(({ visits }) => visits === 0));
  const { move } = harness.run({ nodes: 300 });
  const root = harness.search.describeRoot(3);
  assert.equal(root?.moves.length, 3);
  assert.equal(root?.moves[0].pv[0], move);
});
