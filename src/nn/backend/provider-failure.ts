/**
 * What onnxruntime says when a provider fails → a sentence for the user. Its texts name C++ files and conditions; the
 * failures that are common are known by their words, from the others only the C++ is taken away.
 */
import { getSystem } from '#platform/machine.js';

interface KnownFailure {
  readonly pattern: RegExp;
  /** @param system as `getSystem` names it */
  describe(system: string): string;
}

const GRAPHICS: Readonly<Record<string, string>> = { darwin: 'Metal', win32: 'Direct3D 12' };

const KNOWN: readonly KnownFailure[] = [
  {
    pattern: /Failed to get a WebGPU adapter/,
    describe: (system) => `no GPU that ${GRAPHICS[system] ?? 'Vulkan'} can use`,
  },
  {
    pattern: /requires f16 but the device does not support it/,
    describe: () => 'this GPU cannot compute in half precision: leave out datatype=f16',
  },
  {
    pattern: /_Cuda: Failed to load shared library|libonnxruntime_providers_cuda/,
    describe: () =>
      'the CUDA provider or a library that it needs is missing; `sardonyx doctor --install-cuda` installs the provider',
  },
  {
    pattern: /_TensorRT: Failed to load shared library|libonnxruntime_providers_tensorrt/i,
    describe: () => 'the TensorRT provider or a library that it needs is missing',
  },
  {
    pattern: /\[dml\] backend not found/,
    describe: (system) =>
      system === 'win32' ? 'this onnxruntime has no DirectML' : 'DirectML is a part of Windows alone',
  },
  {
    pattern: /\[coreml\] backend not found/,
    describe: (system) => (system === 'darwin' ? 'this onnxruntime has no CoreML' : 'CoreML is a part of macOS alone'),
  },
];

/** `/…/webgpu_context.cc:136 void ns::f(const T&)::<lambda()> condition was false. ` */
const CPP_LOCATION = /\S*\.(?:cc|cpp|cu|cuh|h|hpp):\d+ .*? was false\. /g;

/** One line. @param text onnxruntime's own, or ours, which is left as it is */
export function describeProviderFailure(text: string, system = getSystem()): string {
  const line = text.replace(/\s+/g, ' ').trim();
  const known = KNOWN.find(({ pattern }) => pattern.test(line));
  return known?.describe(system) ?? line.replaceAll(CPP_LOCATION, '');
}
