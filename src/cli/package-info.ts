/** What package.json and the folders beside it say; paths are relative to the built file in dist/cli. */
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const ROOT = new URL('../../', import.meta.url);

export function readVersion(): string {
  const manifest: unknown = JSON.parse(readFileSync(new URL('package.json', ROOT), 'utf8'));
  const version = (manifest as { version?: unknown }).version;
  return typeof version === 'string' ? version : 'unknown';
}

/** The bundled network, or the tiny random one of the tests where no other is installed. */
export function findBundledNetwork(): string | null {
  const paths = ['models/default.onnx', 'models/tiny-test.onnx'].map((name) => fileURLToPath(new URL(name, ROOT)));
  return paths.find((path) => existsSync(path)) ?? null;
}
