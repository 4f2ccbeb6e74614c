import assert from 'node:assert/strict';
import { test } from 'node:test';
import { unwrap } from '#sardonyx/base/util/index.js';
import { type Move, NO_MOVE, parseUciMove } from '#sardonyx/chess/rules/index.js';
import type { Engine, SearchReport } from '#sardonyx/engine/core/index.js';
import { NO_SEARCH, type SearchLine } from '#sardonyx/search/index.js';
import { createEngine, createInfo, type FakeWorld, settle } from './fake-ports.js';

const MATED = 'R5k1/5ppp/8/8/8/8/8/6K1 b - - 0 1';
const STALEMATE = '7k/5Q2/6K1/8/8/8/8/8 b - - 0 1';

function moveOf(engine: Engine, text: string): Move {
  return unwrap(parseUciMove(engine.position.position, text));
}

function createWatched(): { engine: Engine; world: FakeWorld; reports: SearchReport[] } {
  const reports: SearchReport[] = [];
  const { engine, world } = createEngine(undefined, { report: (report) => reports.push(report) });
  return { engine, world, reports };
}

/** Every `go` is answered at once with this move. */
function answerWith(world: FakeWorld, move: number): void {
  world.onCreateSearch = (search) => {
    search.onGo = (id) => {
      search.send({ type: 'info', id, info: createInfo([move]) });
      search.send({ type: 'bestMove', id, move, ponder: 0 });
    };
  };
}

/** Searches run until `stop`, then answer with this move. */
function answerOnStop(world: FakeWorld, move: number): void {
  world.onCreateSearch = (search) => {
    search.onStop = () => search.send({ type: 'bestMove', id: search.lastGo.id, move, ponder: 0 });
  };
}

/** A search has reported this move, and does not end by itself. */
async function startEndless() {
  const created = createEngine();
  const move = moveOf(created.engine, 'e2e4');
  created.world.onCreateSearch = (search) => {
    search.onGo = (id) => search.send({ type: 'info', id, info: createInfo([move]) });
  };
  created.engine.go({ infinite: true });
  await settle();
  return { ...created, move };
}

test('go waits for the network, reports and answers once', async () => {
  const { engine, world, said } = createEngine();
  const loaded = world.holdLoading();
  const move = moveOf(engine, 'e2e4');
  answerWith(world, move);
  engine.go({ nodes: 10 });
  await settle();
  assert.deepEqual(said, []);
  loaded();
  await settle();
  assert.deepEqual(said, ['report 1', `best ${move}`]);
});

test('a move without any report gets one first', async () => {
  const { engine, world, said } = createEngine();
  const move = moveOf(engine, 'd2d4');
  answerOnStop(world, move);
  engine.go({ infinite: true });
  await settle();
  engine.stop();
  assert.deepEqual(said, ['report 1', `best ${move}`]);
});

test('there is no tree to dump before the first search', async () => {
  const { engine } = createEngine();
  assert.equal(await engine.dumpTree({ depth: 2, minVisits: 0 }), null);
});

test('stop while the network loads answers at once with a legal move', async () => {
  const { engine, world, said } = createEngine();
  world.loading = new Promise(() => undefined);
  engine.go({ infinite: true });
  await settle();
  engine.stop();
  assert.equal(said.length, 2);
  assert.match(said[1], /^best [1-9]/);
});

test('a second go stops the first, and each is answered once', async () => {
  const { engine, world, said } = createEngine();
  const first = moveOf(engine, 'e2e4');
  answerOnStop(world, first);
  engine.go({ infinite: true });
  await settle();
  unwrap(engine.setPosition(null, ['e2e4']));
  engine.go({ infinite: true });
  await settle();
  assert.deepEqual(said, ['report 1', `best ${first}`]);
  const second = moveOf(engine, 'e7e5');
  world.search.onStop = () =>
    world.search.send({ type: 'bestMove', id: world.search.lastGo.id, move: second, ponder: 0 });
  engine.stop();
  engine.stop();
  assert.deepEqual(said.slice(2), ['report 1', `best ${second}`]);
  assert.equal(world.searches.length, 1);
});

