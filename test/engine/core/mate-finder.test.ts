import assert from 'node:assert/strict';
import { test } from 'node:test';
import { unwrap } from '#sardonyx/base/util/index.js';
import { formatUciMove, listLegalMoves, type MateAnswer, parseUciMove } from '#sardonyx/chess/rules/index.js';
import { createGamePosition, type Engine, MateClient } from '#sardonyx/engine/core/index.js';
import type { MateTask } from '#sardonyx/engine/core/mate-worker.js';
import type { SearchInfo } from '#sardonyx/search/index.js';
import { createEngine, createInfo, FakeWorld, settle } from './fake-ports.js';

/** Mate in two by Kg6 and by Kf7; nothing else wins as fast. */
const ROOK = '7k/8/5K2/8/8/8/8/R7 w - - 0 1';

function createWatched(given?: FakeWorld): { engine: Engine; world: FakeWorld; lines: string[]; best: string[] } {
  const lines: string[] = [];
  const best: string[] = [];
  const { engine, world } = createEngine(given, {
    report: (report) => {
      const texts = report.lines.map(({ score, pv }) => `${score.kind} ${score.value} ${formatUciMove(pv[0], false)}`);
      lines.push(texts.join(', '));
    },
    bestMove: ({ move, ponder }) => best.push(`${formatUciMove(move, false)} ${ponder === 0 ? '-' : 'ponder'}`),
  });
  return { engine, world, lines, best };
}

/** Each search says so many infos, its best move being `text`, and answers with it unless it runs until `stop`. */
function script(engine: Engine, world: FakeWorld, text: string, info: Partial<SearchInfo>, mate: number | null): void {
  const move = unwrap(parseUciMove(engine.position.position, text));
  const [line] = createInfo([move]).lines;
  world.onCreateSearch = (search) => {
    const finish = (id: number): void => search.send({ type: 'bestMove', id, move, ponder: 0 });
    search.onGo = (id) => {
      search.send({ type: 'info', id, info: createInfo([move], { lines: [{ ...line, mate }], ...info }) });
      // A search goes on for a while after its report.
      if (search.lastGo.limits.infinite !== true && search.stops === 0) setImmediate(() => finish(id));
    };
    search.onStop = () => finish(search.lastGo.id);
  };
  if (world.searches.length > 0) world.onCreateSearch(world.search);
}

test('a shorter mate takes the place of the one that the search has proven', async () => {
  const { engine, world, lines, best } = createWatched();
  unwrap(engine.setPosition(ROOK, []));
  script(engine, world, 'a1b1', {}, 4);
  engine.go({ nodes: 800 });
  await settle();
  assert.match(lines.at(-1) ?? '', /^mate 2 f6(f7|g6)$/);
  assert.match(best[0], /^f6(f7|g6) ponder$/);
});

test('a short mate is found where the search has proven nothing', async () => {
  const { engine, world, lines } = createWatched();
  unwrap(engine.setPosition(ROOK, []));
  script(engine, world, 'a1b1', {}, null);
  engine.go({ nodes: 800 });
  await settle();
  assert.match(lines.at(-1) ?? '', /^mate 2 /);
});

test('a mate by checks may be longer, and a shorter one that more effort finds takes its place', async () => {
  const mates: string[] = [];
  for (const nodes of [800, 8000]) {
    const { engine, world, lines } = createWatched();
    unwrap(engine.setPosition('5Q2/8/8/1R6/2k5/5K2/8/8 w - - 0 1', []));
    script(engine, world, 'f3e3', { nodes }, null);
    engine.go({ nodes });
    await settle();
    mates.push((lines.at(-1) ?? '').slice(0, 6));
  }
  assert.deepEqual(mates, ['mate 4', 'mate 3']);
});

test('where no shorter mate exists the search has its way', async () => {
  const { engine, world, lines, best } = createWatched();
  unwrap(engine.setPosition(ROOK, []));
  script(engine, world, 'f6g6', {}, 2);
  engine.go({ nodes: 800 });
  await settle();
  assert.deepEqual([lines.at(-1), best[0]], ['mate 2 f6g6', 'f6g6 -']);
});

test('an announced mate is kept in the next move, whatever the search says', async () => {
  const { engine, world, best } = createWatched();
  unwrap(engine.setPosition(ROOK, []));
  script(engine, world, 'a1b1', {}, 4);
  engine.go({ nodes: 800 });
  await settle();
  const first = best[0].slice(0, 4);
  unwrap(engine.setPosition(ROOK, [first, first === 'f6g6' ? 'h8g8' : 'h8h7']));
  script(engine, world, first === 'f6g6' ? 'g6h6' : 'f7f6', {}, null);
  engine.go({ nodes: 800 });
  await settle();
  assert.match(best[1], /^a1/);
});

test('other lines move down, and a line with the same move makes room', async () => {
  const { engine, world, lines } = createWatched();
  unwrap(engine.setPosition(ROOK, []));
  const of = (text: string): number => unwrap(parseUciMove(engine.position.position, text));
  const [line] = createInfo([0]).lines;
  const named = ['a1b1', 'f6f7', 'f6g6'].map((text) => ({ ...line, pv: [of(text)] }));
  script(engine, world, 'a1b1', { lines: named }, null);
  engine.go({ nodes: 800 });
  await settle();
  const [first, second, third] = (lines.at(-1) ?? '').split(', ');
  assert.match(first, /^mate 2 f6(f7|g6)$/);
  assert.match(second, / a1b1$/);
  assert.match(third, / f6(f7|g6)$/);
  assert.notEqual(first.slice(-4), third.slice(-4));
});

