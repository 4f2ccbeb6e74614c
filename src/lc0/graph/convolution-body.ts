/** The residual tower: [N, 112, 8, 8] → channels in the layout of the convolutions. */
import type { Activation, ConvolutionBody } from '../network-plan.js';
import type { Convolutions } from './convolutions.js';
import type { GraphBuilder } from './graph-builder.js';
import { addActivation } from './layers.js';

export function addConvolutionBody(
  graph: GraphBuilder,
  convolutions: Convolutions,
  planes: string,
  body: ConvolutionBody,
  activation: Activation,
): string {
  const input = convolutions.addEntry(planes, body.input.inputs, '/input');
  let flow = addActivation(graph, convolutions.addConvolution(input, body.input, '/input'), activation, '/input');
  for (const [index, block] of body.blocks.entries()) {
    const name = `/block${index}`;
    const skip = flow;
    flow = convolutions.addConvolution(flow, block.first, `${name}/conv1`);
    flow = addActivation(graph, flow, activation, `${name}/conv1`);
    flow = convolutions.addConvolution(flow, block.second, `${name}/conv2`);
    if (block.squeezeExcite) {
      flow = convolutions.addSqueezeExcite(flow, block.squeezeExcite, activation, `${name}/se`);
    }
    flow = graph.addNode('Add', `${name}/skip`, [flow, skip]);
    flow = addActivation(graph, flow, activation, name);
  }
  return flow;
}