test('a finished game is answered without a search; infinite waits for stop', async () => {
  for (const fen of [MATED, STALEMATE]) {
    const { engine, said } = createEngine();
    unwrap(engine.setPosition(fen, []));
    engine.go({ nodes: 100 });
    assert.deepEqual(said, ['report 0', 'best 0']);
    engine.go({ infinite: true });
    await settle();
    assert.deepEqual(said.slice(2), ['report 0']);
    engine.stop();
    assert.deepEqual(said.slice(3), ['best 0']);
  }
});

test('without a network every go is answered with a legal move and the reason', async () => {
  const { engine, world, said } = createEngine();
  world.loadError = new Error('File x.onnx does not exist');
  answerWith(world, moveOf(engine, 'e2e4'));
  engine.go({ moveTimeMs: 100 });
  await settle();
  assert.equal(said[0], 'error File x.onnx does not exist');
  assert.match(said.at(-1) ?? '', /^best [1-9]/);
  engine.go({ moveTimeMs: 100 });
  await settle();
  assert.equal(said.filter((line) => line.includes('x.onnx')).length, 1);
  world.loadError = null;
  unwrap(engine.setOption('MinibatchSize', '11'));
  engine.go({ moveTimeMs: 100 });
  await settle();
  assert.equal(said.at(-1), `best ${moveOf(engine, 'e2e4')}`);
});

test('when the search thread dies or errs the best line so far is played, and the next search has a new thread', async () => {
  for (const kind of ['dies', 'errs', 'errs between searches', 'plays nonsense']) {
    const { engine, world, said } = createEngine();
    const move = moveOf(engine, 'g1f3');
    engine.go({ nodes: 1000 });
    await settle();
    const { search } = world;
    search.send({ type: 'info', id: search.lastGo.id, info: createInfo([move]) });
    if (kind === 'dies') search.fail(new Error('out of memory'));
    else if (kind === 'errs between searches') search.send({ type: 'error', id: NO_SEARCH, text: 'no position' });
    else if (kind === 'errs') search.send({ type: 'error', id: search.lastGo.id, text: 'provider failed' });
    else search.send({ type: 'bestMove', id: search.lastGo.id, move: 0xfff, ponder: 0 });
    assert.match(said.at(-2) ?? '', /^error /);
    assert.equal(said.at(-1), `best ${move}`, kind);
    answerWith(world, move);
    engine.go({ nodes: 1000 });
    await settle();
    assert.equal(world.searches.length, 2);
    assert.ok(search.isDisposed);
    assert.equal(said.at(-1), `best ${move}`);
  }
});

test('a failure in infinite analysis is told at once and answered at stop', async () => {
  const { engine, world, said } = createEngine();
  engine.go({ infinite: true });
  await settle();
  world.search.fail(new Error('gone'));
  assert.deepEqual(said, ['error The search thread has failed: gone']);
  engine.stop();
  assert.match(said.at(-1) ?? '', /^best [1-9]/);
});

test('every go of a burst is answered once, and a stop is for all that were asked for before it', async () => {
  const bursts = [
    ['infinite', 'infinite', 'stop'],
    ['infinite', 'infinite', 'nodes'],
    ['ponder', 'ponderhit', 'stop'],
    ['ponder', 'ponderhit', 'nodes'],
    ['infinite', 'ponder', 'stop'],
    ['infinite', 'ponder', 'ponderhit', 'stop'],
    ['infinite', 'infinite', 'infinite', 'newgame'],
  ];
  for (const burst of bursts) {
    const { engine, world, said } = createEngine();
    const move = moveOf(engine, 'g1f3');
    world.onCreateSearch = (search) => {
      const answer = (id: number): void => queueMicrotask(() => search.send({ type: 'bestMove', id, move, ponder: 0 }));
      search.onStop = () => answer(search.lastGo.id);
      search.onGo = (id) => {
        if (search.lastGo.limits.infinite !== true) answer(id);
      };
    };
    unwrap(engine.setPosition(null, ['e2e4', 'e7e5']));
    for (const word of burst) {
      if (word === 'stop') engine.stop();
      else if (word === 'newgame') engine.newGame();
      else if (word === 'ponderhit') unwrap(engine.ponderHit());
      else engine.go(word === 'nodes' ? { nodes: 10 } : { [word]: true });
    }
    await settle();
    await settle();
    const asked = burst.filter((word) => ['infinite', 'ponder', 'nodes'].includes(word)).length;
    assert.equal(said.filter((line) => line.startsWith('best')).length, asked, burst.join(' '));
    assert.equal(engine.isSearching, false, burst.join(' '));
  }
});

