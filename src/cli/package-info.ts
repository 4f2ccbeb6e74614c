/** What the program was shipped with: its version and its network. */
import { hasProgramFile, isPackaged, readProgramFile } from '../util/index.js';

const BUNDLED_NETWORK = 'models/default.onnx';

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

/** The bundled network as a file of the program; null when there is none. */
export function findBundledNetwork(): string | null {
  return hasProgramFile(BUNDLED_NETWORK) ? BUNDLED_NETWORK : null;
}
