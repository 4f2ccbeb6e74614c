/**
 * What an ONNX file may not contain, because ONNX Runtime would do it without asking: loops that need not end, files of their own,
 * tensors that a few bytes make as large as the memory. It looks at all graphs and functions, and runs before any session is opened.
 * A size that depends on no input of the network must be known here. The shapes of activations are the runtime's to infer
 * (`showActivations`); a network that is slow is left to the limit on the first evaluation.
 */
import { unwrap } from '../../../base/util/index.js';
import { type FlatGraph, type FlatNode, flattenModel, Refusal } from './flat-graph.js';
import { countBytes, describeHeader, isExternal } from './onnx-header.js';
import {
  type AttributeMessage,
  encodeModel,
  type GraphMessage,
  type NodeMessage,
  parseOnnxModel,
  type ReadModel,
  type SparseTensorMessage,
  type TensorMessage,
  type ValueInfoMessage,
} from './onnx-messages.js';
import {
  CONSTANT,
  chooseFact,
  computeFact,
  countElements,
  describeInput,
  describeWeight,
  type Fact,
  INPUTS,
  isKnown,
  UNKNOWN_CONSTANT,
} from './size-facts.js';
import { TensorType } from './tensor-type.js';

/** ONNX Runtime is fast up to eight dimensions. */
const MOST_DIMENSIONS = 16;
/** 256 MB as single precision; the largest weights of lc0 have a tenth of it. */
const MOST_ELEMENTS = 2 ** 26;

/** They repeat a graph, call a model, or read a file that the model names. */
const REFUSED_OPERATORS = new Set([
  ...['Loop', 'Scan', 'SequenceMap'],
  ...['BeamSearch', 'WhisperBeamSearch', 'GreedySearch', 'Sampling', 'EPContext'],
]);
/** Operators → the inputs that say how large the output is. */
const SHAPE_INPUTS: ReadonlyMap<string, readonly number[]> = new Map([
  ['ConstantOfShape', [0]],
  ['Expand', [1]],
  ['Tile', [1]],
  ['Resize', [2, 3]],
  ['Upsample', [1]],
  ['OneHot', [1]],
  ['Pad', [1]],
  ['CenterCropPad', [1]],
  ['Range', [0, 1, 2]],
  ['MaxUnpool', [2]],
  ['AffineGrid', [1]],
  ['Col2Im', [1, 2]],
  ['DFT', [1]],
  ['STFT', [1, 3]],
  ['MelWeightMatrix', [0, 1]],
  ['HannWindow', [0]],
  ['HammingWindow', [0]],
  ['BlackmanWindow', [0]],
  ['CropAndResize', [3]],
  ['ConvTransposeWithDynamicPads', [2]],
  ['GroupQueryAttention', [6]],
]);
const SIZE_ATTRIBUTES = new Set([
  ...['shape', 'output_shape', 'output_padding', 'pads', 'paddings', 'strides', 'kernel_shape', 'dilations'],
  ...['sample_size', 'repeats', 'tiles', 'blocksize', 'upscale', 'scales', 'height_scale', 'width_scale'],
  ...['output_height', 'output_width', 'pooled_shape'],
]);
/** They make one value of all the numbers in lists or parts of their inputs; what others make of open sizes has at most the product of their inputs. */
const SUMS = /^(?:Concat|Sequence|SplitToSequence|Optional)/;
/** Their output is at most as large as their first input. */
const PARTS = new Set([
  ...['Identity', 'Cast', 'Reshape', 'Transpose', 'Squeeze', 'Unsqueeze', 'Flatten'],
  ...['Slice', 'Compress', 'Split', 'TopK', 'SplitToSequence', 'SequenceAt', 'Unique'],
  ...['ReduceSum', 'ReduceMax', 'ReduceMin', 'ReduceMean', 'ArgMax', 'ArgMin'],
]);
/** A tensor of a network's input whose sizes are open; the largest known has 112 × 64 numbers. */
const OPEN_INPUT = 2 ** 14;
/** Products of two constants: the output may have as many elements as the product of their sizes. */
const OUTER_PRODUCTS = new Set(['MatMul', 'Gemm', 'Einsum', 'MatMulInteger', 'QLinearMatMul']);

/** What the runtime tells of outputs, by name: −1 or a name for an open dimension. */
type Shapes = ReadonlyMap<string, readonly unknown[]>;

