/** lc0's message → `NetworkPlan` for the chosen heads; every unknown or inconsistent thing is refused by name. */

import { isPresent, readConvolution, readDense, readDenseWithoutBias } from './layer-reader.js';
import {
  ActivationFunction,
  DefaultActivation,
  getEnumName,
  InputEmbedding,
  InputFormat,
  MovesLeftFormat,
  NetworkStructure,
  PolicyFormat,
  ValueFormat,
} from './net-enums.js';
import type {
  ConvBlockMessage,
  LayerMessage,
  NetMessage,
  NetworkFormatMessage,
  PolicyHeadMessage,
  ValueHeadMessage,
  WeightsMessage,
} from './net-schema.js';
import { NetworkError } from './network-error.js';
import type {
  Activation,
  ConvolutionBody,
  DenseLayer,
  Funnel,
  MovesLeftHead,
  NetworkPlan,
  PolicyHead,
  ValueHead,
} from './network-plan.js';
import { type EncoderContext, INPUT_PLANES, planAttentionBody, planEncoder } from './plan-attention.js';
import { CONVOLUTION_POLICY_PLANES, POLICY_SIZE } from './policy-maps.js';

export interface HeadChoice {
  /** vanilla, optimistic, soft, opponent, or a key of the network's own map. */
  readonly policyHead: string;
  /** winner, q, st, or a key of the network's own map. */
  readonly valueHead: string;
}

export const DEFAULT_HEADS: HeadChoice = { policyHead: 'vanilla', valueHead: 'winner' };

const STRUCTURES_WITH_WEIGHTS: readonly number[] = [
  NetworkStructure.NETWORK_CLASSICAL_WITH_HEADFORMAT,
  NetworkStructure.NETWORK_SE_WITH_HEADFORMAT,
  NetworkStructure.NETWORK_ATTENTIONBODY_WITH_HEADFORMAT,
  NetworkStructure.NETWORK_ATTENTIONBODY_WITH_MULTIHEADFORMAT,
];

/** Layer norms of encoders: 1e-6, and 1e-3 in networks that came with the PE_DENSE embedding. */
const ENCODER_EPSILON = 1e-6;
const DENSE_EMBEDDING_ENCODER_EPSILON = 1e-3;

/** @throws NetworkError */
export function planNetwork(net: NetMessage, choice: HeadChoice): NetworkPlan {
  const format = net.format?.networkFormat ?? {};
  const weights = net.weights;
  if (!weights) throw new NetworkError('it has no weights');
  checkFormat(format);

  const activation = getDefaultActivation(format);
  const inputEmbedding = format.inputEmbedding ?? InputEmbedding.INPUT_EMBEDDING_NONE;
  const encoderCount = weights.encoder?.length ?? 0;
  const hasAttentionBody = encoderCount > 0;
  const blockCount = weights.residual?.length ?? 0;
  if (blockCount === 0 && !hasAttentionBody && !isPresent(weights.input?.weights)) {
    throw new NetworkError('it has neither residual blocks nor encoders');
  }

  const convolutionBody = blockCount > 0 || !hasAttentionBody ? planConvolutionBody(weights) : undefined;
  const channels = convolutionBody?.input.outputs ?? 0;
  const usesDenseEmbedding = inputEmbedding === InputEmbedding.INPUT_EMBEDDING_PE_DENSE;
  const bodyContext: EncoderContext = {
    activation,
    feedForwardActivation: getActivation(format.ffnActivation, activation),
    smolgenActivation: getActivation(format.smolgenActivation, activation),
    smolgenW: weights.smolgenW,
    epsilon: usesDenseEmbedding ? DENSE_EMBEDDING_ENCODER_EPSILON : ENCODER_EPSILON,
    residualScale: (2 * encoderCount) ** -0.25,
  };
  const attentionBody = hasAttentionBody
    ? planAttentionBody(weights, channels, inputEmbedding, bodyContext)
    : undefined;
  const width = attentionBody?.embedding.outputs ?? channels;

  const isAttentionStructure = (format.network ?? 0) >= NetworkStructure.NETWORK_ATTENTIONBODY_WITH_HEADFORMAT;
  // Attention policies on convolutional bodies were trained with SELU throughout (lc0 hard-codes it).
  const policyActivation = isAttentionStructure ? activation : 'selu';
  const policyContext: EncoderContext = {
    ...bodyContext,
    feedForwardActivation: getActivation(format.ffnActivation, policyActivation),
    // Policy encoders are trained with 1e-6 and without DeepNorm, whatever the body does (lc0 blas, cuda).
    epsilon: ENCODER_EPSILON,
    residualScale: 1,
  };
  const movesLeft = planMovesLeft(weights, format, width, hasAttentionBody);
  return {
    activation,
    ...(convolutionBody ? { convolutionBody } : {}),
    ...(attentionBody ? { attentionBody } : {}),
    policy: planPolicy(weights, format, choice.policyHead, width, hasAttentionBody, policyActivation, policyContext),
    value: planValue(weights, format, choice.valueHead, width, hasAttentionBody),
    ...(movesLeft ? { movesLeft } : {}),
  };
}

