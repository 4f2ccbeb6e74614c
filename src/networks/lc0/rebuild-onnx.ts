/**
 * Rebuilds an ONNX network whose graph is one of lc0's residual networks with the convolutions that are fastest on this CPU. The
 * weights pass through lc0's messages in single precision, so nothing is rounded; sums are computed in another order (logits of
 * our residual networks change by 1e-4 at most).
 */

import { decodeModel, describeHeader } from '../nn/index.js';
import {
  BUILDER_VERSION,
  DEFAULT_BUILD_OPTIONS,
  draftOnnx,
  type FileSource,
  hashFile,
  NetworkError,
  readInflated,
  suitsChannelBlock,
  Unrecognised,
  writeModel,
} from '../onnx/index.js';
import { FLOAT32_ENCODER } from './encode-layers.js';
import { collectInfo, formatMetadata } from './lc0-network-info.js';
import { ModelCache } from './model-cache.js';
import { InputFormat } from './net-schema.js';
import { DEFAULT_HEADS } from './plan-heads.js';
import { planNetwork } from './plan-network.js';
import { chooseTensors, getInputFormat, recogniseGraph } from './recognise-network.js';

/**
 * @param channelBlock the answer of `findChannelBlock`
 * @param cacheFolder folder of rebuilt networks, by default the user's cache; null keeps none
 * @param keepsTower rebuild only the first convolution and the heads
 * @returns null if the network must stay as it is: it is unreadable, of another kind, or has unsuitable widths
 */
export async function rebuildOnnx(
  source: FileSource,
  channelBlock: number,
  cacheFolder?: string | null,
  keepsTower = false,
): Promise<Uint8Array | null> {
  if (channelBlock === 0) return null;
  try {
    const form = keepsTower ? 'keeps its tower' : 'whole';
    const key = ['rebuilt', await hashFile(source), String(BUILDER_VERSION), String(channelBlock), form];
    const cache = await ModelCache.open(cacheFolder, key);
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
  if (original === undefined) return null;
  const header = describeHeader(original);
  const { metadata } = header;
  const { tensors } = chooseTensors(original.graph, header, {});
  const net = recogniseGraph(original.graph, tensors, InputFormat[getInputFormat(metadata)], FLOAT32_ENCODER);
  const plan = planNetwork(net, DEFAULT_HEADS);
  if (!suitsChannelBlock(plan, channelBlock)) return null;
  const { model, graph } = draftOnnx(
    plan,
    { ...DEFAULT_BUILD_OPTIONS, channelBlock, keepsTower },
    { ...Object.fromEntries(metadata), ...formatMetadata(collectInfo(net, plan, DEFAULT_HEADS), plan.value.isWdl) },
  );
  return writeModel(model, graph);
}
