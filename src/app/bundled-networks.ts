/**
 * The networks that come with the program, and which of them a backend gets: `models/bundled.json` says so, first fitting
 * entry wins. Files that the program was shipped without do not count.
 */
import { hasProgramFile, readProgramFile } from '#platform/program-files.js';

export interface BundledNetwork {
  /** In the folder models. */
  readonly file: string;
  readonly precision: 'fp32' | 'fp16' | 'int8';
  /** onnxruntime's providers that get it unless another precision is asked for. */
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
 * @param precision the one a user asks for; '' when he does not
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
