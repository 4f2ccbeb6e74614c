/**
 * What the typed engine promises, as cases that run in Node (library.test.ts) and, bundled, in a page (page-engine.test.ts). A case
 * knows nothing of where it runs.
 */
import assert from 'node:assert/strict';
import type { ChessEngine, EngineSettings, Evaluation, Info, NetworkSource } from '#sardonyx/library/index.js';

export interface EngineWorld {
  /** With a small network and one thread; the cases share it. */
  readonly engine: ChessEngine;
  createEngine(settings?: EngineSettings): Promise<ChessEngine>;
  /** A path or address where there is nothing; it ends in nowhere/net.onnx. */
  readonly missingNetwork: string;
  /** The address of a small ONNX network, and of an lc0 network. */
  readonly onnxNetwork: URL;
  readonly lc0Network: URL;
  readFile(address: URL): Promise<Uint8Array>;
}

export interface EngineCase {
  readonly name: string;
  run(world: EngineWorld): Promise<void>;
}

export const engineCases: EngineCase[] = [];

function addCase(name: string, run: EngineCase['run']): void {
  engineCases.push({ name, run });
}

async function collect(search: AsyncIterable<Info>): Promise<Info[]> {
  const infos: Info[] = [];
  for await (const info of search) infos.push(info);
  return infos;
}

addCase('a search gives infos as an async iterator and then a best move', async ({ engine }) => {
  engine.position({ moves: ['e2e4', 'e7e5'] });
  const search = engine.go({ nodes: 60 });
  const infos = await collect(search);
  const { move } = await search.bestMove;
  const last = infos.at(-1);
  assert.ok(last !== undefined && last.nodes >= 60);
  assert.equal(last.lines[0]?.pv[0], move);
  const { win, draw, loss } = last.lines[0].wdl;
  assert.equal(win + draw + loss, 1000);
});

addCase('leaving the loop stops an endless search', async ({ engine }) => {
  engine.position();
  const search = engine.go();
  let count = 0;
  for await (const _ of search) if (++count === 2) break;
  assert.match((await search.bestMove).move ?? '', /^[a-h][1-8][a-h][1-8]$/);
});

addCase('a second search waits for the first, which is stopped; both are answered in order', async ({ engine }) => {
  engine.position();
  const order: string[] = [];
  const first = engine.go();
  engine.position({ fen: '7k/5Q2/8/6K1/8/8/8/8 w - - 0 1' });
  const second = engine.go({ nodes: 200 });
  await Promise.all([
    first.bestMove.then(() => order.push('first')),
    second.bestMove.then(({ move }) => order.push(move ?? 'none')),
  ]);
  assert.equal(order[0], 'first');
  assert.match(order[1], /^(g5|f7)/);
});

addCase('a search is stopped while it waits for the one before, which cannot stop it', async ({ engine }) => {
  engine.position();
  const first = engine.go();
  const endless = engine.go();
  endless.stop();
  assert.notEqual((await first.bestMove).move, null);
  assert.notEqual((await endless.bestMove).move, null);
  const earlier = engine.go();
  const later = engine.go({ nodes: 60 });
  earlier.stop();
  assert.ok(((await collect(later)).at(-1)?.nodes ?? 0) >= 60);
});

addCase('castling is king takes rook where it does not start as in standard chess', async ({ engine }) => {
  engine.position({ fen: '4k3/8/8/8/8/8/8/RK5R w KQ - 0 1' });
  const moves = (await engine.evaluate())?.policy.map(({ move }) => move) ?? [];
  assert.equal(new Set(moves).size, moves.length);
  assert.ok(moves.includes('b1a1') && moves.includes('b1h1'), moves.join());
  const search = engine.go({ nodes: 10, searchMoves: ['b1a1'] });
  engine.position();
  assert.equal((await collect(search)).at(-1)?.lines[0].pv[0], 'b1a1');
  assert.equal((await search.bestMove).move, 'b1a1');
  engine.position({ fen: '4k3/8/8/8/8/8/8/4K2R w K - 0 1' });
  assert.equal((await engine.go({ nodes: 10, searchMoves: ['e1h1'] }).bestMove).move, 'e1g1');
});

addCase('searchMoves, options and mate scores go through', async ({ engine }) => {
  engine.position({ fen: 'r1bqkbnr/pppp1ppp/2n5/4p3/2B1P3/5Q2/PPPP1PPP/RNB1K1NR w KQkq - 4 4' });
  const search = engine.go({ nodes: 50, searchMoves: ['f3f7'] });
  const last = (await collect(search)).at(-1);
  assert.deepEqual(await search.bestMove, { move: 'f3f7', ponder: null });
  assert.deepEqual(last?.lines[0]?.score, { kind: 'mate', value: 1 });
  engine.setOption('MultiPV', 2);
  engine.position();
  assert.equal((await collect(engine.go({ nodes: 40 }))).at(-1)?.lines.length, 2);
  engine.setOption('MultiPV', 1);
});

