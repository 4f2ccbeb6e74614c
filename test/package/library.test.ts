import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { type ChessEngine, createEngine, type Info } from '#sardonyx/index.js';
import { repositoryRoot } from '../support/shared-folder.js';

let engine: ChessEngine;
before(async () => {
  engine = await createEngine({ weights: join(repositoryRoot, 'models', 'tiny-test.onnx'), threads: 1 });
});
after(() => engine.dispose());

async function collect(search: AsyncIterable<Info>): Promise<Info[]> {
  const infos: Info[] = [];
  for await (const info of search) infos.push(info);
  return infos;
}

test('a search gives infos as an async iterator and then a best move', async () => {
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

test('leaving the loop stops an endless search', async () => {
  engine.position();
  const search = engine.go();
  let count = 0;
  for await (const _ of search) if (++count === 2) break;
  assert.match((await search.bestMove).move ?? '', /^[a-h][1-8][a-h][1-8]$/);
});

test('a second search waits for the first, which is stopped; both are answered in order', async () => {
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

test('a search is stopped while it waits for the one before, which cannot stop it', { timeout: 60_000 }, async () => {
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

test('castling is king takes rook where it does not start as in standard chess', async () => {
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

test('searchMoves, options and mate scores go through', async () => {
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

test('evaluate gives the network’s own opinion', async () => {
  engine.position();
  const evaluation = await engine.evaluate();
  assert.equal(evaluation?.policy.length, 20);
  const sum = evaluation.policy.reduce((total, { prior }) => total + prior, 0);
  assert.ok(Math.abs(sum - 1) < 0.02, `${sum}`);
  assert.ok(evaluation.policy.every(({ prior }, index) => index === 0 || prior <= evaluation.policy[index - 1].prior));
  assert.ok(Math.abs(evaluation.value) <= 1);
});

test('a finished game has no best move', async () => {
  engine.position({ fen: '7k/5Q2/6K1/8/8/8/8/8 b - - 0 1' });
  assert.equal(await engine.evaluate(), null);
  assert.deepEqual(await engine.go({ nodes: 10 }).bestMove, { move: null, ponder: null });
});

test('what is wrong is thrown as one sentence', async () => {
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
  await assert.rejects(createEngine({ weights: '/nowhere/net.onnx' }), /\/nowhere\/net\.onnx/);
  await assert.rejects(createEngine({ options: { Threads: 'many' } }), /Threads/);
});

test('dispose answers a search that is under way', async () => {
  const other = await createEngine({ options: { Backend: 'hash' } });
  const search = other.go();
  await other.dispose();
  assert.deepEqual(await search.bestMove, { move: null, ponder: null });
  assert.equal((await collect(search)).length >= 0, true);
});

test('an evaluation that dispose overtakes is rejected with one sentence', async () => {
  for (const reloads of [false, true]) {
    const other = await createEngine({ options: { Backend: 'hash' } });
    if (reloads) other.setOption('Threads', 2);
    const rejected = assert.rejects(other.evaluate(), /^Error: The engine was disposed of$/);
    await Promise.all([other.dispose(), rejected]);
  }
});

test('an engine that was disposed of says so', async () => {
  const other = await createEngine({ options: { Backend: 'hash' } });
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

for (const [name, args, expected] of [
  ['play.mjs', ['2', '20'], /^Network: .*\n(?:[a-h][1-8][a-h][1-8] .*\n){2}$/],
  ['analyse.mjs', [], /^\d+ nodes: .*\nbest [a-h][1-8][a-h][1-8][qrbn]?, expecting .*\n$/s],
] as const) {
  test(`the example ${name} runs, with nothing on stderr`, () => {
    const script = join(repositoryRoot, 'docs', 'examples', name);
    const output = execFileSync(process.execPath, [script, ...args], { encoding: 'utf8', stdio: 'pipe' });
    assert.match(output, expected);
  });
}
