/** The names of backends. lc0's names are accepted beside ours, so that configuration files made for lc0 work. */

/** An execution provider of onnxruntime. */
export type Provider = 'cpu' | 'cuda' | 'tensorrt' | 'dml' | 'coreml' | 'webgpu';
/** `team` and `check` combine other backends (backend-plan.ts). */
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

/** Backends that only lc0 has → the nearest one here. They are accepted, but not listed. */
export const LC0_BACKENDS: ReadonlyMap<string, BackendKind> = new Map<string, BackendKind>([
  ['cudnn', 'cuda'],
  ['cudnn-auto', 'cuda'],
  ['cudnn-fp16', 'cuda'],
  ['tensorflow', 'cuda'],
  ['tensorflow-cc', 'cuda'],
  ['tensorflow-cc-cuda', 'cuda'],
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
  ['recordreplay', 'auto'],
  ['tensorflow-cc-cpu', 'cpu'],
]);

/** @returns undefined for an unknown name; `note` tells the user of a substitute for one of lc0's backends */
export function findBackend(name: string): { readonly kind: BackendKind; readonly note: string | null } | undefined {
  const key = name.toLowerCase();
  const own = BACKENDS.get(key);
  if (own !== undefined) return { kind: own, note: null };
  const kind = LC0_BACKENDS.get(key);
  if (kind === undefined) return undefined;
  return { kind, note: `Only lc0 has the backend ${key}; using ${kind} instead` };
}

const FILELESS: ReadonlySet<string> = new Set(['hash', 'random', 'trivial']);

/** Whether a backend, named as in BACKENDS, evaluates without a network file. */
export function isFilelessBackend(name: string): boolean {
  return FILELESS.has(name);
}