function checkFormat(format: NetworkFormatMessage): void {
  const refuse = (what: string, table: Readonly<Record<string, number>>, value: number): never => {
    throw new NetworkError(`its ${what} ${getEnumName(table, value)} is not supported`);
  };
  const network = format.network ?? 0;
  if (!STRUCTURES_WITH_WEIGHTS.includes(network)) refuse('structure', NetworkStructure, network);
  checkInputFormat(format);
  const policy = format.policy ?? 0;
  if (policy < PolicyFormat.POLICY_CLASSICAL || policy > PolicyFormat.POLICY_ATTENTION) {
    refuse('policy format', PolicyFormat, policy);
  }
  const value = format.value ?? 0;
  if (value !== ValueFormat.VALUE_CLASSICAL && value !== ValueFormat.VALUE_WDL)
    refuse('value format', ValueFormat, value);
  const movesLeft = format.movesLeft ?? 0;
  if (movesLeft !== 0 && movesLeft !== MovesLeftFormat.MOVES_LEFT_V1)
    refuse('moves-left format', MovesLeftFormat, movesLeft);
  const embedding = format.inputEmbedding ?? 0;
  if (embedding < 0 || embedding > InputEmbedding.INPUT_EMBEDDING_PE_DENSE) {
    refuse('input embedding', InputEmbedding, embedding);
  }
}

export function checkInputFormat(format: NetworkFormatMessage): void {
  const input = format.input ?? 0;
  if (input === InputFormat.INPUT_UNKNOWN || !Object.values<number>(InputFormat).includes(input)) {
    throw new NetworkError(`its input format ${getEnumName(InputFormat, input)} is not supported`);
  }
}

function getDefaultActivation(format: NetworkFormatMessage): Activation {
  const value = format.defaultActivation ?? DefaultActivation.DEFAULT_ACTIVATION_RELU;
  if (value === DefaultActivation.DEFAULT_ACTIVATION_RELU) return 'relu';
  if (value === DefaultActivation.DEFAULT_ACTIVATION_MISH) return 'mish';
  throw new NetworkError(`its default activation ${value} is not supported`);
}

const ACTIVATIONS: Readonly<Record<number, Activation>> = {
  [ActivationFunction.ACTIVATION_MISH]: 'mish',
  [ActivationFunction.ACTIVATION_RELU]: 'relu',
  [ActivationFunction.ACTIVATION_NONE]: 'none',
  [ActivationFunction.ACTIVATION_TANH]: 'tanh',
  [ActivationFunction.ACTIVATION_SIGMOID]: 'sigmoid',
  [ActivationFunction.ACTIVATION_SELU]: 'selu',
  [ActivationFunction.ACTIVATION_SWISH]: 'swish',
  [ActivationFunction.ACTIVATION_RELU_2]: 'relu-squared',
  [ActivationFunction.ACTIVATION_SOFTMAX]: 'softmax',
};

