/** Runs a converted network on planes and compares it with the reference. */
import assert from 'node:assert/strict';
import { InferenceSession, Tensor } from 'onnxruntime-node';
import { createPrng, unwrap } from '#sardonyx/base/util/index.js';
import { type Lc0LoadOptions, type Lc0Network, loadLc0Network } from '#sardonyx/networks/lc0/index.js';
import { encodeNetworkFile, type FormatNumbers } from './lc0-network-file.js';
import { createRandomNetwork, type NetworkSpec } from './lc0-random-network.js';
import { computeReference, type ReferenceHeads } from './lc0-reference.js';

export const INPUT_SIZE = 112 * 64;

/** Planes like those of a position: sparse ones, full planes, a rule-50 count. */
export function createRandomPlanes(seed: number, batch: number): Float32Array {
  const prng = createPrng(seed);
  const planes = new Float32Array(batch * INPUT_SIZE);
  for (let position = 0; position < batch; position++) {
    for (let plane = 0; plane < 112; plane++) {
      const offset = position * INPUT_SIZE + plane * 64;
      if (plane < 104) {
        for (let i = 0; i < 4; i++) planes[offset + prng.nextBelow(64)] = 1;
      } else {
        planes.fill(plane === 109 ? prng.nextBelow(100) / 100 : prng.nextBelow(2), offset, offset + 64);
      }
    }
  }
  return planes;
}

export interface OnnxOutput {
  readonly policy: Float32Array;
  readonly wdl: Float32Array | undefined;
  readonly value: Float32Array | undefined;
  readonly movesLeft: Float32Array | undefined;
}

export async function openModel(network: Pick<Lc0Network, 'onnx' | 'weightsFolder'>): Promise<InferenceSession> {
  return InferenceSession.create(network.onnx, {
    intraOpNumThreads: 1,
    logSeverityLevel: 3,
    ...(network.weightsFolder
      ? { extra: { session: { model_external_initializers_file_folder_path: network.weightsFolder } } }
      : {}),
  });
}

export async function runModel(session: InferenceSession, planes: Float32Array): Promise<OnnxOutput> {
  const batch = planes.length / INPUT_SIZE;
  const results = await session.run({ [session.inputNames[0]]: new Tensor('float32', planes, [batch, 112, 8, 8]) });
  const pick = (name: string): Float32Array | undefined => results[name]?.data as Float32Array | undefined;
  const policy = pick('/output/policy');
  assert.ok(policy, 'the model has no output /output/policy');
  return { policy, wdl: pick('/output/wdl'), value: pick('/output/value'), movesLeft: pick('/output/mlh') };
}

export interface Comparison {
  readonly load?: Lc0LoadOptions;
  readonly heads?: ReferenceHeads;
  /** The format the reference computes with, where the file says less or other than the truth. */
  readonly trueFormat?: FormatNumbers;
  /** Largest allowed difference, relative to the largest output of its kind. */
  readonly tolerance?: number;
}

/** Builds a network of the given kind, converts and runs it, and fails where it differs from the reference. */
export async function compareWithReference(spec: NetworkSpec, comparison: Comparison = {}): Promise<void> {
  const file = createRandomNetwork(spec);
  const options = { cacheFolder: null, ...comparison.load };
  const network = unwrap(await loadLc0Network(encodeNetworkFile(file), options));
  const session = await openModel(network);
  const batch = 2;
  const planes = createRandomPlanes(7, batch);
  const output = await runModel(session, planes);
  const tolerance = comparison.tolerance ?? 2e-5;
  const isWdl = { ...file.format, ...comparison.trueFormat }.value === 2;
  assert.equal(output.wdl !== undefined, isWdl);
  assert.equal(output.value !== undefined, !isWdl);
  assert.equal(output.movesLeft !== undefined, spec.movesLeft === true);
  for (let position = 0; position < batch; position++) {
    const reference = computeReference(
      { ...file, format: { ...file.format, ...comparison.trueFormat } },
      planes.subarray(position * INPUT_SIZE, (position + 1) * INPUT_SIZE),
      comparison.heads,
    );
    assertClose(output.policy.subarray(position * 1858, (position + 1) * 1858), reference.policy, tolerance, 'policy');
    const values = output.wdl ?? output.value ?? new Float32Array(0);
    const width = isWdl ? 3 : 1;
    assertClose(values.subarray(position * width, (position + 1) * width), reference.value, tolerance, 'value');
    if (reference.movesLeft !== undefined) {
      assertClose(output.movesLeft?.subarray(position, position + 1), [reference.movesLeft], tolerance, 'moves left');
    }
  }
  await session.release();
}

export function assertClose(
  actual: ArrayLike<number> | undefined,
  expected: ArrayLike<number>,
  tolerance: number,
  what: string,
): void {
  assert.ok(actual, `there is no ${what}`);
  assert.equal(actual.length, expected.length, what);
  let scale = 1;
  for (let i = 0; i < expected.length; i++) scale = Math.max(scale, Math.abs(expected[i]));
  for (let i = 0; i < expected.length; i++) {
    const difference = Math.abs(actual[i] - expected[i]) / scale;
    assert.ok(difference <= tolerance, `${what}[${i}] is ${actual[i]}, not ${expected[i]}`);
  }
}
