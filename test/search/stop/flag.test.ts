/** No manager loses on time, whatever the clock: simulated games with lag, jitter and clocks no GUI should send. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPrng } from '#sardonyx/util/index.js';
import { createManager, type GameOfMoves, MANAGERS, playClock, progressAfter } from './time-manager-games.js';

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