function getActivation(value: number | undefined, fallback: Activation): Activation {
  if (value === undefined || value === ActivationFunction.ACTIVATION_DEFAULT) return fallback;
  const activation = ACTIVATIONS[value] as Activation | undefined;
  if (activation === undefined) throw new NetworkError(`it uses the unknown activation ${value}`);
  return activation;
}

function planConvolutionBody(weights: WeightsMessage): ConvolutionBody {
  const input = readConvolution(weights.input, 3, INPUT_PLANES, 'input');
  const channels = input.outputs;
  const blocks = (weights.residual ?? []).map((block, index) => {
    const name = `residual[${index}]`;
    const first = readConvolution(block.conv1, 3, channels, `${name}.conv1`);
    const second = readConvolution(block.conv2, 3, first.outputs, `${name}.conv2`);
    if (second.outputs !== channels) throw new NetworkError(`${name} does not return to ${channels} channels`);
    if (!block.se) return { first, second };
    const squeeze = readDense(block.se.w1, block.se.b1, channels, `${name}.se.1`);
    const excite = readDense(block.se.w2, block.se.b2, squeeze.outputs, `${name}.se.2`);
    if (excite.outputs !== 2 * channels) throw new NetworkError(`${name}.se does not give two values a channel`);
    return { first, second, squeezeExcite: { squeeze, excite } };
  });
  return { input, blocks };
}

/** The policy heads by the names `--policy-head` takes. */
export function listPolicyHeads(weights: WeightsMessage): Map<string, PolicyHeadMessage> {
  const heads = new Map<string, PolicyHeadMessage>();
  const multi = weights.policyHeads;
  if (!multi) return heads.set('vanilla', weights);
  for (const { key, value } of multi.policyHeadMap ?? []) if (key !== undefined && value) heads.set(key, value);
  if (multi.vanilla) heads.set('vanilla', multi.vanilla);
  if (multi.optimisticSt) heads.set('optimistic', multi.optimisticSt);
  if (multi.soft) heads.set('soft', multi.soft);
  if (multi.opponent) heads.set('opponent', multi.opponent);
  return heads;
}

/** The value heads by the names `--value-head` takes. */
export function listValueHeads(weights: WeightsMessage): Map<string, ValueHeadMessage> {
  const heads = new Map<string, ValueHeadMessage>();
  const multi = weights.valueHeads;
  if (!multi) return heads.set('winner', weights);
  for (const { key, value } of multi.valueHeadMap ?? []) if (key !== undefined && value) heads.set(key, value);
  if (multi.winner) heads.set('winner', multi.winner);
  if (multi.q) heads.set('q', multi.q);
  if (multi.st) heads.set('st', multi.st);
  return heads;
}

function chooseHead<Head>(heads: Map<string, Head>, name: string, what: string): Head {
  const head = heads.get(name);
  if (head === undefined) {
    throw new NetworkError(`it has no ${what} head "${name}"; it has ${[...heads.keys()].join(', ') || 'none'}`);
  }
  return head;
}

