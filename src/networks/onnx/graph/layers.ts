/**
 * Layers as ONNX nodes. Dense layers are Gemm with transposed weights, because lc0 stores [outputs][inputs]; their input is
 * [rows, inputs]. Every function returns the name of its output.
 */
import { TensorType } from '../../nn/index.js';
import type { GraphBuilder } from './graph-builder.js';
import {
  type Activation,
  type ConvolutionBody,
  type ConvolutionLayer,
  type DenseLayer,
  fromFloats,
  type LayerNorm,
  type SqueezeExcite,
  scaleSource,
  sliceSource,
} from './network-layers.js';

export function addDense(graph: GraphBuilder, input: string, layer: DenseLayer, name: string, scale = 1): string {
  const weights = scale === 1 ? layer.weights : scaleSource(layer.weights, scale);
  // Operator sets before 11 require biases.
  const bareBiases = layer.biases ?? fromFloats(new Float32Array(layer.outputs));
  const biases = scale === 1 ? bareBiases : scaleSource(bareBiases, scale);
  const operands = [
    input,
    graph.addWeights(`${name}/w`, [layer.outputs, layer.inputs], weights),
    graph.addWeights(`${name}/b`, [layer.outputs], biases),
  ];
  return graph.addNode('Gemm', name, operands, { transB: 1 });
}

export function addConvolution(graph: GraphBuilder, input: string, layer: ConvolutionLayer, name: string): string {
  const { inputs, outputs, kernel } = layer;
  const padding = (kernel - 1) / 2;
  const weights = graph.addWeights(`${name}/w`, [outputs, inputs, kernel, kernel], layer.weights);
  const biases = graph.addWeights(`${name}/b`, [outputs], layer.biases);
  return graph.addNode('Conv', name, [input, weights, biases], {
    kernel_shape: [kernel, kernel],
    pads: [padding, padding, padding, padding],
  });
}

export function addActivation(graph: GraphBuilder, input: string, activation: Activation, name: string): string {
  switch (activation) {
    case 'none':
      return input;
    case 'relu':
      return graph.addNode('Relu', `${name}/relu`, [input]);
    case 'relu-squared': {
      const relu = graph.addNode('Relu', `${name}/relu`, [input]);
      return graph.addNode('Mul', `${name}/squared`, [relu, relu]);
    }
    case 'tanh':
      return graph.addNode('Tanh', `${name}/tanh`, [input]);
    case 'sigmoid':
      return graph.addNode('Sigmoid', `${name}/sigmoid`, [input]);
    case 'selu':
      return graph.addNode('Selu', `${name}/selu`, [input]);
    case 'softmax':
      return graph.addNode('Softmax', `${name}/softmax`, [input], { axis: 1 });
    case 'swish': {
      const sigmoid = graph.addNode('Sigmoid', `${name}/sigmoid`, [input]);
      return graph.addNode('Mul', `${name}/swish`, [input, sigmoid]);
    }
    case 'mish':
      return addMish(graph, input, name);
  }
}

/**
 * mish(x) = x·tanh(ln(1 + eˣ)) = x / (1 + 2 / (eˣ·(eˣ + 2))). This form needs one vectorised exponential; softplus and tanh need
 * three slow functions. It is right at both ends: eˣ = ∞ gives x, eˣ = 0 gives −0.
 */
function addMish(graph: GraphBuilder, input: string, name: string): string {
  const one = graph.addFloats('/const/one', [1], [1]);
  const two = graph.addFloats('/const/two', [1], [2]);
  const exponential = graph.addNode('Exp', `${name}/mish/e`, [input]);
  const plusTwo = graph.addNode('Add', `${name}/mish/e+2`, [exponential, two]);
  const product = graph.addNode('Mul', `${name}/mish/n`, [exponential, plusTwo]);
  const quotient = graph.addNode('Div', `${name}/mish/2÷n`, [two, product]);
  const denominator = graph.addNode('Add', `${name}/mish/1+2÷n`, [quotient, one]);
  return graph.addNode('Div', `${name}/mish`, [input, denominator]);
}

