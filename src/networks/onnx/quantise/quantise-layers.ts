/**
 * Writes layers of a graph as 8-bit operators: QLinearConv for convolutions, MatMulIntegerToFloat for products. Activations are
 * unsigned with one scale a tensor, weights signed with one scale an output. All scales are constants, so a position's answer
 * does not depend on the others of its batch. Additions, norms, softmax and everything else stay in single precision.
 *
 * What keeps rounding small: a convolution's output that single precision reads on has a scale for each channel, with room for values
 * that the samples do not show; the mean error of the rounded weights goes into the biases. Bringing
 * the channels of an input to one scale (SmoothQuant) was tried and left: the weights lose what the inputs gain.
 */
import { type GraphMessage, type NodeMessage, TensorType } from '../../nn/index.js';
import { GraphIndex, transpose } from '../onnx-model.js';
import type { Layer, Ranges } from './layer-statistics.js';

const CONTRIBUTED = 'com.microsoft';
/** Greatest weight, and number of steps of an activation. */
const MOST_WEIGHT = 127;
const STEPS = 255;
/** Zero point of convolution outputs, whose scales are symmetric. */
const MIDDLE = 128;
/** Range of a convolution's output over that of the samples. */
const MARGIN = 1.3;
const BOARD = 8;

/** How a tensor is rounded: round(value / scale) + zero. */
interface Rounding {
  readonly scale: number;
  readonly zero: number;
}

/** Changes the graph in place. Weights that no node reads any more are removed. */
export function quantiseLayers(
  graph: GraphMessage,
  layers: readonly Layer[],
  ranges: ReadonlyMap<string, Ranges>,
): void {
  new LayerQuantiser(graph, layers, ranges).rewrite();
}

type Values = Float32Array | Int8Array | Uint8Array | Int32Array;

class LayerQuantiser {
  private readonly index: GraphIndex;
  private readonly byNode: ReadonlyMap<NodeMessage, Layer>;
  private readonly inputs: ReadonlySet<string>;
  /** Rounded tensors by the name of the tensor in single precision. */
  private readonly rounded = new Map<string, string>();
  private readonly nodes: NodeMessage[] = [];
  private readonly constants = new Set<string>();

  constructor(
    private readonly graph: GraphMessage,
    layers: readonly Layer[],
    private readonly ranges: ReadonlyMap<string, Ranges>,
  ) {
    this.index = new GraphIndex(graph);
    this.byNode = new Map(layers.map((layer) => [layer.node, layer]));
    this.inputs = new Set(layers.map(({ x }) => x));
  }

  rewrite(): void {
    const { graph, byNode, nodes } = this;
    const merged = new Set<NodeMessage | undefined>();
    for (const node of graph.node ?? []) {
      const layer = byNode.get(node);
      if (layer === undefined) {
        if (!merged.has(node)) nodes.push(node);
        continue;
      }
      merged.add(layer.relu);
      if (layer.kind === 'convolution') this.addConvolution(layer);
      else this.addProduct(layer);
    }
    graph.node = nodes;
    const read = new Set(nodes.flatMap(({ input }) => input ?? []));
    graph.initializer = graph.initializer?.filter(({ name }) => read.has(name ?? '')) ?? [];
    graph.valueInfo = [];
  }

