/** What the program was shipped with: its version and its networks. */
import { hasProgramFile, isPackaged, readProgramFile } from '../util/index.js';

/** In order of preference; the tiny random one of the tests stands in where no other is installed. */
const NETWORKS = ['models/default.onnx', 'models/tiny-test.onnx'];

export function readVersion(): string {
  const manifest: unknown = JSON.parse(Buffer.from(readProgramFile('package.json') ?? []).toString('utf8') || '{}');
  const version = (manifest as { version?: unknown }).version;
  return typeof version === 'string' ? version : 'unknown';
}

/** How the program was put together; empty when it runs from its sources. */
export function readBuild(): string {
  if (!isPackaged) return '';
  return Buffer.from(readProgramFile('build.txt') ?? [])
    .toString('utf8')
    .trim();
}

/** The bundled network as a file of the program, such as models/default.onnx; null when there is none. */
export function findBundledNetwork(): string | null {
  return NETWORKS.find(hasProgramFile) ?? null;
}
