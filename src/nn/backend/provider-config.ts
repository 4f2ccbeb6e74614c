/**
 * The options of a device: what users may write in BackendOptions, checked, and what onnxruntime is given for it.
 * onnxruntime's interface for Node (js/node/src/session_options_helper.cc, 1.30) passes on much less than its providers know:
 * to CUDA and TensorRT the device number alone, and TensorRT then ignores its environment variables too. What cannot be
 * passed on is refused by name, since a limit that silently limits nothing is worse than none.
 */
import type { SessionRequest } from '#platform/onnx-runtime.js';
import type { Provider } from './backend-names.js';
import { BackendOptionError, type BackendOptions } from './backend-options.js';

export interface ProviderConfig {
  /** CUDA and TensorRT: matrices of 32 bit numbers with 10 bits of mantissa, onnxruntime's default. */
  readonly tf32: boolean;
  /** CoreML's flags. */
  readonly coreMlFlags: number;
  readonly webgpu: Readonly<Record<string, string>>;
}

/** Options of other engines and of onnxruntime itself that cannot be passed on, and what to do instead. */
const OUT_OF_REACH: Readonly<Record<string, string>> = {
  gpu_mem_limit: 'fewer threads and a smaller minibatch need less memory',
  'mem-limit': 'fewer threads and a smaller minibatch need less memory',
  cudnn_conv_algo_search: 'it searches thoroughly, once for each batch size; batch=N sets how few sizes there are',
  'conv-search': 'it searches thoroughly, once for each batch size; batch=N sets how few sizes there are',
  trt_engine_cache_enable: 'engines are built again at each start',
  trt_engine_cache_path: 'engines are built again at each start',
  'engine-cache': 'engines are built again at each start',
  trt_fp16_enable: 'datatype=f16, the default there, gives it a network in half precision',
};

/** include/onnxruntime/core/providers/coreml/coreml_provider_factory.h */
const COREML_UNITS: Readonly<Record<string, number>> = { all: 0, cpu: 0x001, ane: 0x004, gpu: 0x020 };
const COREML_ML_PROGRAM = 0x010;
const COREML_STATIC_SHAPES = 0x008;

const WEBGPU_CHOICES: Readonly<Record<string, readonly string[]>> = {
  preferredLayout: ['NCHW', 'NHWC'],
  validationMode: ['disabled', 'wgpuOnly', 'basic', 'full'],
  storageBufferCacheMode: ['disabled', 'lazyRelease', 'simple', 'bucket'],
};

/** Throws BackendOptionError. */
export function readProviderConfig(provider: Provider, options: BackendOptions): ProviderConfig {
  const isNvidia = provider === 'cuda' || provider === 'tensorrt';
  for (const [key, instead] of Object.entries(OUT_OF_REACH)) {
    if (provider === 'cpu' || options.read(key) === undefined) continue;
    throw new BackendOptionError(
      `Backend option ${key} cannot be set through onnxruntime's Node interface: ${instead}`,
    );
  }
  return {
    tf32: isNvidia ? options.readFlag('tf32', true) : true,
    coreMlFlags: provider === 'coreml' ? readCoreMlFlags(options) : 0,
    webgpu: provider === 'webgpu' ? readWebGpuChoices(options) : {},
  };
}

function readCoreMlFlags(options: BackendOptions): number {
  const units = readChoice(options, 'units', Object.keys(COREML_UNITS)) ?? 'all';
  const program = options.readFlag('mlprogram', true) ? COREML_ML_PROGRAM : 0;
  const shapes = options.readFlag('static-shapes', false) ? COREML_STATIC_SHAPES : 0;
  return COREML_UNITS[units] | program | shapes;
}

function readWebGpuChoices(options: BackendOptions): Record<string, string> {
  const chosen = Object.entries(WEBGPU_CHOICES).map(([key, choices]) => [key, readChoice(options, key, choices)]);
  return Object.fromEntries(chosen.filter(([, value]) => value !== undefined));
}

function readChoice(options: BackendOptions, key: string, choices: readonly string[]): string | undefined {
  const text = options.read(key);
  if (text === undefined || choices.includes(text)) return text;
  throw new BackendOptionError(`Backend option ${key} must be one of ${choices.join(', ')}, not "${text}"`);
}

/** What onnxruntime is given for one device. */
export function describeProvider(
  provider: Provider,
  config: ProviderConfig,
  deviceId: number,
): SessionRequest['provider'] {
  switch (provider) {
    case 'cuda':
    case 'tensorrt':
    case 'dml':
      return { name: provider, deviceId };
    case 'coreml':
      return { name: provider, coreMlFlags: config.coreMlFlags };
    case 'webgpu':
      return { name: provider, ...config.webgpu };
    case 'cpu':
      return { name: provider };
  }
}