/** Over the last dimension of [rows, size]. Operator sets before 17 have no LayerNormalization, so it is spelt out there. */
export function addLayerNorm(graph: GraphBuilder, input: string, norm: LayerNorm, name: string): string {
  const gammas = graph.addWeights(`${name}/gammas`, [norm.size], norm.gammas);
  const betas = graph.addWeights(`${name}/betas`, [norm.size], norm.betas);
  if (graph.hasLayerNormalization) {
    return graph.addNode('LayerNormalization', name, [input, gammas, betas], {
      axis: 1,
      epsilon: { float: norm.epsilon },
    });
  }
  const epsilon = graph.addFloat32s(`/const/epsilon/${norm.epsilon}`, [norm.epsilon]);
  // Squares of half-precision numbers overflow, so this part runs in float32.
  const wide = graph.addCast(`${name}/wide`, input, TensorType.FLOAT);
  const mean = graph.addMean(`${name}/mean`, wide);
  const centred = graph.addNode('Sub', `${name}/centred`, [wide, mean]);
  const squared = graph.addNode('Mul', `${name}/squared`, [centred, centred]);
  const variance = graph.addMean(`${name}/variance`, squared);
  const stabilised = graph.addNode('Add', `${name}/stabilised`, [variance, epsilon]);
  const deviation = graph.addNode('Sqrt', `${name}/deviation`, [stabilised]);
  const normalised = graph.addNode('Div', `${name}/normalised`, [centred, deviation]);
  const narrow = graph.addCast(`${name}/narrow`, normalised, graph.computeType);
  const scaled = graph.addNode('Mul', `${name}/scaled`, [narrow, gammas]);
  return graph.addNode('Add', name, [scaled, betas]);
}

// The parts of a residual tower, and the tower itself. `PlaneConvolutions` are ONNX's Conv on [N, channels, 8, 8];
// rank-convolutions.ts has a layout that is faster on the CPU. Every method returns the name of its output.

export interface Convolutions {
  /** From [N, channels, 8, 8] to the layout. */
  addEntry(planes: string, channels: number, name: string): string;
  addConvolution(input: string, layer: ConvolutionLayer, name: string): string;
  /** sigmoid(γ)·x + β with γ and β computed from the mean of each channel. */
  addSqueezeExcite(input: string, layers: SqueezeExcite, activation: Activation, name: string): string;
  /** From the layout to [N, channels, 8, 8]. */
  addExit(input: string, channels: number, name: string): string;
}

export class PlaneConvolutions implements Convolutions {
  constructor(private readonly graph: GraphBuilder) {}

  addEntry(planes: string): string {
    return planes;
  }

  addConvolution(input: string, layer: ConvolutionLayer, name: string): string {
    return addConvolution(this.graph, input, layer, name);
  }

  /** Writes the dense layers as 1×1 convolutions on [N, channels, 1, 1], so nothing needs to be reshaped or split. */
  addSqueezeExcite(input: string, layers: SqueezeExcite, activation: Activation, name: string): string {
    const { graph } = this;
    const { squeeze, excite } = layers;
    const channels = squeeze.inputs;
    const pointwise = (from: string, part: string, first: number, outputs: number, of: typeof squeeze): string => {
      const weights = sliceSource(of.weights, first * of.inputs, outputs * of.inputs);
      const operands = [from, graph.addWeights(`${name}/${part}/w`, [outputs, of.inputs, 1, 1], weights)];
      if (of.biases) {
        operands.push(graph.addWeights(`${name}/${part}/b`, [outputs], sliceSource(of.biases, first, outputs)));
      }
      return graph.addNode('Conv', `${name}/${part}`, operands, { kernel_shape: [1, 1] });
    };
    const means = graph.addNode('GlobalAveragePool', `${name}/mean`, [input]);
    const squeezed = pointwise(means, 'squeeze', 0, squeeze.outputs, squeeze);
    const active = addActivation(graph, squeezed, activation, `${name}/squeeze`);
    const gammas = pointwise(active, 'gamma', 0, channels, excite);
    const betas = pointwise(active, 'beta', channels, channels, excite);
    const gate = graph.addNode('Sigmoid', `${name}/gate`, [gammas]);
    const gated = graph.addNode('Mul', `${name}/gated`, [input, gate]);
    return graph.addNode('Add', `${name}/shifted`, [gated, betas]);
  }

  addExit(input: string): string {
    return input;
  }
}

/** From [N, 112, 8, 8] to channels in the layout of the tower. @param convolutions for the input; `tower` are those of the blocks */
export function addConvolutionBody(
  graph: GraphBuilder,
  convolutions: Convolutions,
  tower: Convolutions,
  planes: string,
  body: ConvolutionBody,
  activation: Activation,
): string {
  const input = convolutions.addEntry(planes, body.input.inputs, '/input');
  let flow = addActivation(graph, convolutions.addConvolution(input, body.input, '/input'), activation, '/input');
  if (tower !== convolutions) {
    flow = tower.addEntry(convolutions.addExit(flow, body.input.outputs, '/input'), body.input.outputs, '/tower');
  }
  for (const [index, block] of body.blocks.entries()) {
    const name = `/block${index}`;
    const skip = flow;
    flow = tower.addConvolution(flow, block.first, `${name}/conv1`);
    flow = addActivation(graph, flow, activation, `${name}/conv1`);
    flow = tower.addConvolution(flow, block.second, `${name}/conv2`);
    if (block.squeezeExcite) {
      flow = tower.addSqueezeExcite(flow, block.squeezeExcite, activation, `${name}/se`);
    }
    flow = graph.addNode('Add', `${name}/skip`, [flow, skip]);
    flow = addActivation(graph, flow, activation, name);
  }
  return flow;
}