addCase('evaluate gives the network’s own opinion', async ({ engine }) => {
  engine.position();
  const evaluation = await engine.evaluate();
  assert.equal(evaluation?.policy.length, 20);
  const sum = evaluation.policy.reduce((total, { prior }) => total + prior, 0);
  assert.ok(Math.abs(sum - 1) < 0.02, `${sum}`);
  assert.ok(evaluation.policy.every(({ prior }, index) => index === 0 || prior <= evaluation.policy[index - 1].prior));
  assert.ok(Math.abs(evaluation.value) <= 1);
});

addCase('a finished game has no best move', async ({ engine }) => {
  engine.position({ fen: '7k/5Q2/6K1/8/8/8/8/8 b - - 0 1' });
  assert.equal(await engine.evaluate(), null);
  assert.deepEqual(await engine.go({ nodes: 10 }).bestMove, { move: null, ponder: null });
});

addCase('what is wrong is thrown as one sentence', async ({ engine, ...world }) => {
  assert.throws(() => engine.position({ fen: 'nonsense' }), Error);
  assert.throws(() => engine.position({ moves: ['e2e5'] }), /e2e5/);
  assert.throws(() => engine.setOption('Nonsense', 1), /Unknown option/);
  assert.throws(() => engine.go({ searchMoves: ['a1a8'] }), /a1a8/);
  for (const [name, number] of [
    ['nodes', Number.NaN],
    ['nodes', -5],
    ['moveTime', -1],
    ['depth', Number.POSITIVE_INFINITY],
  ] as const) {
    const message = `${name} must be a finite number of at least 0, not ${number}`;
    assert.throws(() => engine.go({ [name]: number }), { message });
  }
  await assert.rejects(world.createEngine({ weights: world.missingNetwork }), /nowhere\/net\.onnx/);
  await assert.rejects(world.createEngine({ options: { Threads: 'many' } }), /Threads/);
});

addCase('dispose answers a search that is under way', async (world) => {
  const other = await world.createEngine({ options: { Backend: 'hash' } });
  const search = other.go();
  await other.dispose();
  assert.deepEqual(await search.bestMove, { move: null, ponder: null });
  assert.equal((await collect(search)).length >= 0, true);
});

addCase('an evaluation that dispose overtakes is rejected with one sentence', async (world) => {
  for (const reloads of [false, true]) {
    const other = await world.createEngine({ options: { Backend: 'hash' } });
    if (reloads) other.setOption('Threads', 2);
    const rejected = assert.rejects(other.evaluate(), /^Error: The engine was disposed of$/);
    await Promise.all([other.dispose(), rejected]);
  }
});

addCase('an engine that was disposed of says so', async (world) => {
  const other = await world.createEngine({ options: { Backend: 'hash' } });
  await other.dispose();
  const calls = [
    () => other.go({ nodes: 3 }),
    () => other.position(),
    () => other.newGame(),
    () => other.setOption('MultiPV', 1),
  ];
  for (const call of calls) assert.throws(call, /^Error: The engine was disposed of$/);
  await assert.rejects(other.evaluate(), /disposed of/);
  other.stop();
  await other.dispose();
});

async function evaluateStart(world: EngineWorld, weights: NetworkSource): Promise<Evaluation | null> {
  await using engine = await world.createEngine({ weights, threads: 1 });
  return await engine.evaluate();
}

addCase('a network may be an address, a file or its content, gzipped or not', async (world) => {
  const bytes = await world.readFile(world.onnxNetwork);
  const zipped = new Response(new Blob([new Uint8Array(bytes)]).stream().pipeThrough(new CompressionStream('gzip')));
  const file = new File([new Uint8Array(bytes)], 'my network.onnx');
  const expected = await evaluateStart(world, world.onnxNetwork);
  for (const weights of [bytes, new Uint8Array(bytes).buffer, file, await zipped.blob()]) {
    assert.deepEqual(await evaluateStart(world, weights), expected);
  }
});

addCase('a network of lc0 is converted from a file’s content', async (world) => {
  const bytes = await world.readFile(world.lc0Network);
  const expected = await evaluateStart(world, world.lc0Network);
  assert.deepEqual(await evaluateStart(world, bytes), expected);
});

addCase('content that is no network is refused with one sentence', async (world) => {
  const [onnx, lc0] = [await world.readFile(world.onnxNetwork), await world.readFile(world.lc0Network)];
  const page = new File(['<!doctype html><title>Not found</title>'], 'page.onnx');
  for (const weights of [page, new Uint8Array(0), onnx.slice(0, 1000), lc0.slice(0, lc0.length / 2)]) {
    const isOneSentence = ({ message }: Error): boolean => /network/.test(message) && !message.includes('\n');
    await assert.rejects(world.createEngine({ weights }), isOneSentence);
  }
});
