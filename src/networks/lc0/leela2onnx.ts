/**
 * `leela2onnx`: converts an lc0 network file to an ONNX file for any program, with lc0's choices of names, type and operator set.
 */

import type { Result } from '../../base/util/index.js';
import { viewBytes } from '../nn/index.js';
import {
  type BuildOptions,
  DEFAULT_BUILD_OPTIONS,
  draftOnnx,
  type FileSource,
  readInflated,
  writeModel,
} from '../onnx/index.js';
import { parseNet } from './container.js';
import { collectInfo, formatMetadata } from './lc0-network-info.js';
import { NetworkStructure } from './net-schema.js';
import { DEFAULT_HEADS, type HeadChoice } from './plan-heads.js';
import { planNetwork } from './plan-network.js';
import { attempt } from './repair-format.js';

export type Leela2OnnxOptions = Partial<BuildOptions & HeadChoice>;

export interface ConvertedModel {
  readonly onnx: Uint8Array;
  /** True if the file held an ONNX model. It is returned as it is; no option applies. */
  readonly wasEmbedded: boolean;
}

/** An error is a whole sentence that names the path. */
export function convertLeelaToOnnx(
  source: FileSource,
  options: Leela2OnnxOptions = {},
): Promise<Result<ConvertedModel>> {
  return attempt('convert', source, 'the network', async () => {
    const net = parseNet(await readInflated(source));
    if (net.format?.networkFormat?.network === NetworkStructure.NETWORK_ONNX) {
      return { onnx: viewBytes(net.onnxModel?.model ?? new Uint8Array(0)), wasEmbedded: true };
    }
    const heads = { ...DEFAULT_HEADS, ...options };
    const plan = planNetwork(net, heads);
    const metadata = formatMetadata(collectInfo(net, plan, heads), plan.value.isWdl);
    const { model, graph } = draftOnnx(plan, { ...DEFAULT_BUILD_OPTIONS, ...options }, metadata);
    return { onnx: writeModel(model, graph), wasEmbedded: false };
  });
}
