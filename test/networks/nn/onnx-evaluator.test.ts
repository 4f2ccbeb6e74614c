import assert from 'node:assert/strict';
import { test } from 'node:test';
import { InferenceSession, Tensor } from 'onnxruntime-node';
import { unwrap } from '#sardonyx/base/util/index.js';
import { formatFen, type Move, parseFen, parseUciMove, START_FEN } from '#sardonyx/chess/rules/index.js';
import { expandPlanes, getInputEncoding, getPolicyEncoding } from '#sardonyx/networks/encoding/index.js';
import { findSquareAxes } from '#sardonyx/networks/explain/class-activation.js';
import { EVALUATED, LeafQueue } from '#sardonyx/networks/leaves/index.js';
import { EvaluatorPool, type PoolOptions } from '#sardonyx/networks/nn/index.js';
import { createRandomLeaves, evaluateLeaves, type LeafAnswer, type TestLeaf } from '../../support/leaf-driver.js';
import { OnnxWriter } from '../../support/onnx-writer.js';
import { createRandomNetwork, type RandomNetworkOptions, TINY } from '../../support/random-network.js';

const leaves = createRandomLeaves(41, 60);

async function evaluateWith(
  network: Partial<RandomNetworkOptions>,
  options: PoolOptions = {},
  wanted: readonly TestLeaf[] = leaves,
): Promise<LeafAnswer[]> {
  const bytes = createRandomNetwork({ ...TINY, ...network });
  const pool = await EvaluatorPool.create({
    backend: 'cpu',
    model: { bytes, name: 'random.onnx' },
    threads: 1,
    minibatch: 8,
    ...options,
  });
  try {
    return await evaluateLeaves(new LeafQueue(pool.handle), wanted);
  } finally {
    await pool.dispose();
  }
}

function assertClose(found: readonly LeafAnswer[], expected: readonly LeafAnswer[], tolerance: number): void {
  for (const [i, answer] of found.entries()) {
    const other = expected[i];
    assert.equal(answer.kind, other.kind);
    const priors = new Map(other.moves.map((move, k) => [move, other.priors[k]]));
    for (const [k, move] of answer.moves.entries()) {
      const prior = priors.get(move);
      assert.ok(prior !== undefined && Math.abs(answer.priors[k] - prior) <= tolerance, `prior of leaf ${i}`);
    }
    assert.ok(Math.abs(answer.valueWl - other.valueWl) <= tolerance, `value of leaf ${i}`);
    assert.ok(Math.abs(answer.valueD - other.valueD) <= tolerance, `draw of leaf ${i}`);
    assert.ok(Math.abs(answer.movesLeft - other.movesLeft) <= tolerance * 100, `moves left of leaf ${i}`);
  }
}

test('priors and values are those of the network, computed by hand', async () => {
  const session = await InferenceSession.create(createRandomNetwork(TINY), { intraOpNumThreads: 1 });
  const input = unwrap(getInputEncoding('lc0-112'));
  const policy = unwrap(getPolicyEncoding('lc0-1858'));
  const answers = await evaluateWith({});
  for (const [i, answer] of answers.entries()) {
    if (answer.kind !== EVALUATED) continue;
    const position = unwrap(parseFen(START_FEN));
    for (const word of (leaves[i].path ?? '').split(' ')) position.makeMove(unwrap(parseUciMove(position, word)));
    const masks = new Uint32Array(224);
    const values = new Float32Array(112);
    const planes = new Float32Array(112 * 64);
    const transform = input.writePacked(position, 'fen_only', masks, 0, values, 0);
    expandPlanes(masks, 0, values, 0, 112, planes, 0);
    const outputs = await session.run({ '/input/planes': new Tensor('float32', planes, [1, 112, 8, 8]) });
    const logits = outputs['/output/policy'].data as Float32Array;
    const [win, draw, loss] = outputs['/output/wdl'].data as Float32Array;
    const [plies] = outputs['/output/mlh'].data as Float32Array;
    const weights = answer.moves.map((move) =>
      Math.exp(logits[policy.moveToIndex(position, move as Move, transform)] / 1.359),
    );
    const sum = weights.reduce((total, weight) => total + weight, 0);
    for (const [k, weight] of weights.entries()) {
      // lc0's fast exponential is off by up to 0.27 %, in the weight and in the sum.
      assert.ok(Math.abs(answer.priors[k] - weight / sum) < 6e-3 * (weight / sum) + 1e-6, `prior ${k} of leaf ${i}`);
    }
    assert.ok(Math.abs(answer.valueWl - (win - loss)) < 1e-4);
    assert.ok(Math.abs(answer.valueD - draw) < 1e-4);
    assert.ok(Math.abs(answer.movesLeft - plies) < 1e-2);
  }
  await session.release();
});

