/**
 * Writes layers of a graph as 8-bit operators: QLinearConv for convolutions, MatMulIntegerToFloat for products. Activations are
 * unsigned with one scale a tensor, weights signed with one scale an output. All scales are constants, so a position's answer
 * does not depend on the others of its batch. Additions, norms, softmax and everything else stay in single precision.
 *
 * What keeps rounding small: channels are brought to one scale before they are rounded (weights divide by the same factors, and
 * a convolution before a ReLU takes them into its own weights); outputs of convolutions have a scale for each channel; the
 * mean error of the rounded weights goes into the biases.
 */
import { GraphIndex } from '../graph-index.js';
import { AttributeType, type GraphMessage, type NodeMessage, TensorType } from '../onnx-schema.js';
import { type Layer, type Ranges, transpose } from './layer-statistics.js';

const CONTRIBUTED = 'com.microsoft';
/** Greatest weight, and number of steps of an activation. */
const MOST_WEIGHT = 127;
const STEPS = 255;
/** Zero point of convolution outputs, whose scales are symmetric. */
const MIDDLE = 128;
/**
 * A channel's factor is (greatest weight)^(1−a) ÷ (greatest input)^a, kept within these bounds of the mean factor. SmoothQuant (Xiao et
 * al., 2022) takes a = 0.5; a smaller one moves less of the activations' spread into the weights.
 */
const EXPONENT = 0.3;
const MOST_FACTOR = 8;
/** Of the 64 squares, those that a tap of a 3×3 filter sees: the others lie off the board. */
const SEEN_BY_TAP = [49, 56, 49, 56, 64, 56, 49, 56, 49].map((squares) => squares / 64);

/** How a tensor is rounded: round(value · factor[channel] / scale) + zero. */
interface Rounding {
  readonly factors: Float32Array;
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

class LayerQuantiser {
  private readonly index: GraphIndex;
  private readonly byNode: ReadonlyMap<NodeMessage, Layer>;
  private readonly roundings = new Map<string, Rounding>();
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
    const readers = new Map<string, Layer[]>();
    for (const layer of layers) readers.set(layer.x, [...(readers.get(layer.x) ?? []), layer]);
    for (const [name, users] of readers) this.roundings.set(name, this.chooseRounding(name, users));
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

  private chooseRounding(name: string, users: readonly Layer[]): Rounding {
    const { least, most } = this.getRanges(name);
    const channels = least.length;
    // Only convolutions: a factor costs a multiplication of the whole tensor, which products of rows do not earn back.
    const factors = users.every(({ kind }) => kind === 'convolution')
      ? balanceChannels(least, most, users)
      : new Float32Array(channels).fill(1);
    let low = 0;
    let high = 0;
    for (let channel = 0; channel < channels; channel++) {
      low = Math.min(low, least[channel] * factors[channel]);
      high = Math.max(high, most[channel] * factors[channel]);
    }
    const scale = (high - low) / STEPS || 1;
    return { factors, scale, zero: Math.round(-low / scale) };
  }

  private addConvolution(layer: Layer): void {
    const { node, y, outputs, taps, relu } = layer;
    const name = node.name ?? y;
    const input = this.round(layer.x);
    const weights = this.roundWeights(layer);
    // What 8-bit convolutions read behind a ReLU is rounded as they want it; everything else gets a scale for each channel.
    const inner = relu === undefined ? undefined : this.roundings.get(y);
    const out = inner ?? this.chooseOutput(layer);
    const made = inner === undefined ? `${y}/made` : y;
    const scales = weights.scales.map((scale, output) => scale * out.factors[output]);
    const biases = weights.biases.map((bias, output) => bias / (weights.scales[output] * input.scale));
    const rounded = `${made}/8`;
    const [xScale, xZero] = this.addRoundingConstants(layer.x, input);
    const [yScale, yZero] = this.addRoundingConstants(made, out);
    this.nodes.push({
      opType: 'QLinearConv',
      name: `${name}/8`,
      input: [
        input.name,
        xScale,
        xZero,
        this.addConstant(`${name}/w/8`, [outputs, layer.inputs, ...getKernel(node, taps)], weights.values),
        this.addConstant(`${name}/w/scale`, [outputs], Float32Array.from(scales)),
        this.addConstant(`${name}/w/zero`, [outputs], new Int8Array(outputs)),
        yScale,
        yZero,
        this.addConstant(`${name}/b/32`, [outputs], Int32Array.from(biases, Math.round)),
      ],
      output: [rounded],
      attribute: node.attribute ?? [],
    });
    if (inner !== undefined) this.rounded.set(y, rounded);
    const isReadWhole = this.index.listUsers(y).some((user) => !this.byNode.has(user));
    if (inner !== undefined && !isReadWhole && !this.isOutput(y)) return;
    const wide = `${y}/wide`;
    this.nodes.push({ opType: 'DequantizeLinear', name: wide, input: [rounded, yScale, yZero], output: [wide] });
    const inverse = this.addConstant(
      `${y}/inverse`,
      [1, outputs, 1, 1],
      out.factors.map((factor) => 1 / factor),
    );
    this.nodes.push({ opType: 'Mul', name: `${y}/unscaled`, input: [wide, inverse], output: [y] });
  }

  private isOutput(name: string): boolean {
    return this.graph.output?.some((output) => output.name === name) === true;
  }

