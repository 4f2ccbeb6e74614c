/** The model of an ONNX file, as a stranger's. */
import { readFileSync } from 'node:fs';
import type { ModelSource } from '#sardonyx/networks/nn/index.js';

export function readModelSource(path: string): ModelSource {
  return { bytes: readFileSync(path), name: path, isForeign: true };
}