test('batch size, threads and the cache change nothing but the last bits', async () => {
  const expected = await evaluateWith({}, { minibatch: 1 });
  assertClose(await evaluateWith({}, { minibatch: 32 }), expected, 1e-4);
  assertClose(await evaluateWith({}, { minibatch: 5, threads: 2 }), expected, 1e-4);
  const twice = await evaluateWith({}, { cachePositions: 1000, minibatch: 1 }, [...leaves, ...leaves]);
  assert.deepEqual(twice.slice(0, leaves.length), expected);
  assertClose(twice.slice(leaves.length), expected, 1e-6);
});

/** Every row's value is a hundredth of the men in the first row of its call. */
function createCountingNetwork(phases: string, batch: number | string = 'batch'): Uint8Array {
  const writer = new OnnxWriter();
  const planes = writer.input('/input/planes', [batch, 112, 8, 8]);
  const bounds = [
    [0, 0],
    [1, 12],
    [0, 1],
  ].map((numbers) => writer.integers([2], numbers));
  const first = writer.node('Slice', [planes, ...bounds]);
  const men = writer.node('ReduceSum', [first, writer.integers([4], [0, 1, 2, 3])], { keepdims: 0 });
  const nothing = writer.node('Mul', [
    writer.node('ReduceSum', [planes, writer.integers([3], [1, 2, 3])], { keepdims: 0 }),
    writer.floats([1], new Float32Array(1)),
  ]);
  const column = writer.node('Unsqueeze', [nothing, writer.integers([1], [1])]);
  const hundredth = writer.node('Mul', [men, writer.floats([1], Float32Array.of(0.01))]);
  writer.node('Add', [column, hundredth], {}, '/output/value');
  writer.node('MatMul', [column, writer.floats([1, 1858], new Float32Array(1858))], {}, '/output/policy');
  writer.output('/output/policy', [batch, 1858]);
  writer.output('/output/value', [batch, 1]);
  return writer.finish({ 'sardonyx.input': 'lc0-112', 'sardonyx.policy': 'lc0-1858', 'sardonyx.phases': phases });
}

test('the positions of a call belong to one body of a network with several, and each gets its own answer', async () => {
  const countMen = ({ path }: TestLeaf): number => {
    const position = unwrap(parseFen(START_FEN));
    for (const word of (path ?? '').split(' ')) position.makeMove(unwrap(parseUciMove(position, word)));
    return formatFen(position)
      .split(' ')[0]
      .replace(/[^a-z]/gi, '').length;
  };
  const men = leaves.map(countMen);
  const [most, middle, least] = [...new Set(men)].sort((a, b) => b - a);
  assert.ok(least < middle && middle < most);
  const values = async (phases: string, minibatch: number, batch?: number): Promise<number[]> => {
    const model = { bytes: createCountingNetwork(phases, batch), name: 'counting.onnx' };
    const answers = await evaluateWith({}, { model, minibatch });
    return answers.map(({ kind, valueWl }, i) => (kind === EVALUATED ? Math.round(100 * valueWl) : men[i]));
  };
  const each = Array.from({ length: 29 }, (_, i) => 32 - i).join(' ');
  assert.deepEqual(await values(each, 1), men);
  assert.deepEqual(await values(each, 32), men);
  assert.deepEqual(await values(`${most}`, 8, 1), men, 'a fixed batch of one');
  for (const wrong of ['15 27', '27 27', '33', '2', '27,15', '']) {
    const model = { bytes: createCountingNetwork(wrong), name: 'counting.onnx' };
    await assert.rejects(
      evaluateWith({}, { model }),
      /counting\.onnx has the phases "[^"]*"; they are falling counts of men/,
    );
  }
});

test('WDL logits are softmaxed to what the softmaxed head gives', async () => {
  assertClose(await evaluateWith({ value: 'logits' }), await evaluateWith({}), 1e-5);
});

test('a network without a moves-left head gives 0, and so does one with it under mlh=false', async () => {
  const expected = await evaluateWith({ movesLeft: false });
  assert.deepEqual(await evaluateWith({}, { backendOptions: 'mlh=false' }), expected);
  assert.ok(expected.every(({ kind, movesLeft }) => kind !== EVALUATED || movesLeft === 0));
  const model = { bytes: createRandomNetwork(TINY), name: 'random.onnx' };
  for (const mlh of [true, false]) {
    const pool = await EvaluatorPool.create({ backend: 'cpu', backendOptions: `mlh=${mlh}`, model, threads: 1 });
    assert.equal(pool.handle.hasMovesLeft, mlh);
    await pool.dispose();
  }
});

test('a scalar head gives W − L and no draws', async () => {
  const answers = await evaluateWith({ value: 'scalar', movesLeft: false });
  for (const answer of answers.filter(({ kind }) => kind === EVALUATED)) {
    assert.ok(answer.valueWl > -1 && answer.valueWl < 1);
    assert.deepEqual([answer.valueD, answer.movesLeft], [0, 0]);
  }
});

