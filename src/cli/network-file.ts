/**
 * From the option WeightsFile to a model: the bundled network, an ONNX file, or an lc0 file, which is converted. The reader
 * of lc0's files is loaded only when one is met.
 */
import type { OptionStore } from '../engine/index.js';
import type { ModelSource } from '../nn/index.js';
import { failure, type Result, success } from '../util/index.js';
import { findBundledNetwork } from './package-info.js';

const AUTODISCOVER = '<autodiscover>';

/** The file that WeightsFile means. */
export function resolveNetworkFile(weightsFile: string): Result<string> {
  if (weightsFile !== AUTODISCOVER && weightsFile !== '') return success(weightsFile);
  const bundled = findBundledNetwork();
  return bundled === null ? failure('No network is bundled: name one with --weights') : success(bundled);
}

export async function findModel(options: OptionStore): Promise<Result<ModelSource>> {
  const path = resolveNetworkFile(options.getString('WeightsFile'));
  if (!path.ok) return path;
  if (!/\.pb(\.gz)?$/i.test(path.value)) return success({ path: path.value });
  const { loadLc0Network } = await import('../lc0/index.js');
  const network = await loadLc0Network(path.value);
  if (!network.ok) return network;
  return success({ bytes: network.value.onnx, name: path.value });
}
