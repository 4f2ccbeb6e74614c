import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type SearchParams, summariseRoot } from '#sardonyx/search/index.js';
import { FakeLeafChannel } from '../../support/fake-leaf-channel.js';
import { HashGame, type LeafAnswer } from '../../support/hash-game.js';
import { type HarnessOptions, SearchHarness } from '../../support/search-harness.js';
import { verifyTree } from '../../support/verify-tree.js';

const GAME = { minMoves: 20, maxMoves: 30 };

/** The visit limit is that of `go nodes`, so the root's own visit counts: 256 are left for its moves. */
const NODES = 257;

function createHarness(
  params: Partial<SearchParams> = {},
  options: HarnessOptions = {},
  game = new HashGame(GAME),
): SearchHarness {
  return new SearchHarness(new FakeLeafChannel(game), { ...options, params: { sequentialHalving: true, ...params } });
}

function readVisits(harness: SearchHarness): number[] {
  return harness
    .readTree()
    .children.map(({ visits }) => visits)
    .sort((a, b) => a - b);
}

test('every candidate of a phase gets the same visits, and every phase a quarter of them', () => {
  // 16 moves get 4 visits each, the better 8 of them 8 more, the better 4 of those 16 more, and two 32 more.
  const expected = [...Array(8).fill(4), ...Array(4).fill(12), 28, 28, 60, 60];
  for (const search of ['tree', 'graph'] as const) {
    for (const [minibatch, batchesInFlight] of [
      [1, 1],
      [8, 2],
      [64, 3],
    ]) {
      const harness = createHarness({ search }, { minibatch, batchesInFlight });
      harness.run({ nodes: NODES });
      assert.deepEqual(readVisits(harness), expected, `${search}, minibatch ${minibatch}`);
      assert.deepEqual(verifyTree(harness.search.tree).faults, []);
    }
  }
});

test('forced playouts give each visited move of the root its least visits', () => {
  const forcedPlayouts = 8;
  for (const search of ['tree', 'graph'] as const) {
    for (const [minibatch, batchesInFlight] of [
      [1, 1],
      [8, 2],
    ]) {
      // A move that was new a moment ago, or whose least number has just risen, may lack a visit.
      const countMovesBelow = (forced: number): number => {
        const params = { search, sequentialHalving: false, forcedPlayouts: forced, cpuct: 0.2, smartPruningFactor: 0 };
        const harness = createHarness(params, { minibatch, batchesInFlight });
        harness.run({ nodes: 800 });
        assert.deepEqual(verifyTree(harness.search.tree).faults, []);
        const moves = summariseRoot(harness.search.tree)?.moves ?? [];
        const least = (prior: number): number => Math.floor(Math.sqrt(forcedPlayouts * prior * 799)) - 1;
        return moves.filter(({ visits, prior }) => visits > 1 && visits < least(prior)).length;
      };
      assert.equal(countMovesBelow(forcedPlayouts), 0);
      assert.ok(countMovesBelow(0) > 0);
    }
  }
});

test('numbers that do not divide, few moves and few visits use up the budget', () => {
  for (const [nodes, gumbelCandidates] of [
    [2, 16],
    [8, 16],
    [100, 5],
    [301, 7],
    [200, 1],
    [500, 256],
  ]) {
    const harness = createHarness({ gumbelCandidates }, { minibatch: 4, batchesInFlight: 2 });
    const { infos, move } = harness.run({ nodes });
    assert.equal(infos.at(-1)?.nodes, nodes);
    assert.notEqual(move, 0);
    assert.ok(readVisits(harness).length <= gumbelCandidates);
  }
});

test('in a tree that knows moves already the new visits are shared evenly', () => {
  const harness = createHarness({ sequentialHalving: false, gumbelCandidates: 4 });
  harness.run({ nodes: 100 });
  const before = new Map(harness.readTree().children.map(({ move, visits }) => [move, visits]));
  harness.configure({ sequentialHalving: true, gumbelCandidates: 4 });
  harness.run({ playouts: 80 });
  const grown = harness.readTree().children.map(({ move, visits }) => visits - (before.get(move) ?? 0));
  assert.deepEqual(
    grown.filter((visits) => visits > 0).sort((a, b) => a - b),
    [10, 10, 30, 30],
  );
});

