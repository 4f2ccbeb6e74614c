/**
 * What an ONNX file may not contain, because ONNX Runtime would do it without asking: loops that need not end, files of their own,
 * tensors that a few bytes make as large as the memory. It walks the protobuf with all its branches and functions, and runs before any
 * session is opened. The shapes of activations are the runtime's to infer (`showActivations`); a network that is slow is left to the limit
 * on the first evaluation. Field numbers: onnx.proto.
 */
import protobuf from 'protobufjs/minimal.js';
import { concatBytes } from '../../../base/util/index.js';
import { bytesOf, readFields, varint } from './onnx-header.js';

/** 256 MB as single precision; the largest weights of lc0 have a tenth of it. */
const MOST_ELEMENTS = 2 ** 26;
const MOST_NODES = 1_000_000;
const DEEPEST_GRAPH = 16;
/** Values of larger tensors are not kept, because they cannot be shapes. */
const MOST_SHAPE_VALUES = 16;

/** They repeat a graph, call a model, or read a file that the model names. */
const REFUSED_OPERATORS = new Set([
  ...['Loop', 'Scan', 'SequenceMap'],
  ...['BeamSearch', 'WhisperBeamSearch', 'GreedySearch', 'Sampling', 'EPContext'],
]);
/** Operators → the input that says how large the output is. */
const SHAPE_INPUTS: ReadonlyMap<string, readonly number[]> = new Map([
  ['ConstantOfShape', [0]],
  ['Expand', [1]],
  ['Tile', [1]],
  ['Resize', [2, 3]],
  ['Upsample', [1]],
  ['OneHot', [1]],
  ['Pad', [1]],
  ['Range', [0, 1]],
  ['MaxUnpool', [2]],
  ['HannWindow', [0]],
  ['HammingWindow', [0]],
  ['BlackmanWindow', [0]],
]);
const SIZE_ATTRIBUTES = new Set([
  ...['shape', 'output_shape', 'output_padding', 'pads', 'paddings', 'strides', 'kernel_shape', 'dilations'],
  ...['sample_size', 'repeats', 'tiles', 'blocksize', 'upscale', 'scales', 'height_scale', 'width_scale'],
]);
/** Products of two constants: the output may have as many elements as the product of their sizes. */
const OUTER_PRODUCTS = new Set(['MatMul', 'Gemm', 'Einsum', 'MatMulInteger', 'QLinearMatMul']);

/** TensorProto.DataType */
const FLOAT = 1;
const INT32 = 6;
const INT64 = 7;
/** TensorProto.DataLocation */
const EXTERNAL = 1;

interface Constant {
  readonly dims: readonly number[];
  /** Values of small integer and float tensors; null for others. */
  readonly values: readonly number[] | null;
}

interface Node {
  readonly operator: string;
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
  readonly attributes: readonly Attribute[];
}

interface Attribute {
  readonly name: string;
  readonly numbers: readonly number[];
  readonly tensors: readonly Constant[];
  readonly graphs: readonly Uint8Array[];
}

/** Why the model is refused: a sentence without its subject. */
class Refusal extends Error {}

/** @returns why the model is refused, without its subject; null when it is not */
export function findRefusal(model: Uint8Array): string | null {
  try {
    new ModelWalk().walk(model);
    return null;
  } catch (error) {
    return error instanceof Refusal ? error.message : 'is damaged';
  }
}

/**
 * The model with the outputs of all its nodes as outputs of its own, so that the runtime tells their shapes without running it: in
 * protobuf, what is appended to a message is added to its lists.
 */
export function showActivations(model: Uint8Array): Uint8Array {
  const shown = new Set<string>();
  const outputs = new Set<string>();
  for (const [tag, reader] of readFields(model)) {
    if (tag !== bytesOf(7)) continue;
    for (const [field, part] of readFields(reader.bytes())) {
      if (field === bytesOf(1)) for (const name of readNode(part.bytes()).outputs) outputs.add(name);
      else if (field === bytesOf(12)) {
        for (const [key, value] of readFields(part.bytes())) if (key === bytesOf(1)) shown.add(value.string());
      }
    }
  }
  const writer = protobuf.Writer.create();
  writer.uint32(bytesOf(7)).fork();
  for (const name of outputs) {
    if (name !== '' && !shown.has(name)) writer.uint32(bytesOf(12)).fork().uint32(bytesOf(1)).string(name).ldelim();
  }
  return concatBytes([model, writer.ldelim().finish()]);
}

