/**
 * Reads the header of an ONNX file: metadata, producer, names, types and shapes of inputs and outputs, and the size of its
 * weights. onnxruntime-node does not expose `metadata_props`, and decoding a whole model would copy its weights. So this file
 * reads only the top levels of the protobuf. Field numbers: onnx.proto.
 */
import protobuf from 'protobufjs/minimal.js';
import { failure, type Result, success } from '../../../base/util/index.js';

export interface TensorDescription {
  readonly name: string;
  /** TensorProto.DataType; 0 if the file does not say. */
  readonly elementType: number;
  /** −1 for an open dimension (the batch). */
  readonly shape: readonly number[];
}

export interface OnnxHeader {
  readonly producer: string;
  readonly metadata: ReadonlyMap<string, string>;
  /** Inputs that are not weights. */
  readonly inputs: readonly TensorDescription[];
  readonly outputs: readonly TensorDescription[];
  readonly parameterBytes: number;
  /** Element type of weights (TensorProto.DataType) → total size in bytes. */
  readonly bytesByType: ReadonlyMap<number, number>;
  /** Whether weights are in another file. */
  readonly hasExternalData: boolean;
}

/** TensorProto.DataType */
export const FLOAT32 = 1;
export const FLOAT16 = 10;
const UINT8 = 2;
export const INT8 = 3;
/** TensorProto.DataLocation */
const EXTERNAL = 1;

/** A failure is a sentence without its subject; the caller puts the file's name before it. */
export function readOnnxHeader(bytes: Uint8Array): Result<OnnxHeader> {
  try {
    const model = readModel(bytes);
    return model === null ? failure('is not an ONNX model') : success(model);
  } catch {
    return failure('is not an ONNX model, or is cut short');
  }
}

export const varint = (field: number): number => field << 3;
export const bytesOf = (field: number): number => (field << 3) | 2;

/** Yields the tag (field number and wire type) of each field, with the reader at its value. Unread fields are skipped. */
export function* readFields(bytes: Uint8Array): Generator<[number, protobuf.Reader], void, void> {
  const reader = protobuf.Reader.create(bytes);
  while (reader.pos < reader.len) {
    const tag = reader.uint32();
    const start = reader.pos;
    yield [tag, reader];
    if (reader.pos === start) reader.skipType(tag & 7);
  }
}

const utf8 = new TextDecoder();

/** Decodes a copy, because browsers refuse to decode shared memory. */
function readText(reader: protobuf.Reader): string {
  return utf8.decode(reader.bytes().slice());
}

function readModel(bytes: Uint8Array): OnnxHeader | null {
  let irVersion = 0;
  let producer = '';
  let graph: Uint8Array | null = null;
  const metadata = new Map<string, string>();
  for (const [tag, reader] of readFields(bytes)) {
    if (tag === varint(1)) irVersion = reader.uint32();
    else if (tag === bytesOf(2)) producer = readText(reader);
    else if (tag === bytesOf(7)) graph = reader.bytes();
    else if (tag === bytesOf(14)) metadata.set(...readEntry(reader.bytes()));
  }
  if (irVersion === 0 || graph === null) return null;
  return { producer, metadata, ...readGraph(graph) };
}

function readEntry(bytes: Uint8Array): [string, string] {
  let key = '';
  let value = '';
  for (const [tag, reader] of readFields(bytes)) {
    if (tag === bytesOf(1)) key = readText(reader);
    else if (tag === bytesOf(2)) value = readText(reader);
  }
  return [key, value];
}

function readGraph(bytes: Uint8Array) {
  const weights = new Set<string>();
  const inputs: TensorDescription[] = [];
  const outputs: TensorDescription[] = [];
  const bytesByType = new Map<number, number>();
  let parameterBytes = 0;
  let hasExternalData = false;
  for (const [tag, reader] of readFields(bytes)) {
    if (tag === bytesOf(11)) inputs.push(readValueInfo(reader.bytes()));
    else if (tag === bytesOf(12)) outputs.push(readValueInfo(reader.bytes()));
    else if (tag === bytesOf(5)) {
      const weight = readInitializer(reader.bytes());
      weights.add(weight.name);
      parameterBytes += weight.sizeBytes;
      bytesByType.set(weight.elementType, (bytesByType.get(weight.elementType) ?? 0) + weight.sizeBytes);
      hasExternalData ||= weight.isExternal;
    }
  }
  const planes = inputs.filter((input) => !weights.has(input.name));
  return { inputs: planes, outputs, parameterBytes, bytesByType, hasExternalData };
}

/** Fields of TensorProto that hold numbers: float, int32, int64, raw, double, uint64 data. */
const DATA_TAGS = new Set([4, 5, 7, 9, 10, 11].map(bytesOf));

interface Initializer {
  readonly name: string;
  /** Signed and unsigned bytes count as one type. */
  readonly elementType: number;
  readonly sizeBytes: number;
  readonly isExternal: boolean;
}

function readInitializer(bytes: Uint8Array): Initializer {
  let name = '';
  let elementType = 0;
  let sizeBytes = 0;
  let isExternal = false;
  for (const [tag, reader] of readFields(bytes)) {
    if (tag === bytesOf(8)) name = readText(reader);
    else if (tag === varint(2)) elementType = reader.uint32();
    else if (tag === varint(14)) isExternal = reader.uint32() === EXTERNAL;
    else if (tag === bytesOf(13)) sizeBytes += readExternalLength(reader.bytes());
    else if (DATA_TAGS.has(tag)) sizeBytes += reader.bytes().length;
  }
  return { name, elementType: elementType === UINT8 ? INT8 : elementType, sizeBytes, isExternal };
}

/** The number of the entry `length` among a tensor's external_data (location, offset, length); 0 for the others. */
function readExternalLength(bytes: Uint8Array): number {
  const [key, value] = readEntry(bytes);
  return key === 'length' ? Number(value) || 0 : 0;
}

/** ValueInfoProto → TypeProto → Tensor → TensorShapeProto → Dimension. */
function readValueInfo(bytes: Uint8Array): TensorDescription {
  let description: TensorDescription = { name: '', elementType: 0, shape: [] };
  for (const [tag, reader] of readFields(bytes)) {
    if (tag === bytesOf(1)) description = { ...description, name: readText(reader) };
    if (tag !== bytesOf(2)) continue;
    for (const [kind, type] of readFields(reader.bytes())) {
      if (kind === bytesOf(1)) description = { ...description, ...readTensorType(type.bytes()) };
    }
  }
  return description;
}

function readTensorType(bytes: Uint8Array): Pick<TensorDescription, 'elementType' | 'shape'> {
  let elementType = 0;
  const shape: number[] = [];
  for (const [tag, reader] of readFields(bytes)) {
    if (tag === varint(1)) elementType = reader.uint32();
    if (tag !== bytesOf(2)) continue;
    for (const [inner, dimension] of readFields(reader.bytes())) {
      if (inner === bytesOf(1)) shape.push(readDimension(dimension.bytes()));
    }
  }
  return { elementType, shape };
}

function readDimension(bytes: Uint8Array): number {
  let size = -1;
  for (const [tag, reader] of readFields(bytes)) {
    if (tag === varint(1)) size = reader.uint32();
  }
  return size;
}
