/**
 * The door: an lc0 network file → an ONNX model in memory that the evaluators run like any other. Conversion is done
 * once; afterwards the model comes from the cache.
 */
import { failure, type Result, success } from '../util/index.js';
import { BUILDER_VERSION, DEFAULT_BUILD_OPTIONS, draftOnnx } from './build-onnx.js';
import { suitsChannelBlock } from './channel-block.js';
import { parseNet } from './container.js';
import { adaptEmbeddedModel } from './embedded-model.js';
import { getWeightBytes, writeModel, writeModelWithWeightsFile } from './graph/write-model.js';
import { findModelFolder, ModelCache, WEIGHTS_BYTES_KEY } from './model-cache.js';
import { NetworkStructure } from './net-enums.js';
import { NetworkError } from './network-error.js';
import { collectInfo, formatMetadata, type Lc0NetworkInfo } from './network-info.js';
import { DEFAULT_HEADS } from './plan-heads.js';
import { checkInputFormat, planNetwork } from './plan-network.js';
import { type FileSource, hashFile, readInflated } from './read-file.js';

/** From here on a file of their own makes weights cheaper to load; below, one buffer is simpler. */
export const LARGE_WEIGHT_BYTES = 32 * 2 ** 20;

export interface Lc0LoadOptions {
  /** vanilla (default), optimistic, soft, opponent. */
  readonly policyHead?: string;
  /** winner (default), q, st. */
  readonly valueHead?: string;
  /** Weights and arithmetic; inputs and outputs are float32 either way. Default f32. */
  readonly precision?: 'f32' | 'f16';
  /** Where converted networks are kept; null keeps none. Default: the user's cache. */
  readonly cacheFolder?: string | null;
  /**
   * Weights of more bytes than this may go to a file of their own in the cache, when the caller can open models with a
   * `weightsFolder` (LARGE_WEIGHT_BYTES is a good value). Default: never.
   */
  readonly weightsFileAboveBytes?: number;
  /**
   * The answer of `findChannelBlock`, for a model that runs on this processor only, but faster, where the network
   * allows it. Default: 0, a model of ONNX's own operators.
   */
  readonly channelBlock?: number;
}

export interface Lc0Network {
  readonly onnx: Uint8Array;
  /**
   * Set when the weights lie in a file of this folder; ONNX Runtime takes it as session option
   * `extra: { session: { model_external_initializers_file_folder_path } }`.
   */
  readonly weightsFolder?: string;
  readonly info: Lc0NetworkInfo;
  /** Of the file as it lies on disk, in hexadecimal. */
  readonly fileSha256: string;
  readonly isFromCache: boolean;
}

/** @param source a path, or a file's bytes. The error is a whole sentence that names the path. */
export async function loadLc0Network(source: FileSource, options: Lc0LoadOptions = {}): Promise<Result<Lc0Network>> {
  try {
    return success(await load(source, options));
  } catch (error) {
    if (!(error instanceof NetworkError)) throw error;
    return failure(`Cannot load ${typeof source === 'string' ? source : 'the network'}: ${error.message}`);
  }
}

async function load(source: FileSource, options: Lc0LoadOptions): Promise<Lc0Network> {
  const heads = {
    policyHead: options.policyHead ?? DEFAULT_HEADS.policyHead,
    valueHead: options.valueHead ?? DEFAULT_HEADS.valueHead,
  };
  const precision = options.precision ?? 'f32';
  const wantedBlock = precision === 'f32' ? (options.channelBlock ?? 0) : 0;
  const weightsFileAboveBytes = options.weightsFileAboveBytes ?? Number.POSITIVE_INFINITY;
  const folder = options.cacheFolder === undefined ? findModelFolder() : options.cacheFolder;
  const fileSha256 = await hashFile(source);
  let cache: ModelCache | undefined;
  if (folder) {
    cache = await ModelCache.open(folder, [
      fileSha256,
      String(BUILDER_VERSION),
      heads.policyHead,
      heads.valueHead,
      precision,
      String(weightsFileAboveBytes),
      ...(wantedBlock ? [`channel block ${wantedBlock}`] : []),
    ]);
    const cached = await cache.read();
    if (cached) {
      return {
        onnx: cached.onnx,
        info: cached.info,
        fileSha256,
        isFromCache: true,
        ...(cached.hasWeightsFile ? { weightsFolder: folder } : {}),
      };
    }
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
  const { model, graph } = draftOnnx(plan, { ...DEFAULT_BUILD_OPTIONS, precision, channelBlock }, metadata);
  if (cache && getWeightBytes(graph) > weightsFileAboveBytes) {
    let small: Uint8Array | undefined;
    const weightsCache = cache;
    const isWritten = await cache.writeWeights(async (file) => {
      small = await writeModelWithWeightsFile(model, graph, weightsCache.weightsName, WEIGHTS_BYTES_KEY, file);
    });
    if (isWritten && small && (await cache.write(small))) {
      return { onnx: small, weightsFolder: cache.folder, info, fileSha256, isFromCache: false };
    }
  }
  const onnx = writeModel(model, graph);
  await cache?.write(onnx);
  return { onnx, info, fileSha256, isFromCache: false };
}
