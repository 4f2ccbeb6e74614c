/** Policy, value and moves-left heads; each ends in a named float32 output. */

import { LC0_POLICY_SIZE } from '../../encoding/index.js';
import { TensorType } from '../../nn/index.js';
import { ATTENTION_POLICY_OUTPUTS, computeAttentionPolicyMap, computeConvolutionPolicyMap } from '../policy-maps.js';
import { addEncoder, addSquareRows } from './attention-body.js';
import type { GraphBuilder } from './graph-builder.js';
import { addActivation, addDense } from './layers.js';
import type { Activation, MovesLeftHead, PolicyHead, ValueHead } from './network-layers.js';
import type { Convolutions } from './residual-tower.js';

/** The body's output: in the layout of the convolutions, or [N·64, width] from an attention body. */
export interface BodyOutput {
  readonly name: string;
  readonly width: number;
  readonly isRows: boolean;
  readonly convolutions: Convolutions;
}

export function addPolicyHead(
  graph: GraphBuilder,
  body: BodyOutput,
  head: PolicyHead,
  activation: Activation,
  outputName: string,
): void {
  let logits: string;
  switch (head.kind) {
    case 'dense': {
      const flow = body.convolutions.addConvolution(body.name, head.convolution, '/policy/conv');
      const active = addActivation(graph, flow, activation, '/policy/conv');
      const planes = body.convolutions.addExit(active, head.convolution.outputs, '/policy');
      const flat = graph.addReshape('/policy/flat', planes, [-1, head.dense.inputs]);
      logits = addDense(graph, flat, head.dense, '/policy/dense');
      break;
    }
    case 'convolution': {
      const first = body.convolutions.addConvolution(body.name, head.first, '/policy/conv1');
      const active = addActivation(graph, first, activation, '/policy/conv1');
      const second = body.convolutions.addConvolution(active, head.second, '/policy/conv2');
      const planes = body.convolutions.addExit(second, head.second.outputs, '/policy');
      const flat = graph.addReshape('/policy/flat', planes, [-1, head.second.outputs * 64]);
      logits = addGather(graph, flat, computeConvolutionPolicyMap());
      break;
    }
    case 'attention': {
      const flat = addAttentionPolicy(graph, body, head);
      logits = addGather(graph, flat, computeAttentionPolicyMap());
      break;
    }
  }
  addFloatOutput(graph, logits, outputName, [-1, LC0_POLICY_SIZE]);
}

/** Gathers along axis 1. On a CPU ONNX Runtime needs five times as long for its own Gather along that axis. */
function addGather(graph: GraphBuilder, flat: string, map: Int32Array): string {
  const turned = graph.addNode('Transpose', '/policy/turned', [flat], { perm: [1, 0] });
  const indices = graph.addInt32s('/const/policy-map', map);
  const moves = graph.addNode('Gather', '/policy/turned/moves', [turned, indices], { axis: 0 });
  return graph.addNode('Transpose', '/policy/moves', [moves], { perm: [1, 0] });
}

