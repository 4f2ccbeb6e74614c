/**
 * Recognises an ONNX graph that is one of lc0's residual networks and returns lc0's own weights, which all of lc0's backends
 * run. ONNX inside a network file needs an lc0 that was built with ONNX Runtime. First chooses which tensors are planes, policy, value
 * and moves left: those the user named, else those the engine would take.
 */
import { LC0_POLICY_SIZE } from '../encoding/index.js';
import {
  findTensors,
  type GraphMessage,
  LC0_TENSOR_NAMES,
  type OnnxHeader,
  type TensorDescription,
} from '../nn/index.js';
import {
  GraphReader,
  listNames,
  NetworkError,
  type RecognisedBody,
  type RecognisedPolicy,
  type RecognisedTop,
  recogniseBody,
  recogniseMovesLeft,
  recognisePolicy,
  recogniseValue,
  Unrecognised,
} from '../onnx/index.js';
import { type LayerEncoder, LINEAR16_ENCODER } from './encode-layers.js';
import {
  DefaultActivation,
  InputFormat,
  MovesLeftFormat,
  NET_MAGIC,
  type NetMessage,
  NetworkStructure,
  OutputFormat,
  PolicyFormat,
  ValueFormat,
  WeightsEncoding,
  type WeightsMessage,
} from './net-schema.js';

/** Names the user gave. */
export interface TensorChoice {
  readonly onnxInput?: string | undefined;
  readonly onnxOutputValue?: string | undefined;
  readonly onnxOutputWdl?: string | undefined;
  readonly onnxOutputPolicy?: string | undefined;
  readonly onnxOutputMlh?: string | undefined;
}

/** Has either `wdl` or `value`, never both. */
export interface NetworkTensors {
  readonly input: string;
  readonly policy: string;
  readonly wdl?: string;
  readonly value?: string;
  readonly movesLeft?: string;
}

/**
 * The input format; the classical 112 planes if the metadata do not say.
 * @throws NetworkError
 */
export function getInputFormat(metadata: ReadonlyMap<string, string>): keyof typeof InputFormat {
  const named = metadata.get('sardonyx.input');
  if (named === undefined || named === 'lc0-112') return 'INPUT_CLASSICAL_112_PLANE';
  if (Object.hasOwn(InputFormat, named)) return named as keyof typeof InputFormat;
  throw new NetworkError(`its input is "${named}", which lc0 does not know`);
}

/**
 * @param header that of the graph's model
 * @returns the tensors, and one sentence for each that was guessed
 * @throws NetworkError
 */
