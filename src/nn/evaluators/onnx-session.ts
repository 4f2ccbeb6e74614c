/** Opens a model in onnxruntime with the provider of a plan. This and onnx-evaluator.ts are all that knows onnxruntime. */
import { env, InferenceSession } from 'onnxruntime-node';
import type { Provider } from '../backend/backend-names.js';
import type { OnnxPlan } from '../backend/backend-plan.js';

const OPTIMIZATION = ['disabled', 'basic', 'extended', 'all'] as const;
/** Only what ends the process: a provider that fails to load is reported by us, once, and stderr stays silent. */
const LOG_FATAL = 4;

/** @param deviceId for providers with several devices */
export function openSession(modelBytes: Uint8Array, plan: OnnxPlan, deviceId: number): Promise<InferenceSession> {
  env.logLevel = 'fatal';
  // onnxruntime refuses shared memory, and a Uint8Array over some is what a worker is given.
  const bytes = modelBytes.buffer instanceof SharedArrayBuffer ? modelBytes.slice() : modelBytes;
  return InferenceSession.create(bytes, {
    executionProviders: [describeProvider(plan.provider, deviceId)],
    intraOpNumThreads: plan.intraOpThreads,
    interOpNumThreads: 1,
    graphOptimizationLevel: OPTIMIZATION[plan.optimization],
    logSeverityLevel: LOG_FATAL,
  });
}

function describeProvider(provider: Provider, deviceId: number): InferenceSession.ExecutionProviderConfig {
  switch (provider) {
    case 'cuda':
    case 'tensorrt':
    case 'dml':
      return { name: provider, deviceId };
    case 'cpu':
    case 'coreml':
    case 'webgpu':
      return { name: provider };
  }
}
