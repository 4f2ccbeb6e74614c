/**
 * The part of ONNX's protobuf messages (onnx.proto3) that this room writes or edits. Other fields, such as subgraphs and
 * functions, survive an edit too: `decode` keeps unknown fields and `encode` writes them back.
 */
import type { Long } from 'protobufjs/minimal.js';
import { createMessageTypes } from './protobuf-messages.js';

export type Int64 = number | Long;

export interface TensorMessage {
  dims?: Int64[];
  dataType?: number;
  name?: string;
  rawData?: Uint8Array;
  docString?: string;
  externalData?: { key: string; value: string }[];
  dataLocation?: number;
}

export interface AttributeMessage {
  name?: string;
  f?: number;
  i?: Int64;
  s?: Uint8Array;
  t?: TensorMessage;
  floats?: number[];
  ints?: Int64[];
  type?: number;
}

export interface NodeMessage {
  input?: string[];
  output?: string[];
  name?: string;
  opType?: string;
  attribute?: AttributeMessage[];
  docString?: string;
  domain?: string;
}

export interface DimensionMessage {
  dimValue?: Int64;
  dimParam?: string;
}

export interface ValueInfoMessage {
  name?: string;
  type?: { tensorType?: { elemType?: number; shape?: { dim?: DimensionMessage[] } } };
  docString?: string;
}

export interface GraphMessage {
  node?: NodeMessage[];
  name?: string;
  initializer?: TensorMessage[];
  docString?: string;
  input?: ValueInfoMessage[];
  output?: ValueInfoMessage[];
  valueInfo?: ValueInfoMessage[];
}

export interface ModelMessage {
  irVersion?: Int64;
  producerName?: string;
  producerVersion?: string;
  domain?: string;
  modelVersion?: Int64;
  docString?: string;
  graph?: GraphMessage;
  opsetImport?: { domain?: string; version?: Int64 }[];
  metadataProps?: { key: string; value: string }[];
}

/** TensorProto.DataType, as far as needed here. */
export const TensorType = { FLOAT: 1, UINT8: 2, INT8: 3, INT32: 6, INT64: 7, FLOAT16: 10, BFLOAT16: 16 } as const;

/** TensorProto.DataLocation of a tensor whose values are in another file. */
export const EXTERNAL_DATA = 1;

/** AttributeProto.AttributeType. */
export const AttributeType = { FLOAT: 1, INT: 2, FLOATS: 6, INTS: 7 } as const;

const types = createMessageTypes({
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
});

export const modelType = types.Model;
export const graphType = types.Graph;
export const tensorType = types.Tensor;
