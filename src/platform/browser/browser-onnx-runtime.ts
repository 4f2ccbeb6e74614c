/**
 * ONNX Runtime for pages, loaded with the first session: the WebAssembly build, or the one with WebGPU. It computes in the thread
 * that calls it; to use more cores, the engine starts more evaluator threads.
 */
import type * as OrtWeb from 'onnxruntime-web/wasm';
import type { NamedTensors, RuntimeSession, RuntimeTensor, SessionRequest } from '../platform-ports.js';
import { getAssets } from './browser-threads.js';

export type { NamedTensors, RuntimeSession, RuntimeTensor, SessionRequest } from '../platform-ports.js';

type Runtime = typeof OrtWeb;
type Build = 'wasm' | 'webgpu';

const OPTIMIZATION = ['disabled', 'basic', 'extended', 'all'] as const;
const LOG_FATAL = 4;

const loaded = new Map<Build, Promise<Runtime>>();

/** Does nothing: a page has no environment variables. */
export function prepareRuntime(_usesTf32: boolean): void {}

export function hasCudaProvider(): boolean {
  return false;
}

export function findRuntime(provider: string): string {
  return getAssets()[provider === 'webgpu' ? 'webgpu' : 'wasm'];
}

export async function openSession(request: SessionRequest): Promise<RuntimeSession> {
  const isGpu = request.provider.name === 'webgpu';
  const { InferenceSession, Tensor } = await loadRuntime(isGpu ? 'webgpu' : 'wasm');
  // The runtime does not accept shared memory.
  const session = await InferenceSession.create(request.model.slice(), {
    executionProviders: [isGpu ? 'webgpu' : 'wasm'],
    graphOptimizationLevel: OPTIMIZATION[request.optimization],
    logSeverityLevel: LOG_FATAL,
  });
  const createTensor = (data: Float32Array | Uint16Array, dims: readonly number[]): RuntimeTensor =>
    data instanceof Float32Array ? new Tensor('float32', data, dims) : new Tensor('float16', data, dims);
  return {
    outputNames: session.outputNames,
    outputShapes: session.outputMetadata.map((output) => (output.isTensor ? output.shape : [])),
    createTensor,
    run: async (inputs: NamedTensors, outputs: Readonly<Record<string, RuntimeTensor | null>>) => {
      const results = await session.run(inputs as OrtWeb.InferenceSession.FeedsType, Object.keys(outputs));
      // The runtime ignores the given output tensors and writes to memory of its own.
      for (const [name, tensor] of Object.entries(outputs)) {
        if (tensor === null) continue;
        const result = results[name].data as Float32Array | Uint16Array;
        const bytes = new Uint8Array(result.buffer, result.byteOffset, result.byteLength);
        const { buffer, byteOffset, byteLength } = tensor.data as Float32Array | Uint16Array;
        new Uint8Array(buffer, byteOffset, byteLength).set(bytes);
      }
      return results;
    },
    release: () => session.release(),
  };
}

function loadRuntime(build: Build): Promise<Runtime> {
  const runtime = loaded.get(build) ?? importRuntime(build);
  loaded.set(build, runtime);
  return runtime;
}

async function importRuntime(build: Build): Promise<Runtime> {
  const runtime: Runtime = await (build === 'wasm' ? import('onnxruntime-web/wasm') : import('onnxruntime-web/webgpu'));
  runtime.env.logLevel = 'fatal';
  runtime.env.wasm.numThreads = 1;
  runtime.env.wasm.wasmPaths = { wasm: getAssets()[build] };
  return runtime;
}
