/**
 * What the typed engine promises, as cases that run in Node (library.test.ts) and, bundled, in a page (page-engine.test.ts). A case
 * knows nothing of where it runs.
 */
import assert from 'node:assert/strict';
import type {
  ChessEngine,
  EnginePool,
  EngineSettings,
  Evaluation,
  Info,
  NetworkSource,
  PoolSettings,
} from '#sardonyx/engine/library/chess-engine.js';

export interface EngineWorld {
  /** With a small network and one thread; the cases share it. */
  readonly engine: ChessEngine;
  createEngine(settings?: EngineSettings): Promise<ChessEngine>;
  createEnginePool(settings?: PoolSettings): Promise<EnginePool>;
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

addCase('a position says what of its FEN was dropped', async ({ createEngine }) => {
  const warnings: string[] = [];
  await using engine = await createEngine({ onWarning: (...warning) => warnings.push(...warning) });
  engine.position({ fen: '4k3/8/8/8/8/8/8/4K2R w KQ - 0 1' });
  assert.match(warnings.join('\n'), /^The castling right Q was dropped: [^\n]*$/);
});

addCase('leaving the loop stops an endless search', async ({ engine }) => {
  engine.position();
  const search = engine.go();
  let count = 0;
  for await (const _ of search) if (++count === 2) break;
  assert.match((await search.bestMove).move ?? '', /^[a-h][1-8][a-h][1-8]$/);
});

addCase(
  'a search without a limit gives way to the next; both are answered in order, and say why they ended',
  async ({ engine }) => {
    engine.position();
    const order: string[] = [];
    const first = engine.go();
    engine.position({ fen: '7k/5Q2/8/6K1/8/8/8/8 w - - 0 1' });
    const second = engine.go({ nodes: 200 });
    await Promise.all([
      first.bestMove.then(({ end }) => order.push(`first ${end}`)),
      second.bestMove.then(({ move, end }) => order.push(`${move} ${end}`)),
    ]);
    assert.equal(order[0], 'first replaced');
    assert.match(order[1], /^(g5|f7).* limit$/);
  },
);

addCase('a search is stopped while it waits for the one before, which cannot stop it', async ({ engine }) => {
  engine.position();
  const first = engine.go();
  const endless = engine.go();
  endless.stop();
  assert.notEqual((await first.bestMove).move, null);
  const { move, end } = await endless.bestMove;
  assert.notEqual(move, null);
  assert.equal(end, 'stopped');
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
  const { move, ponder } = await search.bestMove;
  assert.deepEqual({ move, ponder }, { move: 'f3f7', ponder: null });
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
  const answer = { move: null, ponder: null, end: 'gameOver', moves: [] };
  assert.deepEqual(await engine.go({ nodes: 10 }).bestMove, answer);
});

addCase('twenty requests at once are each as deep as asked', async ({ engine }) => {
  engine.position();
  const searches = Array.from({ length: 20 }, (_, index) => engine.go({ nodes: 30 + index }));
  const evaluation = engine.evaluate();
  for (const [index, search] of searches.entries()) {
    assert.ok(((await collect(search)).at(-1)?.nodes ?? 0) >= 30 + index);
    assert.equal((await search.bestMove).end, 'limit');
  }
  assert.equal((await evaluation)?.policy.length, 20);
});

addCase('a pool answers 200 requests at once, each as deep as asked', async (world) => {
  await using pool = await world.createEnginePool({ engines: 2, options: { Backend: 'hash' } });
  const openings = ['e2e4', 'd2d4', 'c2c4', 'g1f3'];
  const requests = Array.from({ length: 200 }, async (_, index) => {
    const search = pool.go({ moves: [openings[index % 4]] }, { nodes: 40 + index });
    const nodes = (await collect(search)).at(-1)?.nodes ?? 0;
    const { move, end, moves } = await search.bestMove;
    assert.ok(nodes >= 40 + index && end === 'limit' && move !== null);
    assert.equal(moves.length, 20);
  });
  await Promise.all(requests);
  assert.equal((await pool.evaluate({ moves: ['e2e4', 'e7e5'] }))?.policy.length, 29);
  assert.throws(() => pool.go({ fen: 'nonsense' }, { nodes: 1 }), /Illegal position/);
});

addCase('the answer has the statistics of every move', async ({ engine }) => {
  engine.position();
  const { move, moves } = await engine.go({ nodes: 100 }).bestMove;
  assert.equal(moves.length, 20);
  assert.ok(moves.some((row) => row.move === move && row.visits > 0));
  assert.ok(moves[0].visits > 0 && Math.abs(moves[0].value ?? 9) <= 1 && (moves[0].draw ?? 9) <= 1);
  assert.ok(Math.abs(moves.reduce((sum, { prior }) => sum + prior, 0) - 1) < 0.02);
  assert.ok(moves.every(({ visits, value, draw }) => visits > 0 || (value === null && draw === null)));
});

addCase('a search ponders until ponderHit, and counts its limit from there', async ({ engine }) => {
  engine.position({ moves: ['e2e4', 'e7e5'] });
  const search = engine.go({ nodes: 50, ponder: true });
  for await (const { nodes } of search) {
    if (nodes > 0) break;
  }
  assert.equal((await search.bestMove).end, 'stopped');
  const hit = engine.go({ nodes: 50, ponder: true });
  hit.ponderHit();
  assert.throws(() => hit.ponderHit(), /ponder/);
  assert.equal((await hit.bestMove).end, 'limit');
  assert.throws(() => engine.go({ nodes: 1 }).ponderHit(), /ponder/);
});

addCase('a signal gives up a search, an evaluation and a start, and nothing else', async ({ engine, createEngine }) => {
  const reason = new Error('enough');
  const controller = new AbortController();
  const { signal } = controller;
  engine.position();
  const running = engine.go({ signal });
  const waiting = [engine.go({ nodes: 40, signal }).bestMove, engine.evaluate({ signal })];
  const other = engine.go({ nodes: 40 });
  controller.abort(reason);
  for (const promise of [running.bestMove, ...waiting, collect(running)]) await assert.rejects(promise, reason);
  assert.equal((await other.bestMove).end, 'limit');
  await assert.rejects(engine.go({ nodes: 1, signal }).bestMove, reason);
  await assert.rejects(createEngine({ signal }), reason);
});

addCase('the engine tells options, position, legal moves and status', async ({ engine }) => {
  const lines = engine.options.find(({ name }) => name === 'MultiPV');
  assert.deepEqual([lines?.kind, lines?.value, lines?.default, lines?.min], ['int', 1, 1, 1]);
  assert.ok(engine.options.find(({ name }) => name === 'ScoreType')?.choices?.includes('WDL_mu'));
  engine.position({ moves: ['e2e4'] });
  assert.equal(engine.fen, 'rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq e3 0 1'.replace('e3', '-'));
  assert.equal(engine.legalMoves.length, 20);
  assert.equal(engine.status, 'ongoing');
  engine.position({ moves: ['f2f3', 'e7e5', 'g2g4', 'd8h4'] });
  assert.deepEqual([engine.status, engine.legalMoves], ['checkmate', []]);
});

addCase('another network can be awaited, and a failure rejects there', async (world) => {
  await using other = await world.createEngine({ weights: world.onnxNetwork, threads: 1 });
  const { network } = other;
  other.setOption('WeightsFile', world.missingNetwork);
  await assert.rejects(other.ready(), /nowhere\/net\.onnx/);
  assert.equal(other.network, network);
  other.setOption('WeightsFile', world.lc0Network.href);
  await other.ready();
  assert.notEqual(other.network, network);
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
  assert.throws(() => engine.go({ nodes: 1.5 }), /nodes must be a whole number/);
  assert.throws(() => engine.go({ movetime: 100 } as object), /no "movetime"; did you mean moveTime\?/);
  assert.throws(() => engine.go({ wtime: 100 } as object), /no "wtime"; known: nodes, depth/);
  assert.throws(() => engine.go({ searchMoves: [] }), /searchMoves/);
  assert.throws(() => engine.position({ move: 'e2e4' } as object), /no "move"/);
  assert.throws(() => engine.position({ moves: 'e2e4 e7e5' } as object), /moves must be an array/);
  assert.throws(() => engine.position('startpos' as never), /must be an object/);
  await assert.rejects(world.createEngine({ thread: 3 } as object), /no "thread"; did you mean threads\?/);
  await assert.rejects(world.createEnginePool({ engines: 0 }), /engines must be a whole number/);
  await assert.rejects(engine.evaluate({ nodes: 3 } as object), /no "nodes"/);
  await assert.rejects(world.createEngine({ weights: world.missingNetwork }), /nowhere\/net\.onnx/);
  await assert.rejects(world.createEngine({ options: { Threads: 'many' } }), /Threads/);
});

addCase('dispose rejects the searches that have no answer', async (world) => {
  const other = await world.createEngine({ options: { Backend: 'hash' } });
  const search = other.go();
  const waiting = other.go({ nodes: 5 });
  await other.dispose();
  for (const promise of [search.bestMove, waiting.bestMove, collect(search)])
    await assert.rejects(promise, /^Error: The engine was disposed of$/);
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
    const isOneSentence = ({ message }: Error): boolean => /network/.test(message) && !/\n|blob:/.test(message);
    await assert.rejects(world.createEngine({ weights }), isOneSentence);
  }
});