class ModelWalk {
  /** Functions of the model → their nodes. */
  private readonly functions = new Map<string, readonly Node[]>();
  private readonly sizes = new Map<string, number>();
  private nodes = 0;

  walk(model: Uint8Array): void {
    const graphs: Uint8Array[] = [];
    for (const [tag, reader] of readFields(model)) {
      if (tag === bytesOf(7)) graphs.push(reader.bytes());
      else if (tag === bytesOf(20)) throw new Refusal('has a graph for training, which is not supported');
      else if (tag === bytesOf(25)) this.readFunction(reader.bytes());
    }
    for (const graph of graphs) this.walkGraph(graph, new Map(), 0);
    for (const nodes of this.functions.values()) for (const node of nodes) this.walkNode(node, new Map(), 0);
  }

  private walkGraph(bytes: Uint8Array, outer: ReadonlyMap<string, Constant>, depth: number): void {
    if (depth > DEEPEST_GRAPH) throw new Refusal('nests its graphs too deep');
    const constants = new Map(outer);
    const nodes: Node[] = [];
    for (const [tag, reader] of readFields(bytes)) {
      if (tag === bytesOf(1)) nodes.push(readNode(reader.bytes()));
      else if (tag === bytesOf(5)) {
        const { name, constant, isExternal } = readTensor(reader.bytes());
        // Weights in a file of their own are judged by the caller, if they are the graph's own.
        if (isExternal && depth > 0) throw createExternalRefusal();
        constants.set(name, constant);
      } else if (tag === bytesOf(15)) checkSparse(reader.bytes());
    }
    for (const node of nodes) this.walkNode(node, constants, depth);
  }

  private walkNode(node: Node, constants: Map<string, Constant>, depth: number): void {
    const { operator, inputs, outputs, attributes } = node;
    this.nodes += this.countNodes(operator, 0);
    if (this.nodes > MOST_NODES) throw new Refusal(`has more than ${MOST_NODES} nodes`);
    if (REFUSED_OPERATORS.has(operator)) throw new Refusal(`has the operator ${operator}, which may run for ever`);
    for (const { name, numbers, graphs } of attributes) {
      if (SIZE_ATTRIBUTES.has(name))
        requireSize(
          numbers.map((number) => 1 + Math.abs(number)),
          operator,
        );
      for (const graph of graphs) this.walkGraph(graph, constants, depth + 1);
    }
    const given = inputs.map((input) => constants.get(input));
    for (const index of SHAPE_INPUTS.get(operator) ?? []) {
      const values = given[index]?.values;
      if (values != null)
        requireSize(
          values.map((value) => Math.max(1, Math.abs(value))),
          operator,
        );
    }
    const result = operator === 'Constant' ? readConstant(attributes) : foldConstants(operator, given);
    if (result === null) return;
    requireSize(result.dims, operator);
    if (outputs.length > 0) constants.set(outputs[0], result);
  }

  /** Nodes that a call of a function becomes; 1 for other operators. */
  private countNodes(operator: string, depth: number): number {
    const known = this.sizes.get(operator);
    const nodes = this.functions.get(operator);
    if (known !== undefined || nodes === undefined) return known ?? 1;
    if (depth > DEEPEST_GRAPH) throw new Refusal('nests its functions too deep');
    const size = nodes.reduce((sum, node) => sum + this.countNodes(node.operator, depth + 1), 1);
    this.sizes.set(operator, size);
    return size;
  }

  private readFunction(bytes: Uint8Array): void {
    let name = '';
    const nodes: Node[] = [];
    for (const [tag, reader] of readFields(bytes)) {
      if (tag === bytesOf(1)) name = reader.string();
      else if (tag === bytesOf(7)) nodes.push(readNode(reader.bytes()));
    }
    this.functions.set(name, nodes);
  }
}

