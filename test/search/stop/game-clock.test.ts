/** The time manager inside a search: what `smooth` decides while it runs, against lc0's formulas (stoppers/smooth.cc). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPrng } from '#sardonyx/base/util/index.js';
import type { ClockLimits, SearchLimits } from '#sardonyx/search/index.js';
import { IterationStats } from '#sardonyx/search/root/iteration-stats.js';
import { GameClock } from '#sardonyx/search/stop/game-clock.js';
import { FakeLeafChannel } from '../../support/fake-leaf-channel.js';
import { HashGame } from '../../support/hash-game.js';
import { SearchHarness } from '../../support/search-harness.js';
import { createManager, type GameOfMoves, MANAGERS, playClock, progressAfter } from './time-manager-games.js';

const NPS = 5000;
const BANK_MS = 60000 * 0.09;

function timed(timeManager: string, changes: Partial<ClockLimits> & { timeMs?: number } = {}): SearchLimits {
  const { timeMs = 60000, ...rest } = changes;
  const clock = { timeMs, incrementMs: 0 };
  return { startedAtMs: 0, clock: { clock, gamePly: 0, moveOverheadMs: 200, timeManager, slowmover: 1, ...rest } };
}

function statsAt(elapsedMs: number, changes: Partial<IterationStats> = {}): IterationStats {
  const playouts = (elapsedMs * NPS) / 1000;
  const stats = new IterationStats();
  stats.moveVisits.set([playouts * 0.97, playouts * 0.03]);
  return {
    ...stats,
    elapsedMs,
    sinceFirstBatchMs: elapsedMs,
    playouts,
    totalVisits: playouts,
    moveCount: 2,
    ...changes,
  };
}

function estimateMovesToGo(ply: number): number {
  const move = ply / 2;
  return 45.2 * (1 + 2 * (move / 45.2) ** 5.93) ** (1 / 5.93) - move;
}

/** Milliseconds for a move and what it pays into the bank, from the state before it. */
function planMove(
  state: { timeMs: number; bank: number; nps: number; reuse: number; use: number },
  ply: number,
  nodes: number,
) {
  const movesToGo = estimateMovesToGo(ply);
  const average = (state.timeMs - state.bank - 200) / movesToGo;
  const target = (average * state.nps) / 1000 / (1 - state.reuse) - nodes;
  const gross = (target / state.nps) * 1000;
  const toBank = 0.12 * gross;
  return { allocated: (gross - toBank) / state.use, average, toBank };
}

function assertClose(actual: number, expected: number, tolerance = 0.5): void {
  assert.ok(Math.abs(actual - expected) <= tolerance, `${actual} is not ${expected}`);
}

test('a doubtful best move opens the piggy bank, a safe one closes it again', () => {
  const clock = new GameClock();
  clock.start(timed('smooth(force-piggybank-ms=0)'), statsAt(0));
  const { allocated } = planMove({ timeMs: 60000, bank: BANK_MS, nps: 20000, reuse: 0.52, use: 0.7 }, 0, 0);
  clock.update(statsAt(500));
  assertClose(clock.limitMs, allocated);
  clock.update(statsAt(600, { isBestMoveDoubtful: true }));
  assertClose(clock.limitMs, allocated + 0.94 * BANK_MS);
  clock.update(statsAt(700));
  assertClose(clock.limitMs, allocated);
  assert.equal(clock.nodesPerSecond, NPS);
});

