/**
 * The networks that come with the program, and which of them a backend uses: the first fitting entry of
 * `models/bundled.json`. Entries whose file is missing are skipped.
 */
import { hasProgramFile, readProgramFile } from '#platform/program-files.js';

export interface BundledNetwork {
  /** In the folder models. */
  readonly file: string;
  readonly precision: 'fp32' | 'fp16' | 'int8';
  /** Providers of onnxruntime that use it, unless the user asks for another precision; `wasm` is WebAssembly in pages. */
  readonly backends: readonly string[];
  readonly input: string;
  readonly policy: string;
  /** Of the file, in hexadecimal. */
  readonly sha256: string;
}

export function listBundledNetworks(): readonly BundledNetwork[] {
  const content = readProgramFile('models/bundled.json');
  if (content === null) return [];
  const { networks } = JSON.parse(Buffer.from(content).toString('utf8')) as { networks: BundledNetwork[] };
  return networks.filter(({ file }) => hasProgramFile(`models/${file}`));
}

/**
 * @param precision as the user asks for it; '' = no wish
 * @returns null when nothing is bundled
 */
export function chooseBundledNetwork(
  networks: readonly BundledNetwork[],
  backend: string,
  precision: string,
): BundledNetwork | null {
  // Half precision can be made of single, neither of int8.
  const wishes = precision === '' ? [] : [precision, 'fp32'];
  const fitting = wishes.map((wish) => networks.filter((network) => network.precision === wish));
  const candidates = fitting.find((found) => found.length > 0) ?? networks;
  return candidates.find(({ backends }) => backends.includes(backend)) ?? candidates[0] ?? null;
}