/**
 * @param hasWeightsFile whether weights of the main graph may be in another file
 * @returns why the model is refused, without its subject; null when it is not
 */
export function findRefusal(model: ReadModel, hasWeightsFile = false): string | null {
  return explainRefusal(() => {
    checkParts(model, hasWeightsFile);
    findSizes(model, flattenModel(model));
  });
}

/**
 * As findRefusal, when the runtime has told the shapes of activations (`showActivations`): sizes may be computed from them. What the
 * runtime does not know of them depends on more than the batch: it counts with the most that the operators can make of it.
 */
export function findRefusalByShapes(bytes: Uint8Array, shapes: Shapes): string | null {
  const model = unwrap(parseOnnxModel(bytes));
  return explainRefusal(() => findSizes(model, flattenModel(model), shapes, true));
}

function explainRefusal(check: () => void): string | null {
  try {
    check();
    return null;
  } catch (error) {
    return error instanceof Refusal ? error.message : 'is damaged';
  }
}

/**
 * A model with the outputs of all nodes as outputs of its own, those in functions and branches too, so that the runtime tells their
 * shapes without running it. Sizes that are known stand in place of what computes them.
 * @param bytes a model that findRefusal has not refused
 * @param shapes what such a model has told before: with it, more sizes are known
 */
export function showActivations(bytes: Uint8Array, shapes: Shapes | null = null): Uint8Array {
  const model = unwrap(parseOnnxModel(bytes));
  const flat = flattenModel(model);
  const initializer = [...flat.initializer];
  const sizes = findSizes(model, flat, shapes);
  const nodes = flat.nodes.map((node) => {
    const input = node.input.map((name, i) => {
      const fact = sizes.get(node)?.[i];
      if (fact === undefined) return name;
      initializer.push(createTensor(`size #${initializer.length} of ${name}`, fact));
      return `size #${initializer.length - 1} of ${name}`;
    });
    return { ...node, input };
  });
  const { irVersion = 0, graph } = model;
  const made = flat.nodes.flatMap(({ output }) => output).filter((name) => name !== '');
  const names = new Set([...(graph.output ?? []).flatMap(({ name }) => name ?? []), ...made]);
  return encodeModel({
    irVersion,
    opsetImport: listOperatorSets(model),
    graph: {
      ...graph,
      node: nodes,
      initializer,
      sparseInitializer: [...flat.sparseInitializer],
      input: (graph.input ?? []).map(takeOnePosition),
      // Shapes that the file claims would count for the runtime as its own.
      output: [...names].map((name) => ({ name })),
      valueInfo: [],
    },
  });
}

/** An open batch is 1. */
function takeOnePosition(input: ValueInfoMessage): ValueInfoMessage {
  const { tensorType } = input.type ?? {};
  const [batch, ...others] = tensorType?.shape?.dim ?? [];
  if (batch === undefined || Number(batch.dimValue ?? 0) > 0) return input;
  return { ...input, type: { tensorType: { ...tensorType, shape: { dim: [{ dimValue: 1 }, ...others] } } } };
}

/** Those of the model, and those that only its functions name. */
function listOperatorSets({ opsetImport = [], functions = [] }: ReadModel): NonNullable<ReadModel['opsetImport']> {
  const all = [...functions.flatMap((body) => body.opsetImport ?? []), ...opsetImport];
  return [...new Map(all.map((set) => [set.domain ?? '', set])).values()];
}

function createTensor(name: string, { dims, values, type }: Fact): TensorMessage {
  const numbers = values ?? [];
  const whole = type === TensorType.INT32 ? Int32Array.from(numbers) : BigInt64Array.from(numbers, BigInt);
  const data = type === TensorType.FLOAT ? Float32Array.from(numbers) : whole;
  return { name, dims: [...(dims ?? [numbers.length])], dataType: type, rawData: new Uint8Array(data.buffer) };
}

/** What no part of a model may be, wherever it stands. */
function checkParts(model: ReadModel, hasWeightsFile: boolean): void {
  if ((model.trainingInfo?.length ?? 0) > 0) throw new Refusal('has a graph for training, which is not supported');
  checkGraph(model.graph, hasWeightsFile);
  for (const { name = '', node, attributeProto } of model.functions ?? []) {
    if (SHAPE_INPUTS.has(name)) throw new Refusal(`defines an operator ${name} of its own, which is not supported`);
    checkNodes(node);
    attributeProto?.forEach(checkAttribute);
  }
}

