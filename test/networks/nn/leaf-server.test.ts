/** The evaluators' loop where it is not seen from outside: what it does when a small evaluator takes a large one's place. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NO_TABLEBASES } from '#sardonyx/chess/syzygy/index.js';
import { EVALUATED, LeafQueue, TABLEBASE } from '#sardonyx/networks/leaves/index.js';
import {
  createLeafSlotsBuffer,
  type LeafSlots,
  MINIBATCH_WORD,
  STOP_WORD,
  viewLeafSlots,
} from '#sardonyx/networks/leaves/leaf-slots.js';
import { RootTable } from '#sardonyx/networks/leaves/root-table.js';
import { clearCache, createCacheBuffer, EvaluationCache } from '#sardonyx/networks/nn/cache/evaluation-cache.js';
import type { Evaluator } from '#sardonyx/networks/nn/evaluators/evaluator.js';
import { TrivialEvaluator } from '#sardonyx/networks/nn/evaluators/trivial-evaluator.js';
import { EvaluatorPool } from '#sardonyx/networks/nn/index.js';
import { LeafServer, type LeafServerParts } from '#sardonyx/networks/nn/pool/leaf-server.js';
import { LeafTablebases } from '#sardonyx/networks/nn/pool/leaf-tablebases.js';
import { TablebaseWords } from '#sardonyx/networks/nn/pool/tablebase-words.js';
import { evaluateLeaves, submitLeaf, type TestLeaf, takeAnswer } from '../../support/leaf-driver.js';
import { createWonTables, withTableFolder } from '../../support/table-folder.js';

function createEvaluator(mostRows: number, run: Evaluator['run']): Evaluator {
  return Object.assign(new TrivialEvaluator(), { mostRows, run });
}

/** A queue, and the loop that serves it, on the test's own thread. */
function createServer(
  parts: Pick<LeafServerParts, 'evaluator'> & Partial<LeafServerParts>,
  minibatch = 64,
): { queue: LeafQueue; slots: LeafSlots; server: LeafServer } {
  const shape = { slotCount: 256, workers: 1 };
  const buffer = createLeafSlotsBuffer(shape);
  const slots = viewLeafSlots(buffer, shape);
  const roots = RootTable.createBuffer();
  const tablebases = TablebaseWords.createBuffer();
  new TablebaseWords(tablebases).write(NO_TABLEBASES);
  const handle = {
    ...shape,
    slots: buffer,
    roots,
    tablebases,
    minibatch,
    hasMovesLeft: false,
    reservedBytes: 0,
  };
  Atomics.store(slots.control, MINIBATCH_WORD, minibatch);
  const server = new LeafServer({
    handle,
    worker: 0,
    cache: null,
    tablebases: new LeafTablebases(new TablebaseWords(tablebases), assert.fail),
    replaceEvaluator: async () => null,
    ...parts,
  });
  return { queue: new LeafQueue(handle), slots, server };
}

test('leaves that a large batch had claimed are evaluated in small ones by what takes the place of a failed evaluator', async () => {
  const asked = ['e2e4', 'd2d4', 'c2c4', 'g1f3', 'b1c3', 'e2e3', 'd2d3', 'c2c3', 'g2g3', 'b2b3', 'a2a3'];
  const batches: number[] = [];
  const small = createEvaluator(4, (rows) => {
    batches.push(rows);
    const evaluated = batches.reduce((sum, size) => sum + size);
    if (evaluated >= asked.length) Atomics.store(slots.control, STOP_WORD, 1);
    return undefined;
  });
  const large = createEvaluator(1000, () => Promise.reject(new Error('the device is lost')));
  const { queue, slots, server } = createServer({ evaluator: large, replaceEvaluator: async () => small });
  const submitted = asked.map((path, row) => submitLeaf(queue, { path }, row));
  queue.flush();
  await server.serve();
  assert.deepEqual(batches, [4, 4, 3]);
  for (const slot of submitted) assert.equal(takeAnswer(queue, slot).kind, EVALUATED);
});

test('an evaluation that was begun before the cache was emptied is not found after that', async () => {
  for (const isEmptied of [false, true]) {
    const buffer = createCacheBuffer(1000);
    assert.ok(buffer !== null);
    const cache = new EvaluationCache(buffer);
    const evaluator = Object.assign(new TrivialEvaluator(), {
      isInstant: false,
      run: () => {
        // Somebody sets HistoryFill while the network works.
        if (isEmptied) clearCache(buffer);
        Atomics.store(slots.control, STOP_WORD, 1);
        return undefined;
      },
    });
    const { queue, slots, server } = createServer({ evaluator, cache });
    const slot = submitLeaf(queue, { path: 'e2e4' }, 0);
    queue.flush();
    await server.serve();
    const key = {
      low: slots.keyLow[slot],
      high: slots.keyHigh[slot],
      repetitions: 0,
      moveCount: slots.edgeCount[slot],
    };
    assert.equal(cache.find(key), !isEmptied);
  }
});

