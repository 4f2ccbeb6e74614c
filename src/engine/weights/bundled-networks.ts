/**
 * The networks that come with the program, and which of them a backend uses: the entries of `models/bundled.json`. Entries whose
 * file is missing are skipped.
 */

import { readFileSync } from 'node:fs';
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
  /** What the processor must have, as Linux's /proc/cpuinfo names it, for a CPU to use the network unasked. */
  readonly processor?: string;
}

export function listBundledNetworks(): readonly BundledNetwork[] {
  const content = readProgramFile('models/bundled.json');
  if (content === null) return [];
  const { networks } = JSON.parse(Buffer.from(content).toString('utf8')) as { networks: readonly BundledNetwork[] };
  return networks.filter(({ file }) => hasProgramFile(`models/${file}`));
}

/**
 * The first network that suits a backend and the processor; if none is meant for the backend, the first that is bundled.
 * @param precision as the user asks for it; '' = no wish
 */
export function chooseNetwork(
  networks: readonly BundledNetwork[],
  backend: string,
  precision: string,
  hasFeature: (name: string) => boolean = hasProcessorFeature,
): BundledNetwork | undefined {
  // Single precision can be converted to half, int8 to neither.
  const wishes = precision === '' ? [] : [precision, 'fp32'];
  const fitting = wishes.map((wish) => networks.filter((network) => network.precision === wish));
  const candidates = fitting.find((found) => found.length > 0) ?? networks;
  const meant = candidates.filter(({ backends }) => backends.includes(backend));
  return meant.find(({ processor }) => processor === undefined || hasFeature(processor)) ?? meant[0] ?? candidates[0];
}

/** False where the system has no /proc/cpuinfo. */
function hasProcessorFeature(name: string): boolean {
  try {
    const [, flags = ''] = /^(?:flags|Features)\s*:(.*)$/m.exec(readFileSync('/proc/cpuinfo', 'utf8')) ?? [];
    return flags.split(' ').includes(name);
  } catch {
    return false;
  }
}

/** What people type for the network that is chosen without `--weights`. */
export const AUTOMATIC_NETWORK = 'default';

/** The name of a network for `--weights`: its file's, without the extension where that does not mean the automatic choice. */
export function getNetworkName({ file }: BundledNetwork): string {
  const name = file.replace(/\.onnx$/, '');
  return name === AUTOMATIC_NETWORK ? file : name;
}

/** Finds a network by its name or its file's name; case does not matter. */
export function findBundledNetwork(networks: readonly BundledNetwork[], name: string): BundledNetwork | undefined {
  const wanted = name.toLowerCase().replace(/(\.onnx)?$/, '.onnx');
  return networks.find(({ file }) => file === wanted);
}