test('searchmoves bounds even the emergency answer', async () => {
  const { engine, world, said } = createEngine();
  const only = moveOf(engine, 'h2h3');
  world.loadError = new Error('no network');
  engine.go({ nodes: 10, searchMoves: [only] });
  await settle();
  assert.equal(said.at(-1), `best ${only}`);
});

test('pondering starts one ply earlier, and ponderhit starts the search proper under the clock', async () => {
  const { engine, world, said } = createEngine();
  unwrap(engine.setPosition(null, ['e2e4', 'e7e5']));
  const { moves } = engine.position;
  const move = moveOf(engine, 'g1f3');
  answerOnStop(world, NO_MOVE);
  engine.go({ ponder: true, whiteTimeMs: 60000, blackTimeMs: 60000, searchMoves: [move] });
  await settle();
  const { limits, id } = world.search.lastGo;
  assert.deepEqual([limits.ponder, limits.reportedMove, limits.clock], [true, moves[1], undefined]);
  assert.deepEqual(world.search.lastGo.position.moves, moves.slice(0, 1));
  assert.equal(world.search.lastGo.position.blackToMove, true);
  assert.equal(limits.searchMoves, undefined);
  assert.ok(engine.ponderHit().ok);
  assert.deepEqual(said, []);
  const after = world.search.lastGo;
  assert.notEqual(after.id, id);
  assert.deepEqual(world.search.lastGo.position.moves, moves);
  assert.equal(after.limits.ponder, undefined);
  assert.equal(after.limits.clock?.clock.timeMs, 60000);
  assert.deepEqual(after.limits.searchMoves, [move]);
  assert.ok(after.limits.startedAtMs >= limits.startedAtMs);
  world.search.send({ type: 'bestMove', id: after.id, move, ponder: 0 });
  assert.deepEqual(said, ['report 1', `best ${move}`]);
});

test('pondering where no move was played is bound by searchmoves, before ponderhit and after it', async () => {
  for (const end of ['ponderhit', 'stop']) {
    const { engine, world, said } = createEngine();
    const only = moveOf(engine, 'h2h3');
    world.onCreateSearch = (search) => {
      search.onStop = () => {
        const [move = moveOf(engine, 'e2e4')] = search.lastGo.limits.searchMoves ?? [];
        search.send({ type: 'bestMove', id: search.lastGo.id, move, ponder: 0 });
      };
    };
    engine.go({ ponder: true, whiteTimeMs: 60000, blackTimeMs: 60000, searchMoves: [only] });
    await settle();
    if (end === 'ponderhit') unwrap(engine.ponderHit());
    engine.stop();
    assert.deepEqual(said, ['report 1', `best ${only}`], end);
    assert.equal(world.searches.length, 1);
  }
});

test('a wanted mate ends the search that found it, and not the one that waits', async () => {
  const { engine, world, said } = createEngine();
  unwrap(engine.setPosition('6k1/5ppp/8/8/8/8/8/R5K1 w - - 0 1', []));
  engine.go({ mate: 2 });
  await settle();
  const { search } = world;
  const { id } = search.lastGo;
  const say = (): void => search.send({ type: 'info', id, info: createInfo([moveOf(engine, 'g1f1')]) });
  say();
  await settle();
  assert.equal(search.stops, 1);
  engine.go({ infinite: true });
  say();
  search.send({ type: 'bestMove', id, move: moveOf(engine, 'g1f1'), ponder: 0 });
  await settle();
  assert.equal(said.at(-1), `best ${moveOf(engine, 'a1a8')}`);
  assert.equal(search.lastGo.limits.infinite, true);
  assert.ok(engine.needsStop);
  assert.equal(search.stops, 1);
});

