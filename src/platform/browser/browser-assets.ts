/**
 * The addresses of the files beside the scripts of dist/web. Each is written out as `new URL('./file', import.meta.url)`, because
 * bundlers look for this form, copy the file and insert its new address. They rewrite the page's script only, so each thread
 * gets the page's addresses with its first message.
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

/** The addresses that `takeAssets` was given; before that, those in dist/web, relative to the running script. */
export function getAssets(): PageAssets {
  return assets;
}

/** Call it before anything is loaded. */
export function takeAssets(given: Partial<PageAssets>): void {
  assets = { ...assets, ...given };
}