export function chooseTensors(
  graph: GraphMessage,
  { inputs, outputs, metadata }: OnnxHeader,
  choice: TensorChoice,
): { readonly tensors: NetworkTensors; readonly notes: readonly string[] } {
  const policyEncoding = metadata.get('sardonyx.policy');
  if (policyEncoding !== undefined && policyEncoding !== 'lc0-1858') {
    throw new NetworkError(`its policy is "${policyEncoding}", which lc0 does not know`);
  }
  const { onnxOutputPolicy, onnxOutputWdl, onnxOutputValue, onnxOutputMlh } = choice;
  if (onnxOutputValue && onnxOutputWdl) {
    throw new NetworkError('--onnx-output-value and --onnx-output-wdl are both given; a network has one of them');
  }
  // The tensors that the engine would take, without those that the user gave another meaning.
  const claimed = new Set([onnxOutputPolicy, onnxOutputWdl, onnxOutputValue, onnxOutputMlh]);
  const unclaimed = outputs.filter(({ name }) => !claimed.has(name));
  const roles = findTensors({ inputs, outputs: unclaimed, metadata }, [LC0_POLICY_SIZE]);
  const notes: string[] = [];
  /** If shapes do not decide, takes the tensor with lc0's own name. */
  const take = (role: keyof typeof LC0_TENSOR_NAMES, found: TensorDescription | null, what: string) => {
    const usualName = LC0_TENSOR_NAMES[role];
    const infos = role === 'input' ? graph.input : graph.output;
    const name = found?.name ?? infos?.find((info) => info.name === usualName)?.name;
    if (name && name !== usualName) notes.push(`"${name}" was taken as the ${what}.`);
    return name;
  };
  const chooseValue = (): Pick<NetworkTensors, 'wdl' | 'value'> => {
    if (onnxOutputWdl) return { wdl: onnxOutputWdl };
    if (onnxOutputValue) return { value: onnxOutputValue };
    const isScalar = roles.scalar !== null || metadata.get('sardonyx.value') === 'scalar';
    const wdl = isScalar ? undefined : take('wdl', roles.wdl, 'output with 3 values');
    if (wdl) return { wdl };
    const value = take('value', roles.scalar, 'output with 1 values');
    if (value) return { value };
    const names = listNames(graph.output);
    throw new NetworkError(`--onnx-output-wdl or --onnx-output-value must be given; the model has ${names}`);
  };
  const input = choice.onnxInput ?? take('input', roles.input, 'planes');
  const policy = onnxOutputPolicy ?? take('policy', roles.policy, 'output with 1858 values');
  if (!input) throw new NetworkError(`--onnx-input must be given; the model has ${listNames(graph.input)}`);
  if (!policy) throw new NetworkError(`--onnx-output-policy must be given; the model has ${listNames(graph.output)}`);
  const movesLeft = onnxOutputMlh ?? take('movesLeft', roles.movesLeft, 'moves left');
  return { tensors: { input, policy, ...chooseValue(), ...(movesLeft ? { movesLeft } : {}) }, notes };
}

/** The oldest lc0 that has all parts of such a network: attention policies came with 0.29. */
const MIN_VERSION = { major: 0, minor: 29, patch: 0 };
const POLICY_FORMATS = {
  dense: PolicyFormat.POLICY_CLASSICAL,
  convolution: PolicyFormat.POLICY_CONVOLUTION,
  attention: PolicyFormat.POLICY_ATTENTION,
};

/** @throws Unrecognised */
export function recogniseGraph(
  message: GraphMessage,
  tensors: NetworkTensors,
  inputFormat: number,
  encoder: LayerEncoder = LINEAR16_ENCODER,
): NetMessage {
  const graph = new GraphReader(message);
  const isWdl = tensors.wdl !== undefined;
  const valueName = tensors.wdl ?? tensors.value ?? '';
  // Heads use the body's activation, which is unknown until the body is reached, so both are tried.
  const value = tryBoth((activation) => recogniseValue(graph, valueName, activation, isWdl));
  const trunk = graph.skipReshapes(value.convolution.input);
  const body = recogniseBody(graph, trunk, tensors.input);
  const policy = recognisePolicy(graph, tensors.policy, body.activation);
  const movesLeft = tensors.movesLeft ? recogniseMovesLeft(graph, tensors.movesLeft, body.activation) : undefined;
  for (const name of [getPolicyInput(policy), movesLeft?.convolution.input]) {
    if (name !== undefined && graph.skipReshapes(name) !== trunk)
      throw new Unrecognised('the heads stand on different bodies');
  }
  if (value.output.outputs !== (isWdl ? 3 : 1) || (movesLeft && movesLeft.output.outputs !== 1)) {
    throw new Unrecognised('a head has the wrong width');
  }
  const hasSqueezeExcite = body.blocks.some((block) => block.squeezeExcite);
  return {
    magic: NET_MAGIC,
    minVersion: MIN_VERSION,
    format: {
      weightsEncoding: WeightsEncoding.LINEAR16,
      networkFormat: {
        input: inputFormat,
        output: isWdl ? OutputFormat.OUTPUT_WDL : OutputFormat.OUTPUT_CLASSICAL,
        network: hasSqueezeExcite
          ? NetworkStructure.NETWORK_SE_WITH_HEADFORMAT
          : NetworkStructure.NETWORK_CLASSICAL_WITH_HEADFORMAT,
        policy: POLICY_FORMATS[policy.kind],
        value: isWdl ? ValueFormat.VALUE_WDL : ValueFormat.VALUE_CLASSICAL,
        movesLeft: movesLeft ? MovesLeftFormat.MOVES_LEFT_V1 : MovesLeftFormat.MOVES_LEFT_NONE,
        defaultActivation:
          body.activation === 'mish'
            ? DefaultActivation.DEFAULT_ACTIVATION_MISH
            : DefaultActivation.DEFAULT_ACTIVATION_RELU,
      },
    },
    weights: {
      ...encodeBody(body, encoder),
      ...encodePolicy(policy, encoder),
      ...encodeValue(value, encoder),
      ...(movesLeft ? encodeMovesLeft(movesLeft, encoder) : {}),
    },
  };
}