function createExternalRefusal(): Refusal {
  return new Refusal('keeps weights of a branch in another file, which is not supported');
}

function requireSize(dims: readonly number[], operator: string): void {
  if (countElements(dims) > MOST_ELEMENTS)
    throw new Refusal(`makes a larger tensor than any known network, by ${operator}`);
}

function countElements(dims: readonly number[]): number {
  return dims.reduce((product, size) => product * size, 1);
}

/** What ONNX Runtime computes when it loads the model; null if it is not constant, or no larger than its inputs. */
function foldConstants(operator: string, given: readonly (Constant | undefined)[]): Constant | null {
  if (given.length === 0 || given.some((constant) => constant === undefined)) return null;
  const constants = given as readonly Constant[];
  const values = constants.map((constant) => constant.values);
  if (operator === 'ConstantOfShape') return values[0] === null ? null : { dims: values[0], values: null };
  if (operator === 'Expand')
    return values[1] == null ? null : { dims: broadcast([constants[0].dims, values[1]]), values: null };
  if (operator === 'Tile')
    return values[1] == null ? null : { dims: [...constants[0].dims, ...values[1]], values: null };
  if (operator === 'Range') {
    const [start, limit, delta] = values.map((numbers) => numbers?.[0]);
    if (start === undefined || limit === undefined || delta === undefined) return null;
    return { dims: [Math.max(0, Math.ceil((limit - start) / delta))], values: null };
  }
  if (constants.length < 2) return null;
  if (OUTER_PRODUCTS.has(operator)) return { dims: multiply(constants[0].dims, constants[1].dims), values: null };
  return ELEMENTWISE.has(operator) ? { dims: broadcast(constants.map(({ dims }) => dims)), values: null } : null;
}

const ELEMENTWISE = new Set([
  ...['Add', 'Sub', 'Mul', 'Div', 'Pow', 'Mod', 'Max', 'Min', 'Sum', 'Mean', 'PRelu', 'BitShift', 'Where'],
  ...['And', 'Or', 'Xor', 'Equal', 'Greater', 'Less', 'GreaterOrEqual', 'LessOrEqual'],
]);

/** All but the inner dimensions, which are summed over. */
function multiply(a: readonly number[], b: readonly number[]): number[] {
  return [...a.slice(0, -1), ...b.slice(0, -2), ...b.slice(-1)];
}

function broadcast(shapes: readonly (readonly number[])[]): number[] {
  const rank = Math.max(...shapes.map(({ length }) => length));
  return Array.from({ length: rank }, (_, i) => Math.max(...shapes.map((dims) => dims[dims.length - rank + i] ?? 1)));
}

function readNode(bytes: Uint8Array): Node {
  let operator = '';
  const inputs: string[] = [];
  const outputs: string[] = [];
  const attributes: Attribute[] = [];
  for (const [tag, reader] of readFields(bytes)) {
    if (tag === bytesOf(1)) inputs.push(reader.string());
    else if (tag === bytesOf(2)) outputs.push(reader.string());
    else if (tag === bytesOf(4)) operator = reader.string();
    else if (tag === bytesOf(5)) attributes.push(readAttribute(reader.bytes()));
  }
  return { operator, inputs, outputs, attributes };
}

function readAttribute(bytes: Uint8Array): Attribute {
  let name = '';
  const numbers: number[] = [];
  const tensors: Constant[] = [];
  const graphs: Uint8Array[] = [];
  for (const [tag, reader] of readFields(bytes)) {
    if (tag === bytesOf(1)) name = reader.string();
    else if (tag === ((2 << 3) | 5)) numbers.push(reader.float());
    else if (tag === varint(3) || tag === varint(8)) numbers.push(Number(reader.int64()));
    else if (tag === ((7 << 3) | 5)) numbers.push(reader.float());
    else if (tag === bytesOf(7)) numbers.push(...readFloats(reader.bytes()));
    else if (tag === bytesOf(8)) numbers.push(...readIntegers(reader.bytes()));
    else if (tag === bytesOf(5) || tag === bytesOf(10)) {
      const { constant, isExternal } = readTensor(reader.bytes());
      if (isExternal) throw createExternalRefusal();
      tensors.push(constant);
    } else if (tag === bytesOf(6) || tag === bytesOf(11)) graphs.push(reader.bytes());
    else if (tag === bytesOf(22) || tag === bytesOf(23)) checkSparse(reader.bytes());
  }
  return { name, numbers, tensors, graphs };
}

