/**
 * The layers of a network that can be computed in 8 bits, and the ranges of their inputs and outputs over sample positions. The
 * first layers, which read the planes, and everything behind the body stay in single precision: they are small, and rounding
 * them costs the most.
 */
import { getCoreCount } from '#platform/machine.js';
import {
  decodeModel,
  encodeModel,
  findAttribute,
  type GraphMessage,
  getIntegerAttribute,
  type NodeMessage,
  openOnCpu,
  runSession,
  TensorType,
} from '../../nn/index.js';
import { findLastCut, listNodesBehind } from '../edit/cut-body.js';
import { GraphIndex, readFloats, transpose } from '../onnx-model.js';
import type { SampleBatch } from './sample-positions.js';

/** A convolution, or a product with a constant matrix. `weights` are [outputs][inputs][taps], whatever the operator's order. */
export interface Layer {
  readonly node: NodeMessage;
  readonly kind: 'convolution' | 'product';
  readonly inputs: number;
  readonly outputs: number;
  readonly taps: number;
  readonly weights: Float32Array;
  readonly biases: Float32Array;
  /** Names of the tensors it reads and makes. */
  readonly x: string;
  readonly y: string;
  /** The ReLU behind a convolution, if nothing else reads the convolution; `y` is then its output. */
  readonly relu: NodeMessage | undefined;
}

/** Least and greatest value of each channel; mean of each channel on each square, or of the channel where there are no squares. */
export interface Ranges {
  readonly least: Float32Array;
  readonly most: Float32Array;
  /** [channels][squares]. */
  readonly mean: Float64Array;
  count: number;
  /** Values of one channel for each position: 64, but 1 behind an average over the board. */
  valuesPerRow: number;
}

/** Layers with fewer values than this for each channel and position are too small to gain. */
const LEAST_VALUES = 8;

/** @returns none if the graph has no single tensor at which its body ends */
export function findLayers(graph: GraphMessage, input: string): Layer[] {
  const index = new GraphIndex(graph);
  const outputs = (graph.output ?? []).map(({ name }) => name ?? '');
  const bodyEnd = findLastCut(graph, input, outputs);
  if (bodyEnd === undefined) return [];
  const heads = new Set(listNodesBehind(graph, bodyEnd, outputs));
  const raw = new Set([input]);
  const found: Layer[] = [];
  for (const node of graph.node ?? []) {
    const layer = readLayer(node, index);
    const readsPlanes = node.input?.some((name) => raw.has(name)) === true;
    // The output of a layer no longer counts as planes; outputs of other operators on planes do.
    if (readsPlanes && layer === undefined && node.opType !== 'Conv')
      for (const name of node.output ?? []) raw.add(name);
    if (layer !== undefined && !readsPlanes && !heads.has(node)) found.push(layer);
  }
  return found;
}

function isLayer({ opType = '' }: NodeMessage): boolean {
  return opType === 'Conv' || opType === 'Gemm' || opType === 'MatMul';
}

function readLayer(node: NodeMessage, index: GraphIndex): Layer | undefined {
  const [x = '', weightName = '', biasName = ''] = node.input ?? [];
  const tensor = index.findConstant(weightName);
  if (tensor === undefined || node.domain || !isLayer(node)) return undefined;
  const dims = (tensor.dims ?? []).map(Number);
  const weights = readFloats(tensor);
  const biasTensor = index.findConstant(biasName);
  const biases = biasTensor && readFloats(biasTensor);
  if (weights === undefined || (biasName !== '' && biases === undefined)) return undefined;
  const output = node.output?.[0] ?? '';
  if (node.opType === 'Conv') {
    const [outputs, inputs, height, width] = dims;
    if (dims.length !== 4 || height !== width || getIntegerAttribute(node, 'group', 1) !== 1) return undefined;
    const users = index.listUsers(output);
    const relu = users.length === 1 && users[0].opType === 'Relu' ? users[0] : undefined;
    const y = relu?.output?.[0] ?? output;
    const shape = { inputs, outputs, taps: height * width };
    return { node, kind: 'convolution', ...shape, weights, biases: biases ?? new Float32Array(outputs), x, y, relu };
  }
  const isPlain = ['alpha', 'beta'].every((name) => (findAttribute(node, name)?.f ?? 1) === 1);
  if (dims.length !== 2 || !isPlain || getIntegerAttribute(node, 'transA', 0) !== 0) return undefined;
  const isTurned = getIntegerAttribute(node, 'transB', 0) === 1;
  const [outputs, inputs] = isTurned ? dims : [dims[1], dims[0]];
  if (biases !== undefined && biases.length !== outputs) return undefined;
  return {
    node,
    kind: 'product',
    inputs,
    outputs,
    taps: 1,
    weights: isTurned ? weights : transpose(weights, inputs, outputs),
    biases: biases ?? new Float32Array(outputs),
    x,
    y: output,
    relu: undefined,
  };
}

