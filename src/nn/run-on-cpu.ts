/** A small model, run once on the processor: for questions about onnxruntime itself, which is loaded only here. */
import { getNativeFolder } from './backend/native-folder.js';
import { forbidTelemetry } from './backend/telemetry.js';

export interface RunInput {
  readonly data: Float32Array;
  readonly dims: readonly number[];
}

/** @returns the outputs in the model's order. Rejects when the model does not work. */
export async function runOnCpu(onnx: Uint8Array, inputs: Readonly<Record<string, RunInput>>): Promise<Float32Array[]> {
  forbidTelemetry();
  getNativeFolder();
  const { env, InferenceSession, Tensor } = await import('onnxruntime-node');
  env.logLevel = 'fatal';
  const session = await InferenceSession.create(onnx, { intraOpNumThreads: 1, logSeverityLevel: 4 });
  try {
    const feeds: Record<string, InstanceType<typeof Tensor>> = {};
    for (const [name, { data, dims }] of Object.entries(inputs)) feeds[name] = new Tensor('float32', data, dims);
    const results = await session.run(feeds);
    return session.outputNames.map((name) => results[name].data as Float32Array);
  } finally {
    await session.release();
  }
}
