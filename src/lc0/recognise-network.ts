/**
 * Recognises an ONNX graph that is one of lc0's residual networks and returns lc0's own weights, which all of lc0's backends
 * run. ONNX inside a network file needs an lc0 that was built with ONNX Runtime.
 */
import {
  type GraphMessage,
  GraphReader,
  type RecognisedBody,
  type RecognisedPolicy,
  type RecognisedTop,
  recogniseBody,
  recogniseMovesLeft,
  recognisePolicy,
  recogniseValue,
  Unrecognised,
} from '../onnx/index.js';
import type { NetworkTensors } from './choose-tensors.js';
import { type LayerEncoder, LINEAR16_ENCODER } from './layer-encoding.js';
import {
  DefaultActivation,
  MovesLeftFormat,
  NetworkStructure,
  OutputFormat,
  PolicyFormat,
  ValueFormat,
  WeightsEncoding,
} from './net-enums.js';
import { NET_MAGIC, type NetMessage, type WeightsMessage } from './net-schema.js';

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
