/**
 * Checks the options of a device and translates them for onnxruntime. onnxruntime's Node interface
 * (js/node/src/session_options_helper.cc, 1.30) passes on few of its providers' options: CUDA and TensorRT get only the device
 * number, and TensorRT then ignores its environment variables too. Options that cannot be passed on are refused by name,
 * because a memory limit that has no effect is worse than an error. Also turns onnxruntime's messages into sentences for the user.
 */

import { getProgramCommand, getSystem } from '#platform/machine.js';
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

// Turns onnxruntime's error messages into sentences for the user. Common failures are recognised and described; from other
// messages only C++ file names and conditions are removed.

interface KnownFailure {
  readonly pattern: RegExp;
  /** @param system as `getSystem` names it */
  describe(system: string): string;
}

const GRAPHICS: Readonly<Record<string, string>> = { darwin: 'Metal', win32: 'Direct3D 12' };

const KNOWN: readonly KnownFailure[] = [
  {
    // Messages of V8, SpiderMonkey and C++ about the computer's memory, not about a device's.
    pattern:
      /Array buffer allocation failed|Invalid array buffer length|WebAssembly\.Memory\(\)|^(\w+: )?[Oo]ut of memory$|bad_alloc/,
    describe: () =>
      'there is not enough memory: close other programs or pages, choose a smaller network, or lower Hash and Threads',
  },
  {
    pattern: /Failed to get a WebGPU adapter/,
    describe: (system) => `no GPU that ${GRAPHICS[system] ?? 'Vulkan'} can use`,
  },
  {
    pattern: /requires f16 but the device does not support it/,
    describe: () => 'this GPU has no half precision: leave out datatype=f16',
  },
  {
    // Windows: LoadLibrary failed with error 126 "" when trying to load "…\onnxruntime_providers_cuda.dll".
    pattern: /_Cuda: Failed to load shared library|onnxruntime_providers_cuda/,
    describe: (system) =>
      `the CUDA provider or a library that it needs is missing; ${system === 'win32' ? '--backend=dml needs neither' : `\`${getProgramCommand()} doctor --install-cuda\` installs the provider`}`,
  },
  {
    pattern: /_TensorRT: Failed to load shared library|onnxruntime_providers_tensorrt/i,
    describe: () => 'the TensorRT provider or a library that it needs is missing',
  },
  {
    // Its messages name a C++ file and an error number of Direct3D, and not what is wrong with the GPU.
    pattern: /dml_provider_factory|DmlExecutionProvider|DirectML\.dll/i,
    describe: (system) => (system === 'win32' ? 'no GPU that DirectML can use' : 'DirectML exists only on Windows'),
  },
  {
    pattern: /no CUDA-capable device|CUDA driver version is insufficient/i,
    describe: () => `no GPU that CUDA can use, or its driver is too old; \`${getProgramCommand()} doctor\` says more`,
  },
  {
    pattern: /\[(?:cuda|tensorrt)\] backend not found/,
    describe: () => 'this onnxruntime has no CUDA and no TensorRT; onnxruntime-node has them for Linux',
  },
  {
    pattern: /\[dml\] backend not found/,
    describe: (system) => (system === 'win32' ? 'this onnxruntime has no DirectML' : 'DirectML exists only on Windows'),
  },
  {
    pattern: /\[coreml\] backend not found/,
    describe: (system) => (system === 'darwin' ? 'this onnxruntime has no CoreML' : 'CoreML exists only on macOS'),
  },
];

/** `CUDA failure 2: out of memory ; GPU=0 ; hostname=… ; file=… ; line=… ; expr=…` */
const CUDA_FAILURE = /^.{0,300}?\b(CUDA|CUDNN|CUBLAS) failure \d+: ?([^;]{1,200}?) ?;.*$/;

/** `/…/webgpu_context.cc:136 void ns::f(const T&)::<lambda()> condition was false. ` */
const CPP_LOCATION = /(?<!\S)\S*\.(?:cc|cpp|cu|cuh|h|hpp):\d+ .{0,300}? was false\. /g;

/** @param text a message of onnxruntime, or one of ours, which stays as it is. @returns one line */
export function describeProviderFailure(text: string, system = getSystem()): string {
  const line = text.replace(/\s+/g, ' ').trim();
  const known = KNOWN.find(({ pattern }) => pattern.test(line));
  return known?.describe(system) ?? line.replaceAll(CPP_LOCATION, '').replace(CUDA_FAILURE, '$1: $2');
}
