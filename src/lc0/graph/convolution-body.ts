/** The residual tower: [N, 112, 8, 8] → [N, channels, 8, 8]. */
import type { Activation, ConvolutionBody, SqueezeExcite } from '../network-plan.js';
import { sliceSource } from '../tensor-source.js';
import type { GraphBuilder } from './graph-builder.js';
import { addActivation, addConvolution } from './layers.js';

export function addConvolutionBody(
  graph: GraphBuilder,
  planes: string,
  body: ConvolutionBody,
  activation: Activation,
): string {
  let flow = addActivation(graph, addConvolution(graph, planes, body.input, '/input'), activation, '/input');
  for (const [index, block] of body.blocks.entries()) {
    const name = `/block${index}`;
    const skip = flow;
    flow = addConvolution(graph, flow, block.first, `${name}/conv1`);
    flow = addActivation(graph, flow, activation, `${name}/conv1`);
    flow = addConvolution(graph, flow, block.second, `${name}/conv2`);
    if (block.squeezeExcite) flow = addSqueezeExcite(graph, flow, block.squeezeExcite, activation, `${name}/se`);
    flow = graph.addNode('Add', `${name}/skip`, [flow, skip]);
    flow = addActivation(graph, flow, activation, name);
  }
  return flow;
}

/**
 * sigmoid(γ)·x + β with γ and β computed from the mean of each channel. The dense layers are written as 1×1
 * convolutions on [N, channels, 1, 1], so that nothing has to be reshaped or split.
 */
function addSqueezeExcite(
  graph: GraphBuilder,
  input: string,
  layers: SqueezeExcite,
  activation: Activation,
  name: string,
): string {
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
