/**
 * Builds an ONNX model from a network plan. ONNX Runtime, lc0 and every other ONNX reader can load it. Bodies come
 * from residual-tower.ts and attention-body.ts, heads from network-heads.ts.
 */
import { LC0_TENSOR_NAMES, type ModelMessage } from '../../nn/index.js';
import { addAttentionBody } from './attention-body.js';
import { GraphBuilder, type GraphSettings } from './graph-builder.js';
import { addMovesLeftHead, addPolicyHead, addValueHead, type BodyOutput } from './network-heads.js';
import { INPUT_PLANES, type NetworkPlan } from './network-layers.js';
import { RankConvolutions } from './rank-convolutions.js';
import { addConvolutionBody, PlaneConvolutions } from './residual-tower.js';

/** Raise it when the same network would give a different file; cached models with another version are not used. */
export const BUILDER_VERSION = 2;

/** Names of the graph's input and outputs. The defaults are those of lc0's own exports. */
export type TensorNames = Readonly<Record<keyof typeof LC0_TENSOR_NAMES, string>>;

export interface BuildOptions extends GraphSettings {
  readonly names: TensorNames;
  /** ONNX's IR version; −1 for the oldest that the operator set allows. */
  readonly irVersion: number;
  /** Channel block for rank-convolutions.ts, if the plan suits it (findChannelBlock); 0 for ONNX's convolutions. */
  readonly channelBlock: number;
  /** Keeps ONNX's convolutions between the first and the heads all the same, because 8 bits need them (quantise/). */
  readonly keepsTower: boolean;
}

export const DEFAULT_BUILD_OPTIONS: BuildOptions = {
  precision: 'f32',
  opset: 17,
  batchSize: -1,
  usesSimpleOperators: false,
  names: LC0_TENSOR_NAMES,
  irVersion: -1,
  channelBlock: 0,
  keepsTower: false,
};

export interface OnnxDraft {
  readonly model: ModelMessage;
  readonly graph: GraphBuilder;
}

/**
 * The model, to be written by graph/write-model.ts. All outputs are from the mover's view.
 * Policy: raw logits [N, 1858]. Value: win, draw, loss probabilities [N, 3] or one number from −1 to 1 [N, 1].
 * Moves left: plies ≥ 0 [N, 1].
 */
export function draftOnnx(
  plan: NetworkPlan,
  options: BuildOptions,
  metadata: Readonly<Record<string, string>>,
): OnnxDraft {
  const graph = new GraphBuilder(options);
  const { names } = options;
  const planes = graph.addInput(names.input, [-1, INPUT_PLANES, 8, 8]);
  const planesFirst = new PlaneConvolutions(graph);
  const convolutions = options.channelBlock ? new RankConvolutions(graph, options.channelBlock) : planesFirst;
  const tower = options.keepsTower ? planesFirst : convolutions;
  let flow = graph.addCast('/input/cast', planes, graph.computeType);
  let channels = INPUT_PLANES;
  if (plan.convolutionBody) {
    flow = addConvolutionBody(graph, convolutions, tower, flow, plan.convolutionBody, plan.activation);
    channels = plan.convolutionBody.input.outputs;
    if (tower !== convolutions) flow = convolutions.addEntry(flow, channels, '/heads');
  }
  if (plan.attentionBody) {
    flow = addAttentionBody(graph, flow, channels, plan.attentionBody, plan.activation);
    channels = plan.attentionBody.embedding.outputs;
  }
  const body: BodyOutput = { name: flow, width: channels, isRows: plan.attentionBody !== undefined, convolutions };
  addPolicyHead(graph, body, plan.policy, plan.activation, names.policy);
  addValueHead(graph, body, plan.value, plan.activation, plan.value.isWdl ? names.wdl : names.value);
  if (plan.movesLeft) addMovesLeftHead(graph, body, plan.movesLeft, plan.activation, names.movesLeft);
  const model: ModelMessage = {
    irVersion: options.irVersion > 0 ? options.irVersion : getIrVersion(options.opset),
    producerName: 'Sardonyx',
    opsetImport: graph.listOperatorSets(),
    metadataProps: Object.entries(metadata).map(([key, value]) => ({ key, value })),
  };
  return { model, graph };
}

/** The IR version that came with an operator set (ONNX's docs/Versioning.md). */
function getIrVersion(opset: number): number {
  if (opset >= 15) return 8;
  if (opset >= 12) return 7;
  if (opset === 11) return 6;
  if (opset === 10) return 5;
  // Before version 4, weights had to be listed as inputs too.
  return 4;
}
