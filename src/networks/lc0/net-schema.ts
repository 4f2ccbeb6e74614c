/**
 * lc0's network file as protobuf messages (package pblczero, lc0 `proto/net.proto`) and its enums; message types follow from the table of fields. Enums stay plain integers, so
 * that an error can name an unknown value. In decoded messages an absent sub-message or list is null or empty, and an
 * absent scalar is not an own property.
 */
import { createMessageTypes, type MessageOf, type MessageSpec } from '../nn/index.js';

const SCHEMA = {
  Layer: {
    minVal: [1, 'float'],
    maxVal: [2, 'float'],
    params: [3, 'bytes'],
    encoding: [4, 'int32'],
    dims: [5, 'repeated uint32'],
  },
  ConvBlock: {
    weights: [1, 'Layer'],
    biases: [2, 'Layer'],
    bnMeans: [3, 'Layer'],
    bnStddivs: [4, 'Layer'],
    bnGammas: [5, 'Layer'],
    bnBetas: [6, 'Layer'],
  },
  SqueezeExcite: { w1: [1, 'Layer'], b1: [2, 'Layer'], w2: [3, 'Layer'], b2: [4, 'Layer'] },
  Residual: { conv1: [1, 'ConvBlock'], conv2: [2, 'ConvBlock'], se: [3, 'SqueezeExcite'] },
  Smolgen: {
    compress: [1, 'Layer'],
    dense1W: [2, 'Layer'],
    dense1B: [3, 'Layer'],
    ln1Gammas: [4, 'Layer'],
    ln1Betas: [5, 'Layer'],
    dense2W: [6, 'Layer'],
    dense2B: [7, 'Layer'],
    ln2Gammas: [8, 'Layer'],
    ln2Betas: [9, 'Layer'],
  },
  Attention: {
    qW: [1, 'Layer'],
    qB: [2, 'Layer'],
    kW: [3, 'Layer'],
    kB: [4, 'Layer'],
    vW: [5, 'Layer'],
    vB: [6, 'Layer'],
    denseW: [7, 'Layer'],
    denseB: [8, 'Layer'],
    smolgen: [9, 'Smolgen'],
    rpeQ: [10, 'Layer'],
    rpeK: [11, 'Layer'],
    rpeV: [12, 'Layer'],
  },
  FeedForward: { dense1W: [1, 'Layer'], dense1B: [2, 'Layer'], dense2W: [3, 'Layer'], dense2B: [4, 'Layer'] },
  EncoderLayer: {
    mha: [1, 'Attention'],
    ln1Gammas: [2, 'Layer'],
    ln1Betas: [3, 'Layer'],
    ffn: [4, 'FeedForward'],
    ln2Gammas: [5, 'Layer'],
    ln2Betas: [6, 'Layer'],
  },
  PolicyHead: {
    ipPolW: [1, 'Layer'],
    ipPolB: [2, 'Layer'],
    ip2PolW: [3, 'Layer'],
    ip2PolB: [4, 'Layer'],
    ip3PolW: [5, 'Layer'],
    ip3PolB: [6, 'Layer'],
    ip4PolW: [7, 'Layer'],
    polEncoder: [8, 'repeated EncoderLayer'],
    polHeadcount: [9, 'uint32'],
    policy1: [10, 'ConvBlock'],
    policy: [11, 'ConvBlock'],
  },
  ValueHead: {
    ipValW: [1, 'Layer'],
    ipValB: [2, 'Layer'],
    ip1ValW: [3, 'Layer'],
    ip1ValB: [4, 'Layer'],
    ip2ValW: [5, 'Layer'],
    ip2ValB: [6, 'Layer'],
    ipValErrW: [7, 'Layer'],
    ipValErrB: [8, 'Layer'],
    ipValCatW: [9, 'Layer'],
    ipValCatB: [10, 'Layer'],
    value: [11, 'ConvBlock'],
  },
  PolicyHeadEntry: { key: [1, 'string'], value: [2, 'PolicyHead'] },
  ValueHeadEntry: { key: [1, 'string'], value: [2, 'ValueHead'] },
  PolicyHeads: {
    ipPolW: [1, 'Layer'],
    ipPolB: [2, 'Layer'],
    vanilla: [3, 'PolicyHead'],
    optimisticSt: [4, 'PolicyHead'],
    soft: [5, 'PolicyHead'],
    opponent: [6, 'PolicyHead'],
    policyHeadMap: [7, 'repeated PolicyHeadEntry'],
  },
  ValueHeads: {
    winner: [1, 'ValueHead'],
    q: [2, 'ValueHead'],
    st: [3, 'ValueHead'],
    valueHeadMap: [4, 'repeated ValueHeadEntry'],
  },
  Weights: {
    input: [1, 'ConvBlock'],
    residual: [2, 'repeated Residual'],
    policy: [3, 'ConvBlock'],
    ipPolW: [4, 'Layer'],
    ipPolB: [5, 'Layer'],
    value: [6, 'ConvBlock'],
    ip1ValW: [7, 'Layer'],
    ip1ValB: [8, 'Layer'],
    ip2ValW: [9, 'Layer'],
    ip2ValB: [10, 'Layer'],
    policy1: [11, 'ConvBlock'],
    movesLeft: [12, 'ConvBlock'],
    ip1MovW: [13, 'Layer'],
    ip1MovB: [14, 'Layer'],
    ip2MovW: [15, 'Layer'],
    ip2MovB: [16, 'Layer'],
    ip2PolW: [17, 'Layer'],
    ip2PolB: [18, 'Layer'],
    ip3PolW: [19, 'Layer'],
    ip3PolB: [20, 'Layer'],
    polEncoder: [21, 'repeated EncoderLayer'],
    ip4PolW: [22, 'Layer'],
    polHeadcount: [24, 'uint32'],
    ipEmbW: [25, 'Layer'],
    ipEmbB: [26, 'Layer'],
    encoder: [27, 'repeated EncoderLayer'],
    headcount: [28, 'uint32'],
    ipValW: [29, 'Layer'],
    ipValB: [30, 'Layer'],
    ipMovW: [31, 'Layer'],
    ipMovB: [32, 'Layer'],
    ipMultGate: [33, 'Layer'],
    ipAddGate: [34, 'Layer'],
    smolgenW: [35, 'Layer'],
    smolgenB: [36, 'Layer'],
    ipEmbPreprocW: [37, 'Layer'],
    ipEmbPreprocB: [38, 'Layer'],
    ipEmbLnGammas: [39, 'Layer'],
    ipEmbLnBetas: [40, 'Layer'],
    ipEmbFfn: [41, 'FeedForward'],
    ipEmbFfnLnGammas: [42, 'Layer'],
    ipEmbFfnLnBetas: [43, 'Layer'],
    valueHeads: [44, 'ValueHeads'],
    policyHeads: [45, 'PolicyHeads'],
  },
  TrainingParams: {
    trainingSteps: [1, 'uint32'],
    learningRate: [2, 'float'],
    mseLoss: [3, 'float'],
    policyLoss: [4, 'float'],
    accuracy: [5, 'float'],
    lc0Params: [6, 'string'],
  },
  NetworkFormat: {
    input: [1, 'int32'],
    output: [2, 'int32'],
    network: [3, 'int32'],
    policy: [4, 'int32'],
    value: [5, 'int32'],
    movesLeft: [6, 'int32'],
    defaultActivation: [7, 'int32'],
    smolgenActivation: [8, 'int32'],
    ffnActivation: [9, 'int32'],
    inputEmbedding: [10, 'int32'],
  },
  Format: { weightsEncoding: [1, 'int32'], networkFormat: [2, 'NetworkFormat'] },
  OnnxModel: {
    model: [1, 'bytes'],
    dataType: [2, 'int32'],
    inputPlanes: [3, 'string'],
    outputValue: [4, 'string'],
    outputWdl: [5, 'string'],
    outputPolicy: [6, 'string'],
    outputMlh: [7, 'string'],
  },
  EngineVersion: { major: [1, 'uint32'], minor: [2, 'uint32'], patch: [3, 'uint32'] },
  Net: {
    magic: [1, 'fixed32'],
    license: [2, 'string'],
    minVersion: [3, 'EngineVersion'],
    format: [4, 'Format'],
    trainingParams: [5, 'TrainingParams'],
    weights: [10, 'Weights'],
    onnxModel: [11, 'OnnxModel'],
  },
} as const satisfies Record<string, MessageSpec>;