test('go mate ends when there is no such mate, and not when a longer one has been asked for', async () => {
  for (const [mate, stops, move, fen] of [
    [1, 1, 'e1f2', '8/8/4k3/8/8/8/4P3/4K3 w - - 0 1'],
    [2, 1, 'e1f2', '8/8/4k3/8/8/8/4P3/4K3 w - - 0 1'],
    [20, 0, 'e1f2', '8/8/4k3/8/8/8/4P3/4K3 w - - 0 1'],
    // Mate in two, and none in one.
    [1, 1, 'a1b1', '7k/8/5K2/8/8/8/8/R7 w - - 0 1'],
  ] as const) {
    const { engine, world } = createEngine();
    unwrap(engine.setOption('MateSearch', 'false'));
    unwrap(engine.setPosition(fen, []));
    engine.go({ mate });
    await settle();
    const { search } = world;
    search.send({ type: 'info', id: search.lastGo.id, info: createInfo([moveOf(engine, move)], { nodes: 100_000 }) });
    await settle();
    assert.equal(search.stops, stops, `mate ${mate}`);
  }
});

test('while pondering the expected reply is told in the view of the player who waits', async () => {
  const { world, reports, engine } = createWatched();
  unwrap(engine.setPosition(null, ['e2e4', 'e7e5']));
  const reply = engine.position.moves[1];
  const move = moveOf(engine, 'g1f3');
  engine.go({ ponder: true, whiteTimeMs: 60000, blackTimeMs: 60000 });
  await settle();
  const { id } = world.search.lastGo;
  const [line] = createInfo([reply, move]).lines;
  const say = (changes: Partial<SearchLine>): void =>
    world.search.send({ type: 'info', id, info: createInfo([], { lines: [{ ...line, ...changes }] }) });
  world.search.send({ type: 'info', id, info: createInfo([], { lines: [] }) });
  assert.equal(reports.length, 0);
  say({ wl: 0.5, d: 0.3, q: 0.5, mu: 0.4, m: 41 });
  assert.deepEqual(reports[0].lines[0].pv, [move]);
  assert.ok(reports[0].lines[0].score.value < 0);
  assert.deepEqual(reports[0].lines[0].wdl, { win: 100, draw: 300, loss: 600 });
  assert.deepEqual([reports[0].depth, reports[0].seldepth], [2, 4]);
  say({ mate: 3 });
  say({ mate: -2 });
  assert.deepEqual(
    reports.slice(1).map((report) => report.lines[0].score.value),
    [-2, 2],
  );
});

test('the time of a search begins when its network is there, and a clock has run meanwhile', async () => {
  const { engine, world } = createEngine();
  const load = world.holdLoading();
  answerWith(world, moveOf(engine, 'e2e4'));
  const now = (): number => performance.timeOrigin + performance.now();
  const requestedAtMs = now();
  engine.go({ moveTimeMs: 1000, whiteTimeMs: 60000 });
  await settle();
  const loadedAtMs = now();
  load();
  await settle();
  const { limits } = world.search.lastGo;
  assert.ok(limits.startedAtMs >= loadedAtMs);
  assert.equal(limits.budgetMs, 900);
  const leftMs = limits.clock?.clock.timeMs ?? 0;
  assert.ok(
    leftMs <= 60000 - (loadedAtMs - requestedAtMs) + 1 && leftMs >= 60000 - (limits.startedAtMs - requestedAtMs),
  );
  engine.go({ whiteTimeMs: 60000 });
  assert.equal(world.search.lastGo.limits.clock?.clock.timeMs, 60000);
});

test('ponderhit before the network is loaded starts an ordinary search', async () => {
  const { engine, world, said } = createEngine();
  const loaded = world.holdLoading();
  answerWith(world, moveOf(engine, 'e2e4'));
  engine.go({ ponder: true, whiteTimeMs: 60000, blackTimeMs: 60000 });
  assert.ok(engine.ponderHit().ok);
  loaded();
  await settle();
  assert.equal(world.search.lastGo.limits.ponder, undefined);
  assert.equal(said.at(-1), `best ${moveOf(engine, 'e2e4')}`);
});

