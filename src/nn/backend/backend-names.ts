/** The backends a user may name. lc0's names stand beside ours, so that its configurations go on working. */

/** An execution provider of onnxruntime. */
export type Provider = 'cpu' | 'cuda' | 'tensorrt' | 'dml' | 'coreml' | 'webgpu';
/** team and check are made of others (composite-plan.ts). */
export type BackendKind = Provider | 'auto' | 'hash' | 'random' | 'trivial' | 'team' | 'check';

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
  ['multiplexing', 'team'],
  ['demux', 'team'],
  ['roundrobin', 'team'],
  ['check', 'check'],
]);

/** Backends that only lc0 has, with the nearest one here. They are accepted, so that configurations made for lc0 load, and not listed. */
export const LC0_BACKENDS: ReadonlyMap<string, BackendKind> = new Map<string, BackendKind>([
  ['cudnn', 'cuda'],
  ['cudnn-auto', 'cuda'],
  ['cudnn-fp16', 'cuda'],
  ['tensorflow-cc', 'cuda'],
  ['xla', 'auto'],
  ['metal', 'coreml'],
  ['dx12', 'dml'],
  ['opencl', 'webgpu'],
  ['sycl', 'webgpu'],
  ['sycl-auto', 'webgpu'],
  ['sycl-fp16', 'webgpu'],
  ['onnx-rocm', 'webgpu'],
  ['onnx-migraphx', 'webgpu'],
  ['onednn', 'cpu'],
  ['tensorflow-cc-cpu', 'cpu'],
]);

/** What a name means; undefined when it is unknown. */
export function findBackend(name: string): { readonly kind: BackendKind; readonly note: string | null } | undefined {
  const key = name.toLowerCase();
  const own = BACKENDS.get(key);
  if (own !== undefined) return { kind: own, note: null };
  const kind = LC0_BACKENDS.get(key);
  if (kind === undefined) return undefined;
  return { kind, note: `Backend ${key} is one of lc0's own; ${kind}, the nearest here, takes its place` };
}

const FILELESS: ReadonlySet<string> = new Set(['hash', 'random', 'trivial']);

/** Whether a backend, named as in BACKENDS, evaluates without a network file. */
export function isFilelessBackend(name: string): boolean {
  return FILELESS.has(name);
}
