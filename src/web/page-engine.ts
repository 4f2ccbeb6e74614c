/** What all engines in pages share: their options, and the test whether the browser can run an engine. */
import { acceptedOptions, engineOptions } from '../engine/options.js';
import { networkOptions } from '../nn/options.js';
import { type OptionSpec, OptionStore } from '../options/index.js';
import { searchOptions } from '../search/options.js';
import { conversationOptions } from '../uci/options.js';

/** Name of the CPU backend in a page. */
export const WASM = 'wasm';

/** A function with one 128-bit value: WebAssembly that only a runtime with SIMD accepts. */
const SIMD_PROBE = new Uint8Array([
  0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00, 0x01, 0x05, 0x01, 0x60, 0x00, 0x01, 0x7b, 0x03, 0x02, 0x01, 0x00,
  0x0a, 0x0a, 0x01, 0x08, 0x00, 0x41, 0x00, 0xfd, 0x0f, 0xfd, 0x62, 0x0b,
]);

export function createPageOptions(): OptionStore {
  return new OptionStore([
    ...networkOptions.map(adaptToPage),
    ...engineOptions,
    ...conversationOptions,
    ...searchOptions,
    ...acceptedOptions,
  ]);
}

function adaptToPage(spec: OptionSpec): OptionSpec {
  if (spec.uci !== 'Backend' || spec.kind !== 'choice') return spec;
  const help = 'What evaluates positions; auto = WebGPU on a graphics card, otherwise WebAssembly';
  return { ...spec, help, choices: ['auto', 'webgpu', WASM, 'hash', 'random', 'trivial'], synonyms: { cpu: WASM } };
}

/** Why the engine cannot run in this page, as a sentence for the user; null when it can. */
export function findObstacle(): string | null {
  if (typeof crossOriginIsolated === 'undefined') {
    return 'sardonyx/web is the engine of web pages and needs a browser: programs for Node import sardonyx';
  }
  if (typeof SharedArrayBuffer === 'undefined' || !crossOriginIsolated) {
    return 'The engine needs a cross-origin isolated page: the server must send Cross-Origin-Opener-Policy: same-origin and Cross-Origin-Embedder-Policy: require-corp';
  }
  if (typeof WebAssembly === 'undefined') return 'The engine needs WebAssembly, which this browser lacks';
  if (!WebAssembly.validate(SIMD_PROBE)) return 'The engine needs WebAssembly with SIMD, which this browser lacks';
  return null;
}
