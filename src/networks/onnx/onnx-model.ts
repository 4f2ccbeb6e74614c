/**
 * Reads existing ONNX models without copying their weights, and writes them again after small changes. Parts that this room's
 * schema does not know (subgraphs, functions) are kept as they are. `GraphIndex` finds who makes and who uses a tensor. Also here:
 * the 16-bit formats of weights.
 */
import { decodeFloat16, encodeFloat16, FLOAT16_LARGEST } from '../../base/util/index.js';
import { createMessageTypes, type MessageOf, type MessageSpec, scanStructure } from './protobuf-messages.js';

// The part of ONNX's protobuf messages (onnx.proto3) that this room writes or edits. Other fields, such as subgraphs and
// functions, survive an edit too: `decode` keeps unknown fields and `encode` writes them back.

/** TensorProto.DataType, as far as needed here. */
export const TensorType = { FLOAT: 1, UINT8: 2, INT8: 3, INT32: 6, INT64: 7, FLOAT16: 10, BFLOAT16: 16 } as const;

/** TensorProto.DataLocation of a tensor whose values are in another file. */
export const EXTERNAL_DATA = 1;

/** AttributeProto.AttributeType. */
export const AttributeType = { FLOAT: 1, INT: 2, FLOATS: 6, INTS: 7 } as const;

const SCHEMA = {
  StringEntry: { key: [1, 'string'], value: [2, 'string'] },
  Tensor: {
    dims: [1, 'repeated int64'],
    dataType: [2, 'int32'],
    name: [8, 'string'],
    rawData: [9, 'bytes'],
    docString: [12, 'string'],
    externalData: [13, 'repeated StringEntry'],
    dataLocation: [14, 'int32'],
  },
  Attribute: {
    name: [1, 'string'],
    f: [2, 'float'],
    i: [3, 'int64'],
    s: [4, 'bytes'],
    t: [5, 'Tensor'],
    floats: [7, 'repeated float'],
    ints: [8, 'repeated int64'],
    type: [20, 'int32'],
  },
  Node: {
    input: [1, 'repeated string'],
    output: [2, 'repeated string'],
    name: [3, 'string'],
    opType: [4, 'string'],
    attribute: [5, 'repeated Attribute'],
    docString: [6, 'string'],
    domain: [7, 'string'],
  },
  Dimension: { dimValue: [1, 'int64'], dimParam: [2, 'string'] },
  Shape: { dim: [1, 'repeated Dimension'] },
  TensorShape: { elemType: [1, 'int32'], shape: [2, 'Shape'] },
  Type: { tensorType: [1, 'TensorShape'] },
  ValueInfo: { name: [1, 'string'], type: [2, 'Type'], docString: [3, 'string'] },
  Graph: {
    node: [1, 'repeated Node'],
    name: [2, 'string'],
    initializer: [5, 'repeated Tensor'],
    docString: [10, 'string'],
    input: [11, 'repeated ValueInfo'],
    output: [12, 'repeated ValueInfo'],
    valueInfo: [13, 'repeated ValueInfo'],
  },
  OperatorSet: { domain: [1, 'string'], version: [2, 'int64'] },
  Model: {
    irVersion: [1, 'int64'],
    producerName: [2, 'string'],
    producerVersion: [3, 'string'],
    domain: [4, 'string'],
    modelVersion: [5, 'int64'],
    docString: [6, 'string'],
    graph: [7, 'Graph'],
    opsetImport: [8, 'repeated OperatorSet'],
    metadataProps: [14, 'repeated StringEntry'],
  },
} as const satisfies Record<string, MessageSpec>;

type Message<Name extends keyof typeof SCHEMA> = MessageOf<typeof SCHEMA, Name>;
export type TensorMessage = Message<'Tensor'>;
export type AttributeMessage = Message<'Attribute'>;
export type NodeMessage = Message<'Node'>;
export type ValueInfoMessage = Message<'ValueInfo'>;
export type GraphMessage = Message<'Graph'>;
/** Metadata have both parts: an absent text reads as ''. */
export type ModelMessage = Omit<Message<'Model'>, 'metadataProps'> & {
  metadataProps?: { key: string; value: string }[];
};

const types = createMessageTypes(SCHEMA);
export const modelType = types.Model;
export const graphType = types.Graph;
export const tensorType = types.Tensor;

