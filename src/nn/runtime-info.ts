/** What onnxruntime is and can do here, for people who ask. It is loaded only when they do. */
import { getNativeFolder } from './backend/native-folder.js';

export interface RuntimeInfo {
  readonly version: string;
  /** Where its native files lie, and where a provider is looked for. */
  readonly folder: string;
  /** Compiled in, by onnxruntime's names; `isBundled` when its files came with onnxruntime. */
  readonly providers: readonly { readonly name: string; readonly isBundled: boolean }[];
}

/** Rejects when onnxruntime cannot be loaded. */
export async function describeRuntime(): Promise<RuntimeInfo> {
  const folder = getNativeFolder();
  const { env, listSupportedBackends } = await import('onnxruntime-node');
  const providers = listSupportedBackends().map(({ name, bundled }) => ({ name, isBundled: bundled }));
  return { version: env.versions.node ?? 'of unknown version', folder, providers };
}
