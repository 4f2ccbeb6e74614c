/** WebGPU of onnxruntime on a real driver; `npm run test:device` runs it on SwiftShader, which is slow: networks are tiny. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { unwrap } from '#sardonyx/base/util/index.js';
import { loadLc0Network } from '#sardonyx/networks/lc0/index.js';
import { FAILED, LeafQueue } from '#sardonyx/networks/leaves/index.js';
import { EvaluatorPool, type ModelSource, type PoolOptions } from '#sardonyx/networks/nn/index.js';
import { openEngine } from '../../uci-tests/uci-process.js';
import { createFaultyThread } from '../support/evaluator-faults.js';
import { encodeNetworkFile } from '../support/lc0-network-file.js';
import { createRandomNetwork, type NetworkSpec } from '../support/lc0-random-network.js';
import { createRandomLeaves, evaluateLeaves, type LeafAnswer } from '../support/leaf-driver.js';
import { readModelSource } from '../support/model-source.js';
import { repositoryRoot } from '../support/shared-folder.js';

const skip = process.env.SARDONYX_DEVICE_TESTS === '1' ? false : 'npm run test:device runs it';
const TINY = join(repositoryRoot, 'models', 'tiny-test.onnx');
const NO_HALVES = 'Backend webgpu failed, going on with cpu: this GPU has no half precision: leave out datatype=f16';
const POSITIONS = 50;
/** SwiftShader on a busy machine evaluates a few positions a second. */
const TIMEOUT_MS = 600_000;
const leaves = createRandomLeaves(77, POSITIONS);

const folder = mkdtempSync(join(tmpdir(), 'sardonyx-device-'));
after(() => rmSync(folder, { recursive: true, force: true }));
const ENVIRONMENT = { SARDONYX_CONFIG: folder };

interface Evaluated {
  readonly answers: readonly LeafAnswer[];
  readonly warnings: readonly string[];
  readonly backend: string;
}

async function evaluate(options: PoolOptions): Promise<Evaluated> {
  const warnings: string[] = [];
  const pool = await EvaluatorPool.create({ minibatch: 16, ...options, onWarning: (text) => warnings.push(text) });
  try {
    const answers = await evaluateLeaves(new LeafQueue(pool.handle), leaves);
    return { answers, warnings, backend: pool.network.backend };
  } finally {
    await pool.dispose();
  }
}

function assertSame(actual: readonly LeafAnswer[], expected: readonly LeafAnswer[], tolerance: number): void {
  assert.equal(actual.length, expected.length);
  const measure = (a: readonly number[], b: readonly number[]): number =>
    a.reduce((largest, value, i) => Math.max(largest, Math.abs(value - b[i])), 0);
  actual.forEach((answer, i) => {
    const { kind, valueWl, valueD } = expected[i];
    assert.equal(answer.kind, kind);
    assert.ok(measure([answer.valueWl, answer.valueD], [valueWl, valueD]) <= tolerance, `value of position ${i}`);
    // Priors lie in the order of their size, which rounding may change.
    const byMove = ({ moves, priors }: LeafAnswer): number[] =>
      moves
        .map((move, at) => [move, priors[at]])
        .sort((a, b) => a[0] - b[0])
        .map(([, prior]) => prior);
    assert.ok(measure(byMove(answer), byMove(expected[i])) <= tolerance, `priors of position ${i}`);
  });
}

/** The program, as a user starts it. */
function sardonyx(...args: string[]): { status: number | null; stdout: string; stderr: string } {
  const program = join(repositoryRoot, 'dist', 'cli', 'main.js');
  return spawnSync(process.execPath, [program, ...args], {
    encoding: 'utf8',
    timeout: TIMEOUT_MS,
    env: { ...process.env, ...ENVIRONMENT },
  });
}