/**
 * Runs the network on sample positions and measures the tensors that the layers read and make.
 * @returns ranges by tensor, and the layers that are large enough to gain
 */
export async function measureRanges(
  model: Uint8Array,
  input: string,
  layers: readonly Layer[],
  batches: readonly SampleBatch[],
): Promise<{ readonly ranges: ReadonlyMap<string, Ranges>; readonly large: readonly Layer[] }> {
  const isRowMajor = new Map<string, boolean>();
  for (const { x, y, kind } of layers) {
    isRowMajor.set(x, kind === 'product');
    if (kind === 'convolution') isRowMajor.set(y, false);
  }
  const ranges = new Map<string, Ranges>();
  const session = await openOnCpu(exposeTensors(model, [...isRowMajor.keys()]), getCoreCount());
  try {
    for (const { rows, planes } of batches) {
      const feeds = { [input]: { data: planes, dims: [rows, planes.length / (64 * rows), 8, 8] } };
      const results = await runSession(session, feeds, [...isRowMajor.keys()]);
      for (const [name, isRows] of isRowMajor) {
        const { data, dims } = results[name];
        const channels = isRows ? (dims.at(-1) ?? 1) : dims[1];
        const squares = isRows ? 1 : data.length / channels / rows;
        const known = ranges.get(name) ?? createRanges(channels, squares, data.length / channels / rows);
        ranges.set(name, known);
        addValues(known, data, squares);
      }
    }
  } finally {
    await session.release();
  }
  const isLarge = ({ x }: Layer): boolean => (ranges.get(x)?.valuesPerRow ?? 0) >= LEAST_VALUES;
  return { ranges, large: layers.filter(isLarge) };
}

function exposeTensors(bytes: Uint8Array, names: readonly string[]): Uint8Array {
  const model = decodeModel(bytes);
  if (model === undefined) throw new Error('no ONNX model');
  const known = new Set(model.graph.output?.map(({ name }) => name));
  const added = names
    .filter((name) => !known.has(name))
    .map((name) => ({ name, type: { tensorType: { elemType: TensorType.FLOAT } } }));
  return encodeModel({ ...model, graph: { ...model.graph, output: [...(model.graph.output ?? []), ...added] } });
}

function createRanges(channels: number, squares: number, valuesPerRow: number): Ranges {
  return {
    least: new Float32Array(channels).fill(Number.POSITIVE_INFINITY),
    most: new Float32Array(channels).fill(Number.NEGATIVE_INFINITY),
    mean: new Float64Array(channels * squares),
    count: 0,
    valuesPerRow,
  };
}

/** @param squares neighbours that belong to one channel: 64 in planes, 1 where channels are the last axis */
function addValues(ranges: Ranges, data: Float32Array, squares: number): void {
  const { least, most, mean } = ranges;
  const channels = least.length;
  const added = data.length / mean.length;
  const weight = 1 / (ranges.count + added);
  for (let i = 0; i < mean.length; i++) mean[i] *= ranges.count * weight;
  for (let start = 0, channel = 0; start < data.length; start += squares) {
    let low = least[channel];
    let high = most[channel];
    for (let i = start, to = channel * squares; i < start + squares; i++, to++) {
      const value = data[i];
      mean[to] += value * weight;
      if (value < low) low = value;
      if (value > high) high = value;
    }
    least[channel] = low;
    most[channel] = high;
    channel = channel + 1 === channels ? 0 : channel + 1;
  }
  ranges.count += added;
}