/** The node `Constant`, whose value is one of its attributes. */
function readConstant(attributes: readonly Attribute[]): Constant | null {
  const [value] = attributes;
  if (value === undefined) return null;
  return value.tensors[0] ?? { dims: [value.numbers.length], values: value.numbers };
}

/** A tensor that claims more values than it has would be allocated before its data are looked at. */
function readTensor(bytes: Uint8Array): { name: string; constant: Constant; isExternal: boolean } {
  let name = '';
  let type = 0;
  let isExternal = false;
  let dataBytes = 0;
  const dims: number[] = [];
  let values: number[] = [];
  let raw: Uint8Array | null = null;
  for (const [tag, reader] of readFields(bytes)) {
    if (tag === varint(1)) dims.push(Number(reader.int64()));
    else if (tag === bytesOf(1)) dims.push(...readIntegers(reader.bytes()));
    else if (tag === varint(2)) type = reader.int32();
    else if (tag === bytesOf(8)) name = reader.string();
    else if (tag === varint(14)) isExternal = reader.int32() === EXTERNAL;
    else if (tag === bytesOf(9)) raw = reader.bytes();
    else if (DATA_FIELDS.has(tag >> 3)) {
      const start = reader.pos;
      const isPacked = (tag & 7) === 2;
      const data = isPacked ? reader.bytes() : null;
      if (data === null) reader.skipType(tag & 7);
      dataBytes += data?.length ?? reader.pos - start;
      if (data !== null && data.length <= 16 * MOST_SHAPE_VALUES) {
        const isInteger = tag >> 3 === 5 || tag >> 3 === 7;
        values = [...values, ...(isInteger ? readIntegers(data) : tag >> 3 === 4 ? readFloats(data) : [])];
      }
    }
  }
  const elements = countElements(dims);
  if (!isExternal && elements > 2 * (dataBytes + (raw?.length ?? 0))) {
    throw new Refusal('has a tensor that claims more values than it has');
  }
  if (raw !== null && elements <= MOST_SHAPE_VALUES) values = readRaw(raw, type);
  const isSmall = elements <= MOST_SHAPE_VALUES && values.length === elements;
  return { name, constant: { dims, values: isSmall ? values : null }, isExternal };
}

/** Fields of TensorProto with numbers, other than raw data: float, int32, string, int64, double, uint64. */
const DATA_FIELDS = new Set([4, 5, 6, 7, 10, 11]);

/** SparseTensorProto: its dimensions say how large it becomes. */
function checkSparse(bytes: Uint8Array): void {
  const dims: number[] = [];
  for (const [tag, reader] of readFields(bytes)) {
    if (tag === varint(3)) dims.push(Number(reader.int64()));
    else if (tag === bytesOf(3)) dims.push(...readIntegers(reader.bytes()));
    else if (tag === bytesOf(1) || tag === bytesOf(2)) {
      if (readTensor(reader.bytes()).isExternal) throw createExternalRefusal();
    }
  }
  requireSize(dims, 'a sparse tensor');
}

function readIntegers(bytes: Uint8Array): number[] {
  const reader = protobuf.Reader.create(bytes);
  const numbers: number[] = [];
  while (reader.pos < reader.len) numbers.push(Number(reader.int64()));
  return numbers;
}

function readFloats(bytes: Uint8Array): number[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length & ~3);
  return Array.from({ length: view.byteLength >> 2 }, (_, i) => view.getFloat32(4 * i, true));
}

function readRaw(bytes: Uint8Array, type: number): number[] {
  if (type === FLOAT) return readFloats(bytes);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  if (type === INT32) return Array.from({ length: bytes.length >> 2 }, (_, i) => view.getInt32(4 * i, true));
  if (type !== INT64) return [];
  return Array.from({ length: bytes.length >> 3 }, (_, i) => Number(view.getBigInt64(8 * i, true)));
}
