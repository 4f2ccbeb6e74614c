import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it, test } from 'node:test';
import { success, unwrap } from '#sardonyx/base/util/index.js';
import { type Int8Network, loadInt8Network, loadLc0Network } from '#sardonyx/networks/lc0/index.js';
import { decodeModel, encodeModel, readPrecision } from '#sardonyx/networks/nn/index.js';
import { type Difference, quantiseModel } from '#sardonyx/networks/onnx/index.js';
import { encodeNetworkFile } from '../../support/lc0-network-file.js';
import { createRandomPlanes, INPUT_SIZE, openModel, runModel } from '../../support/lc0-onnx.js';
import { createRandomNetwork, type NetworkSpec } from '../../support/lc0-random-network.js';

const folder = mkdtempSync(join(tmpdir(), 'sardonyx-int8-'));
after(() => rmSync(folder, { recursive: true, force: true }));

const RESIDUAL: NetworkSpec = { blocks: 2, filters: 32, seChannels: 4, policy: 'convolution', value: 'wdl' };
const PLAIN: NetworkSpec = { blocks: 2, filters: 16, value: 'classical', movesLeft: true };
const ATTENTION: NetworkSpec = {
  encoders: 2,
  embedding: 32,
  modelSize: 32,
  policy: 'attention',
  value: 'wdl',
  smolgen: true,
};

async function build(spec: NetworkSpec): Promise<Uint8Array> {
  const file = encodeNetworkFile(createRandomNetwork({ seed: 3, ...spec }));
  return unwrap(await loadLc0Network(file, { cacheFolder: null })).onnx;
}

interface Row {
  readonly name: string;
  readonly spec: NetworkSpec;
  /** 8-bit operators. */
  readonly layers: number;
  readonly bound: Pick<Difference, 'sameMove' | 'divergence' | 'value'>;
}

const ROWS: readonly Row[] = [
  {
    name: 'residual blocks with squeeze-excitation',
    spec: RESIDUAL,
    layers: 4,
    bound: { sameMove: 0.9, divergence: 0.001, value: 0.02 },
  },
  { name: 'plain residual blocks', spec: PLAIN, layers: 4, bound: { sameMove: 0.9, divergence: 0.001, value: 0.02 } },
  {
    name: 'attention with smolgen',
    spec: ATTENTION,
    layers: 14,
    bound: { sameMove: 0.9, divergence: 0.001, value: 0.02 },
  },
];

for (const { name, spec, layers, bound } of ROWS) {
  test(`a network of ${name} in 8 bits answers almost as in single precision, whatever its batch`, async () => {
    const { onnx, difference } = unwrap(await quantiseModel(Buffer.from(await build(spec))));
    assert.ok(difference.sameMove >= bound.sameMove, JSON.stringify(difference));
    assert.ok(difference.divergence <= bound.divergence, JSON.stringify(difference));
    assert.ok(difference.value <= bound.value, JSON.stringify(difference));
    const nodes = decodeModel(onnx)?.graph?.node ?? [];
    const rounded = nodes.filter(({ opType }) => opType === 'QLinearConv' || opType === 'MatMulIntegerToFloat');
    assert.equal(rounded.length, layers);
    assert.deepEqual(
      rounded.filter((node) => /^\/(input|embedding|policy|value|mlh)/.test(node.name ?? '')),
      [],
    );
    assert.equal(readPrecision(onnx), 'int8');

    const planes = createRandomPlanes(5, 3);
    const session = await openModel({ onnx });
    const together = await runModel(session, planes);
    for (let row = 0; row < 3; row++) {
      const alone = await runModel(session, planes.slice(row * INPUT_SIZE, (row + 1) * INPUT_SIZE));
      for (const [i, logit] of alone.policy.entries()) {
        // Only layers in single precision may sum in another order.
        const other = together.policy[row * alone.policy.length + i];
        assert.ok(Math.abs(logit - other) <= 1e-5 * Math.max(1, Math.abs(logit)), `${logit} and ${other}`);
      }
    }
    await session.release();
  });
}

test('layers are told apart where the file gives its nodes no names', async () => {
  const model = decodeModel(await build(RESIDUAL));
  assert.ok(model?.graph?.node);
  for (const node of model.graph.node) node.name = '';
  const { onnx, difference } = unwrap(await quantiseModel(encodeModel(model)));
  assert.ok(difference.sameMove >= 0.9 && difference.value <= 0.02, JSON.stringify(difference));
  assert.equal(readPrecision(onnx), 'int8');
});

test('a network without layers between its first and its heads is refused', async () => {
  const refused = await quantiseModel(await build({ blocks: 0, filters: 8 }));
  assert.ok(!refused.ok && /no layers between its first and its heads/.test(refused.error), JSON.stringify(refused));
});

describe('a network is taken in 8 bits', () => {
  /** @returns what was chosen, and how often the network in single precision was asked for */
  async function load(name: string, gain: number, addsWidely = true): Promise<Int8Network & { asked: number }> {
    const plain = await build(RESIDUAL);
    let asked = 0;
    const editions = {
      key: [name],
      plain: () => {
        asked++;
        return Promise.resolve(success({ bytes: plain }));
      },
      fastest: () => Promise.resolve(success({ bytes: plain })),
    };
    const machine = { addsWidely: () => Promise.resolve(addsWidely), compareSpeeds: () => Promise.resolve(gain) };
    return { ...unwrap(await loadInt8Network(editions, folder, machine)), asked };
  }

  it('once: later starts find it in the cache, with its report', async () => {
    const first = await load('fast', 2);
    assert.match(first.report, /^int8 with the same first move as f32 in [\d.]+ % of \d+ positions, .*; 2\.0 times/);
    const second = await load('fast', 2);
    assert.deepEqual([second.onnx, second.report, first.asked, second.asked], [first.onnx, first.report, 1, 0]);
  });

  it('only if that is faster, which the cache remembers too', async () => {
    const first = await load('slow', 1.05);
    assert.equal(first.onnx, undefined);
    assert.match(first.report, /^datatype=int8 is not used, because 8 bits take 95 % of the time .*stays in f32$/);
    const second = await load('slow', 1.05);
    assert.deepEqual([second.onnx, second.report, second.asked], [undefined, first.report, 0]);
  });

  it('only by CPUs that add products of 8 bits without overflow', async () => {
    const { onnx, report, asked } = await load('overflow', 2, false);
    assert.deepEqual([onnx, asked], [undefined, 0]);
    assert.match(report, /no fast products of 8-bit numbers/);
  });
});
