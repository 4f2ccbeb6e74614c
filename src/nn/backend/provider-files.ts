/** Which execution providers lie beside onnxruntime, without loading them: a missing one would complain on stderr. */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { getNativeFolder } from './native-folder.js';

/** onnxruntime loads a provider from the folder of its own library; `doctor --install-cuda` puts it there. An empty file is none. */
export function hasCudaProvider(): boolean {
  const files: Partial<Record<NodeJS.Platform, string>> = {
    linux: 'libonnxruntime_providers_cuda.so',
    win32: 'onnxruntime_providers_cuda.dll',
  };
  const file = files[process.platform];
  if (file === undefined) return false;
  try {
    return statSync(join(getNativeFolder(), file)).size > 0;
  } catch {
    // Not there; or no folder at all, and the evaluators will meet the same trouble and report it.
    return false;
  }
}
