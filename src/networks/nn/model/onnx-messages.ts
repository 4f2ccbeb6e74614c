/**
 * ONNX models as messages, and the one place that reads their bytes: for the engine, which looks at names, shapes and dangers, and for
 * the toolkit of graphs, which edits them. Weights are views of the given bytes. A file that readers could understand in two ways is
 * refused, because what is checked must be what ONNX Runtime runs.
 */
import { failure, type Result, success } from '../../../base/util/index.js';
import { createMessageTypes, DamagedMessage, type MessageOf, type MessageSpec } from './protobuf-messages.js';

/** TensorProto.DataLocation of a tensor whose values are in another file. */
export const EXTERNAL_DATA = 1;

/** AttributeProto.AttributeType. */
export const AttributeType = { FLOAT: 1, INT: 2, FLOATS: 6, INTS: 7 } as const;

// Names and numbers: onnx.proto. An edit keeps other fields as they are. Packed lists of weights are read as their bytes.

const SCHEMA = {
  StringEntry: { key: [1, 'string'], value: [2, 'string'] },
  Tensor: {
    dims: [1, 'repeated int64'],
    dataType: [2, 'int32'],
    floatData: [4, 'repeated bytes'],
    int32Data: [5, 'repeated bytes'],
    stringData: [6, 'repeated bytes'],
    int64Data: [7, 'repeated bytes'],
    name: [8, 'string'],
    rawData: [9, 'bytes'],
    doubleData: [10, 'repeated bytes'],
    uint64Data: [11, 'repeated bytes'],
    docString: [12, 'string'],
    externalData: [13, 'repeated StringEntry'],
    dataLocation: [14, 'int32'],
  },
  SparseTensor: { values: [1, 'Tensor'], indices: [2, 'Tensor'], dims: [3, 'repeated int64'] },
  Attribute: {
    name: [1, 'string'],
    f: [2, 'float'],
    i: [3, 'int64'],
    s: [4, 'bytes'],
    t: [5, 'Tensor'],
    g: [6, 'Graph'],
    floats: [7, 'repeated float'],
    ints: [8, 'repeated int64'],
    tensors: [10, 'repeated Tensor'],
    graphs: [11, 'repeated Graph'],
    type: [20, 'int32'],
    refAttrName: [21, 'string'],
    sparseTensor: [22, 'SparseTensor'],
    sparseTensors: [23, 'repeated SparseTensor'],
  },
  Node: {
    input: [1, 'repeated string'],
    output: [2, 'repeated string'],
    name: [3, 'string'],
    opType: [4, 'string'],
    attribute: [5, 'repeated Attribute'],
    docString: [6, 'string'],
    domain: [7, 'string'],
    overload: [8, 'string'],
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
    sparseInitializer: [15, 'repeated SparseTensor'],
  },
  Function: {
    name: [1, 'string'],
    input: [4, 'repeated string'],
    output: [5, 'repeated string'],
    attribute: [6, 'repeated string'],
    node: [7, 'repeated Node'],
    opsetImport: [9, 'repeated OperatorSet'],
    domain: [10, 'string'],
    attributeProto: [11, 'repeated Attribute'],
    overload: [13, 'string'],
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
    trainingInfo: [20, 'repeated bytes'],
    functions: [25, 'repeated Function'],
  },
} as const satisfies Record<string, MessageSpec>;

type Message<Name extends keyof typeof SCHEMA> = MessageOf<typeof SCHEMA, Name>;
export type TensorMessage = Message<'Tensor'>;
export type AttributeMessage = Message<'Attribute'>;
export type NodeMessage = Message<'Node'>;
export type ValueInfoMessage = Message<'ValueInfo'>;
export type SparseTensorMessage = Message<'SparseTensor'>;
export type GraphMessage = Message<'Graph'>;
export type FunctionMessage = Message<'Function'>;
/** Metadata have both parts: an absent text reads as ''. */
export type ModelMessage = Omit<Message<'Model'>, 'metadataProps'> & {
  metadataProps?: { key: string; value: string }[];
};
/** A model that has been read: one without a graph is refused. */
export type ReadModel = ModelMessage & { graph: GraphMessage };

const types = createMessageTypes(SCHEMA);
export const modelType = types.Model;
export const graphType = types.Graph;
export const tensorType = types.Tensor;

/** Enough for graphs of some ten thousand nodes. */
const MOST_PARTS = 500_000;

/** Of models in ONNX Runtime's own format, in bytes 4 to 7. The runtime would open such a file even if it were protobuf as well. */
const RUNTIME_FORMAT = 'ORTM';

/**
 * @param keepsUnknown for edits; what only reads needs nothing else
 * @returns a failure if the bytes are not an ONNX model: a sentence without its subject
 */
export function parseOnnxModel(bytes: Uint8Array, keepsUnknown = false): Result<ReadModel> {
  if (String.fromCharCode(...bytes.subarray(4, 8)) === RUNTIME_FORMAT)
    return failure("is in ONNX Runtime's own format, not an ONNX model");
  try {
    const model = modelType.decode(bytes, MOST_PARTS, keepsUnknown) as ReadModel;
    const isModel = Number(model.irVersion ?? 0) > 0 && Object.hasOwn(model, 'graph');
    return isModel ? success(model) : failure('is not an ONNX model');
  } catch (error) {
    if (!(error instanceof DamagedMessage)) throw error;
    return failure(`is not an ONNX model, or is cut short: ${error.message}`);
  }
}

/** A model to edit. @returns undefined if the bytes are not an ONNX model */
export function decodeModel(bytes: Uint8Array): ReadModel | undefined {
  const model = parseOnnxModel(bytes, true);
  return model.ok ? model.value : undefined;
}

export function encodeModel(model: ModelMessage): Uint8Array {
  return viewBytes(modelType.encode(model));
}

/** protobufjs returns Buffers; here they are plain arrays. */
export function viewBytes(bytes: Uint8Array): Uint8Array {
  return new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);
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