test('the same seed draws the same candidates, another seed others', () => {
  const search = (seed: number) => {
    const harness = createHarness({ gumbelNoiseScale: 1, gumbelCandidates: 8 }, { seed });
    const { move } = harness.run({ nodes: NODES });
    return { move, tree: harness.readTree() };
  };
  assert.deepEqual(search(3), search(3));
  const moves = (seed: number) => new Set(search(seed).tree.children.map(({ move }) => move));
  assert.notDeepEqual(moves(3), moves(4));
});

/** The move of the highest prior loses a piece, as it were. */
class TrapGame extends HashGame {
  readonly trap = super.evaluate([], 0).moves[0];

  override evaluate(moves: ArrayLike<number>, depth: number): LeafAnswer {
    const answer = super.evaluate(moves, depth);
    return moves[0] === this.trap ? { ...answer, wl: moves.length % 2 === 1 ? 0.9 : -0.9, d: 0 } : answer;
  }
}

test('a likely move that turns out badly goes after the first phase, unless its value does not count', () => {
  const game = new TrapGame(GAME);
  const visitsOfTrap = (harness: SearchHarness) =>
    harness.readTree().children.find(({ move }) => move === game.trap)?.visits;
  const careful = createHarness({}, {}, game);
  assert.notEqual(careful.run({ nodes: NODES }).move, game.trap);
  assert.equal(visitsOfTrap(careful), 4);
  const blind = createHarness({ gumbelValueScale: 0 }, {}, game);
  assert.equal(blind.run({ nodes: NODES }).move, game.trap);
  assert.equal(visitsOfTrap(blind), 60);
});

test('of the last two the better sum of logit and value is played and shown', () => {
  for (let seed = 1; seed <= 20; seed++) {
    const game = new HashGame({ ...GAME, seed });
    const harness = createHarness({ gumbelVisitOffset: 5 }, { seed }, game);
    const { move, rows, infos } = harness.run({ nodes: NODES, reportedStats: 'atEnd' });
    const last = rows.filter(({ visits }) => visits === 60);
    assert.equal(last.length, 2);
    const [a, b] = last.map(({ prior, q }) => Math.log(prior) + ((5 + 60) * (1 + q)) / 2);
    assert.equal(move, last[a > b ? 0 : 1].move);
    assert.equal(infos.at(-1)?.lines[0].pv[0], move);
  }
});

test('a proven win is played and a proven loss is not', () => {
  for (let seed = 1; seed <= 30; seed++) {
    const game = new HashGame({ minMoves: 3, maxMoves: 6, mates: 0.12, seed });
    const harness = createHarness({ gumbelCandidates: 4 }, {}, game);
    const { move } = harness.run({ nodes: 400 });
    const { children } = harness.readTree();
    const results = children.map(({ terminal, wl }) => (terminal === 0 ? 0 : wl));
    const played = children.findIndex((child) => child.move === move);
    if (results.includes(1)) assert.equal(results[played], 1, `seed ${seed}`);
    else if (results.some((result) => result === 0)) assert.notEqual(results[played], -1, `seed ${seed}`);
  }
});

test('without a limit of visits it changes nothing', () => {
  const halving = createHarness();
  const plain = createHarness({ sequentialHalving: false });
  halving.run({ depth: 6 });
  plain.run({ depth: 6 });
  assert.deepEqual(halving.readTree(), plain.readTree());
});

test('searchmoves and progressive widening leave the candidates their visits', () => {
  const harness = createHarness({ gumbelCandidates: 4, wideningFactor: 1 });
  harness.run({ nodes: 81, searchMoves: [2, 5, 9, 14, 15] });
  assert.deepEqual(readVisits(harness), [10, 10, 30, 30]);
  assert.ok(harness.readTree().children.every(({ move }) => [2, 5, 9, 14, 15].includes(move)));
});
