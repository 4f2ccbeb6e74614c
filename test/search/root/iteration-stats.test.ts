/** What stoppers and the clock are told of the root, on trees whose values are written by hand. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fillIterationStats, IterationStats, type RootContext } from '#sardonyx/search/root/iteration-stats.js';
import {
  RECORD_D,
  RECORD_DOUBLES,
  RECORD_M,
  RECORD_VISITS,
  RECORD_WL,
  RECORD_WORDS,
  type RecordIndex,
} from '#sardonyx/search/tree/layout.js';
import { getOutcome, getVisitedRecord } from '#sardonyx/search/tree/read-tree.js';
import type { Tree } from '#sardonyx/search/tree/tree.js';
import { FakeLeafChannel } from '../../support/fake-leaf-channel.js';
import { HashGame, type HashGameOptions } from '../../support/hash-game.js';
import { SearchHarness } from '../../support/search-harness.js';

interface Values {
  readonly wl: number;
  readonly d?: number;
  readonly m?: number;
  readonly visits?: number;
}

function search(game: Partial<HashGameOptions>, playouts: number): SearchHarness {
  const harness = new SearchHarness(new FakeLeafChannel(new HashGame(game)));
  harness.run({ playouts });
  return harness;
}

function readStats(harness: SearchHarness, changes: Partial<RootContext> = {}) {
  const stats = new IterationStats();
  const { search } = harness as unknown as { search: { getReportContext(): RootContext } };
  fillIterationStats(stats, { ...search.getReportContext(), ...changes }, true);
  return stats;
}

function write({ store }: Tree, record: RecordIndex, { wl, d = 0, m, visits }: Values): void {
  store.recordDoubles[record * RECORD_DOUBLES + RECORD_WL] = wl;
  store.recordFloats[record * RECORD_WORDS + RECORD_D] = d;
  if (m !== undefined) store.recordFloats[record * RECORD_WORDS + RECORD_M] = m;
  if (visits !== undefined) store.recordWords[record * RECORD_WORDS + RECORD_VISITS] = visits;
}

function getVisitedRecords(tree: Tree): RecordIndex[] {
  const records: RecordIndex[] = [];
  for (let edge = 0; ; edge++) {
    const record = getVisitedRecord(tree, tree.rootNode, edge);
    if (record === -1) return records;
    records.push(record);
  }
}

test('a proof counts, and not the value that its move had before', () => {
  const harness = search({ minMoves: 6, maxMoves: 6, draws: 0.5, seed: 4 }, 400);
  const { tree } = harness.search;
  const drawn = getVisitedRecords(tree).filter((record) => getOutcome(tree, record) === 0);
  for (const record of drawn) write(tree, record, { wl: 0.3 });
  const { settledMoves, winningMoves, losingMoves, mateInMoves } = readStats(harness);
  assert.ok(settledMoves > 0);
  assert.deepEqual([winningMoves, losingMoves, mateInMoves], [0, 0, Number.POSITIVE_INFINITY]);
});

/** A root with value 0.95 and 40 plies to go for its mover, and three visited moves of six. */
function createWonRoot(): SearchHarness {
  const harness = search({ minMoves: 6, maxMoves: 6, seed: 2 }, 60);
  const { tree } = harness.search;
  const [most, other, ...rest] = getVisitedRecords(tree);
  write(tree, tree.rootRecord, { wl: -0.95, m: 40 });
  write(tree, most, { wl: 0.95, m: 20, visits: 900 });
  write(tree, other, { wl: 0.955, m: 45, visits: 90 });
  for (const record of rest) write(tree, record, { wl: 0.2, m: 40, visits: 1 });
  return harness;
}

test('the most visited move is in doubt while another one has a higher utility: value and moves left', () => {
  const harness = createWonRoot();
  assert.equal(readStats(harness, { hasMovesLeft: false }).isBestMoveDoubtful, true);
  assert.equal(readStats(harness, { hasMovesLeft: true }).isBestMoveDoubtful, false);
});

test('moves that nobody has visited have the value of first play urgency', () => {
  const harness = search({ minMoves: 20, maxMoves: 20, seed: 2 }, 8);
  const { tree } = harness.search;
  for (const record of getVisitedRecords(tree)) write(tree, record, { wl: -0.9 });
  write(tree, tree.rootRecord, { wl: 0.1 });
  assert.equal(readStats(harness, { hasMovesLeft: false }).isBestMoveDoubtful, true);
  write(tree, tree.rootRecord, { wl: 0.95 });
  assert.equal(readStats(harness, { hasMovesLeft: false }).isBestMoveDoubtful, false);
});
