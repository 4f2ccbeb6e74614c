/** The transformer body: from planes or a convolutional body's output to [N·64, embedding], one row a square. */
import { transpose } from '../onnx-model.js';
import { CHANNELS_OF_POSITION_MAP, computePositionMap } from '../policy-maps.js';
import type { GraphBuilder } from './graph-builder.js';
import { addActivation, addDense, addLayerNorm } from './layers.js';
import {
  type Activation,
  type AttentionBody,
  type DenseLayer,
  EMBEDDED_PLANES,
  type EncoderLayer,
  type FeedForward,
  fromFloats,
  INPUT_PLANES,
  materialise,
  type SelfAttention,
  type Smolgen,
  type TensorSource,
} from './network-layers.js';

/** [N, channels, 8, 8] → [N·64, channels]. */
export function addSquareRows(graph: GraphBuilder, input: string, channels: number, name: string): string {
  const squaresFirst = graph.addNode('Transpose', `${name}/transpose`, [input], { perm: [0, 2, 3, 1] });
  return graph.addReshape(`${name}/rows`, squaresFirst, [-1, channels]);
}

export function addAttentionBody(
  graph: GraphBuilder,
  input: string,
  channels: number,
  body: AttentionBody,
  activation: Activation,
): string {
  const width = body.embedding.outputs;
  const rows = addSquareRows(graph, input, channels, '/attention');
  let flow = addEmbedding(graph, rows, body, activation);
  if (body.multiplyGate || body.addGate) {
    flow = graph.addReshape('/embedding/squares', flow, [-1, 64, width]);
    if (body.multiplyGate) {
      const gate = graph.addWeights('/embedding/gate/w', [64, width], transposeGate(body.multiplyGate, width));
      flow = graph.addNode('Mul', '/embedding/gate/multiply', [flow, gate]);
    }
    if (body.addGate) {
      const gate = graph.addWeights('/embedding/gate/b', [64, width], transposeGate(body.addGate, width));
      flow = graph.addNode('Add', '/embedding/gate/add', [flow, gate]);
    }
    flow = graph.addReshape('/embedding/rows', flow, [-1, width]);
  }
  if (body.embeddingFeedForward && body.embeddingFeedForwardNorm) {
    flow = addFeedForward(graph, flow, body.embeddingFeedForward, body.residualScale, '/embedding/ffn');
    flow = addLayerNorm(graph, flow, body.embeddingFeedForwardNorm, '/embedding/ln2');
  }
  for (const [index, encoder] of body.encoders.entries()) flow = addEncoder(graph, flow, encoder, `/encoder${index}`);
  return flow;
}

function addEmbedding(graph: GraphBuilder, rows: string, body: AttentionBody, activation: Activation): string {
  const { positions, embedding } = body;
  let flow: string;
  if (positions.kind === 'map') {
    flow = addMapEmbedding(graph, rows, embedding);
  } else if (positions.kind === 'dense') {
    const { preprocess } = positions;
    const planes = Int32Array.from({ length: EMBEDDED_PLANES }, (_, plane) => plane);
    const operands = [rows, graph.addInt32s('/const/pieces', planes)];
    const pieces = graph.addNode('Gather', '/embedding/pieces', operands, { axis: 1 });
    const board = graph.addReshape('/embedding/board', pieces, [-1, preprocess.inputs]);
    const processed = addDense(graph, board, preprocess, '/embedding/preprocess');
    const perSquare = graph.addReshape('/embedding/preprocess/rows', processed, [-1, preprocess.outputs / 64]);
    const joined = graph.addNode('Concat', '/embedding/joined', [rows, perSquare], { axis: 1 });
    flow = addDense(graph, joined, embedding, '/embedding/dense');
  } else {
    flow = addDense(graph, rows, embedding, '/embedding/dense');
  }
  flow = addActivation(graph, flow, activation, '/embedding');
  return body.embeddingNorm ? addLayerNorm(graph, flow, body.embeddingNorm, '/embedding/ln') : flow;
}

/**
 * The positional map is constant, so its part of the embedding is a constant for each square. It is computed here and
 * replaces the bias; the graph concatenates nothing.
 */
function addMapEmbedding(graph: GraphBuilder, rows: string, embedding: DenseLayer): string {
  const { outputs } = embedding;
  const weights = materialise(embedding.weights);
  const biases = embedding.biases ? materialise(embedding.biases) : new Float32Array(outputs);
  const map = computePositionMap();
  const planeWeights = new Float32Array(outputs * INPUT_PLANES);
  const squareBiases = new Float32Array(64 * outputs);
  for (let output = 0; output < outputs; output++) {
    const row = output * embedding.inputs;
    planeWeights.set(weights.subarray(row, row + INPUT_PLANES), output * INPUT_PLANES);
    for (let square = 0; square < 64; square++) {
      let sum = biases[output];
      for (let channel = 0; channel < CHANNELS_OF_POSITION_MAP; channel++) {
        sum += weights[row + INPUT_PLANES + channel] * map[square * CHANNELS_OF_POSITION_MAP + channel];
      }
      squareBiases[square * outputs + output] = sum;
    }
  }
  const planes: DenseLayer = { inputs: INPUT_PLANES, outputs, weights: fromFloats(planeWeights) };
  const dense = addDense(graph, rows, planes, '/embedding/dense');
  const squares = graph.addReshape('/embedding/dense/squares', dense, [-1, 64, outputs]);
  const placed = graph.addNode('Add', '/embedding/positions', [
    squares,
    graph.addFloats('/embedding/positions/b', [64, outputs], squareBiases),
  ]);
  return graph.addReshape('/embedding/dense/rows', placed, [-1, outputs]);
}