test('pondering on a finished game is answered after ponderhit, not before', async () => {
  const { engine, said } = createEngine();
  unwrap(engine.setPosition(MATED, []));
  engine.go({ ponder: true, whiteTimeMs: 1000, blackTimeMs: 1000 });
  await settle();
  assert.deepEqual(said, ['report 0']);
  assert.ok(engine.ponderHit().ok);
  assert.equal(said.at(-1), 'best 0');
  assert.equal(said.filter((text) => text.startsWith('best')).length, 1);
});

test('stop ends pondering with one answer for the position; ponderhit without pondering is an error', async () => {
  for (const moves of [[], ['e2e4', 'e7e5']]) {
    const { engine, world, said } = createEngine();
    unwrap(engine.setPosition(null, moves));
    const move = moveOf(engine, 'd2d4');
    answerOnStop(world, move);
    assert.ok(!engine.ponderHit().ok);
    engine.go({ ponder: true, whiteTimeMs: 1000, blackTimeMs: 1000 });
    await settle();
    engine.stop();
    engine.stop();
    assert.deepEqual(said, ['report 1', `best ${move}`]);
    assert.ok(!engine.ponderHit().ok);
  }
});

test('a wrong guess while pondering ends the search one ply earlier, so that its tree serves every reply', async () => {
  const { engine, world, said } = createEngine();
  unwrap(engine.setPosition(null, ['e2e4', 'e7e5']));
  const [, reply] = engine.position.moves;
  const move = moveOf(engine, 'g1f3');
  answerOnStop(world, reply);
  engine.go({ ponder: true, whiteTimeMs: 1000, blackTimeMs: 1000 });
  await settle();
  const { id } = world.search.lastGo;
  world.search.send({ type: 'info', id, info: createInfo([reply, move]) });
  engine.stop();
  assert.deepEqual(said, ['report 1', `best ${move}`]);
  assert.equal(world.search.lastGo.id, id);
  assert.equal(world.search.lastGo.position.moves.length, 1);
});

test('stopped before it knows the expected reply, pondering ends in a search without a clock', async () => {
  const { engine, world, said } = createEngine();
  unwrap(engine.setPosition(null, ['e2e4', 'e7e5']));
  const move = moveOf(engine, 'g1f3');
  answerOnStop(world, move);
  engine.go({ ponder: true, whiteTimeMs: 1000, blackTimeMs: 1000 });
  await settle();
  engine.stop();
  assert.equal(world.search.lastGo.position.moves.length, 2);
  assert.equal(world.search.lastGo.limits.clock, undefined);
  assert.deepEqual(said, ['report 1', `best ${move}`]);
});

test('a go while pondering stops it: each is answered once, in order', async () => {
  const { engine, world, said } = createEngine();
  unwrap(engine.setPosition(null, ['e2e4']));
  const move = moveOf(engine, 'e7e5');
  answerOnStop(world, move);
  engine.go({ ponder: true, whiteTimeMs: 1000, blackTimeMs: 1000 });
  await settle();
  engine.go({ infinite: true });
  await settle();
  assert.deepEqual(said, ['report 1', `best ${move}`]);
  engine.stop();
  assert.deepEqual(said.slice(2), ['report 1', `best ${move}`]);
});

test('a search that ends by itself while it must wait is told at once and answered at stop', async () => {
  for (const request of [{ infinite: true }, { ponder: true, whiteTimeMs: 1000 }]) {
    const { engine, world, said } = createEngine();
    unwrap(engine.setPosition(null, ['e2e4']));
    engine.go(request);
    await settle();
    world.search.send({ type: 'bestMove', id: world.search.lastGo.id, move: 0, ponder: 0 });
    assert.deepEqual(said, ['error The search ended before stop']);
    engine.stop();
    assert.match(said.at(-1) ?? '', /^best [1-9]/);
  }
});

test('a search without a move says that nothing could be evaluated, and is answered with a legal one', async () => {
  const { engine, world, said } = createEngine();
  engine.go({ nodes: 1000 });
  await settle();
  world.search.send({ type: 'bestMove', id: world.search.lastGo.id, move: 0, ponder: 0 });
  assert.equal(said[0], 'error The search found no move: no position could be evaluated');
  assert.match(said.at(-1) ?? '', /^best [1-9]/);
});

