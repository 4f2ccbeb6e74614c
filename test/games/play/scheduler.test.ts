import assert from 'node:assert/strict';
import { test } from 'node:test';
import { START_FEN } from '#sardonyx/chess/rules/index.js';
import { Game } from '#sardonyx/games/play/game.js';
import { SearchScheduler } from '#sardonyx/search/index.js';
import { createFaultyThread } from '../../support/evaluator-faults.js';
import { createGameSearch, hashNetwork, withPool } from './hash-network.js';

const start = (): Game => new Game({ fen: START_FEN, moves: [], origin: 'test' }, false);

/** A game that has gone on by the n-th legal move, so that every search differs. */
function createGame(n: number): Game {
  const game = start();
  const legal = new Uint16Array(256);
  const count = game.position.generateLegalMoves(legal);
  game.play({ move: legal[n % count] as never, score: null, depth: 0, nodes: 0, timeMs: 0 });
  return game;
}

test('a search among many finds what it finds alone', async () => {
  const network = hashNetwork('N', { params: { dirichletNoiseEpsilon: 0.25 } });
  await withPool(network, async (pool) => {
    const scheduler = new SearchScheduler();
    const run = async (n: number): Promise<number[]> => {
      const search = createGameSearch(pool, scheduler, network);
      search.setPosition(createGame(n), false);
      const { root, move } = await search.run({ nodes: 150 });
      search.close();
      return [move, root.visits, ...root.moves.map(({ visits }) => visits)];
    };
    const alone: number[][] = [];
    for (let n = 0; n < 20; n++) alone.push(await run(n));
    const together = await Promise.all(Array.from({ length: 20 }, (_, n) => run(n)));
    assert.deepEqual(together, alone);
    assert.ok(together.every(([, visits]) => visits === 150));
  });
});

test('many games keep batches full', async () => {
  // Half a millisecond a batch: longer than a round of 64 games takes to gather.
  const network = hashNetwork('N', { threads: 1, minibatch: 16, backendOptions: 'delay=2' });
  await withPool(network, async (pool) => {
    const scheduler = new SearchScheduler();
    await Promise.all(
      Array.from({ length: 64 }, async (_, n) => {
        const search = createGameSearch(pool, scheduler, network);
        search.setPosition(createGame(n), false);
        await search.run({ nodes: 20 });
      }),
    );
    const { evaluations, batches } = pool.queue.counters;
    assert.ok(evaluations / batches > 13, `${evaluations} evaluations in ${batches} batches of 16`);
  });
});

test('the scheduler lets timers run while it works, and a search can be stopped', async () => {
  const network = hashNetwork('N', { threads: 1, minibatch: 1, backendOptions: 'delay=1' });
  await withPool(network, async (pool) => {
    const search = createGameSearch(pool, new SearchScheduler(), network);
    search.setPosition(start(), false);
    setTimeout(() => search.stop(), 0);
    const { root } = await search.run({ nodes: 1_000_000 });
    assert.ok(root.visits < 1_000_000);
  });
});

test('values of the root are the mover’s, and unvisited moves have the root’s', async () => {
  const network = hashNetwork('N');
  await withPool(network, async (pool) => {
    const search = createGameSearch(pool, new SearchScheduler(), network);
    search.setPosition(start(), false);
    const { root } = await search.run({ nodes: 30 });
    const visited = root.moves.filter(({ visits }) => visits > 0);
    const sum = visited.reduce((total, { wl, visits }) => total + wl * visits, root.own.wl);
    assert.ok(Math.abs(sum / root.visits - root.wl) < 1e-6);
    assert.equal(root.moves.length, 20);
    assert.equal(root.moves.find(({ visits }) => visits === 0)?.wl, root.wl);
    assert.equal(root.moves[root.best].visits, Math.max(...root.moves.map(({ visits }) => visits)));
    assert.ok(Math.abs(root.moves.reduce((total, { prior }) => total + prior, 0) - 1) < 0.01);
  });
});

test('a search that loses its evaluators on the way is no answer, whatever it has found', async () => {
  const network = hashNetwork('N', {
    threads: 1,
    minibatch: 1,
    threadScript: createFaultyThread({ failAfter: 20, fallbackFails: true }),
  });
  await withPool(network, async (pool) => {
    const search = createGameSearch(pool, new SearchScheduler(), network);
    search.setPosition(start(), false);
    const { root } = await search.run({ nodes: 10 });
    assert.equal(root.visits, 10);
    search.setPosition(createGame(3), false);
    await assert.rejects(search.run({ nodes: 100 }), /No evaluator could answer/);
  });
});

test('a search that threw starts again from nothing', async () => {
  const network = hashNetwork('N');
  await withPool(network, async (pool) => {
    const { queue } = pool;
    const scheduler = new SearchScheduler();
    const search = createGameSearch(pool, scheduler, network);
    const run = async (game: Game, from = search): Promise<number[]> => {
      from.setPosition(game, false);
      const { root } = await from.run({ nodes: 60 });
      return root.moves.map(({ visits }) => visits);
    };
    const isDone = queue.isDone.bind(queue);
    let looks = 0;
    queue.isDone = (slot) => {
      if (isDone(slot) && ++looks === 20) throw new Error('planted');
      return isDone(slot);
    };
    await assert.rejects(run(createGame(3)), /planted/);
    assert.deepEqual(await run(createGame(4)), await run(createGame(4), createGameSearch(pool, scheduler, network)));
  });
});