test('go mate ends with the mate', async () => {
  const { engine, world, best } = createWatched();
  unwrap(engine.setPosition(ROOK, []));
  script(engine, world, 'a1b1', {}, null);
  engine.go({ mate: 2 });
  await settle();
  assert.match(best[0], /^f6/);
});

test('go mate while pondering waits for the ponder hit', async () => {
  const { engine, world, best } = createWatched();
  unwrap(engine.setPosition(ROOK, []));
  const { position } = engine.position;
  const move = unwrap(parseUciMove(position, 'a1b1'));
  world.onCreateSearch = (search) => {
    search.onStop = () => search.send({ type: 'bestMove', id: search.lastGo.id, move, ponder: 0 });
  };
  engine.go({ mate: 2, ponder: true });
  await settle();
  world.search.send({ type: 'info', id: world.search.lastGo.id, info: createInfo([move]) });
  assert.deepEqual(best, []);
  assert.ok(engine.ponderHit().ok);
  world.search.send({ type: 'info', id: world.search.lastGo.id, info: createInfo([move]) });
  await settle();
  assert.match(best[0], /^f6/);
});

test('on a clock it looks no longer than the search has thought', async () => {
  for (const [timeMs, best0] of [
    [1, 'a1b1 -'],
    [1000, /^f6/],
  ] as const) {
    const { engine, world, best } = createWatched();
    unwrap(engine.setPosition(ROOK, []));
    script(engine, world, 'a1b1', { timeMs, nodes: 100_000 }, null);
    engine.go({ whiteTimeMs: 500 });
    await settle();
    if (typeof best0 === 'string') assert.equal(best[0], best0);
    else assert.match(best[0], best0);
  }
});

test('MateSearch switches all of it off', async () => {
  const { engine, world, best } = createWatched();
  unwrap(engine.setPosition(ROOK, []));
  unwrap(engine.setOption('MateSearch', 'false'));
  script(engine, world, 'a1b1', {}, 4);
  engine.go({ nodes: 800 });
  await settle();
  assert.equal(best[0], 'a1b1 -');
});

test('moves that searchmoves leaves out are not looked at', async () => {
  const { engine, world, best } = createWatched();
  unwrap(engine.setPosition(ROOK, []));
  script(engine, world, 'a1b1', {}, null);
  engine.go({ nodes: 800, searchMoves: [unwrap(parseUciMove(engine.position.position, 'a1b1'))] });
  await settle();
  assert.match(best[0], /^a1b1/);
});

/** The thread for mates answers when the test lets it. */
class SlowWorld extends FakeWorld {
  release: () => void = () => undefined;
  private readonly released = new Promise<void>((resolve) => {
    this.release = resolve;
  });

  override async findMate(task: MateTask): Promise<MateAnswer> {
    await this.released;
    return super.findMate(task);
  }
}

test('without a clock the answer does not depend on how fast mates are found', async () => {
  for (const isSlow of [false, true]) {
    const world = new SlowWorld();
    if (!isSlow) world.release();
    const { engine, best } = createWatched(world);
    unwrap(engine.setPosition(ROOK, []));
    script(engine, world, 'a1b1', {}, null);
    engine.go({ nodes: 800 });
    await settle();
    if (isSlow) assert.deepEqual(best, []);
    world.release();
    await settle();
    assert.match(best[0], /^f6(f7|g6) ponder$/);
  }
});

test('a clock and stop wait for no mate', async () => {
  for (const isTimed of [false, true]) {
    const world = new SlowWorld();
    const { engine, best } = createWatched(world);
    unwrap(engine.setPosition(ROOK, []));
    script(engine, world, 'a1b1', { timeMs: 1000 }, null);
    engine.go(isTimed ? { moveTimeMs: 1000 } : { nodes: 800 });
    await settle();
    if (!isTimed) engine.stop();
    assert.deepEqual(best, ['a1b1 -']);
    world.release();
    await settle();
    assert.equal(best.length, 1);
  }
});

test('mates are looked for in another thread', async () => {
  const search = new MateClient();
  try {
    const { position } = unwrap(createGamePosition(ROOK, []));
    const candidates = listLegalMoves(position);
    const answers: string[] = [];
    const ask = async (rootFen: string, effort: number): Promise<void> => {
      const { line } = await search.find({ rootFen, moves: [], question: { moves: 3, effort, candidates } });
      answers.push(line === null ? 'none' : `mate in ${(line.length + 1) / 2}`);
    };
    const asked = Promise.all([ask(ROOK, 100_000), ask(ROOK, 10)]);
    await new Promise((resolve) => setImmediate(resolve));
    assert.deepEqual(answers, []);
    await asked;
    assert.deepEqual(answers, ['mate in 2', 'none']);
  } finally {
    await search.dispose();
  }
});
