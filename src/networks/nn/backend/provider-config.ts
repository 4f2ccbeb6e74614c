/**
 * Checks the options of a device and translates them for onnxruntime. onnxruntime's Node interface
 * (js/node/src/session_options_helper.cc, 1.30) passes on few of its providers' options: CUDA and TensorRT get only the device
 * number, and TensorRT then ignores its environment variables too. Options that cannot be passed on are refused by name,
 * because a memory limit that has no effect is worse than an error.
 */

import type { SessionRequest } from '#platform/onnx-runtime.js';
import type { Provider } from './backend-names.js';
import { BackendOptionError, type BackendOptionKey, type BackendOptions } from './backend-options.js';

export interface ProviderConfig {
  /** CUDA and TensorRT: multiply fp32 matrices with 10 bits of mantissa (TensorFloat-32), onnxruntime's default. */
  readonly tf32: boolean;
  /** A bit mask of COREML_… flags. */
  readonly coreMlFlags: number;
  readonly webgpu: Readonly<Record<string, string>>;
}

/** Options of onnxruntime and other engines that cannot be passed on → what to know or do instead. */
const OUT_OF_REACH: readonly (readonly [BackendOptionKey, string])[] = [
  ['gpu_mem_limit', 'fewer threads and a smaller minibatch need less memory'],
  ['mem-limit', 'fewer threads and a smaller minibatch need less memory'],
  ['cudnn_conv_algo_search', 'CUDA tries all algorithms once for each batch size; batch=N makes fewer sizes'],
  ['conv-search', 'CUDA tries all algorithms once for each batch size; batch=N makes fewer sizes'],
  ['trt_engine_cache_enable', 'TensorRT builds its engines at each start'],
  ['trt_engine_cache_path', 'TensorRT builds its engines at each start'],
  ['engine-cache', 'TensorRT builds its engines at each start'],
  ['trt_fp16_enable', 'use datatype=f16, the default for TensorRT, for half precision'],
];

/** include/onnxruntime/core/providers/coreml/coreml_provider_factory.h */
const COREML_UNITS: Readonly<Record<string, number>> = { all: 0, cpu: 0x001, ane: 0x004, gpu: 0x020 };
const COREML_ML_PROGRAM = 0x010;
const COREML_STATIC_SHAPES = 0x008;

const WEBGPU_CHOICES = {
  preferredLayout: ['NCHW', 'NHWC'],
  validationMode: ['disabled', 'wgpuOnly', 'basic', 'full'],
  storageBufferCacheMode: ['disabled', 'lazyRelease', 'simple', 'bucket'],
} as const;

/** Throws BackendOptionError for values that the provider does not know and options that cannot be passed on. */
export function readProviderConfig(provider: Provider, options: BackendOptions): ProviderConfig {
  const isNvidia = provider === 'cuda' || provider === 'tensorrt';
  for (const [key, instead] of OUT_OF_REACH) {
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
  const keys = Object.keys(WEBGPU_CHOICES) as (keyof typeof WEBGPU_CHOICES)[];
  const chosen = keys.map((key) => [key, readChoice(options, key, WEBGPU_CHOICES[key])]);
  return Object.fromEntries(chosen.filter(([, value]) => value !== undefined));
}

function readChoice(options: BackendOptions, key: BackendOptionKey, choices: readonly string[]): string | undefined {
  const text = options.read(key);
  if (text === undefined || choices.includes(text)) return text;
  throw new BackendOptionError(`Backend option ${key} must be one of ${choices.join(', ')}, not "${text}"`);
}

/** The provider options for onnxruntime, for one device. */
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