function planPolicy(
  weights: WeightsMessage,
  format: NetworkFormatMessage,
  headName: string,
  width: number,
  hasAttentionBody: boolean,
  activation: Activation,
  context: EncoderContext,
): PolicyHead {
  const head = chooseHead(listPolicyHeads(weights), headName, 'policy');
  if (format.policy === PolicyFormat.POLICY_ATTENTION) {
    // Multi-head networks may share one embedding among their policy heads.
    const shared = weights.policyHeads ?? {};
    const embeddingW = pickPresent(head.ipPolW, shared.ipPolW, weights.ipPolW);
    const embeddingB = pickPresent(head.ipPolB, shared.ipPolB, weights.ipPolB);
    const embedding = readDense(embeddingW, embeddingB, width, 'ip_pol');
    const inner = embedding.outputs;
    const encoders = (head.polEncoder ?? []).map((encoder, index) =>
      planEncoder(encoder, inner, head.polHeadcount ?? 0, context, `pol_encoder[${index}]`),
    );
    const query = readDense(head.ip2PolW, head.ip2PolB, inner, 'ip2_pol');
    const key = readDense(head.ip3PolW, head.ip3PolB, inner, 'ip3_pol');
    if (key.outputs !== query.outputs) throw new NetworkError('its policy queries and keys have different sizes');
    const promotion = readDenseWithoutBias(head.ip4PolW, key.outputs, 'ip4_pol_w');
    if (promotion.outputs !== 4) throw new NetworkError('its promotion layer ip4_pol_w does not have four outputs');
    return { kind: 'attention', embedding, activation, encoders, query, key, promotion };
  }
  if (hasAttentionBody) throw new NetworkError('it joins an attention body with a policy head that is not attention');
  if (isPresent(head.policy1?.weights)) {
    const first = readConvolution(head.policy1, 3, width, 'policy1');
    const second = readConvolution(head.policy, 3, first.outputs, 'policy');
    if (second.outputs < CONVOLUTION_POLICY_PLANES) {
      throw new NetworkError(`its policy has ${second.outputs} planes where ${CONVOLUTION_POLICY_PLANES} are needed`);
    }
    return { kind: 'convolution', first, second };
  }
  const convolution = readConvolution(head.policy, 1, width, 'policy');
  const dense = readDense(head.ipPolW, head.ipPolB, convolution.outputs * 64, 'ip_pol');
  if (dense.outputs !== POLICY_SIZE)
    throw new NetworkError(`its policy has ${dense.outputs} outputs, not ${POLICY_SIZE}`);
  return { kind: 'dense', convolution, dense };
}

function planFunnel(
  block: ConvBlockMessage | undefined,
  denseW: LayerMessage | undefined,
  denseB: LayerMessage | undefined,
  width: number,
  hasAttentionBody: boolean,
  name: string,
): { funnel: Funnel; flatSize: number } {
  if (hasAttentionBody) {
    const layer = readDense(denseW, denseB, width, `ip_${name}`);
    return { funnel: { kind: 'dense', layer }, flatSize: 64 * layer.outputs };
  }
  const layer = readConvolution(block, 1, width, name);
  return { funnel: { kind: 'convolution', layer }, flatSize: 64 * layer.outputs };
}

function planValue(
  weights: WeightsMessage,
  format: NetworkFormatMessage,
  headName: string,
  width: number,
  hasAttentionBody: boolean,
): ValueHead {
  const head = chooseHead(listValueHeads(weights), headName, 'value');
  const { funnel, flatSize } = planFunnel(head.value, head.ipValW, head.ipValB, width, hasAttentionBody, 'val');
  const hidden = readDense(head.ip1ValW, head.ip1ValB, flatSize, 'ip1_val');
  const output = readDense(head.ip2ValW, head.ip2ValB, hidden.outputs, 'ip2_val');
  const isWdl = format.value === ValueFormat.VALUE_WDL;
  checkWidth(output, isWdl ? 3 : 1, 'value head');
  return { funnel, hidden, output, isWdl };
}

function planMovesLeft(
  weights: WeightsMessage,
  format: NetworkFormatMessage,
  width: number,
  hasAttentionBody: boolean,
): MovesLeftHead | undefined {
  if (format.movesLeft !== MovesLeftFormat.MOVES_LEFT_V1) return undefined;
  const { funnel, flatSize } = planFunnel(
    weights.movesLeft,
    weights.ipMovW,
    weights.ipMovB,
    width,
    hasAttentionBody,
    'mov',
  );
  const hidden = readDense(weights.ip1MovW, weights.ip1MovB, flatSize, 'ip1_mov');
  const output = readDense(weights.ip2MovW, weights.ip2MovB, hidden.outputs, 'ip2_mov');
  checkWidth(output, 1, 'moves-left head');
  return { funnel, hidden, output };
}

function checkWidth(layer: DenseLayer, width: number, what: string): void {
  if (layer.outputs !== width)
    throw new NetworkError(`its ${what} has ${layer.outputs} outputs where ${width} are needed`);
}

function pickPresent(...layers: (LayerMessage | undefined | null)[]): LayerMessage | undefined {
  return layers.find(isPresent);
}