test('what a move took from the piggy bank, its speed and its tree count in the next budget', () => {
  const clock = new GameClock();
  clock.start(timed('smooth'), statsAt(0));
  const before = { timeMs: 60000, bank: BANK_MS, nps: 20000, reuse: 0.52, use: 0.7 };
  const first = planMove(before, 0, 0);
  const usedMs = first.allocated + 1000;
  clock.update(statsAt(usedMs, { isBestMoveDoubtful: true }));
  clock.finish(statsAt(usedMs));

  const finalNodes = (usedMs * NPS) / 1000;
  const reusedNodes = 0.4 * finalNodes;
  const moves = usedMs / first.average;
  const after = {
    timeMs: 60000 - usedMs,
    bank: BANK_MS + first.toBank - 1000,
    nps: NPS,
    reuse: 0.4 - (0.4 - 0.52) * 0.5 ** (moves / 3.39),
    use: 1 - (1 - 0.7) * 0.5 ** (moves / 5.51),
  };
  const second = planMove(after, 2, reusedNodes);
  clock.start(timed('smooth', { timeMs: after.timeMs, gamePly: 2 }), statsAt(0, { totalVisits: reusedNodes }));
  clock.update(statsAt(1200, { totalVisits: reusedNodes + 6000 }));
  assertClose(clock.limitMs, second.allocated, 2);
  clock.update(statsAt(1300, { totalVisits: reusedNodes + 6500, isBestMoveDoubtful: true }));
  assertClose(clock.limitMs, second.allocated + 0.94 * after.bank, 2);
});

test('a new game starts with a new bank; movetime is a bound beside the clock', () => {
  const clock = new GameClock();
  clock.start(timed('legacy'), statsAt(0));
  const first = clock.limitMs;
  clock.finish(statsAt(first));
  clock.start(timed('legacy', { timeMs: 60000 - first, gamePly: 2 }), statsAt(0));
  assert.ok(clock.limitMs < first / 2, 'no bonus for a second move');
  clock.reset();
  clock.start(timed('legacy'), statsAt(0));
  assert.equal(clock.limitMs, first);
  clock.start({ ...timed('legacy'), budgetMs: 90 }, statsAt(0));
  assert.equal(clock.limitMs, 90);
});

test('another game has a clock of its own, whether or not anybody announces it', () => {
  const harness = new SearchHarness(new FakeLeafChannel(new HashGame({ minMoves: 8, seed: 5 })), { tickMs: 1 });
  const search = (): number => {
    let budgetMs = 0;
    harness.search.start(
      { ...timed('legacy', { timeMs: 5000, gamePly: harness.played.length }), startedAtMs: harness.now },
      {
        onInfo: () => undefined,
        onStats: () => undefined,
        onWarning: () => undefined,
        onBudget: (ms) => {
          budgetMs = ms;
        },
        onBestMove: () => undefined,
      },
    );
    while (harness.search.step() !== 'done');
    return budgetMs;
  };
  const first = search();
  assert.ok(search() < first / 2, 'no bonus for a second move');
  harness.setPosition({ rootFen: 'another' });
  assert.equal(search(), first);
});

test('pondering has no limit of time', () => {
  const clock = new GameClock();
  clock.start({ ...timed('smooth'), ponder: true, budgetMs: 100 }, statsAt(0));
  assert.ok(!clock.isTimed);
  assert.equal(clock.limitMs, Number.POSITIVE_INFINITY);
});

test('a search on a clock runs to the limit that it knows at the end, and says its budget at the start', () => {
  const params = { smartPruningFactor: 0 };
  const game = new HashGame({ minMoves: 8, seed: 5 });
  const run = (timeManager: string): number => {
    const harness = new SearchHarness(new FakeLeafChannel(game), { tickMs: 1, params });
    const limits = timed(timeManager, { timeMs: 5000 });
    return harness.run({ ...limits, startedAtMs: harness.now }).infos.at(-1)?.timeMs ?? 0;
  };
  assertClose(run('alphazero'), (5000 - 200) * 0.12, 10);
  const bank = 5000 * 0.09;
  const { allocated } = planMove({ timeMs: 5000, bank, nps: 20000, reuse: 0.52, use: 0.7 }, 0, 0);
  // Whatever the best move does, the whole search lies in the first second.
  assertClose(run('smooth'), Math.min(allocated + 0.94 * bank, 4800), 10);
});

// No manager loses on time, whatever the clock: simulated games with lag, jitter and clocks no GUI should send.