  private addProduct(layer: Layer): void {
    const { node, inputs, outputs, x, y } = layer;
    const name = node.name ?? y;
    const input = this.round(x);
    const weights = this.roundWeights(layer);
    const [xScale, xZero] = this.addRoundingConstants(x, input);
    this.nodes.push({
      opType: 'MatMulIntegerToFloat',
      domain: CONTRIBUTED,
      name: `${name}/8`,
      input: [
        input.name,
        this.addConstant(`${name}/w/8`, [inputs, outputs], transpose(weights.values, outputs, inputs)),
        xScale,
        this.addConstant(`${name}/w/scale`, [outputs], Float32Array.from(weights.scales)),
        xZero,
        this.addConstant(`${name}/w/zero`, [outputs], new Int8Array(outputs)),
        this.addConstant(`${name}/b/corrected`, [outputs], Float32Array.from(weights.biases)),
      ],
      output: [y],
    });
  }

  /** Rounds a tensor, once for all layers that read it. */
  private round(name: string): Rounding & { readonly name: string } {
    const rounding = this.roundings.get(name);
    if (rounding === undefined) throw new Error(`${name} has no range`);
    const known = this.rounded.get(name);
    if (known !== undefined) return { ...rounding, name: known };
    let source = name;
    if (rounding.factors.some((factor) => factor !== 1)) {
      source = `${name}/balanced`;
      const factors = this.addConstant(`${name}/factors`, [1, rounding.factors.length, 1, 1], rounding.factors);
      this.nodes.push({ opType: 'Mul', name: source, input: [name, factors], output: [source] });
    }
    const rounded = `${name}/8`;
    const constants = this.addRoundingConstants(name, rounding);
    this.nodes.push({ opType: 'QuantizeLinear', name: rounded, input: [source, ...constants], output: [rounded] });
    this.rounded.set(name, rounded);
    return { ...rounding, name: rounded };
  }

  /** Rounded weights of inputs that were multiplied by their factors; biases in single precision, with the mean error corrected. */
  private roundWeights(layer: Layer): { values: Int8Array; scales: number[]; biases: number[] } {
    const { inputs, outputs, taps, weights } = layer;
    const { factors } = this.roundings.get(layer.x) as Rounding;
    const { mean } = this.getRanges(layer.x);
    const rowLength = inputs * taps;
    const values = new Int8Array(weights.length);
    const scales: number[] = [];
    const biases: number[] = [];
    for (let output = 0; output < outputs; output++) {
      const start = output * rowLength;
      let most = 0;
      for (let i = 0; i < rowLength; i++) {
        most = Math.max(most, Math.abs(weights[start + i]) / factors[Math.floor(i / taps)]);
      }
      const scale = most / MOST_WEIGHT || 1;
      let error = 0;
      for (let i = 0; i < rowLength; i++) {
        const input = Math.floor(i / taps);
        const weight = weights[start + i] / factors[input];
        const value = Math.round(weight / scale);
        values[start + i] = value;
        const seen = taps === SEEN_BY_TAP.length ? SEEN_BY_TAP[i % taps] : 1;
        error += seen * (weight - value * scale) * mean[input] * factors[input];
      }
      scales.push(scale);
      biases.push(layer.biases[output] + error);
    }
    return { values, scales, biases };
  }

  /** The rounding of a convolution's output that other operators read: each channel fills the 8 bits. */
  private chooseOutput({ y, relu }: Layer): Rounding {
    const { least, most } = this.getRanges(y);
    const [zero, steps] = relu === undefined ? [MIDDLE, MIDDLE - 1] : [0, STEPS];
    const factors = least.map((low, channel) => steps / (Math.max(-low, most[channel]) || 1));
    return { factors, scale: 1, zero };
  }

  private getRanges(name: string): Ranges {
    const found = this.ranges.get(name);
    if (found === undefined) throw new Error(`${name} was not measured`);
    return found;
  }

  private addRoundingConstants(name: string, { scale, zero }: Rounding): [string, string] {
    return [
      this.addConstant(`${name}/scale`, [], Float32Array.of(scale)),
      this.addConstant(`${name}/zero`, [], Uint8Array.of(zero)),
    ];
  }

  private addConstant(
    name: string,
    dims: number[],
    values: Float32Array | Int8Array | Uint8Array | Int32Array,
  ): string {
    this.graph.initializer ??= [];
    if (!this.constants.has(name)) {
      this.constants.add(name);
      const rawData = new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
      this.graph.initializer.push({ name, dims, dataType: getType(values), rawData });
    }
    return name;
  }
}

function getType(values: Float32Array | Int8Array | Uint8Array | Int32Array): number {
  if (values instanceof Float32Array) return TensorType.FLOAT;
  if (values instanceof Int32Array) return TensorType.INT32;
  return values instanceof Int8Array ? TensorType.INT8 : TensorType.UINT8;
}

function getKernel(node: NodeMessage, taps: number): number[] {
  const kernel = node.attribute?.find(({ name, type }) => name === 'kernel_shape' && type === AttributeType.INTS)?.ints;
  return kernel?.map(Number) ?? [Math.sqrt(taps), Math.sqrt(taps)];
}

/** Factors that bring the channels of a tensor nearer to one scale. */
function balanceChannels(least: Float32Array, most: Float32Array, users: readonly Layer[]): Float32Array {
  const factors = new Float32Array(least.length);
  let logarithms = 0;
  for (let channel = 0; channel < factors.length; channel++) {
    let weight = 0;
    for (const { weights, inputs, outputs, taps } of users) {
      for (let output = 0; output < outputs; output++) {
        const start = (output * inputs + channel) * taps;
        for (let tap = start; tap < start + taps; tap++) weight = Math.max(weight, Math.abs(weights[tap]));
      }
    }
    const value = Math.max(most[channel], -least[channel]);
    factors[channel] = Math.max(weight, 1e-6) ** (1 - EXPONENT) / Math.max(value, 1e-6) ** EXPONENT;
    logarithms += Math.log(factors[channel]);
  }
  const mean = Math.exp(logarithms / factors.length);
  return factors.map((factor) => Math.min(MOST_FACTOR, Math.max(1 / MOST_FACTOR, factor / mean)));
}
