/** The enums of lc0's network file (lc0 `proto/net.proto`): tables from lc0's names to numbers. */

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