  private addConvolution(layer: Layer): void {
    const { node, x, y, inputs, outputs, taps, relu } = layer;
    const name = node.name || y;
    const { scale: xScale } = this.chooseRounding(x);
    const weights = roundWeights(layer);
    const errors = computeErrors(layer, weights, this.getRanges(x).mean);
    const isInner = relu !== undefined && this.inputs.has(y);
    // The operator has one output scale. A channel's own scale is multiplied into its weights' scale and divided out behind the operator.
    const { steps, ...out } = isInner
      ? { ...this.chooseRounding(y), steps: new Float32Array(outputs).fill(1) }
      : this.chooseOutput(layer);
    const made = isInner ? y : `${y}/made`;
    const rounded = `${made}/8`;
    const biases = Array.from(layer.biases, (bias, output) => {
      return Math.round((bias + errors[output]) / (weights.scales[output] * xScale));
    });
    const kernel = Math.sqrt(taps);
    const outConstants = this.addRounding(made, out);
    this.nodes.push({
      opType: 'QLinearConv',
      name: `${name}/8`,
      input: [
        this.round(x),
        ...this.addRounding(x, this.chooseRounding(x)),
        this.addConstant(`${name}/w/8`, [outputs, inputs, kernel, kernel], weights.values),
        this.addConstant(
          `${name}/w/scale`,
          [outputs],
          weights.scales.map((scale, output) => scale * steps[output]),
        ),
        this.addConstant(`${name}/w/zero`, [outputs], new Int8Array(outputs)),
        ...outConstants,
        this.addConstant(`${name}/b/32`, [outputs], Int32Array.from(biases)),
      ],
      output: [rounded],
      attribute: node.attribute ?? [],
    });
    if (isInner) this.rounded.set(y, rounded);
    const isReadOn = this.index.listUsers(y).some((user) => !this.byNode.has(user)) || this.isOutput(y);
    if (isInner && !isReadOn) return;
    const wide = isInner ? y : `${y}/wide`;
    this.nodes.push({ opType: 'DequantizeLinear', name: wide, input: [rounded, ...outConstants], output: [wide] });
    if (isInner) return;
    const inverse = this.addConstant(
      `${y}/step`,
      [1, outputs, 1, 1],
      steps.map((step) => 1 / step),
    );
    this.nodes.push({ opType: 'Mul', name: `${y}/scaled`, input: [wide, inverse], output: [y] });
  }

  private addProduct(layer: Layer): void {
    const { node, inputs, outputs, x, y } = layer;
    const name = node.name || y;
    const weights = roundWeights(layer);
    const errors = computeErrors(layer, weights, this.getRanges(x).mean);
    const [xScale, xZero] = this.addRounding(x, this.chooseRounding(x));
    this.nodes.push({
      opType: 'MatMulIntegerToFloat',
      domain: CONTRIBUTED,
      name: `${name}/8`,
      input: [
        this.round(x),
        this.addConstant(`${name}/w/8`, [inputs, outputs], transpose(weights.values, outputs, inputs)),
        xScale,
        this.addConstant(`${name}/w/scale`, [outputs], weights.scales),
        xZero,
        this.addConstant(`${name}/w/zero`, [outputs], new Int8Array(outputs)),
        this.addConstant(
          `${name}/b/32`,
          [outputs],
          layer.biases.map((bias, output) => bias + errors[output]),
        ),
      ],
      output: [y],
    });
  }

  /** Rounds a tensor, once for all layers that read it. @returns its name */
  private round(name: string): string {
    const known = this.rounded.get(name);
    if (known !== undefined) return known;
    const rounded = `${name}/8`;
    const constants = this.addRounding(name, this.chooseRounding(name));
    this.nodes.push({ opType: 'QuantizeLinear', name: rounded, input: [name, ...constants], output: [rounded] });
    this.rounded.set(name, rounded);
    return rounded;
  }

  /** The whole range of the samples: percentiles would cut off the extreme values that decide a position. */
  private chooseRounding(name: string): Rounding {
    const { least, most } = this.getRanges(name);
    const low = least.reduce((a, b) => Math.min(a, b), 0);
    const scale = (most.reduce((a, b) => Math.max(a, b), 0) - low) / STEPS || 1;
    return { scale, zero: Math.round(-low / scale) };
  }

  /** Each channel of an output that other operators read fills the 8 bits. */
  private chooseOutput({ y, relu }: Layer): Rounding & { readonly steps: Float32Array } {
    const { least, most } = this.getRanges(y);
    const [zero, range] = relu === undefined ? [MIDDLE, MIDDLE - 1] : [0, STEPS];
    const steps = least.map((low, channel) => range / MARGIN / (Math.max(-low, most[channel]) || 1));
    return { steps, scale: 1, zero };
  }

