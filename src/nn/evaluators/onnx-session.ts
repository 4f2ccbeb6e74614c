/** Opens a model in onnxruntime with the provider of a plan. This and onnx-evaluator.ts are all that knows onnxruntime. */
import { env, InferenceSession } from 'onnxruntime-node';
import type { OnnxPlan } from '../backend/backend-plan.js';
import { describeProvider } from '../backend/provider-config.js';
import type { Model } from '../model/model-file.js';

const OPTIMIZATION = ['disabled', 'basic', 'extended', 'all'] as const;
/** Only what ends the process: a provider that fails to load is reported by us, once, and stderr stays silent. */
const LOG_FATAL = 4;

/** @param deviceId for providers with several devices */
export function openSession(model: Model, plan: OnnxPlan, deviceId: number): Promise<InferenceSession> {
  env.logLevel = 'fatal';
  // onnxruntime refuses shared memory, and a Uint8Array over some is what a worker is given.
  const bytes = model.bytes.buffer instanceof SharedArrayBuffer ? model.bytes.slice() : model.bytes;
  return InferenceSession.create(bytes, {
    executionProviders: [describeProvider(plan.provider, plan.config, deviceId)],
    intraOpNumThreads: plan.intraOpThreads,
    interOpNumThreads: 1,
    graphOptimizationLevel: OPTIMIZATION[plan.optimization],
    logSeverityLevel: LOG_FATAL,
    extra: { session: describeExtras(model) },
  });
}

function describeExtras(model: Model): Record<string, string> {
  return {
    ...(model.weightsFolder === undefined ? {} : { model_external_initializers_file_folder_path: model.weightsFolder }),
    // Slower and exact on CPUs without VNNI, without effect on others.
    ...(model.needsWideSums ? { x64quantprecision: '1' } : {}),
  };
}
