/**
 * The parts of a residual tower, and the tower itself. `PlaneConvolutions` are ONNX's Conv on [N, channels, 8, 8];
 * rank-convolutions.ts has a layout that is faster on the CPU. Every method returns the name of its output.
 */

import type { GraphBuilder } from './graph-builder.js';
import { addActivation } from './layers.js';
import {
  type Activation,
  type ConvolutionBody,
  type ConvolutionLayer,
  type SqueezeExcite,
  sliceSource,
} from './network-layers.js';

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
    const { inputs, outputs, kernel } = layer;
    const weights = this.graph.addWeights(`${name}/w`, [outputs, inputs, kernel, kernel], layer.weights);
    const biases = this.graph.addWeights(`${name}/b`, [outputs], layer.biases);
    const pads = new Array<number>(4).fill((kernel - 1) / 2);
    return this.graph.addNode('Conv', name, [input, weights, biases], { kernel_shape: [kernel, kernel], pads });
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
