/** The four managers against figures worked out by hand from lc0's formulas (facts file, section 1.9). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { MoverClock } from '#sardonyx/search/protocol/search-protocol.js';
import { capOverheadMs, computeMoveTimeBudgetMs } from '#sardonyx/search/stop/game-clock.js';
import { parseTimeManager } from '#sardonyx/search/stop/parse-time-manager.js';
import { createManager, progressAfter } from './time-manager-games.js';

interface Ask {
  readonly clock: MoverClock;
  readonly gamePly?: number;
  readonly moveOverheadMs?: number;
  readonly treeNodes?: number;
}

function limitOf(manager: ReturnType<typeof createManager>, ask: Ask, elapsedMs = 0): number {
  const { gamePly = 0, moveOverheadMs = 200, treeNodes = 0 } = ask;
  return manager.startMove({ clock: ask.clock, gamePly, moveOverheadMs, treeNodes }).limitMs(progressAfter(elapsedMs));
}

function assertClose(actual: number, expected: number, tolerance = 0.01): void {
  assert.ok(Math.abs(actual - expected) <= tolerance, `${actual} is not ${expected}`);
}

const MINUTE = { timeMs: 60000, incrementMs: 0 };

test('legacy gives the first move of the game 2.8 shares of an even split', () => {
  assertClose(limitOf(createManager('legacy'), { clock: MINUTE }), (59800 / 51.5) * 2.8);
});

test('legacy adds a quarter share for every ply of the opening book, up to twelve', () => {
  const movesToGo = (ply: number): number => 51.5 * (1 + 2 * (ply / 2 / 51.5) ** 7) ** (1 / 7) - ply / 2;
  const at8 = limitOf(createManager('legacy'), { clock: MINUTE, gamePly: 8 });
  assertClose(at8, (59800 / movesToGo(8)) * 4.8);
  const at20 = limitOf(createManager('legacy'), { clock: MINUTE, gamePly: 20 });
  assertClose(at20, (59800 / movesToGo(20)) * 5.8);
});

test('legacy counts the increments still to come', () => {
  const manager = createManager('legacy(first-move-bonus=0)');
  assertClose(limitOf(manager, { clock: { timeMs: 10000, incrementMs: 100 } }), (10000 + 100 * 50.5 - 200) / 51.5);
});

test('legacy divides by the moves to the time control when that is sooner', () => {
  const manager = createManager('legacy(first-move-bonus=0,book-ply-bonus=0)');
  assertClose(limitOf(manager, { clock: { ...MINUTE, movesToGo: 10 } }), 5980);
  assertClose(
    limitOf(createManager('legacy(first-move-bonus=0)'), { clock: { ...MINUTE, movesToGo: 0 } }),
    59800 / 51.5,
  );
});

test('legacy spends on the next move what the last one saved', () => {
  const manager = createManager('legacy(first-move-bonus=0)');
  const first = manager.startMove({ clock: MINUTE, gamePly: 0, moveOverheadMs: 200, treeNodes: 0 });
  const budget = first.limitMs(progressAfter(0));
  first.finish(progressAfter(budget - 500));
  // gamePly 40: not the next move of the same game, so no lag is read from the clock.
  const mtg = 51.5 * (1 + 2 * (20 / 51.5) ** 7) ** (1 / 7) - 20;
  assertClose(limitOf(manager, { clock: MINUTE, gamePly: 40 }), (59800 - 500) / mtg + 500);
});

test('slowmover scales a budget; above 1 only when smart pruning could give time back', () => {
  const plain = 59800 / 51.5;
  assertClose(limitOf(createManager('legacy(first-move-bonus=0,slowmover=1.5)'), { clock: MINUTE }), plain * 1.5);
  assertClose(limitOf(createManager('legacy(first-move-bonus=0)', 0.5), { clock: MINUTE }), plain * 0.5);
  const short = { timeMs: 5000, incrementMs: 0 };
  const expected = (5000 - 200) / 51.5;
  assertClose(limitOf(createManager('legacy(first-move-bonus=0,slowmover=1.2)'), { clock: short }), expected);
});

test('simple takes a share that grows with the ply and with the increment', () => {
  assertClose(limitOf(createManager('simple'), { clock: MINUTE, gamePly: 30 }), 59800 * (0.014 + 30 * 0.00049));
  const clock = { timeMs: 60000, incrementMs: 600 };
  assertClose(limitOf(createManager('simple'), { clock }), 59800 * (0.014 + 0.015));
  assertClose(limitOf(createManager('simple(opening-bonus-pct=100)'), { clock: MINUTE }), 59800 * 0.028);
});

test('alphazero takes twelve percent', () => {
  assertClose(limitOf(createManager('alphazero'), { clock: MINUTE }), 59800 * 0.12);
  assertClose(limitOf(createManager('alphazero(alphazero-time-pct=5)'), { clock: MINUTE }), 59800 * 0.05);
});

test('smooth plans in nodes, saves a part, and expects to use seven tenths of its budget', () => {
  const bank = 60000 * 0.09;
  const average = (60000 - bank - 200) / 45.2;
  const gross = average / (1 - 0.52);
  const allocated = (gross * 0.88) / 0.7;
  // After the first second the piggy bank is opened only for a best move in danger, and here it is not.
  const ask = { clock: MINUTE };
  assertClose(limitOf(createManager('smooth(force-piggybank-ms=0)'), ask, 100), allocated, 0.5);
});

test('smooth opens the piggy bank in the first second and when the best move is being overtaken', () => {
  const request = { clock: MINUTE, gamePly: 0, moveOverheadMs: 200, treeNodes: 0 };
  const budget = createManager('smooth').startMove(request);
  const forced = budget.limitMs({ ...progressAfter(500), moveVisits: Uint32Array.of(2000, 500) });
  const calm = budget.limitMs({ ...progressAfter(1500), moveVisits: Uint32Array.of(7000, 500) });
  assertClose(forced - calm, 60000 * 0.09 * 0.94, 0.5);
  const shaky = createManager('smooth').startMove(request);
  shaky.limitMs({ ...progressAfter(1100), moveVisits: Uint32Array.of(4000, 1500) });
  const endangered = shaky.limitMs({ ...progressAfter(1500), moveVisits: Uint32Array.of(4000, 3500) });
  assertClose(endangered, forced, 0.5);
});

test('the overhead is capped at a tenth of a short clock and untouched on a long one', () => {
  assert.equal(capOverheadMs(200, 60000), 200);
  assert.equal(capOverheadMs(200, 1000), 100);
  assert.equal(capOverheadMs(200, 500, true), 100);
  assert.equal(capOverheadMs(200, 100), 10);
  assert.equal(capOverheadMs(200, -5), 0);
  assert.equal(computeMoveTimeBudgetMs(5000, 200), 4800);
  assert.equal(computeMoveTimeBudgetMs(100, 200), 90);
  assert.equal(computeMoveTimeBudgetMs(-1, 200), 0);
});

test('every manager is known by its name, with and without parameters', () => {
  const texts = [
    'legacy',
    'legacy()',
    ' legacy ( slowmover = 1.2 , steepness=6 ) ',
    'smooth',
    'smooth(mle-legacy(midpoint=40,steepness=5),max-move-budget=0.3)',
    'simple(base-pct=2)',
    'alphazero(alphazero-time-pct=10)',
  ];
  for (const text of texts) assert.ok(parseTimeManager(text).ok, text);
});

test('what is wrong with a time manager is said in one sentence', () => {
  const wrong: [text: string, sentence: RegExp][] = [
    ['', /must be one of legacy, smooth, simple, alphazero/],
    ['quick', /must be one of/],
    ['constructor', /must be one of/],
    ['legacy,smooth', /must be one of/],
    ['legacy(slomover=1)', /has no parameter slomover/],
    ['legacy(slowmover)', /written key=value/],
    ['legacy(slowmover=fast)', /between 0 and 100/],
    ['legacy(steepness=0)', /between 0.001/],
    ['simple(base-pct=-1)', /between/],
    ['smooth(max-piggybank-moves=-5)', /between 0 and/],
    ['smooth(force-piggybank-ms=-1)', /between 0 and/],
    ['alphazero(toString=1)', /has no parameter toString/],
  ];
  for (const [text, sentence] of wrong) {
    const result = parseTimeManager(text);
    assert.ok(!result.ok, text);
    assert.match(result.error, sentence);
  }
});

test('Slowmover belongs to legacy and may be given only once', () => {
  assert.ok(parseTimeManager('legacy', 1.5).ok);
  assert.ok(!parseTimeManager('smooth', 1.5).ok);
  assert.ok(!parseTimeManager('legacy(slowmover=2)', 1.5).ok);
});
