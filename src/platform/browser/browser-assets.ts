/**
 * The files beside the scripts of dist/web, by address. Each is written out as `new URL('./file', import.meta.url)`: that is how
 * bundlers find a file, copy it and put its new address there. They change the page's script only, so a thread takes the
 * addresses of the page, which come with its start.
 */

export interface PageAssets {
  /** sardonyx.js: the Worker that speaks UCI, and the script of every thread. */
  readonly script: string;
  /** ONNX Runtime without devices; 14 MB. */
  readonly wasm: string;
  /** ONNX Runtime with WebGPU; 27 MB. */
  readonly webgpu: string;
}

let assets: PageAssets = {
  script: new URL('./sardonyx.js', import.meta.url).href,
  wasm: new URL('./ort/ort-wasm-simd-threaded.wasm', import.meta.url).href,
  webgpu: new URL('./ort/ort-wasm-simd-threaded.asyncify.wasm', import.meta.url).href,
};

/** Before `takeAssets`: as they lie in dist/web, relative to the script that runs. */
export function getAssets(): PageAssets {
  return assets;
}

/** To be called before anything is loaded. */
export function takeAssets(given: Partial<PageAssets>): void {
  assets = { ...assets, ...given };
}
