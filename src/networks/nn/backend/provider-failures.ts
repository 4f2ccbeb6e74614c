/**
 * Turns onnxruntime's error messages into sentences for the user. Common failures are recognised and described; from other
 * messages only C++ file names and conditions are removed.
 */

import { getProgramCommand, getSystem } from '#platform/machine.js';

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
