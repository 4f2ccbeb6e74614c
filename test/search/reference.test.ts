import assert from 'node:assert/strict';
import { test } from 'node:test';
import { defaultSearchParams, type SearchParams } from '#sardonyx/search/index.js';
import { FakeLeafChannel } from '../support/fake-leaf-channel.js';
import { HashGame, type HashGameOptions } from '../support/hash-game.js';
import { type ReferenceNode, ReferenceSearch } from '../support/reference-search.js';
import { type PlainNode, SearchHarness } from '../support/search-harness.js';
import { verifyTree } from '../support/verify-tree.js';

const TERMINAL_NAMES = ['no', 'end', 'tablebase', 'twoFold'];

function assertSameNodes(fast: PlainNode, slow: ReferenceNode, path: string): void {
  assert.equal(fast.visits, slow.visits, `visits of ${path}`);
  assert.equal(TERMINAL_NAMES[fast.terminal], slow.terminal, `terminal kind of ${path}`);
  assert.ok(Math.abs(fast.wl - slow.wl) < 1e-9, `value of ${path}: ${fast.wl} and ${slow.wl}`);
  assert.ok(Math.abs(fast.d - slow.d) < 1e-6, `draws of ${path}: ${fast.d} and ${slow.d}`);
  assert.ok(Math.abs(fast.m - slow.m) < 1e-3, `moves left of ${path}: ${fast.m} and ${slow.m}`);
  const visited = slow.children.filter((child) => child.visits > 0);
  assert.deepEqual(
    fast.children.map(({ move }) => move).sort((a, b) => a - b),
    visited.map(({ move }) => move).sort((a, b) => a - b),
    `moves of ${path}`,
  );
  for (const child of fast.children) {
    const other = visited.find(({ move }) => move === child.move);
    assert.ok(other !== undefined);
    assertSameNodes(child, other, `${path} ${child.move}`);
  }
}

interface Case {
  readonly name: string;
  readonly game: Partial<HashGameOptions>;
  readonly params?: Partial<SearchParams>;
  readonly blackToMove?: boolean;
}

const cases: readonly Case[] = [
  { name: 'plain positions', game: {} },
  { name: 'few moves', game: { maxMoves: 3 } },
  { name: 'decided positions, where moves left count', game: { decisive: true } },
  { name: 'mates', game: { maxMoves: 12, mates: 0.08 } },
  { name: 'draws', game: { maxMoves: 6, draws: 0.2 } },
  { name: 'short games that are solved', game: { maxMoves: 3, mates: 0.15, draws: 0.1, longestGame: 8 } },
  { name: 'tablebases', game: { maxMoves: 8, tablebase: 0.15, mates: 0.05 } },
  { name: 'repetitions', game: { maxMoves: 5, repetitions: 0.3 } },
  { name: 'everything at once', game: { maxMoves: 9, mates: 0.05, draws: 0.05, tablebase: 0.05, repetitions: 0.1 } },
  { name: 'no sticky endgames', game: { maxMoves: 9, mates: 0.1 }, params: { stickyEndgames: false } },
  { name: 'a draw score', game: { draws: 0.1 }, params: { drawScore: -0.5 } },
  { name: 'a draw score for Black', game: { draws: 0.1 }, params: { drawScore: 0.3 }, blackToMove: true },
  { name: 'absolute first play urgency', game: {}, params: { fpuStrategy: 'absolute', fpuValue: -0.2 } },
  { name: 'smart pruning at the root', game: { minMoves: 2 }, params: { smartPruningFactor: 1.33 } },
];

for (const { name, game, params = {}, blackToMove = false } of cases) {
  test(`one leaf at a time visits what the reference search visits: ${name}`, () => {
    for (let seed = 1; seed <= 6; seed++) {
      const hashGame = new HashGame({ ...game, seed });
      const all = { ...defaultSearchParams, smartPruningFactor: 0, ...params };
      const slow = new ReferenceSearch(hashGame, all);
      const fast = new SearchHarness(new FakeLeafChannel(hashGame), { params: all });
      fast.blackToMove = blackToMove;
      fast.setPosition();
      for (const nodes of [1, 2, 3, 30, 700]) {
        slow.run(nodes, fast.blackToMove);
        fast.run({ nodes });
        assert.deepEqual(verifyTree(fast.search.tree).faults, []);
        assertSameNodes(fast.readTree(), slow.root, 'root');
      }
    }
  });

  test(`the same after moves were played on the board: ${name}`, () => {
    for (let seed = 1; seed <= 4; seed++) {
      const hashGame = new HashGame({ ...game, seed: seed + 100 });
      const all = { ...defaultSearchParams, smartPruningFactor: 0, ...params };
      const slow = new ReferenceSearch(hashGame, all);
      const fast = new SearchHarness(new FakeLeafChannel(hashGame), { params: all });
      fast.blackToMove = blackToMove;
      fast.setPosition();
      for (let ply = 0; ply < 12; ply++) {
        const nodes = Math.max(400, fast.search.tree.rootVisits + 200);
        slow.run(nodes, fast.blackToMove);
        const { move } = fast.run({ nodes });
        assertSameNodes(fast.readTree(), slow.root, `root at ply ${ply}`);
        if (move === 0) break;
        slow.play(move);
        fast.play(move);
        assertSameNodes(fast.readTree(), slow.root, `new root at ply ${ply}`);
        assert.deepEqual(verifyTree(fast.search.tree).faults, []);
      }
    }
  });
}
