/** What onnxruntime is and can do here, for people who ask. It is loaded only when they do. */
import { createRequire } from 'node:module';
import { isPackaged, readProgramFile } from '#platform/program-files.js';
import { getNativeFolder } from './backend/native-folder.js';
import { forbidTelemetry } from './backend/telemetry.js';

export interface RuntimeInfo {
  readonly version: string;
  /** Where its native files lie, and where a provider is looked for. */
  readonly folder: string;
  /** Compiled in, by onnxruntime's names; `isBundled` when its files came with onnxruntime. */
  readonly providers: readonly { readonly name: string; readonly isBundled: boolean }[];
}

/** Rejects when onnxruntime cannot be loaded. */
export async function describeRuntime(): Promise<RuntimeInfo> {
  forbidTelemetry();
  const folder = getNativeFolder();
  const { env, listSupportedBackends } = await import('onnxruntime-node');
  const providers = listSupportedBackends().map(({ name, bundled }) => ({ name, isBundled: bundled }));
  return { version: env.versions.node ?? 'of unknown version', folder, providers };
}

/** Without loading it. */
export function readRuntimeVersion(): string {
  const manifest = isPackaged
    ? readProgramFile('native/files.json')
    : createRequire(import.meta.url)('onnxruntime-node/package.json');
  const content: unknown =
    manifest instanceof Uint8Array ? JSON.parse(Buffer.from(manifest).toString('utf8')) : manifest;
  return String((content as { version?: unknown } | null)?.version ?? 'of unknown version');
}
