import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatTreeDot, formatTreeJson } from '#sardonyx/cli/commands/analyse/tree-file.js';
import { dumpTree, type TreeDump, type TreeDumpLimits } from '#sardonyx/search/index.js';
import { FakeLeafChannel } from '../../../support/fake-leaf-channel.js';
import { HashGame } from '../../../support/hash-game.js';
import { SearchHarness } from '../../../support/search-harness.js';

const FEN = 'rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1';

function search(
  store: 'tree' | 'graph',
  limits: TreeDumpLimits = { depth: 3, minVisits: 2 },
  hasMovesLeft = true,
): TreeDump {
  const channel = new FakeLeafChannel(new HashGame({ transposes: true, minMoves: 4, maxMoves: 6, mates: 0.05 }));
  const harness = new SearchHarness(channel, { params: { search: store } });
  harness.run({ nodes: 800 });
  const dump = dumpTree(harness.search.tree, limits, hasMovesLeft);
  assert.ok(dump !== null);
  return dump;
}

function list(dump: TreeDump, depth = 0): { node: TreeDump; depth: number }[] {
  return [{ node: dump, depth }, ...dump.children.flatMap((child) => list(child, depth + 1))];
}

test('a dump keeps to its limits; visits add up', () => {
  const root = search('tree');
  const all = list(root);
  assert.equal(root.visits, 800);
  assert.equal(Math.max(...all.map(({ depth }) => depth)), 3);
  assert.ok(all.every(({ node }) => node.visits >= 2));
  const whole = search('tree', { depth: 1, minVisits: 0 });
  assert.equal(
    whole.children.reduce((sum, { visits }) => sum + visits, 1),
    800,
  );
  const q = whole.children.reduce((sum, { visits, wl }) => sum + visits * wl, 0) / 800;
  assert.ok(Math.abs(whole.wl - q) < 0.01);
});

test('a dump with a limit of nodes has those with the most visits, in the same order', () => {
  for (const store of ['tree', 'graph'] as const) {
    const limits = { depth: 20, minVisits: 1 };
    const all = list(search(store, limits))
      .map(({ node }) => node.visits)
      .sort((a, b) => b - a);
    const some = search(store, { ...limits, mostNodes: 100 });
    const shown = list(some).map(({ node }) => node);
    assert.equal(shown.length, 100);
    if (store === 'tree')
      assert.deepEqual(
        shown.map(({ visits }) => visits).sort((a, b) => b - a),
        all.slice(0, 100),
      );
    for (const { children } of shown)
      assert.deepEqual(
        children.map(({ visits }) => visits),
        children.map(({ visits }) => visits).sort((a, b) => b - a),
      );
    assert.deepEqual(search(store, { ...limits, mostNodes: 1e6 }).visits, some.visits);
    assert.equal(list(search(store, { ...limits, mostNodes: 1 })).length, 1);
  }
  const whole = { depth: 3, minVisits: 0 };
  assert.deepEqual(search('tree', { ...whole, mostNodes: 1e6 }), search('tree', whole));
});

test('a shared node has one id and one list of children', () => {
  const all = list(search('graph', { depth: 20, minVisits: 1 })).map(({ node }) => node);
  const shared = all.filter(({ isElsewhere }) => isElsewhere);
  assert.ok(shared.length > 20);
  assert.ok(shared.every(({ children }) => children.length === 0));
  const first = all.filter(({ isElsewhere, id }) => !isElsewhere && id !== 0).map(({ id }) => id);
  assert.equal(new Set(first).size, first.length);
});

test('JSON has the names of the field, values in the view of the mover', () => {
  const dump = search('tree');
  const { fen, root } = JSON.parse(formatTreeJson({ fen: FEN, isChess960: false, tree: dump }));
  assert.equal(fen, FEN);
  assert.equal(root.visits, 800);
  const [best] = root.children;
  assert.deepEqual(Object.keys(best).slice(0, 6), ['move', 'prior', 'visits', 'q', 'wdl', 'movesLeft']);
  assert.ok(Math.abs(best.q - dump.children[0].wl) < 1e-5);
  assert.equal(best.wdl.win + best.wdl.draw + best.wdl.loss, 1000);
  const proven = list(dump).filter(({ node }) => node.lower === node.upper);
  assert.ok(proven.length > 0);
});

test('a network that does not tell how long the game lasts leaves movesLeft out', () => {
  const tree = search('tree', undefined, false);
  assert.ok(list(tree).every(({ node }) => node.m === null));
  const text = formatTreeJson({ fen: FEN, isChess960: false, tree });
  assert.ok(text.includes('"wdl"'));
  assert.ok(!text.includes('movesLeft'));
});

test('Graphviz draws each node once and each move once', () => {
  const dump = search('graph', { depth: 4, minVisits: 1 });
  const lines = formatTreeDot({ fen: FEN, isChess960: false, tree: dump }).trim().split('\n');
  assert.equal(lines[0], 'digraph search {');
  assert.equal(lines.at(-1), '}');
  const all = list(dump).map(({ node }) => node);
  assert.equal(lines.filter((line) => line.includes(' -> ')).length, all.length - 1);
  const boxes = lines.filter((line) => /^ {2}\w+ \[label=/.test(line));
  assert.equal(boxes.length, all.filter(({ isElsewhere }) => !isElsewhere).length);
});