/** From [width][64] in the file to [64][width] in the graph. */
function transposeGate(gate: TensorSource, width: number): TensorSource {
  return fromFloats(transpose(materialise(gate), width, 64));
}

export function addEncoder(graph: GraphBuilder, input: string, encoder: EncoderLayer, name: string): string {
  let flow = addSelfAttention(graph, input, encoder.attention, encoder.residualScale, `${name}/mha`);
  flow = addLayerNorm(graph, flow, encoder.attentionNorm, `${name}/ln1`);
  flow = addFeedForward(graph, flow, encoder.feedForward, encoder.residualScale, `${name}/ffn`);
  return addLayerNorm(graph, flow, encoder.feedForwardNorm, `${name}/ln2`);
}

/** x + residualScale·ffn(x); the scale is multiplied into the weights of the last layer. */
function addFeedForward(
  graph: GraphBuilder,
  input: string,
  layers: FeedForward,
  residualScale: number,
  name: string,
): string {
  let flow = addDense(graph, input, layers.first, `${name}/dense1`);
  flow = addActivation(graph, flow, layers.activation, `${name}/dense1`);
  flow = addDense(graph, flow, layers.second, `${name}/dense2`, residualScale);
  return graph.addNode('Add', `${name}/skip`, [flow, input]);
}

/** x + residualScale·attention(x); both scales are multiplied into weights. */
function addSelfAttention(
  graph: GraphBuilder,
  input: string,
  attention: SelfAttention,
  residualScale: number,
  name: string,
): string {
  const { heads, modelSize } = attention;
  const depth = modelSize / heads;
  const split = (layer: DenseLayer, part: string, perm: readonly number[], scale = 1): string => {
    const dense = addDense(graph, input, layer, `${name}/${part}`, scale);
    const shaped = graph.addReshape(`${name}/${part}/heads`, dense, [-1, 64, heads, depth]);
    return graph.addNode('Transpose', `${name}/${part}/transpose`, [shaped], { perm });
  };
  const queries = split(attention.query, 'q', [0, 2, 1, 3], 1 / Math.sqrt(depth));
  const keys = split(attention.key, 'k', [0, 2, 3, 1]);
  const values = split(attention.value, 'v', [0, 2, 1, 3]);
  let logits = graph.addNode('MatMul', `${name}/logits`, [queries, keys]);
  if (attention.smolgen) {
    const generated = addSmolgen(graph, input, attention.smolgen, heads, `${name}/smolgen`);
    logits = graph.addNode('Add', `${name}/logits+smolgen`, [logits, generated]);
  }
  const shares = graph.addNode('Softmax', `${name}/softmax`, [logits], { axis: 3 });
  const mixed = graph.addNode('MatMul', `${name}/mixed`, [shares, values]);
  const gathered = graph.addNode('Transpose', `${name}/mixed/transpose`, [mixed], { perm: [0, 2, 1, 3] });
  const rows = graph.addReshape(`${name}/mixed/rows`, gathered, [-1, modelSize]);
  const output = addDense(graph, rows, attention.output, `${name}/out`, residualScale);
  return graph.addNode('Add', `${name}/skip`, [output, input]);
}

function addSmolgen(graph: GraphBuilder, input: string, smolgen: Smolgen, heads: number, name: string): string {
  const compressed = addDense(graph, input, smolgen.compress, `${name}/compress`);
  const board = graph.addReshape(`${name}/board`, compressed, [-1, 64 * smolgen.compress.outputs]);
  let flow = addDense(graph, board, smolgen.first, `${name}/dense1`);
  flow = addActivation(graph, flow, smolgen.activation, `${name}/dense1`);
  flow = addLayerNorm(graph, flow, smolgen.firstNorm, `${name}/ln1`);
  flow = addDense(graph, flow, smolgen.second, `${name}/dense2`);
  flow = addActivation(graph, flow, smolgen.activation, `${name}/dense2`);
  flow = addLayerNorm(graph, flow, smolgen.secondNorm, `${name}/ln2`);
  const perHead = graph.addReshape(`${name}/heads`, flow, [-1, smolgen.generator.inputs]);
  const operands = [
    perHead,
    graph.addWeights('/smolgen/generator/w', [4096, smolgen.generator.inputs], smolgen.generator.weights),
    graph.addFloats('/smolgen/generator/b', [4096], new Float32Array(4096)),
  ];
  const generated = graph.addNode('Gemm', `${name}/generated`, operands, { transB: 1 });
  return graph.addReshape(`${name}/logits`, generated, [-1, heads, 64, 64]);
}