function checkGraph(graph: GraphMessage, hasWeightsFile = false): void {
  for (const tensor of graph.initializer ?? []) checkTensor(tensor, hasWeightsFile);
  graph.sparseInitializer?.forEach(checkSparse);
  checkNodes(graph.node);
}

function checkNodes(nodes: readonly NodeMessage[] = []): void {
  for (const { opType = '', domain, attribute } of nodes) {
    if (domain === 'ai.onnx.ml') throw new Refusal(`has the operator ${opType} of ${domain}, which is not supported`);
    if (REFUSED_OPERATORS.has(opType)) throw new Refusal(`has the operator ${opType}, which may run for ever`);
    attribute?.forEach(checkAttribute);
  }
}

function checkAttribute(attribute: AttributeMessage): void {
  const { t, tensors = [], sparseTensor, sparseTensors = [], g, graphs = [] } = attribute;
  for (const tensor of [t ?? [], tensors].flat()) checkTensor(tensor);
  for (const tensor of [sparseTensor ?? [], sparseTensors].flat()) checkSparse(tensor);
  for (const graph of [g ?? [], graphs].flat()) checkGraph(graph);
}

/** Shapes do not tell how much memory text takes. */
const TEXT = 'has a tensor of text, which is not supported';

/** A tensor that claims more values than it has would be allocated before its data are looked at. */
function checkTensor(tensor: TensorMessage, mayBeElsewhere = false): void {
  if (tensor.dataType === TensorType.STRING) throw new Refusal(TEXT);
  if (isExternal(tensor)) {
    if (mayBeElsewhere) return;
    throw new Refusal('keeps its weights in another file, which is not supported');
  }
  if (countElements((tensor.dims ?? []).map(Number)) > 2 * countBytes(tensor))
    throw new Refusal('has a tensor that claims more values than it has');
}

/** Its dimensions say how large it becomes. */
function checkSparse({ dims = [], values, indices }: SparseTensorMessage): void {
  for (const part of [values ?? [], indices ?? []].flat()) checkTensor(part);
  requireSize(dims.map(Number), 'a sparse tensor');
}

function requireSize(dims: readonly number[], operator: string): void {
  const known = dims.filter((size) => !Number.isNaN(size));
  if (countElements(known) > MOST_ELEMENTS)
    throw new Refusal(`makes a larger tensor than any known network, by ${operator}`);
}

/**
 * The sizes that are known without the network's inputs: nodes → by the number of the input.
 * @throws Refusal when one is too large, or when nobody knows it
 */