test('limits reach the search as it understands them', async () => {
  const { engine, world } = createEngine();
  answerWith(world, moveOf(engine, 'e2e4'));
  await engine.prepare();
  const limitsOf = async (request: Parameters<Engine['go']>[0]) => {
    engine.go(request);
    await settle();
    return world.search.lastGo.limits;
  };
  assert.equal((await limitsOf({ nodes: 0 })).nodes, 1);
  assert.equal((await limitsOf({ depth: 0 })).depth, 1);
  assert.equal((await limitsOf({})).infinite, true);
  engine.stop();
  assert.equal((await limitsOf({ mate: 2 })).infinite, undefined);
  assert.equal((await limitsOf({ moveTimeMs: 1000 })).budgetMs, 900);
  assert.equal((await limitsOf({ moveTimeMs: 1000, infinite: true })).budgetMs, undefined);
  engine.stop();
  const { clock } = await limitsOf({ whiteTimeMs: -50, whiteIncrementMs: 20, blackTimeMs: 900, movesToGo: 3 });
  assert.deepEqual(clock?.clock, { timeMs: -50, incrementMs: 20, movesToGo: 3 });
  assert.deepEqual([clock?.timeManager, clock?.slowmover, clock?.moveOverheadMs], ['legacy', 1, 200]);
  assert.equal((await limitsOf({ whiteTimeMs: 1000, infinite: true })).clock, undefined);
});

test('only the opponent has a clock: the search still ends', async () => {
  const { engine, world } = createEngine();
  answerWith(world, moveOf(engine, 'e2e4'));
  await engine.prepare();
  engine.go({ blackTimeMs: 100 });
  await settle();
  const { limits } = world.search.lastGo;
  assert.ok(limits.infinite === undefined && limits.clock?.clock.timeMs === 100, JSON.stringify(limits));
});

test('a new game forgets tree and cache and stops what runs', async () => {
  const { engine, world, said } = createEngine();
  const move = moveOf(engine, 'e2e4');
  answerOnStop(world, move);
  engine.go({ infinite: true });
  await settle();
  engine.newGame();
  assert.equal(said.at(-1), `best ${move}`);
  assert.ok(world.search.posted.some((message) => message.type === 'newGame'));
  assert.equal(world.networks[0].cleared, 1);
});

test('the first network is warmed up by a silent search, which a go may interrupt', async () => {
  const { engine, world, said } = createEngine();
  const move = moveOf(engine, 'e2e4');
  answerOnStop(world, move);
  void engine.prepare();
  await settle();
  assert.equal(world.search.lastGo.limits.nodes, 100);
  assert.equal(engine.isSearching, false);
  engine.go({ infinite: true });
  await settle();
  assert.equal(world.search.lastGo.limits.infinite, true);
  assert.deepEqual(said, []);
  engine.stop();
  assert.deepEqual(said, ['report 1', `best ${move}`]);
});

test('an option of the network loads it again, any other does not', async () => {
  const { engine, world } = createEngine();
  answerWith(world, moveOf(engine, 'e2e4'));
  engine.go({ nodes: 1 });
  await settle();
  unwrap(engine.setOption('CPuct', '2'));
  engine.go({ nodes: 1 });
  await settle();
  assert.equal(world.networks.length, 1);
  unwrap(engine.setOption('MinibatchSize', '12'));
  engine.go({ nodes: 1 });
  await settle();
  assert.equal(world.networks.length, 2);
  assert.equal(world.networks[0].disposed, 1);
});

test('a running search keeps its network; a warm-up makes way for another one', async () => {
  const { engine, world } = createEngine();
  const move = moveOf(engine, 'e2e4');
  answerOnStop(world, move);
  void engine.prepare();
  await settle();
  unwrap(engine.setOption('MinibatchSize', '12'));
  void engine.prepare();
  await settle();
  assert.equal(world.search.stops, 1);
  assert.deepEqual([world.networks.length, world.networks[0].disposed], [2, 1]);
  engine.go({ infinite: true });
  await settle();
  unwrap(engine.setOption('MinibatchSize', '13'));
  assert.equal(await engine.prepare(), null);
  assert.deepEqual([world.networks.length, world.networks[1].disposed], [2, 0]);
  engine.stop();
  world.search.onGo = (id) => world.search.send({ type: 'bestMove', id, move, ponder: 0 });
  assert.notEqual(await engine.prepare(), null);
  assert.deepEqual([world.networks.length, world.networks[1].disposed], [3, 1]);
});