function tryBoth<T>(recognise: (activation: 'relu' | 'mish') => T): T {
  try {
    return recognise('relu');
  } catch (error) {
    if (!(error instanceof Unrecognised)) throw error;
    return recognise('mish');
  }
}

function getPolicyInput(policy: RecognisedPolicy): string {
  switch (policy.kind) {
    case 'dense':
      return policy.convolution.input;
    case 'convolution':
      return policy.first.input;
    case 'attention':
      return policy.embedding.input;
  }
}

function encodeBody(
  { input, blocks }: RecognisedBody,
  { encodeLayer, encodeConvolution }: LayerEncoder,
): WeightsMessage {
  return {
    input: encodeConvolution(input),
    residual: blocks.map(({ first, second, squeezeExcite }) => ({
      conv1: encodeConvolution(first),
      conv2: encodeConvolution(second),
      ...(squeezeExcite
        ? {
            se: {
              w1: encodeLayer(squeezeExcite.squeeze.weights),
              b1: encodeLayer(squeezeExcite.squeeze.biases),
              w2: encodeLayer(squeezeExcite.excite.weights),
              b2: encodeLayer(squeezeExcite.excite.biases),
            },
          }
        : {}),
    })),
  };
}

function encodePolicy(policy: RecognisedPolicy, { encodeLayer, encodeConvolution }: LayerEncoder): WeightsMessage {
  switch (policy.kind) {
    case 'dense':
      return {
        policy: encodeConvolution(policy.convolution),
        ipPolW: encodeLayer(policy.dense.weights),
        ipPolB: encodeLayer(policy.dense.biases),
      };
    case 'convolution':
      return { policy1: encodeConvolution(policy.first), policy: encodeConvolution(policy.second) };
    case 'attention':
      return {
        ipPolW: encodeLayer(policy.embedding.weights),
        ipPolB: encodeLayer(policy.embedding.biases),
        ip2PolW: encodeLayer(policy.query.weights),
        ip2PolB: encodeLayer(policy.query.biases),
        ip3PolW: encodeLayer(policy.key.weights),
        ip3PolB: encodeLayer(policy.key.biases),
        ip4PolW: encodeLayer(policy.promotion.weights),
      };
  }
}

function encodeValue(
  { convolution, hidden, output }: RecognisedTop,
  { encodeLayer, encodeConvolution }: LayerEncoder,
): WeightsMessage {
  return {
    value: encodeConvolution(convolution),
    ip1ValW: encodeLayer(hidden.weights),
    ip1ValB: encodeLayer(hidden.biases),
    ip2ValW: encodeLayer(output.weights),
    ip2ValB: encodeLayer(output.biases),
  };
}

function encodeMovesLeft(
  { convolution, hidden, output }: RecognisedTop,
  { encodeLayer, encodeConvolution }: LayerEncoder,
): WeightsMessage {
  return {
    movesLeft: encodeConvolution(convolution),
    ip1MovW: encodeLayer(hidden.weights),
    ip1MovB: encodeLayer(hidden.biases),
    ip2MovW: encodeLayer(output.weights),
    ip2MovB: encodeLayer(output.biases),
  };
}