  private isOutput(name: string): boolean {
    return this.graph.output?.some((output) => output.name === name) === true;
  }

  private getRanges(name: string): Ranges {
    const found = this.ranges.get(name);
    if (found === undefined) throw new Error(`${name} was not measured`);
    return found;
  }

  private addRounding(name: string, { scale, zero }: Rounding): [string, string] {
    return [
      this.addConstant(`${name}/scale`, [], Float32Array.of(scale)),
      this.addConstant(`${name}/zero`, [], Uint8Array.of(zero)),
    ];
  }

  private addConstant(name: string, dims: number[], values: Values): string {
    if (!this.constants.has(name)) {
      this.constants.add(name);
      const rawData = new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
      this.graph.initializer = [...(this.graph.initializer ?? []), { name, dims, dataType: getType(values), rawData }];
    }
    return name;
  }
}

function getType(values: Values): number {
  if (values instanceof Float32Array) return TensorType.FLOAT;
  if (values instanceof Int32Array) return TensorType.INT32;
  return values instanceof Int8Array ? TensorType.INT8 : TensorType.UINT8;
}

interface RoundedWeights {
  readonly values: Int8Array;
  /** Of each output. */
  readonly scales: Float32Array;
}

function roundWeights({ inputs, outputs, taps, weights }: Layer): RoundedWeights {
  const rowLength = inputs * taps;
  const values = new Int8Array(weights.length);
  const scales = new Float32Array(outputs);
  for (let output = 0; output < outputs; output++) {
    const row = weights.subarray(output * rowLength, (output + 1) * rowLength);
    const scale = row.reduce((most, weight) => Math.max(most, Math.abs(weight)), 0) / MOST_WEIGHT || 1;
    scales[output] = scale;
    for (let i = 0; i < rowLength; i++) values[output * rowLength + i] = Math.round(row[i] / scale);
  }
  return { values, scales };
}

/** The error that rounded weights cause in each output, averaged over squares, with the inputs at their mean values. */
function computeErrors(
  { inputs, outputs, taps, weights }: Layer,
  rounded: RoundedWeights,
  means: Float64Array,
): Float64Array {
  const squares = means.length / inputs;
  const isPadded = squares === BOARD * BOARD && taps === 9;
  const seen = isPadded ? sumPlanesSeen(means, inputs) : undefined;
  const errors = new Float64Array(outputs);
  for (let i = 0; i < weights.length; i++) {
    const output = Math.floor(i / (inputs * taps));
    const weightError = weights[i] - rounded.values[i] * rounded.scales[output];
    const column = i % (inputs * taps);
    errors[output] += weightError * (seen?.[column] ?? sumPlane(means, Math.floor(column / taps), squares) / squares);
  }
  return errors;
}

function sumPlane(planes: Float64Array, channel: number, squares: number): number {
  let sum = 0;
  for (let i = channel * squares; i < (channel + 1) * squares; i++) sum += planes[i];
  return sum;
}

/** [channels][9]: the mean of what each tap of a 3×3 filter sees; the border round the board is empty. */
function sumPlanesSeen(planes: Float64Array, channels: number): Float64Array {
  const seen = new Float64Array(channels * 9);
  for (let i = 0; i < seen.length; i++) {
    const [channel, rankStep, fileStep] = [Math.floor(i / 9), Math.floor((i % 9) / 3) - 1, (i % 3) - 1];
    for (let square = 0; square < BOARD * BOARD; square++) {
      const [rank, file] = [(square >> 3) + rankStep, (square & 7) + fileStep];
      const isOnBoard = rank >= 0 && rank < BOARD && file >= 0 && file < BOARD;
      if (isOnBoard) seen[i] += planes[channel * BOARD * BOARD + rank * BOARD + file] / (BOARD * BOARD);
    }
  }
  return seen;
}
