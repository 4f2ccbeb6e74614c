/** Sessions of ONNX Runtime: the one that a plan asks for, and one run on the CPU. The runtime is loaded only here. */
import { openSession as openRuntimeSession, prepareRuntime, type RuntimeSession } from '#platform/onnx-runtime.js';
import type { OnnxPlan } from '../backend/backend-plan.js';
import { describeProvider } from '../backend/provider-config.js';
import type { Model } from '../model/model-file.js';

/**
 * Opens a model with the provider of a plan.
 * @param deviceId for providers with several devices
 */
export function openSession(model: Model, plan: OnnxPlan, deviceId: number): Promise<RuntimeSession> {
  return openRuntimeSession({
    model: model.bytes,
    weightsFolder: model.weightsFolder,
    provider: describeProvider(plan.provider, plan.config, deviceId),
    intraOpThreads: plan.intraOpThreads,
    optimization: plan.optimization,
    needsWideSums: model.needsWideSums,
  });
}

export interface RunTensor {
  readonly data: Float32Array;
  readonly dims: readonly number[];
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
  prepareRuntime(true);
  const provider = { name: 'cpu' };
  const session = await openRuntimeSession({
    model,
    provider,
    intraOpThreads: 1,
    optimization: 3,
    needsWideSums: false,
  });
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