export const netType = createMessageTypes(SCHEMA).Net;

type Message<Name extends keyof typeof SCHEMA> = MessageOf<typeof SCHEMA, Name>;
export type LayerMessage = Message<'Layer'>;
export type ConvBlockMessage = Message<'ConvBlock'>;
export type SmolgenMessage = Message<'Smolgen'>;
export type FeedForwardMessage = Message<'FeedForward'>;
export type EncoderLayerMessage = Message<'EncoderLayer'>;
export type PolicyHeadMessage = Message<'PolicyHead'>;
export type ValueHeadMessage = Message<'ValueHead'>;
/** A network with one policy and one value head stores their fields directly here. */
export type WeightsMessage = Message<'Weights'>;
export type NetworkFormatMessage = Message<'NetworkFormat'>;
export type OnnxModelMessage = Message<'OnnxModel'>;
export type NetMessage = Message<'Net'>;

/** First field of every network file. */
export const NET_MAGIC = 0x1c0;

export const LayerEncoding = { UNKNOWN_ENCODING: 0, LINEAR16: 1, FLOAT16: 2, BFLOAT16: 3, FLOAT32: 4 } as const;

export const WeightsEncoding = { UNKNOWN: 0, LINEAR16: 1 } as const;

export const InputFormat = {
  INPUT_UNKNOWN: 0,
  INPUT_CLASSICAL_112_PLANE: 1,
  INPUT_112_WITH_CASTLING_PLANE: 2,
  INPUT_112_WITH_CANONICALIZATION: 3,
  INPUT_112_WITH_CANONICALIZATION_HECTOPLIES: 4,
  INPUT_112_WITH_CANONICALIZATION_HECTOPLIES_ARMAGEDDON: 132,
  INPUT_112_WITH_CANONICALIZATION_V2: 5,
  INPUT_112_WITH_CANONICALIZATION_V2_ARMAGEDDON: 133,
} as const;