test('a network of one fixed batch size is fed batches of that size', async () => {
  const expected = await evaluateWith({});
  assertClose(await evaluateWith({ batch: 4 }, { minibatch: 10 }), expected, 1e-4);
  assertClose(await evaluateWith({ batch: 16 }, { minibatch: 8, threads: 2 }), expected, 1e-4);
  assertClose(await evaluateWith({}, { backendOptions: 'batch=6' }), expected, 1e-4);
});

test('a network without metadata plays the same', async () => {
  assert.deepEqual(await evaluateWith({ metadata: false }), await evaluateWith({}));
});

test('a network of half floats gives nearly the same', async () => {
  assertClose(await evaluateWith({ float16: true }), await evaluateWith({}), 5e-3);
});

test('the minibatch can change between searches', async () => {
  const pool = await EvaluatorPool.create({
    backend: 'cpu',
    model: { bytes: createRandomNetwork(TINY), name: 'random.onnx' },
    threads: 2,
    minibatch: 2,
  });
  const queue = new LeafQueue(pool.handle);
  const first = await evaluateLeaves(queue, leaves);
  for (const minibatch of [40, 1, 7]) {
    pool.configure({ minibatch });
    assert.equal(queue.minibatch, minibatch);
    assertClose(await evaluateLeaves(queue, leaves), first, 1e-4);
  }
  assert.deepEqual(
    [pool.network.name, pool.network.backend, pool.network.hasMovesLeft, pool.threads],
    ['random 16x2', 'cpu', true, 2],
  );
  await pool.dispose();
});

test('with the backend option symmetry some positions without castling rights are evaluated mirrored', async () => {
  const fens = Array.from(
    { length: 24 },
    (_, i) => `4k3/p${i % 7 || ''}p${6 - (i % 7) || ''}/8/8/8/8/6PP/1N2K3 w - - ${i} 60`,
  );
  const turned = fens.map((fen) => fen.replace(/^\S+/, (board) => board.split('/').map(reverse).join('/')));
  const withCastling = ['4k3/8/8/8/8/8/8/4K2R w K - 0 30', START_FEN];
  const list = (texts: readonly string[]): TestLeaf[] => texts.map((fen) => ({ fen }));
  const plain = await evaluateWith({}, {}, list([...fens, ...withCastling]));
  const mirrored = await evaluateWith({}, {}, list(turned));
  const found = await evaluateWith({}, { backendOptions: 'symmetry=3' }, list([...fens, ...withCastling]));
  assertClose(found.slice(24), plain.slice(24), 1e-6);
  let turns = 0;
  for (let i = 0; i < 24; i++) {
    const isTurned = Math.abs(found[i].valueWl - plain[i].valueWl) > 1e-6;
    const expected = isTurned ? withMovesMirrored(mirrored[i]) : plain[i];
    assertClose([found[i]], [expected], 1e-5);
    if (isTurned) turns++;
  }
  assert.ok(turns > 4 && turns < 20, `${turns} of 24`);
});

test('with the backend option noise every position has its own share of noise, the same each time, and the same value', async () => {
  const leaves: TestLeaf[] = [START_FEN, '4k3/pppp4/8/8/8/8/PPPP4/4K2R w K - 0 30'].map((fen) => ({ fen }));
  const plain = await evaluateWith({}, {}, leaves);
  const [noisy, again, other] = [
    await evaluateWith({}, { backendOptions: 'noise=25' }, leaves),
    await evaluateWith({}, { backendOptions: 'noise=25' }, leaves),
    await evaluateWith({}, { backendOptions: 'noise=25,seed=2' }, leaves),
  ];
  assert.deepEqual(again, noisy);
  for (const [i, answer] of noisy.entries()) {
    assert.ok(Math.abs(answer.valueWl - plain[i].valueWl) < 1e-6);
    assert.notDeepEqual(answer, plain[i]);
    assert.notDeepEqual(answer, other[i]);
  }
});

function reverse(text: string): string {
  return [...text].reverse().join('');
}

function withMovesMirrored(answer: LeafAnswer): LeafAnswer {
  return { ...answer, moves: answer.moves.map((move) => move ^ 0b000_111_000_111) };
}

test('squares are found in the layouts that bodies end in', () => {
  assert.deepEqual(findSquareAxes([1, 96, 8, 8]), { inner: 1, channels: 96 });
  assert.deepEqual(findSquareAxes([1, 8, 8, 8]), { inner: 1, channels: 8 });
  assert.deepEqual(findSquareAxes([1, 64, 8, 8]), { inner: 1, channels: 64 });
  assert.deepEqual(findSquareAxes([1, 6, 8, 8, 16]), { inner: 16, channels: 96 });
  assert.deepEqual(findSquareAxes([64, 128]), { inner: 128, channels: 128 });
  assert.deepEqual(findSquareAxes([1, 64, 64]), { inner: 64, channels: 64 });
  assert.equal(findSquareAxes([1, 256]), null);
});
