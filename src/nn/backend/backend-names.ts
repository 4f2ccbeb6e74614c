/** The backends a user may name. lc0's names stand beside ours, so that its configurations go on working. */

/** An execution provider of onnxruntime. */
export type Provider = 'cpu' | 'cuda' | 'tensorrt' | 'dml' | 'coreml' | 'webgpu';
export type BackendKind = Provider | 'auto' | 'hash' | 'random' | 'trivial';

export const BACKENDS: ReadonlyMap<string, BackendKind> = new Map<string, BackendKind>([
  ['auto', 'auto'],
  ['cpu', 'cpu'],
  ['cuda', 'cuda'],
  ['tensorrt', 'tensorrt'],
  ['dml', 'dml'],
  ['coreml', 'coreml'],
  ['webgpu', 'webgpu'],
  ['hash', 'hash'],
  ['random', 'random'],
  ['trivial', 'trivial'],
  ['onnx-cpu', 'cpu'],
  ['onnx-cuda', 'cuda'],
  ['onnx-trt', 'tensorrt'],
  ['onnx-dml', 'dml'],
  ['onnx-coreml', 'coreml'],
  ['blas', 'cpu'],
  ['eigen', 'cpu'],
  ['cuda-auto', 'cuda'],
  ['cuda-fp16', 'cuda'],
]);
