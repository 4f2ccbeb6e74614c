import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPrng, unwrap } from '#sardonyx/base/util/index.js';
import { findMate, type Move, type Position, parseFen } from '#sardonyx/chess/rules/index.js';
import { LeafQueue } from '#sardonyx/networks/leaves/index.js';
import { EvaluatorPool } from '#sardonyx/networks/nn/index.js';
import { defaultSearchParams, SearchScheduler, TreeSearch } from '#sardonyx/search/index.js';
import {
  getChildCount,
  getTerminalKind,
  getUpperBound,
  LOSS,
  NO_NODE,
  NODE_BLOCK,
  NODE_META,
  NODE_WORDS,
  NOT_TERMINAL,
  type NodeIndex,
  RECORD_NODE,
  RECORD_WORDS,
} from '#sardonyx/search/tree/layout.js';
import { getEdgeCount, getMove } from '#sardonyx/search/tree/read-tree.js';
import { verifyTree } from '../support/verify-tree.js';

const FENS = [
  'r1bqkbnr/pppp1ppp/2n5/4p3/2B1P3/5Q2/PPPP1PPP/RNB1K1NR b KQkq - 3 3',
  '6k1/5ppp/8/8/8/8/1q3PPP/3R2K1 b - - 0 1',
];

function createSearch(queue: LeafQueue, scheduler: SearchScheduler, changes: object): TreeSearch {
  const store = { maxBytes: 64 << 20, initialNodes: 1000 };
  return new TreeSearch(
    { channel: queue, rootRow: 0, store, random: createPrng(1), clock: scheduler.clock },
    { ...defaultSearchParams, smartPruningFactor: 0, ...changes },
    { minibatch: 8, batchesInFlight: 2 },
  );
}

/** Calls `look` for each node below the root, with its position on the board and the moves that lead there. */
function visitNodes(
  { tree }: TreeSearch,
  position: Position,
  look: (node: NodeIndex, path: readonly number[]) => void,
): void {
  const { nodeWords, recordWords } = tree.store;
  const visit = (node: NodeIndex, path: readonly number[]): void => {
    if (path.length > 0) look(node, path);
    const block = nodeWords[node * NODE_WORDS + NODE_BLOCK];
    for (let i = 0; i < getChildCount(nodeWords[node * NODE_WORDS + NODE_META]); i++) {
      const child = recordWords[(block + i) * RECORD_WORDS + RECORD_NODE] as NodeIndex;
      if (child === NO_NODE) continue;
      const move = getMove(tree, node, i);
      position.makeMove(move as Move);
      visit(child, [...path, move]);
      position.unmakeMove();
    }
  };
  visit(tree.rootNode, []);
}

for (const kind of ['tree', 'graph'] as const) {
  test(`with MateInOne every position with a mate in one is won at once, and no other: ${kind}`, async () => {
    const pool = await EvaluatorPool.create({ backend: 'hash', threads: 2 });
    try {
      const scheduler = new SearchScheduler();
      const queue = new LeafQueue(pool.handle);
      let found = 0;
      for (const rootFen of FENS) {
        const position = unwrap(parseFen(rootFen));
        const { sideToMove, gamePly } = position;
        const search = createSearch(queue, scheduler, { search: kind, mateInOne: true });
        const message = {
          rootFen,
          chess960: false,
          blackToMove: sideToMove === 1,
          gamePly,
          pliesSinceRepetition: Number.POSITIVE_INFINITY,
        };
        search.setPosition({ ...message, moves: [] });
        await scheduler.run(queue, search, { startedAtMs: scheduler.clock(), playouts: 3000 });
        const { tree } = search;
        assert.deepEqual(verifyTree(tree).faults, []);
        let blunder = 0;
        visitNodes(search, position, (node, path) => {
          const meta = tree.store.nodeWords[node * NODE_WORDS + NODE_META];
          if (getEdgeCount(tree, node) === 0) return;
          const isTerminal = getTerminalKind(meta) !== NOT_TERMINAL;
          const isMarked = isTerminal && getEdgeCount(tree, node) === 1 && getChildCount(meta) === 0;
          assert.equal(isMarked, findMate(position, { moves: 1, effort: 1e6 }).line !== null);
          if (!isMarked) return;
          found++;
          assert.equal(getUpperBound(meta), LOSS);
          position.makeMove(getMove(tree, node, 0) as Move);
          assert.ok(position.inCheck() && position.countLegalMoves() === 0);
          position.unmakeMove();
          if (path.length === 1) blunder = path[0];
        });
        // As the root, such a position is searched like any other.
        assert.notEqual(blunder, 0);
        position.makeMove(blunder as Move);
        search.setPosition({ ...message, moves: [blunder], blackToMove: sideToMove === 0, gamePly: gamePly + 1 });
        assert.deepEqual(verifyTree(tree).faults, []);
        await scheduler.run(queue, search, { startedAtMs: scheduler.clock(), playouts: 300 });
        assert.equal(getEdgeCount(tree, tree.rootNode), position.countLegalMoves());
        assert.deepEqual(verifyTree(tree).faults, []);
      }
      assert.ok(found > 100, `${found} positions with a mate in one`);
    } finally {
      await pool.dispose();
    }
  });
}
