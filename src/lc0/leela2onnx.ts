/**
 * `leela2onnx`: converts an lc0 network file to an ONNX file for any program, with lc0's choices of names, type and operator set.
 */
import {
  BUILDER_VERSION,
  type BuildOptions,
  DEFAULT_BUILD_OPTIONS,
  decodeModel,
  draftOnnx,
  type FileSource,
  hashFile,
  NetworkError,
  readInflated,
  suitsChannelBlock,
  Unrecognised,
  viewBytes,
  writeModel,
} from '../onnx/index.js';
import { failure, type Result, success } from '../util/index.js';
import { getInputFormat, TensorChooser } from './choose-tensors.js';
import { parseNet } from './container.js';
import { FLOAT32_ENCODER } from './layer-encoding.js';
import { collectInfo, formatMetadata } from './lc0-network-info.js';
import { findModelFolder, ModelCache } from './model-cache.js';
import { InputFormat, NetworkStructure } from './net-enums.js';
import { DEFAULT_HEADS, type HeadChoice } from './plan-heads.js';
import { planNetwork } from './plan-network.js';
import { recogniseGraph } from './recognise-network.js';

export type Leela2OnnxOptions = Partial<BuildOptions & HeadChoice>;

export interface ConvertedModel {
  readonly onnx: Uint8Array;
  /** True if the file held an ONNX model. It is returned as it is; no option applies. */
  readonly wasEmbedded: boolean;
}

/** An error is a whole sentence that names the path. */
export async function convertLeelaToOnnx(
  source: FileSource,
  options: Leela2OnnxOptions = {},
): Promise<Result<ConvertedModel>> {
  try {
    const net = parseNet(await readInflated(source));
    if (net.format?.networkFormat?.network === NetworkStructure.NETWORK_ONNX) {
      return success({ onnx: viewBytes(net.onnxModel?.model ?? new Uint8Array(0)), wasEmbedded: true });
    }
    const heads = { ...DEFAULT_HEADS, ...options };
    const plan = planNetwork(net, heads);
    const metadata = formatMetadata(collectInfo(net, plan, heads), plan.value.isWdl);
    const { model, graph } = draftOnnx(plan, { ...DEFAULT_BUILD_OPTIONS, ...options }, metadata);
    return success({ onnx: writeModel(model, graph), wasEmbedded: false });
  } catch (error) {
    if (!(error instanceof NetworkError)) throw error;
    return failure(`Cannot convert ${typeof source === 'string' ? source : 'the network'}: ${error.message}`);
  }
}

// Rebuilds an ONNX network whose graph is one of lc0's residual networks with the convolutions that are fastest on this CPU.
// The weights pass through lc0's messages in single precision, so nothing is rounded; sums are computed in another order
// (logits of our residual networks change by 1e-4 at most).

/**
 * @param channelBlock the answer of `findChannelBlock`
 * @param cacheFolder folder of rebuilt networks; null keeps none
 * @param keepsTower rebuild only the first convolution and the heads
 * @returns null if the network must stay as it is: it is unreadable, of another kind, or has unsuitable widths
 */
export async function rebuildOnnx(
  source: FileSource,
  channelBlock: number,
  cacheFolder: string | null = findModelFolder() ?? null,
  keepsTower = false,
): Promise<Uint8Array | null> {
  if (channelBlock === 0) return null;
  try {
    const key = ['rebuilt', await hashFile(source), String(BUILDER_VERSION), String(channelBlock)];
    const cache = cacheFolder === null ? undefined : await ModelCache.open(cacheFolder, key);
    const cached = await cache?.read();
    if (cached !== undefined) return cached.onnx;
    const rebuilt = rebuild(await readInflated(source), channelBlock, keepsTower);
    if (rebuilt !== null) await cache?.write(rebuilt);
    return rebuilt;
  } catch (error) {
    if (error instanceof NetworkError || error instanceof Unrecognised) return null;
    throw error;
  }
}

/** @throws NetworkError, Unrecognised */
function rebuild(bytes: Uint8Array, channelBlock: number, keepsTower: boolean): Uint8Array | null {
  const original = decodeModel(bytes);
  if (original?.graph === undefined) return null;
  const metadata = new Map((original.metadataProps ?? []).map(({ key, value }) => [key, value]));
  const tensors = new TensorChooser(original.graph, metadata, {}).choose();
  const inputFormat = InputFormat[getInputFormat(metadata) as keyof typeof InputFormat];
  const net = recogniseGraph(original.graph, tensors, inputFormat, FLOAT32_ENCODER);
  const plan = planNetwork(net, DEFAULT_HEADS);
  if (!suitsChannelBlock(plan, channelBlock)) return null;
  const { model, graph } = draftOnnx(
    plan,
    { ...DEFAULT_BUILD_OPTIONS, channelBlock, keepsTower },
    { ...Object.fromEntries(metadata), ...formatMetadata(collectInfo(net, plan, DEFAULT_HEADS), plan.value.isWdl) },
  );
  return writeModel(model, graph);
}