test('a search that answers at once when it is stopped leaves no watchdog behind for the next one', async (t) => {
  const { engine, world, said } = createEngine();
  answerOnStop(world, moveOf(engine, 'e2e4'));
  engine.go({ infinite: true });
  await settle();
  t.mock.timers.enable({ apis: ['setTimeout'] });
  engine.stop();
  engine.go({ infinite: true });
  await settle();
  t.mock.timers.tick(60_000);
  assert.deepEqual(said.slice(2), []);
});

test('a device lost in the warm-up or in a search costs another load, before the next search', async () => {
  const { engine, world } = createEngine();
  const move = moveOf(engine, 'e2e4');
  const loseDevice = (): void => {
    world.networks[world.networks.length - 1].hasLostDevice = true;
  };
  world.onCreateSearch = (search) => {
    search.onGo = (id) => {
      if (world.networks.length < 3) loseDevice();
      search.send({ type: 'bestMove', id, move, ponder: 0 });
    };
  };
  await engine.prepare();
  assert.equal(world.networks.length, 3, 'two of them were lost in a warm-up');
  assert.equal(engine.network, world.networks[2]);
  loseDevice();
  engine.go({ nodes: 1 });
  await engine.whenIdle();
  assert.deepEqual([world.networks.length, world.networks[2].disposed], [4, 1]);
});

test('without a network a short mate is played, and any legal move where there is none', async () => {
  const { engine, world, said } = createEngine();
  world.loadError = new Error('The disk is gone');
  for (const [fen, move] of [
    ['7k/5ppp/8/8/8/8/8/R5K1 w - - 0 1', 'a1a8'],
    ['6k1/8/8/8/8/8/R7/1R4K1 w - - 0 1', 'a2a7'],
  ]) {
    unwrap(engine.setPosition(fen, []));
    const mating = moveOf(engine, move);
    engine.go({ nodes: 10 });
    await engine.whenIdle();
    assert.equal(said.at(-1), `best ${mating}`, fen);
  }
  unwrap(engine.setPosition(null, []));
  engine.go({ nodes: 10 });
  await engine.whenIdle();
  assert.match(said.at(-1) ?? '', /^best [1-9]/);
});

test('a network that is slow with the first evaluation is waited for after stop', async (context) => {
  const { engine, world, said } = createEngine();
  engine.go({ infinite: true });
  await settle();
  const late = world.search;
  context.mock.timers.enable({ apis: ['setTimeout'] });
  engine.stop();
  context.mock.timers.tick(10_000);
  assert.deepEqual(said, []);
  const move = moveOf(engine, 'e2e4');
  late.send({ type: 'info', id: late.lastGo.id, info: createInfo([move]) });
  late.send({ type: 'bestMove', id: late.lastGo.id, move, ponder: 0 });
  assert.deepEqual(said, ['report 1', `best ${move}`]);
  assert.ok(!late.isDisposed);
});

test('a search that knows its root and does not stop is thrown away, with its best line played', async (context) => {
  const { engine, world, said, move } = await startEndless();
  context.mock.timers.enable({ apis: ['setTimeout'] });
  engine.stop();
  context.mock.timers.tick(5000);
  assert.deepEqual(said, ['report 1', 'error The search did not stop', `best ${move}`]);
  assert.ok(world.search.isDisposed);
});

test('time in which the process was suspended after stop does not count, so the tree stays', async (context) => {
  const { engine, world, said, move } = await startEndless();
  const start = performance.now();
  let now = start;
  context.mock.timers.enable({ apis: ['setTimeout'] });
  context.mock.method(performance, 'now', () => now);
  engine.stop();
  now += 3_600_000;
  context.mock.timers.tick(30_000);
  assert.deepEqual(said, ['report 1']);
  world.search.send({ type: 'bestMove', id: world.search.lastGo.id, move, ponder: 0 });
  assert.deepEqual(said, ['report 1', `best ${move}`]);
  assert.ok(!world.search.isDisposed);
});

