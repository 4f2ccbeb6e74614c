/** The evaluators' loop where it is not seen from outside: what it does when a small evaluator takes a large one's place. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Evaluator } from '#sardonyx/nn/evaluator.js';
import { TrivialEvaluator } from '#sardonyx/nn/evaluators/trivial-evaluator.js';
import { EVALUATED, LeafQueue } from '#sardonyx/nn/index.js';
import { LeafClaims } from '#sardonyx/nn/pool/leaf-claims.js';
import { LeafServer } from '#sardonyx/nn/pool/leaf-server.js';
import { createLeafSlotsBuffer, MINIBATCH_WORD, STOP_WORD, viewLeafSlots } from '#sardonyx/nn/pool/leaf-slots.js';
import { LeafTablebases } from '#sardonyx/nn/pool/leaf-tablebases.js';
import { LiveEvaluators } from '#sardonyx/nn/pool/live-evaluators.js';
import { RootBoards } from '#sardonyx/nn/pool/root-boards.js';
import { RootTable } from '#sardonyx/nn/pool/root-table.js';
import { TablebaseWords } from '#sardonyx/nn/pool/tablebase-words.js';
import { NO_TABLEBASES } from '#sardonyx/syzygy/index.js';
import { submitLeaf, takeAnswer } from '../support/leaf-driver.js';

function createEvaluator(mostRows: number, run: Evaluator['run']): Evaluator {
  return Object.assign(new TrivialEvaluator(), { mostRows, run });
}

test('leaves that a large batch had claimed are evaluated in small ones by what takes the place of a failed evaluator', async () => {
  const shape = { slotCount: 256, workers: 1 };
  const buffer = createLeafSlotsBuffer(shape);
  const slots = viewLeafSlots(buffer, shape);
  const roots = RootTable.createBuffer();
  const tablebases = TablebaseWords.createBuffer();
  new TablebaseWords(tablebases).write(NO_TABLEBASES);
  const queue = LeafQueue.attach({
    ...shape,
    slots: buffer,
    roots,
    tablebases,
    minibatch: 64,
    batchesInFlight: 0,
    hasMovesLeft: false,
  });
  const asked = ['e2e4', 'd2d4', 'c2c4', 'g1f3', 'b1c3', 'e2e3', 'd2d3', 'c2c3', 'g2g3', 'b2b3', 'a2a3'];
  const submitted = asked.map((path, row) => submitLeaf(queue, { path }, row));
  queue.flush();
  Atomics.store(slots.control, MINIBATCH_WORD, 64);

  const batches: number[] = [];
  const small = createEvaluator(4, (rows) => {
    batches.push(rows);
    const evaluated = batches.reduce((sum, size) => sum + size);
    if (evaluated >= asked.length) Atomics.store(slots.control, STOP_WORD, 1);
    return undefined;
  });
  const large = createEvaluator(1000, () => Promise.reject(new Error('the device is lost')));
  const server = new LeafServer({
    slots,
    worker: 0,
    claims: new LeafClaims(slots, 0),
    live: new LiveEvaluators(slots),
    boards: new RootBoards(new RootTable(roots)),
    cache: null,
    tablebases: new LeafTablebases(new TablebaseWords(tablebases), assert.fail),
    evaluator: large,
    replaceEvaluator: async () => small,
  });
  await server.serve(new Int32Array(0));
  assert.deepEqual(batches, [4, 4, 3]);
  for (const slot of submitted) assert.equal(takeAnswer(queue, slot).kind, EVALUATED);
});