function findSizes(
  model: ReadModel,
  flat: FlatGraph,
  shapes: Shapes | null = null,
  checksOpen = false,
): ReadonlyMap<FlatNode, Readonly<Record<number, Fact>>> {
  const sizes = new Map<FlatNode, Record<number, Fact>>();
  const facts = new Map<string, Fact>();
  const addShape = (fact: Fact, name: string): Fact => {
    const shape = fact.dims === null ? shapes?.get(name) : undefined;
    if ((shape?.length ?? 0) > MOST_DIMENSIONS)
      throw new Refusal('has a tensor of more dimensions than any known network');
    return !shape?.length
      ? fact
      : { ...fact, dims: shape.map((size) => (Number(size) > 0 ? Number(size) : Number.NaN)) };
  };
  /** Number of elements by name, once the runtime has told the shapes: exact, or the most that there can be. */
  const most = new Map<string, number>();
  let open = 0;
  const countMost = (name: string, fallback: number): void => {
    const count = countElements(facts.get(name)?.dims ?? [Number.NaN]);
    most.set(name, Number.isNaN(count) ? fallback : count);
    if (Number.isNaN(count)) open += fallback;
  };
  for (const { name, shape } of describeHeader(model).inputs) {
    facts.set(name, describeInput(shapes === null ? shape : shape.map((size, i) => (i === 0 ? Math.abs(size) : size))));
    countMost(name, OPEN_INPUT);
  }
  for (const tensor of flat.initializer) {
    facts.set(tensor.name ?? '', describeWeight(tensor));
    countMost(tensor.name ?? '', 0);
  }
  for (const node of flat.nodes) {
    const { opType, input, output, attribute, branches } = node;
    checkSizeAttributes(opType, attribute);
    const given = input.map((name) => (name === '' ? undefined : (facts.get(name) ?? UNKNOWN_CONSTANT)));
    const known: Record<number, Fact> = {};
    for (const index of SHAPE_INPUTS.get(opType) ?? []) {
      const fact = given[index];
      if (fact === undefined) continue;
      checkSize(fact, opType);
      if (fact.from === CONSTANT) known[index] = fact;
    }
    const wanted = opType === 'Reshape' ? given[1] : undefined;
    if (wanted !== undefined && wanted.from < INPUTS && wanted.values?.every(Number.isFinite)) known[1] = wanted;
    sizes.set(node, known);
    if (opType === 'Range') checkRange(given);
    if (opType === 'If') {
      const [then = [], other = []] = branches;
      output.forEach((name, i) => {
        const sides = [then[i] ?? '', other[i] ?? ''];
        const [a, b] = sides.map((side) => facts.get(side) ?? UNKNOWN_CONSTANT);
        facts.set(name, chooseFact(given[0], a, b));
        if (checksOpen) countMost(name, Math.max(...sides.map((side) => most.get(side) ?? 0)));
      });
      if (checksOpen) requireSize([open], opType);
      continue;
    }
    const fact = computeFact(node, given);
    output.forEach((name, i) => {
      facts.set(name, addShape(i === 0 ? fact : { ...UNKNOWN_CONSTANT, from: fact.from }, name));
    });
    if (fact.dims !== null) requireSize(fact.dims, opType);
    else if (OUTER_PRODUCTS.has(opType)) checkProduct(given, opType);
    if (!checksOpen) continue;
    const counts = input.map((name) => most.get(name) ?? 0);
    for (const name of output) countMost(name, boundElements(node, counts));
    requireSize([open], opType);
  }
  return sizes;
}

/** The most elements of an output whose shape is open; infinite when numbers in the file make it larger than its inputs. */
function boundElements({ opType, attribute }: FlatNode, counts: readonly number[]): number {
  const [first = 1] = counts;
  const sum = counts.reduce((total, count) => total + count, 0);
  if (SHAPE_INPUTS.has(opType) || attribute.some(({ name = '' }) => SIZE_ATTRIBUTES.has(name))) return Infinity;
  // Without axes it gives one number.
  if (opType.startsWith('Reduce') && counts.length === 1 && attribute.every(({ name }) => name === 'keepdims'))
    return 1;
  if (PARTS.has(opType)) return first;
  if (opType === 'NonZero') return MOST_DIMENSIONS * first;
  return SUMS.test(opType) ? sum : Math.max(sum, countElements(counts.map((count) => Math.max(1, count))));
}

function checkSizeAttributes(operator: string, attributes: readonly AttributeMessage[]): void {
  for (const { name = '', f, i, floats = [], ints = [] } of attributes) {
    if ((name === 'to' && Number(i) === TensorType.STRING) || name.startsWith('value_string')) throw new Refusal(TEXT);
    if (!SIZE_ATTRIBUTES.has(name)) continue;
    const numbers = [f ?? 0, i ?? 0, ...floats, ...ints].map(Number);
    requireSize(
      numbers.map((number) => 1 + Math.abs(number)),
      operator,
    );
  }
}

function checkSize(fact: Fact, operator: string): void {
  if (fact.from === INPUTS || fact.hidesConstant || (fact.from === CONSTANT && !isKnown(fact)))
    throw new Refusal(`makes a tensor whose size is not known before it runs, by ${operator}`);
  requireSize(
    (fact.values ?? []).map((value) => Math.max(1, Math.abs(value))),
    operator,
  );
}

/** What a list of numbers has between its ends, in steps that may be short. */
function checkRange(given: readonly (Fact | undefined)[]): void {
  const [start, limit, step] = given.map((fact) => Math.abs(fact?.values?.[0] ?? Number.NaN));
  requireSize([(start + limit) / step, 1 / step], 'Range');
}

function checkProduct(given: readonly (Fact | undefined)[], operator: string): void {
  const [a, b] = given;
  if (a?.from !== CONSTANT || b?.from !== CONSTANT) return;
  if (!a.dims || !b.dims) return;
  requireSize([...a.dims.slice(0, -1), ...b.dims.slice(0, -2), ...b.dims.slice(-1)], operator);
}
