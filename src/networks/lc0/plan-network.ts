/** Turns lc0's message into a `NetworkPlan` for the chosen heads. It refuses everything unknown or inconsistent, by name. */
import { type Activation, type ConvolutionBody, INPUT_PLANES, NetworkError, type NetworkPlan } from '../onnx/index.js';
import { isPresent, readConvolution, readDense } from './layer-encoding.js';
import {
  ActivationFunction,
  DefaultActivation,
  getEnumName,
  InputEmbedding,
  InputFormat,
  MovesLeftFormat,
  type NetMessage,
  type NetworkFormatMessage,
  NetworkStructure,
  PolicyFormat,
  ValueFormat,
  type WeightsMessage,
} from './net-schema.js';
import { type EncoderContext, planAttentionBody } from './plan-encoders.js';
import { type BodyShape, type HeadChoice, planMovesLeft, planPolicy, planValue } from './plan-heads.js';

const STRUCTURES_WITH_WEIGHTS: readonly number[] = [
  NetworkStructure.NETWORK_CLASSICAL_WITH_HEADFORMAT,
  NetworkStructure.NETWORK_SE_WITH_HEADFORMAT,
  NetworkStructure.NETWORK_ATTENTIONBODY_WITH_HEADFORMAT,
  NetworkStructure.NETWORK_ATTENTIONBODY_WITH_MULTIHEADFORMAT,
];

/** Epsilon of layer norms in encoders: 1e-6, and 1e-3 in networks with the PE_DENSE embedding. */
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
  const body: BodyShape = {
    width: attentionBody?.embedding.outputs ?? channels,
    isAttention: hasAttentionBody,
  };

  const isAttentionStructure = (format.network ?? 0) >= NetworkStructure.NETWORK_ATTENTIONBODY_WITH_HEADFORMAT;
  // Attention policies on convolutional bodies are trained with SELU throughout (lc0 hard-codes it).
  const policyActivation = isAttentionStructure ? activation : 'selu';
  const policyContext: EncoderContext = {
    ...bodyContext,
    feedForwardActivation: getActivation(format.ffnActivation, policyActivation),
    // Policy encoders are trained with 1e-6 and without DeepNorm, whatever the body uses (lc0 blas, cuda).
    epsilon: ENCODER_EPSILON,
    residualScale: 1,
  };
  const movesLeft = planMovesLeft(weights, format, body);
  return {
    activation,
    ...(convolutionBody ? { convolutionBody } : {}),
    ...(attentionBody ? { attentionBody } : {}),
    policy: planPolicy(weights, format, choice.policyHead, body, policyActivation, policyContext),
    value: planValue(weights, format, choice.valueHead, body),
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
