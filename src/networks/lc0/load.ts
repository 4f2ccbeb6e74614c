/**
 * Loads an lc0 network file as an ONNX model in memory, which the evaluators run like any other. The conversion is done
 * once; later starts take the model from the cache. Also converts a file for other programs (`leela2onnx`), and rebuilds ONNX
 * networks. Network files that hold an ONNX model keep it.
 */

import type { Result } from '../../base/util/index.js';
import { LC0_POLICY_SIZE } from '../encoding/index.js';
import {
  decodeModel,
  encodeModel,
  type GraphMessage,
  LC0_TENSOR_NAMES,
  TensorType,
  type ValueInfoMessage,
  viewBytes,
} from '../nn/index.js';
import {
  addAlias,
  BUILDER_VERSION,
  type BuildOptions,
  DEFAULT_BUILD_OPTIONS,
  draftOnnx,
  type FileSource,
  findInput,
  findOutput,
  getWeightBytes,
  hasExternalTensors,
  hashFile,
  insertBeforeOutput,
  insertBehindInput,
  NetworkError,
  readInflated,
  suitsChannelBlock,
  Unrecognised,
  writeModel,
  writeModelWithWeightsFile,
} from '../onnx/index.js';
import { attempt, parseNet } from './container.js';
import { FLOAT32_ENCODER } from './layer-encoding.js';
import { collectInfo, formatMetadata, type Lc0NetworkInfo } from './lc0-network-info.js';
import { findModelFolder, ModelCache, WEIGHTS_BYTES_KEY } from './model-cache.js';
import { InputFormat, type NetMessage, NetworkStructure } from './net-schema.js';
import { DEFAULT_HEADS, type HeadChoice } from './plan-heads.js';
import { checkInputFormat, planNetwork } from './plan-network.js';
import { getInputFormat, recogniseGraph, TensorChooser } from './recognise-network.js';

// Network files that hold an ONNX model (lc0's NETWORK_ONNX). The model is kept. Its outputs get the names and types of
// converted networks, and metadata that say what they mean. Only lc0's file names their roles: without it, nothing tells a
// moves-left output called "Identity:3" from a value.

/** @throws NetworkError */
export function adaptEmbeddedModel(net: NetMessage, info: Lc0NetworkInfo): Uint8Array {
  const onnx = net.onnxModel ?? {};
  const model = onnx.model ? decodeModel(onnx.model) : undefined;
  const graph = model?.graph;
  if (!model || !graph) throw new NetworkError('the ONNX model inside is damaged');
  if (hasExternalTensors(graph)) throw new NetworkError('the ONNX model inside keeps its weights in another file');
  if (!onnx.inputPlanes || !onnx.outputPolicy || !(onnx.outputWdl || onnx.outputValue)) {
    throw new NetworkError('it does not say which tensors of its ONNX model are planes, policy and value');
  }
  makeInputFloat(graph, onnx.inputPlanes);
  const outputs = [makeOutput(graph, onnx.outputPolicy, LC0_TENSOR_NAMES.policy, LC0_POLICY_SIZE)];
  if (onnx.outputWdl) outputs.push(makeOutput(graph, onnx.outputWdl, LC0_TENSOR_NAMES.wdl, 3));
  else if (onnx.outputValue) outputs.push(makeOutput(graph, onnx.outputValue, LC0_TENSOR_NAMES.value, 1));
  if (info.hasMovesLeft && onnx.outputMlh) {
    outputs.push(makeOutput(graph, onnx.outputMlh, LC0_TENSOR_NAMES.movesLeft, 1));
  }
  graph.output = outputs;
  model.metadataProps = [
    ...(model.metadataProps ?? []).filter(({ key }) => !key.startsWith('sardonyx.')),
    ...Object.entries(formatMetadata(info, !!onnx.outputWdl)).map(([key, value]) => ({ key, value })),
  ];
  return encodeModel(model);
}

function makeInputFloat(graph: GraphMessage, name: string): void {
  const input = findInput(graph, name);
  const tensor = input.type?.tensorType;
  const elementType = tensor?.elemType ?? TensorType.FLOAT;
  if (elementType === TensorType.FLOAT) return;
  insertBehindInput(graph, name, { opType: 'Cast', suffix: 'typed', attributes: { to: elementType } });
  input.type = { tensorType: { ...tensor, elemType: TensorType.FLOAT } };
}

/** @returns a float32 output with the new name; adds a node that leads to it where needed */
function makeOutput(graph: GraphMessage, name: string, newName: string, width: number): ValueInfoMessage {
  const output = findOutput(graph, name);
  const tensor = output.type?.tensorType;
  const cast = { opType: 'Cast', suffix: 'typed', attributes: { to: TensorType.FLOAT } };
  if (name !== newName) addAlias(graph, name, newName, cast);
  else if (tensor?.elemType !== TensorType.FLOAT) insertBeforeOutput(graph, name, cast);
  const batch = tensor?.shape?.dim?.[0] ?? { dimParam: 'batch' };
  const shape = { dim: [batch, { dimValue: width }] };
  return { name: newName, type: { tensorType: { elemType: TensorType.FLOAT, shape } } };
}

/** Larger weights load faster from a file of their own; smaller ones are simpler in one buffer. */
export const LARGE_WEIGHT_BYTES = 32 * 2 ** 20;

export interface Lc0LoadOptions {
  /** vanilla (default), optimistic, soft, opponent. */
  readonly policyHead?: string;
  /** winner (default), q, st. */
  readonly valueHead?: string;
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
      ...(options.keepsTower ? ['keeps its tower'] : []),
    ]);
    const cached = await cache.read();
    if (cached?.info) {
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
  const { model, graph } = draftOnnx(
    plan,
    { ...DEFAULT_BUILD_OPTIONS, precision, channelBlock, keepsTower: channelBlock > 0 && options.keepsTower === true },
    metadata,
  );
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

// `leela2onnx`: converts an lc0 network file to an ONNX file for any program, with lc0's choices of names, type and operator set.

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
