/** What a search without a clock does must not depend on how fast evaluator threads answer. */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { createPrng } from '#sardonyx/base/util/index.js';
import { LeafQueue } from '#sardonyx/networks/leaves/index.js';
import { EvaluatorPool } from '#sardonyx/networks/nn/index.js';
import { defaultSearchParams, SearchScheduler, summariseRoot, TreeSearch } from '#sardonyx/search/index.js';
import { repositoryRoot } from '../support/shared-folder.js';
import { verifyTree } from '../support/verify-tree.js';

// Few men: many transpositions that differ in their history, which the network sees and the cache's key does not.
const FEN = '4k3/1p3p2/8/8/8/8/2P1P3/4K3 w - - 0 1';

for (const kind of ['tree', 'graph'] as const) {
  test(`two evaluators that share a cache give the same visits every time: ${kind}`, async () => {
    const model = { bytes: readFileSync(join(repositoryRoot, 'models/tiny-test.onnx')), name: 'tiny-test.onnx' };
    const pool = await EvaluatorPool.create({
      backend: 'cpu',
      model,
      threads: 2,
      minibatch: 8,
      cachePositions: 100_000,
    });
    try {
      const scheduler = new SearchScheduler();
      const queue = new LeafQueue(pool.handle);
      const search = new TreeSearch(
        {
          channel: queue,
          rootRow: 0,
          store: { maxBytes: 64 << 20, initialNodes: 1000 },
          random: createPrng(1),
          clock: scheduler.clock,
        },
        { ...defaultSearchParams, search: kind, smartPruningFactor: 0 },
        { minibatch: 8, batchesInFlight: 3 },
      );
      const run = async () => {
        pool.clearCache();
        search.newGame();
        const visits: unknown[] = [];
        // The second search finds its own positions and those of the first in the cache.
        for (const moves of [[], []]) {
          search.setPosition({
            rootFen: FEN,
            chess960: false,
            moves,
            blackToMove: false,
            gamePly: 0,
            pliesSinceRepetition: Number.POSITIVE_INFINITY,
          });
          search.clearTree();
          await scheduler.run(queue, search, { playouts: 1500 });
          assert.deepEqual(verifyTree(search.tree).faults, []);
          visits.push(summariseRoot(search.tree), { ...search.counters });
        }
        return visits;
      };
      const expected = await run();
      for (let i = 0; i < 5; i++) assert.deepEqual(await run(), expected);
    } finally {
      await pool.dispose();
    }
  });
}