/** Enough for graphs of some ten thousand nodes. Such a graph decodes to a few hundred megabytes at most. */
const MAX_FIELDS = 500_000;

/** @returns undefined if the bytes are not an ONNX model */
export function decodeModel(bytes: Uint8Array): ModelMessage | undefined {
  if (scanStructure(bytes, modelType, MAX_FIELDS) !== undefined) return undefined;
  try {
    const model = modelType.decode(bytes, true) as ModelMessage;
    const isModel = Object.hasOwn(model, 'irVersion') && (model.graph?.node?.length ?? 0) > 0;
    return isModel ? model : undefined;
  } catch {
    return undefined;
  }
}

export function encodeModel(model: ModelMessage): Uint8Array {
  return viewBytes(modelType.encode(model));
}

/** Weights and constants. */
export function listTensors(graph: GraphMessage): TensorMessage[] {
  const constants = (graph.node ?? []).flatMap(({ attribute }) => (attribute ?? []).flatMap(({ t }) => t ?? []));
  return [...(graph.initializer ?? []), ...constants];
}

/** Whether some of the model's tensors are in another file. */
export function hasExternalTensors(graph: GraphMessage): boolean {
  return listTensors(graph).some((tensor) => tensor.dataLocation === EXTERNAL_DATA);
}

/** protobufjs returns Buffers; this room uses plain arrays. */
export function viewBytes(bytes: Uint8Array): Uint8Array {
  return new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

// Finds the node that makes a tensor, the nodes that use it, and constants. The index reflects the graph at the time it was
// created; it does not see later edits.

const NO_NODES: readonly NodeMessage[] = [];

export class GraphIndex {
  private readonly makers = new Map<string, NodeMessage>();
  private readonly users = new Map<string, NodeMessage[]>();
  private readonly constants = new Map<string, TensorMessage>();

  constructor(graph: GraphMessage) {
    for (const tensor of graph.initializer ?? []) this.constants.set(tensor.name ?? '', tensor);
    for (const node of graph.node ?? []) {
      const constant = node.opType === 'Constant' ? findAttribute(node, 'value')?.t : undefined;
      for (const name of node.output ?? []) {
        this.makers.set(name, node);
        if (constant !== undefined) this.constants.set(name, constant);
      }
      for (const name of node.input ?? []) {
        const known = this.users.get(name);
        if (known === undefined) this.users.set(name, [node]);
        else known.push(node);
      }
    }
  }

  /** @returns undefined for weights and inputs of the graph */
  findMaker(name: string): NodeMessage | undefined {
    return this.makers.get(name);
  }

  listUsers(name: string): readonly NodeMessage[] {
    return this.users.get(name) ?? NO_NODES;
  }

  /** A weight, or the value of a Constant node. */
  findConstant(name: string): TensorMessage | undefined {
    return this.constants.get(name);
  }
}

export function findAttribute(node: NodeMessage, name: string): AttributeMessage | undefined {
  return node.attribute?.find((attribute) => attribute.name === name);
}

export function getIntegerAttribute(node: NodeMessage, name: string, fallback: number): number {
  return Number(findAttribute(node, name)?.i ?? fallback);
}

export function getIntegerList(node: NodeMessage, name: string, fallback: readonly number[]): readonly number[] {
  const ints = findAttribute(node, name)?.ints;
  return ints?.length ? ints.map(Number) : fallback;
}

// The 16-bit formats of stored weights: bfloat16, and half precision (util) with the rounding that weights need.

const float32 = new Float32Array(1);
const bits32 = new Uint32Array(float32.buffer);

/** Half precision. Values that are too large become the largest finite one, because a weight must stay a number. */
export function encodeHalfWeight(value: number): number {
  return encodeFloat16(value, FLOAT16_LARGEST);
}

/** Round to nearest, ties to even. */
export function encodeBfloat16(value: number): number {
  if (Number.isNaN(value)) return 0x7fc0;
  float32[0] = value;
  const bits = bits32[0];
  return (bits + 0x7fff + ((bits >>> 16) & 1)) >>> 16;
}

let float16Table: Float32Array | undefined;

/** All 65,536 binary16 values, created once, for decoding whole layers. */
export function getFloat16Table(): Float32Array {
  if (float16Table === undefined) {
    float16Table = new Float32Array(65536);
    for (let half = 0; half < 65536; half++) float16Table[half] = decodeFloat16(half);
  }
  return float16Table;
}