/** Logits of all from-to pairs, then of the promotions: [N, ATTENTION_POLICY_OUTPUTS]. */
function addAttentionPolicy(
  graph: GraphBuilder,
  body: BodyOutput,
  head: Extract<PolicyHead, { kind: 'attention' }>,
): string {
  const rows = body.isRows
    ? body.name
    : addSquareRows(graph, body.convolutions.addExit(body.name, body.width, '/policy'), body.width, '/policy');
  let flow = addDense(graph, rows, head.embedding, '/policy/embedding');
  flow = addActivation(graph, flow, head.activation, '/policy/embedding');
  for (const [index, encoder] of head.encoders.entries())
    flow = addEncoder(graph, flow, encoder, `/policy/encoder${index}`);
  const size = head.query.outputs;
  const queryRows = addDense(graph, flow, head.query, '/policy/q', 1 / Math.sqrt(size));
  const keyRows = addDense(graph, flow, head.key, '/policy/k');
  const queries = graph.addReshape('/policy/q/squares', queryRows, [-1, 64, size]);
  const keys = graph.addReshape('/policy/k/squares', keyRows, [-1, 64, size]);
  const keyColumns = graph.addNode('Transpose', '/policy/k/transpose', [keys], { perm: [0, 2, 1] });
  const fromTo = graph.addNode('MatMul', '/policy/from-to', [queries, keyColumns]);

  // A promotion's logit is that of the move from the seventh to the eighth rank plus an offset. The offset depends on the
  // piece (queen, rook, bishop, and one value common to all three) and on the square of arrival.
  const gather = (input: string, indices: Int32Array, axis: number, name: string): string =>
    graph.addNode('Gather', name, [input, graph.addInt32s(`/const${name}`, indices)], { axis });
  const squares = (first: number): Int32Array => Int32Array.from({ length: 8 }, (_, file) => first + file);
  const lastRankKeys = gather(keys, squares(56), 1, '/policy/promotion/keys');
  const offsetRows = addDense(
    graph,
    graph.addReshape('/policy/promotion/rows', lastRankKeys, [-1, size]),
    head.promotion,
    '/policy/promotion/offsets',
  );
  const pieceOffsets = gather(offsetRows, Int32Array.of(0, 1, 2), 1, '/policy/promotion/pieces');
  const commonOffset = gather(offsetRows, Int32Array.of(3), 1, '/policy/promotion/common');
  const offsets = graph.addNode('Add', '/policy/promotion/sum', [pieceOffsets, commonOffset]);
  const placedOffsets = graph.addReshape('/policy/promotion/placed', offsets, [-1, 1, 8, 3]);
  const seventhRank = gather(fromTo, squares(48), 1, '/policy/promotion/from');
  const toEighth = gather(seventhRank, squares(56), 2, '/policy/promotion/to');
  const moves = graph.addReshape('/policy/promotion/moves', toEighth, [-1, 8, 8, 1]);
  const promotions = graph.addNode('Add', '/policy/promotion', [moves, placedOffsets]);
  return graph.addNode(
    'Concat',
    '/policy/all',
    [
      graph.addReshape('/policy/from-to/flat', fromTo, [-1, 64 * 64]),
      graph.addReshape('/policy/promotion/flat', promotions, [-1, ATTENTION_POLICY_OUTPUTS - 64 * 64]),
    ],
    { axis: 1 },
  );
}

/** The three layers that value and moves-left heads have in common. */
function addHeadLayers(
  graph: GraphBuilder,
  { convolutions, name: bodyName }: BodyOutput,
  { reduction, hidden, output }: MovesLeftHead,
  activation: Activation,
  name: string,
): string {
  const layer =
    reduction.kind === 'convolution'
      ? convolutions.addConvolution(bodyName, reduction.layer, `${name}/conv`)
      : addDense(graph, bodyName, reduction.layer, `${name}/embedding`);
  const active = addActivation(graph, layer, activation, `${name}/reduction`);
  const { outputs } = reduction.layer;
  const planes = reduction.kind === 'convolution' ? convolutions.addExit(active, outputs, name) : active;
  const flat = graph.addReshape(`${name}/flat`, planes, [-1, outputs * 64]);
  const first = addActivation(graph, addDense(graph, flat, hidden, `${name}/dense1`), activation, `${name}/dense1`);
  return addDense(graph, first, output, `${name}/dense2`);
}

export function addValueHead(
  graph: GraphBuilder,
  body: BodyOutput,
  head: ValueHead,
  activation: Activation,
  outputName: string,
): void {
  const layers = addHeadLayers(graph, body, head, activation, '/value');
  const raw = graph.addCast('/value/raw', layers, TensorType.FLOAT);
  if (head.isWdl) graph.addNode('Softmax', outputName, [raw], { axis: 1 });
  else graph.addNode('Tanh', outputName, [raw]);
  graph.addOutput(outputName, [-1, head.isWdl ? 3 : 1]);
}

export function addMovesLeftHead(
  graph: GraphBuilder,
  body: BodyOutput,
  head: MovesLeftHead,
  activation: Activation,
  outputName: string,
): void {
  const plies = graph.addNode('Relu', '/mlh/plies', [addHeadLayers(graph, body, head, activation, '/mlh')]);
  addFloatOutput(graph, plies, outputName, [-1, 1]);
}

/** A cast from float32 to float32 costs nothing: the runtime removes it. */
function addFloatOutput(graph: GraphBuilder, input: string, outputName: string, shape: readonly number[]): void {
  graph.addCast(outputName, input, TensorType.FLOAT);
  graph.addOutput(outputName, shape);
}
