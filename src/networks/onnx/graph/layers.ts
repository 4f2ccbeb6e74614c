/**
 * Layers as ONNX nodes. Dense layers are Gemm with transposed weights, because lc0 stores [outputs][inputs]; their input is
 * [rows, inputs]. Every function returns the name of its output.
 */
import { TensorType } from '../../nn/index.js';
import type { GraphBuilder } from './graph-builder.js';
import { type Activation, type DenseLayer, fromFloats, type LayerNorm, scaleSource } from './network-layers.js';

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