export const OutputFormat = { OUTPUT_UNKNOWN: 0, OUTPUT_CLASSICAL: 1, OUTPUT_WDL: 2 } as const;

export const NetworkStructure = {
  NETWORK_UNKNOWN: 0,
  NETWORK_CLASSICAL: 1,
  NETWORK_SE: 2,
  NETWORK_CLASSICAL_WITH_HEADFORMAT: 3,
  NETWORK_SE_WITH_HEADFORMAT: 4,
  NETWORK_ONNX: 5,
  NETWORK_ATTENTIONBODY_WITH_HEADFORMAT: 6,
  NETWORK_ATTENTIONBODY_WITH_MULTIHEADFORMAT: 7,
  NETWORK_AB_LEGACY_WITH_MULTIHEADFORMAT: 134,
} as const;

export const PolicyFormat = {
  POLICY_UNKNOWN: 0,
  POLICY_CLASSICAL: 1,
  POLICY_CONVOLUTION: 2,
  POLICY_ATTENTION: 3,
} as const;

export const ValueFormat = { VALUE_UNKNOWN: 0, VALUE_CLASSICAL: 1, VALUE_WDL: 2, VALUE_PARAM: 3 } as const;

export const MovesLeftFormat = { MOVES_LEFT_NONE: 0, MOVES_LEFT_V1: 1 } as const;

export const ActivationFunction = {
  ACTIVATION_DEFAULT: 0,
  ACTIVATION_MISH: 1,
  ACTIVATION_RELU: 2,
  ACTIVATION_NONE: 3,
  ACTIVATION_TANH: 4,
  ACTIVATION_SIGMOID: 5,
  ACTIVATION_SELU: 6,
  ACTIVATION_SWISH: 7,
  ACTIVATION_RELU_2: 8,
  ACTIVATION_SOFTMAX: 9,
} as const;

export const DefaultActivation = { DEFAULT_ACTIVATION_RELU: 0, DEFAULT_ACTIVATION_MISH: 1 } as const;

export const InputEmbedding = {
  INPUT_EMBEDDING_NONE: 0,
  INPUT_EMBEDDING_PE_MAP: 1,
  INPUT_EMBEDDING_PE_DENSE: 2,
} as const;

export const OnnxDataType = { UNKNOWN_DATATYPE: 0, FLOAT: 1, FLOAT16: 10, BFLOAT16: 16 } as const;

/** lc0's name of an enum value, or the bare number if this program does not know it. */
export function getEnumName(table: Readonly<Record<string, number>>, value: number): string {
  for (const [name, number] of Object.entries(table)) if (number === value) return name;
  return String(value);
}
