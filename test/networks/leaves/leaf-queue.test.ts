import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPrng } from '#sardonyx/base/util/index.js';
import { LeafQueue } from '#sardonyx/networks/leaves/index.js';
import { LeafClaims } from '#sardonyx/networks/leaves/leaf-claims.js';
import {
  CLAIMED,
  createLeafSlotsBuffer,
  DONE,
  FREE,
  MAX_PATH_LENGTH,
  SUBMITTED,
  viewLeafSlots,
} from '#sardonyx/networks/leaves/leaf-slots.js';
import { RootTable } from '#sardonyx/networks/leaves/root-table.js';
import { TablebaseWords } from '#sardonyx/networks/nn/pool/tablebase-words.js';

function createParts(slotCount: number) {
  const shape = { slotCount, workers: 2 };
  const buffer = createLeafSlotsBuffer(shape);
  const slots = viewLeafSlots(buffer, shape);
  const handle = {
    ...shape,
    slots: buffer,
    roots: RootTable.createBuffer(),
    tablebases: TablebaseWords.createBuffer(),
    minibatch: 4,
    hasMovesLeft: false,
    reservedBytes: 0,
  };
  return {
    handle,
    slots,
    queue: new LeafQueue(handle),
    claims: [0, 1].map((worker) => new LeafClaims(slots, worker)),
  };
}

test('a slot goes from free over submitted and claimed to done and back', () => {
  const { slots, queue, claims } = createParts(4);
  const [evaluator] = claims;
  const into = new Int32Array(4);
  assert.ok(slots.state.every((state) => state === FREE));
  const slot = queue.send(3, [1, 2, 3, 4, 5, 6, 7, 8], 7);
  assert.equal(slots.state[slot], SUBMITTED);
  assert.equal(evaluator.claimInto(into, 4), 0, 'nothing can be claimed before the flush');
  queue.flush();
  assert.equal(evaluator.claimInto(into, 4), 1);
  assert.equal(into[0], slot);
  assert.equal(slots.state[slot], CLAIMED);
  assert.deepEqual([slots.root[slot], slots.pathLength[slot]], [3, 7]);
  const first = slot * MAX_PATH_LENGTH;
  assert.deepEqual([...slots.pathMoves.subarray(first, first + 8)], [1, 2, 3, 4, 5, 6, 7, 0]);
  assert.deepEqual([...evaluator.listAbandoned()], [slot], 'a successor finds what its predecessor had claimed');
  assert.equal(queue.isDone(slot), false);
  const event = Atomics.load(queue.event, 0);
  evaluator.markDone(slot);
  evaluator.announce();
  assert.equal(slots.state[slot], DONE);
  assert.ok(queue.isDone(slot));
  assert.equal(queue.waitForEvent(event, 1000), event + 1, 'an announced answer ends the wait');
  queue.release(slot);
  assert.equal(slots.state[slot], FREE);
  assert.equal(queue.send(3, [], 0), slot, 'the slot released last is used first');
});

test('slots are claimed in the order of submission, each once, also around the end of the ring', () => {
  const { queue, claims } = createParts(8);
  const into = new Int32Array(8);
  for (let round = 0; round < 20; round++) {
    const submitted = Array.from({ length: 5 }, () => queue.send(0, [], 0));
    queue.flush();
    const claimed: number[] = [];
    while (claimed.length < 5) {
      const evaluator = claims[claimed.length % 2];
      const count = evaluator.claimInto(into, 2);
      claimed.push(...into.subarray(0, count));
    }
    assert.deepEqual(claimed, submitted);
    for (const slot of claimed) claims[0].markDone(slot);
    for (const slot of claimed) queue.release(slot);
  }
});

test('the horizon of a leaf is the oldest leaf that was not released before, in whatever order leaves are', () => {
  const { slots, queue, claims } = createParts(8);
  const into = new Int32Array(8);
  const random = createPrng(4);
  /** Slots and numbers of the leaves that are owed, oldest first. */
  const owed: { slot: number; number: number }[] = [];
  let held = false;
  for (let round = 0; round < 3000; round++) {
    if (owed.length < 7 && random.nextFloat() < 0.5) {
      const slot = queue.send(0, [], 0);
      queue.flush();
      const number = slots.number[slot];
      assert.equal(slots.horizon[slot], owed[0]?.number ?? number);
      owed.push({ slot, number });
      assert.equal(claims[0].claimInto(into, 1), 1);
      claims[0].markDone(slot);
    } else if (owed.length > 0) {
      // In some rounds the oldest is kept while the ring goes round several times.
      if (round % 500 === 0) held = !held;
      const index = held ? owed.length - 1 : random.nextBelow(owed.length);
      if (held && index === 0) continue;
      queue.release(owed.splice(index, 1)[0].slot);
    }
  }
});

test('a queue whose slots are all in use says so, and a second queue sees which are free', () => {
  const { queue, slots } = createParts(4);
  const taken = Array.from({ length: 4 }, () => queue.send(0, [], 0));
  assert.equal(new Set(taken).size, 4);
  assert.equal(queue.findRoom(), 0);
  queue.release(taken[1]);
  assert.equal(queue.findRoom(), 1);
  assert.equal(slots.state.filter((state) => state === FREE).length, 1);
});

test('abandoned slots are released when they are done, and hold their root until then', () => {
  const { queue, claims } = createParts(4);
  const taken = [0, 1].map((row) => queue.send(row, [0], 1));
  for (const slot of taken) queue.abandon(slot);
  queue.flush();
  assert.deepEqual([queue.isRootInUse(0), queue.isRootInUse(1), queue.isRootInUse(2)], [true, true, false]);
  claims[0].claimInto(new Int32Array(4), 4);
  claims[0].markDone(taken[0]);
  assert.deepEqual([queue.isRootInUse(0), queue.isRootInUse(1)], [false, true]);
  assert.equal(queue.findRoom(), 3);
  claims[0].markDone(taken[1]);
  assert.equal(queue.isRootInUse(1), false);
  assert.equal(queue.findRoom(), 4);
});

test('a producer takes over what its predecessor has left: claimed, queued, done and never flushed', () => {
  const { handle, queue, claims } = createParts(8);
  const [claimed, done, queued] = Array.from({ length: 3 }, () => queue.send(5, [0], 1));
  queue.flush();
  claims[0].claimInto(new Int32Array(8), 2);
  claims[0].markDone(done);
  queue.send(0, [], 0);
  const successor = new LeafQueue(handle);
  assert.equal(successor.findRoom(), 5, 'four that nobody had, and the lost one');
  assert.ok(successor.isRootInUse(5));
  assert.equal(successor.findRoom(), 6);
  claims[0].claimInto(new Int32Array(8), 8);
  for (const slot of [claimed, queued]) claims[0].markDone(slot);
  assert.equal(successor.isRootInUse(5), false);
  assert.equal(successor.findRoom(), 8);
});

test('waiting for an event ends when the time is up', () => {
  const { queue } = createParts(4);
  const event = Atomics.load(queue.event, 0);
  assert.equal(queue.waitForEvent(event, 5), event);
});