function jitter(seed: number, baseMs: number, spikeMs: number): (move: number) => number {
  const prng = createPrng(seed);
  return () => baseMs + (prng.nextFloat() < 0.05 ? spikeMs : 0);
}

const GAMES: Record<string, GameOfMoves> = {
  '1 s + 10 ms, 3 ms of lag, spikes of 25 ms': {
    clock: { timeMs: 1000, incrementMs: 10 },
    moves: 250,
    lagMs: jitter(1, 3, 25),
    shortestSearchMs: 3,
  },
  '1 s + 10 ms, 9 ms of lag': {
    clock: { timeMs: 1000, incrementMs: 10 },
    moves: 250,
    lagMs: () => 8,
    shortestSearchMs: 1,
  },
  '0.5 s sudden death, 2 ms of lag': {
    clock: { timeMs: 500, incrementMs: 0 },
    moves: 90,
    lagMs: () => 2,
    shortestSearchMs: 1,
  },
  '0.5 s sudden death, a long game': {
    clock: { timeMs: 500, incrementMs: 0 },
    moves: 150,
    lagMs: () => 1,
    shortestSearchMs: 1,
  },
  '0.1 s + 0.1 s': { clock: { timeMs: 100, incrementMs: 100 }, moves: 200, lagMs: jitter(2, 2, 5) },
  '60 s sudden death, 50 ms of lag': { clock: { timeMs: 60000, incrementMs: 0 }, moves: 180, lagMs: jitter(3, 50, 60) },
  'three minutes + 2 s, half of the budget used': {
    clock: { timeMs: 180000, incrementMs: 2000 },
    moves: 150,
    lagMs: jitter(4, 30, 150),
    used: (move) => (move % 3 === 0 ? 1 : 0.3),
  },
};

for (const name of MANAGERS) {
  for (const [title, game] of Object.entries(GAMES)) {
    test(`${name} never lets the flag fall at ${title}`, () => {
      const left = playClock(createManager(name), game);
      assert.equal(left.length, game.moves);
      assert.ok(Math.min(...left) > 0, `least time left ${Math.min(...left)}`);
    });
  }
}

test('a game with overhead 0 and a steady lag survives because the lag is learnt', () => {
  const clock = { timeMs: 5000, incrementMs: 0 };
  const left = playClock(createManager('legacy'), { clock, moves: 130, moveOverheadMs: 0, lagMs: () => 12 });
  assert.ok(Math.min(...left) > 0, `least time left ${Math.min(...left)}`);
});

test('legacy really uses the time of a fast game', () => {
  const left = playClock(createManager('legacy'), GAMES['1 s + 10 ms, 3 ms of lag, spikes of 25 ms']);
  assert.ok(left[60] < 500, `after 60 moves ${left[60]} ms of 1000 are left`);
});

test('no clock makes a manager throw, and every answer is a finite number inside the clock', () => {
  const times = [-1e9, -1, 0, 1, 5, 50, 1000, 1e12, Number.NaN, Number.POSITIVE_INFINITY];
  const increments = [-100, 0, 10, 1e6, Number.NaN];
  const movesToGo = [undefined, -1, 0, 1, 40, Number.NaN];
  for (const name of MANAGERS) {
    for (const timeMs of times) {
      for (const incrementMs of increments) {
        for (const moves of movesToGo) {
          for (const gamePly of [-1, 0, 7, 100, 1200]) {
            const manager = createManager(name);
            for (let move = 0; move < 2; move++) {
              const clock = { timeMs, incrementMs, movesToGo: moves };
              const budget = manager.startMove({ clock, gamePly, moveOverheadMs: 200, treeNodes: 50 });
              const limit = budget.limitMs(progressAfter(10));
              const label = `${name} ${timeMs}+${incrementMs}/${moves} ply ${gamePly}: ${limit}`;
              assert.ok(Number.isFinite(limit) && limit >= 0, label);
              if (Number.isFinite(timeMs)) assert.ok(limit <= Math.max(0, timeMs), label);
              budget.finish(progressAfter(limit));
            }
          }
        }
      }
    }
  }
});
