/**
 * The networks that come with the program, and which of them a backend may use: the entries of `models/bundled.json`. Entries
 * whose file is missing are skipped. network-selection.ts chooses where several entries suit a backend.
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
  /** Strength at the same number of nodes, on one scale for all networks that have it. Needed where a backend has several. */
  readonly eloAtEqualNodes?: number;
}

export interface Bundle {
  readonly networks: readonly BundledNetwork[];
  /** Elo that a network gains when it evaluates twice as many positions per second. */
  readonly eloPerSpeedDoubling?: number;
}

export function readBundle(): Bundle {
  const content = readProgramFile('models/bundled.json');
  if (content === null) return { networks: [] };
  const bundle = JSON.parse(Buffer.from(content).toString('utf8')) as Bundle;
  return { ...bundle, networks: bundle.networks.filter(({ file }) => hasProgramFile(`models/${file}`)) };
}

export function listBundledNetworks(): readonly BundledNetwork[] {
  return readBundle().networks;
}

/**
 * The networks that suit a backend, the preferred one first; if none is meant for it, any that is bundled.
 * @param precision as the user asks for it; '' = no wish
 */
export function listSuitableNetworks(
  networks: readonly BundledNetwork[],
  backend: string,
  precision: string,
): readonly BundledNetwork[] {
  // Single precision can be converted to half, int8 to neither.
  const wishes = precision === '' ? [] : [precision, 'fp32'];
  const fitting = wishes.map((wish) => networks.filter((network) => network.precision === wish));
  const candidates = fitting.find((found) => found.length > 0) ?? networks;
  const meant = candidates.filter(({ backends }) => backends.includes(backend));
  return meant.length > 0 ? meant : candidates.slice(0, 1);
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
