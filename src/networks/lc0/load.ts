/**
 * Loads an lc0 network file as an ONNX model in memory, which the evaluators run like any other. The conversion is done
 * once; later starts take the model from the cache. Network files that hold an ONNX model keep it.
 */

import type { Result } from '../../base/util/index.js';
import {
  BUILDER_VERSION,
  DEFAULT_BUILD_OPTIONS,
  draftOnnx,
  type FileSource,
  getWeightBytes,
  hashFile,
  readInflated,
  suitsChannelBlock,
  writeModel,
  writeModelWithWeightsFile,
} from '../onnx/index.js';
import { parseNet } from './container.js';
import { adaptEmbeddedModel } from './embedded-model.js';
import { collectInfo, formatMetadata, type Lc0NetworkInfo, parseMetadata } from './lc0-network-info.js';
import { ModelCache, WEIGHTS_BYTES_KEY } from './model-cache.js';
import { NetworkStructure } from './net-schema.js';
import { DEFAULT_HEADS } from './plan-heads.js';
import { checkInputFormat, planNetwork } from './plan-network.js';
import { attempt } from './repair-format.js';

/** Larger weights load faster from a file of their own; smaller ones are simpler in one buffer. */
export const LARGE_WEIGHT_BYTES = 32 * 2 ** 20;

export interface Lc0LoadOptions {
  /** vanilla (default), optimistic, soft, opponent. */
  readonly policyHead?: string | undefined;
  /** winner (default), q, st. */
  readonly valueHead?: string | undefined;
  /** Precision of weights and arithmetic; inputs and outputs are always float32. Default f32. */
  readonly precision?: 'f32' | 'f16';
  /** Folder of converted networks; null keeps none. Default: the user's cache. */
  readonly cacheFolder?: string | null;
  /**
   * If the weights have more bytes than this, they may go to a file of their own in the cache. The caller must be able to open
   * models with a `weightsFolder`. LARGE_WEIGHT_BYTES is a good value. Default: never.
   */
  readonly weightsFileAboveBytes?: number;
  /**
   * The answer of `findChannelBlock`: if the network allows it, the model then runs faster, but on this CPU only. Default 0: a
   * model of ONNX's own operators.
   */
  readonly channelBlock?: number;
  /** Only the first convolution and the heads get that form; what lies between can then be rounded to 8 bits. */
  readonly keepsTower?: boolean;
}

export interface Lc0Network {
  readonly onnx: Uint8Array;
  /**
   * Set if the weights are in a file of this folder. ONNX Runtime takes it as session option
   * `extra: { session: { model_external_initializers_file_folder_path } }`.
   */
  readonly weightsFolder?: string;
  readonly info: Lc0NetworkInfo;
  /** SHA-256 of the file on disk, in hexadecimal. */
  readonly fileSha256: string;
  readonly isFromCache: boolean;
}

/** @param source a path, or a file's bytes. An error is a whole sentence that names the path. */
export function loadLc0Network(source: FileSource, options: Lc0LoadOptions = {}): Promise<Result<Lc0Network>> {
  return attempt('load', source, 'the network', () => load(source, options));
}

async function load(source: FileSource, options: Lc0LoadOptions): Promise<Lc0Network> {
  const { policyHead = DEFAULT_HEADS.policyHead, valueHead = DEFAULT_HEADS.valueHead } = options;
  const { precision = 'f32', weightsFileAboveBytes = Number.POSITIVE_INFINITY } = options;
  const heads = { policyHead, valueHead };
  const wantedBlock = precision === 'f32' ? (options.channelBlock ?? 0) : 0;
  const fileSha256 = await hashFile(source);
  const cache = await ModelCache.open(options.cacheFolder, [
    fileSha256,
    String(BUILDER_VERSION),
    policyHead,
    valueHead,
    precision,
    String(weightsFileAboveBytes),
    ...(wantedBlock ? [`channel block ${wantedBlock}`] : []),
    ...(options.keepsTower ? ['keeps its tower'] : []),
  ]);
  const cached = await cache?.read();
  if (cache && cached) {
    const { onnx, metadata, hasWeightsFile } = cached;
    const weights = hasWeightsFile ? { weightsFolder: cache.folder } : {};
    return { onnx, info: parseMetadata(metadata), fileSha256, isFromCache: true, ...weights };
  }

  const net = parseNet(await readInflated(source));
  if (net.format?.networkFormat?.network === NetworkStructure.NETWORK_ONNX) {
    checkInputFormat(net.format.networkFormat);
    const info = collectInfo(net, undefined, heads);
    const onnx = adaptEmbeddedModel(net, info);
    await cache?.write(onnx);
    return { onnx, info, fileSha256, isFromCache: false };
  }

  const plan = planNetwork(net, heads);
  const info = collectInfo(net, plan, heads);
  const metadata = formatMetadata(info, plan.value.isWdl);
  const channelBlock = wantedBlock && suitsChannelBlock(plan, wantedBlock) ? wantedBlock : 0;
  const { model, graph } = draftOnnx(
    plan,
    { ...DEFAULT_BUILD_OPTIONS, precision, channelBlock, keepsTower: channelBlock > 0 && options.keepsTower === true },
    metadata,
  );
  if (cache && getWeightBytes(graph) > weightsFileAboveBytes) {
    const { weightsName } = cache;
    let small: Uint8Array | undefined;
    const isWritten = await cache.writeWeights(async (file) => {
      small = await writeModelWithWeightsFile(model, graph, weightsName, WEIGHTS_BYTES_KEY, file);
    });
    if (isWritten && small && (await cache.write(small))) {
      return { onnx: small, weightsFolder: cache.folder, info, fileSha256, isFromCache: false };
    }
  }
  const onnx = writeModel(model, graph);
  await cache?.write(onnx);
  return { onnx, info, fileSha256, isFromCache: false };
}
