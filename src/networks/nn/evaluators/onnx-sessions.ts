/**
 * Sessions of ONNX Runtime: the one that a plan asks for, and one run on the CPU. The runtime is loaded only when one is needed.
 */

import {
  openSession as openRuntimeSession,
  prepareRuntime,
  type RuntimeSession,
  type SessionRequest,
} from '#platform/onnx-runtime.js';
import { concatBytes } from '../../../base/util/index.js';
import type { OnnxPlan } from '../backend/backend-plan.js';
import { describeProvider } from '../backend/provider-config.js';
import type { Model } from '../model/model-file.js';

/**
 * Opens a model with the provider of a plan.
 * @param deviceId for providers with several devices
 */
export async function openModelSession(model: Model, plan: OnnxPlan, deviceId: number): Promise<RuntimeSession> {
  return openRuntimeSession({
    model: model.bytes,
    weightsFolder: model.weightsFolder,
    provider: describeProvider(plan.provider, plan.config, deviceId),
    intraOpThreads: plan.intraOpThreads,
    optimization: plan.optimization,
    // Exact sums are slow on every CPU (a 64x6 network loses 45 % of its speed), so they are used only where needed.
    needsWideSums: model.needsWideSums && !(await addsWidely()),
  });
}

export interface RunTensor {
  readonly data: Float32Array;
  readonly dims: readonly number[];
}

/** Opens a model on the CPU as part of preparing or explaining a network. Rejects when the model does not work. */
export async function openOnCpu(
  model: Uint8Array,
  intraOpThreads = 1,
  weightsFolder?: string,
  optimization = 3,
): Promise<RuntimeSession> {
  const needsWideSums = !(await addsWidely());
  return openPlainly({ model, weightsFolder, intraOpThreads, optimization, needsWideSums });
}

/** On the CPU, in one thread and with all optimisations, unless the request says otherwise. */
export function openPlainly(request: Pick<SessionRequest, 'model'> & Partial<SessionRequest>): Promise<RuntimeSession> {
  prepareRuntime(true);
  const provider = { name: 'cpu' };
  return openRuntimeSession({ provider, intraOpThreads: 1, optimization: 3, needsWideSums: false, ...request });
}

let foundSums: Promise<boolean> | undefined;

/**
 * Whether this CPU adds products of 8-bit numbers without overflow, as ARM's and those with VNNI do. Others add pairs in 16 bits.
 * Never rejects.
 */
export function addsWidely(): Promise<boolean> {
  foundSums ??= computeLargeSum().catch(() => false);
  return foundSums;
}

/** An ONNX model around its weights, as base64: y [1, 16] = round(x) · w in 8 bits, x unsigned, w [16, 16] signed. */
const SUM_MODEL = [
  'CAg6twMKHAoBeAoBMQoBMBIBcSIOUXVhbnRpemVMaW5lYXIKOgoBcQoBdwoBMQoBMQoBMAoBehIBeSIUTWF0TXVsSW50ZWdlclRvRmxvYXQ6DWNvbS5taWNyb3NvZnQSAXMqCxABQgExSgQAAIA/KggQAkIBMEoBACoIEANCAXpKAQAqjAIIEAgQEANCAXdKgAI=',
  'WhMKAXgSDgoMCAESCAoCCAEKAggQYhMKAXkSDgoMCAESCAoCCAEKAggQQgIQEUIRCg1jb20ubWljcm9zb2Z0EAE=',
] as const;
const SUM_SIZE = 16;

/** Whether sums of the greatest products of 8-bit numbers are right; two of these products overflow 16 bits. */
async function computeLargeSum(): Promise<boolean> {
  const [head, tail] = SUM_MODEL.map((text) => Uint8Array.from(atob(text), (character) => character.charCodeAt(0)));
  const model = concatBytes([head, new Uint8Array(SUM_SIZE * SUM_SIZE).fill(127), tail]);
  const session = await openPlainly({ model });
  const [x, y] = [new Float32Array(SUM_SIZE).fill(255), new Float32Array(SUM_SIZE)];
  const dims = [1, SUM_SIZE];
  await session.run({ x: session.createTensor(x, dims) }, { y: session.createTensor(y, dims) });
  await session.release();
  return y.every((sum) => sum === SUM_SIZE * 255 * 127);
}

/** Runs a session for some of its outputs. The runtime makes their tensors, whose shapes need not be known. */
export async function runSession(
  session: RuntimeSession,
  inputs: Readonly<Record<string, RunTensor>>,
  outputs: readonly string[],
): Promise<Record<string, RunTensor>> {
  const feeds = Object.entries(inputs).map(([name, { data, dims }]) => [name, session.createTensor(data, dims)]);
  const wanted = Object.fromEntries(outputs.map((name) => [name, null]));
  return (await session.run(Object.fromEntries(feeds), wanted)) as Record<string, RunTensor>;
}

/**
 * Runs a small model once on the CPU, for example to test how this ONNX Runtime computes.
 * @param outputs shapes of the outputs by name
 * @returns the outputs, in the order of `outputs`. Rejects when the model does not work.
 */
export async function runOnCpu(
  model: Uint8Array,
  inputs: Readonly<Record<string, RunTensor>>,
  outputs: Readonly<Record<string, readonly number[]>>,
): Promise<Float32Array[]> {
  const session = await openOnCpu(model);
  try {
    const feeds = Object.entries(inputs).map(([name, { data, dims }]) => [name, session.createTensor(data, dims)]);
    const results = Object.entries(outputs).map(([name, dims]) => {
      const data = new Float32Array(dims.reduce((product, size) => product * size, 1));
      return { name, data, tensor: session.createTensor(data, dims) };
    });
    const fetches = results.map(({ name, tensor }) => [name, tensor]);
    await session.run(Object.fromEntries(feeds), Object.fromEntries(fetches));
    return results.map(({ data }) => data);
  } finally {
    await session.release();
  }
}
