/** Which execution providers lie beside onnxruntime, without loading them: a missing one would complain on stderr. */
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/** onnxruntime loads a provider from the folder of its own library; `doctor --install-cuda` puts it there. */
export function hasCudaProvider(): boolean {
  const files: Partial<Record<NodeJS.Platform, string>> = {
    linux: 'libonnxruntime_providers_cuda.so',
    win32: 'onnxruntime_providers_cuda.dll',
  };
  const file = files[process.platform];
  if (file === undefined) return false;
  try {
    const entry = createRequire(import.meta.url).resolve('onnxruntime-node');
    return existsSync(join(dirname(entry), '..', 'bin', 'napi-v6', process.platform, process.arch, file));
  } catch {
    // Packed into one file: the libraries lie elsewhere.
    return false;
  }
}