const networks: readonly (readonly [string, NetworkSpec])[] = [
  ['a plain network', { blocks: 1, filters: 16, seChannels: 0, value: 'wdl' }],
  ['a network with squeeze-excitation', { blocks: 1, filters: 16, seChannels: 8, value: 'wdl' }],
  ['an attention network', { blocks: 0, encoders: 1, embedding: 32, policy: 'attention', value: 'wdl' }],
];

describe('WebGPU', { skip, timeout: 3_600_000 }, () => {
  for (const [name, spec] of networks) {
    for (const [precision, tolerance] of [
      ['f32', 1e-3],
      ['f16', 2e-2],
    ] as const) {
      test(`${name} in ${precision} answers as on the CPU, in batches that are padded`, async () => {
        const file = encodeNetworkFile(createRandomNetwork(spec));
        const load = async (wanted: 'f32' | 'f16'): Promise<ModelSource> => {
          const { onnx } = unwrap(await loadLc0Network(file, { cacheFolder: null, precision: wanted }));
          return { bytes: onnx, name };
        };
        const expected = await evaluate({ backend: 'cpu', model: await load('f32'), threads: 1 });
        const device = await evaluate({ backend: 'webgpu', model: await load(precision) });
        // SwiftShader computes in single precision alone; the CPU answers then.
        const lacksHalves = precision === 'f16' && device.warnings.length > 0;
        assert.deepEqual(device.warnings, lacksHalves ? [NO_HALVES] : []);
        assert.equal(device.backend, lacksHalves ? 'cpu' : 'webgpu');
        assertSame(device.answers, expected.answers, tolerance);
      });
    }
  }

  test('threads and pools share the device, one after the other and at once, and one thread is the default', async () => {
    const model = readModelSource(TINY);
    const { answers: expected } = await evaluate({ backend: 'cpu', model, threads: 1 });
    const pool = await EvaluatorPool.create({ backend: 'webgpu', model, minibatch: 16 });
    assert.equal(pool.threads, 1);
    await pool.dispose();
    for (let round = 0; round < 3; round++) {
      const both = await Promise.all([1, 2].map((threads) => evaluate({ backend: 'webgpu', model, threads })));
      for (const { answers, warnings } of both) {
        assert.deepEqual(warnings, []);
        assertSame(answers, expected, 1e-3);
      }
    }
  });

  test('a device that is lost in the middle of a search costs one warning and no answer', async () => {
    const threadScript = createFaultyThread({ backend: 'webgpu', failAfter: 2 });
    const { answers, warnings, backend } = await evaluate({
      backend: 'webgpu',
      model: readModelSource(TINY),
      threadScript,
    });
    assert.ok(answers.every(({ kind }) => kind !== FAILED));
    assert.deepEqual(warnings, ['Backend webgpu failed, going on with cpu: made to fail after 2 runs']);
    assert.equal(backend, 'cpu');
  });

  test('the program is ready on it and plays', async (t) => {
    const engine = openEngine(t, ['--backend=webgpu', `--weights=${TINY}`, '--minibatch-size=4'], ENVIRONMENT);
    await engine.start();
    const lines = await engine.ask(['position startpos', 'go nodes 30'], 'bestmove');
    assert.match(lines.at(-1) ?? '', /^bestmove [a-h][1-8]/);
    assert.ok(!lines.some((line) => /failed|error/i.test(line)), lines.join('\n'));
    assert.deepEqual([await engine.quit(), engine.stderr], [0, '']);
  });

  test('backendbench and doctor work on it', () => {
    const flags = ['--backend=webgpu', `--weights=${TINY}`];
    const bench = sardonyx('backendbench', ...flags, '--threads=2', '--start-batch-size=8', '--max-batch-size=8');
    assert.equal(bench.status, 0, bench.stderr);
    assert.match(bench.stdout, /^ +8, +[1-9]\d*,/m);
    const doctor = sardonyx('doctor', '--providers=webgpu', '--json');
    const findings = JSON.parse(doctor.stdout) as { what: string; isFine: boolean }[];
    assert.equal(findings.find(({ what }) => what === 'webgpu')?.isFine, true, doctor.stdout);
  });
});