test('a prefetch is evaluated for the cache when the leaf before it was evaluated, and only then', async () => {
  const buffer = createCacheBuffer(1000);
  assert.ok(buffer !== null);
  const batches: number[] = [];
  const evaluator = Object.assign(new TrivialEvaluator(), {
    isInstant: false,
    run: (rows: number) => {
      batches.push(rows);
      Atomics.store(slots.control, STOP_WORD, 1);
      return undefined;
    },
  });
  const { queue, slots, server } = createServer({ evaluator, cache: new EvaluationCache(buffer) });
  const submit = (path: string, row: number, isPrefetch: boolean): number => {
    const slot = submitLeaf(queue, { path }, row);
    slots.prefetch[slot] = Number(isPrefetch);
    return slot;
  };
  // The last leaf of each round is new, so there is a batch, which ends the loop.
  const rounds = [
    ['e2e4', 'e2e4 e7e5', 'a2a3'],
    ['e2e4 e7e5', 'd2d4', 'b2b3'],
    ['d2d4', 'e2e4', 'c2c3'],
  ];
  for (const paths of rounds) {
    Atomics.store(slots.control, STOP_WORD, 0);
    const sent = paths.map((path, row) => submit(path, row, row === 1));
    queue.flush();
    await server.serve();
    for (const slot of sent) takeAnswer(queue, slot);
  }
  assert.deepEqual(batches, [3, 1, 2]);
});

const KNIGHT_HANGS = '3n3k/8/8/8/8/8/8/2KR4 w - - 0 1';
const KNIGHT_IS_GUARDED = '2kn4/8/8/8/8/8/8/2KR4 w - - 0 1';
/** Root, a quiet move, a good capture, a capture that loses the rook, a capture after a quiet move. */
const LEAVES: readonly TestLeaf[] = [
  { fen: KNIGHT_HANGS },
  { fen: KNIGHT_HANGS, path: 'd1e1' },
  { fen: KNIGHT_HANGS, path: 'd1d8' },
  { fen: KNIGHT_IS_GUARDED, path: 'd1d8' },
  { fen: KNIGHT_HANGS, path: 'd1d2 h8g8 d2d8' },
  { fen: '3r3k/8/8/8/8/8/8/2KN4 b - - 0 1', path: 'd8d1' },
];

test('leaves right after a capture are answered by tablebases, captures that follow included', async () => {
  await withTableFolder(createWonTables('R'), async (paths) => {
    const pool = await EvaluatorPool.create({ backend: 'hash', threads: 1 });
    const queue = new LeafQueue(pool.handle);
    const ask = async (leaves = LEAVES): Promise<(readonly [kind: number, wl: number, d: number])[]> => {
      const answers = await evaluateLeaves(queue, leaves);
      return answers.map(({ kind, valueWl, valueD }) => {
        return kind === TABLEBASE ? ([kind, valueWl, valueD] as const) : ([kind, 0, 0] as const);
      });
    };
    const network = [EVALUATED, 0, 0];
    const lost = [TABLEBASE, -1, 0];
    try {
      assert.deepEqual(
        await ask(),
        LEAVES.map(() => network),
      );
      pool.configure({ tablebases: { ...NO_TABLEBASES, paths } });
      // KxR after the fourth leads to bare kings; the last is White's loss.
      assert.deepEqual(await ask(), [network, network, lost, [TABLEBASE, 0, 1], lost, [TABLEBASE, 0, 1]]);
      assert.deepEqual(
        await ask(LEAVES.map((leaf) => ({ ...leaf, skipsTablebases: true }))),
        LEAVES.map(() => network),
      );
      pool.configure({ tablebases: { ...NO_TABLEBASES, paths, menLimit: 2 } });
      assert.deepEqual(
        await ask(),
        LEAVES.map(() => network),
      );
      pool.configure({ tablebases: NO_TABLEBASES });
      assert.deepEqual(
        await ask(),
        LEAVES.map(() => network),
      );
    } finally {
      await pool.dispose();
    }
  });
});