test('a new game during a search leaves nothing of it in the cache', async () => {
  const { engine, world } = createEngine();
  const move = moveOf(engine, 'e2e4');
  engine.go({ infinite: true });
  await settle();
  engine.newGame();
  const cleared = world.networks[0].cleared;
  engine.go({ nodes: 10 });
  world.search.send({ type: 'bestMove', id: world.search.lastGo.id, move, ponder: 0 });
  assert.equal(world.networks[0].cleared, cleared + 1);
});

test('options that change while a network loads lead to one more load', async () => {
  const { engine, world } = createEngine();
  const loaded = world.holdLoading();
  answerWith(world, moveOf(engine, 'e2e4'));
  const ready = engine.prepare();
  for (const value of ['11', '12', '13']) unwrap(engine.setOption('MinibatchSize', value));
  loaded();
  assert.notEqual(await ready, null);
  assert.equal(world.networks.length, 2);
});

test('the search thread starts while the network is loaded', async () => {
  const { engine, world } = createEngine();
  const loaded = world.holdLoading();
  answerWith(world, moveOf(engine, 'e2e4'));
  const ready = engine.prepare();
  assert.equal(world.searches.length, 1);
  loaded();
  assert.notEqual(await ready, null);
  assert.equal(world.searches.length, 1);
  await engine.dispose();
});

test('an evaluation that dispose overtakes begins nothing, and one under way is answered', async () => {
  const { engine, world, said } = createEngine();
  const loaded = world.holdLoading();
  const early = engine.evaluate();
  const disposal = engine.dispose();
  loaded();
  assert.equal(await early, null);
  await disposal;
  assert.deepEqual(world.searches[0].posted, []);
  assert.equal(world.searches[0].isDisposed, true);
  assert.equal(world.networks[0].disposed, 1);
  assert.equal(await engine.prepare(), null);
  assert.equal(world.searches.length, 1, 'an engine that was disposed of starts no thread');

  for (const isWarm of [false, true]) {
    const other = createEngine();
    answerOnStop(other.world, moveOf(other.engine, 'e2e4'));
    const evaluation = other.engine.evaluate();
    await settle();
    if (isWarm) {
      // The silent first search is over; now it is the evaluation's own.
      other.world.search.onStop();
      await settle();
    }
    await other.engine.dispose();
    assert.equal(await evaluation, null);
    assert.equal(other.world.searches.length, 1);
    assert.deepEqual(other.said, []);
  }
  assert.deepEqual(said, []);
});

test('a tree that was asked for is null when the thread goes before it answers', async () => {
  for (const end of ['dies', 'is disposed of']) {
    const { engine, world } = createEngine();
    answerWith(world, moveOf(engine, 'e2e4'));
    engine.go({ nodes: 1 });
    await settle();
    const tree = engine.dumpTree({ depth: 2, minVisits: 0 });
    if (end === 'dies') world.search.fail(new Error('out of memory'));
    else await engine.dispose();
    assert.equal(await tree, null, end);
  }
});

test('dispose ends a search silently and takes everything down', async () => {
  const { engine, world, said } = createEngine();
  answerOnStop(world, moveOf(engine, 'e2e4'));
  engine.go({ infinite: true });
  await settle();
  await engine.dispose();
  assert.deepEqual(said, []);
  assert.ok(world.search.isDisposed);
  assert.equal(world.networks[0].disposed, 1);
});

test('what info lines show changes nothing in what is reported', async () => {
  const { engine, world, reports } = createWatched();
  for (const value of ['false', 'true']) {
    unwrap(engine.setOption('PerPVCounters', value));
    engine.go({ nodes: 30 });
    await settle();
    const { id } = world.search.lastGo;
    const [line] = createInfo([moveOf(engine, 'e2e4')]).lines;
    world.search.send({ type: 'info', id, info: createInfo([], { nodes: 30, lines: [{ ...line, visits: 20 }] }) });
    world.search.send({ type: 'bestMove', id, move: line.pv[0], ponder: 0 });
  }
  assert.deepEqual(
    reports.map(({ nodes, lines }) => [nodes, lines[0].visits]),
    [
      [30, 20],
      [30, 20],
    ],
  );
});
