/** Reads policy, value and moves-left heads of a graph, from its outputs back to the body. */
import { LC0_POLICY_SIZE } from '../../encoding/index.js';
import { getIntegerAttribute, getIntegerList } from '../onnx-model.js';
import { computeAttentionPolicyMap, computeConvolutionPolicyMap } from '../policy-maps.js';
import { type Affine, describeNode, type GraphReader, getInput, Unrecognised } from './graph-reader.js';

export type RecognisedPolicy =
  | { readonly kind: 'dense'; readonly convolution: Affine; readonly dense: Affine }
  | { readonly kind: 'convolution'; readonly first: Affine; readonly second: Affine }
  | {
      readonly kind: 'attention';
      readonly embedding: Affine;
      readonly query: Affine;
      readonly key: Affine;
      readonly promotion: Affine;
    };

export interface RecognisedTop {
  readonly convolution: Affine;
  readonly hidden: Affine;
  readonly output: Affine;
}

type Activation = 'relu' | 'mish';

/** A 1×1 convolution, flattened in lc0's order, and two dense layers. `name` is the output of the last one. */
export function recogniseTop(graph: GraphReader, name: string, activation: Activation): RecognisedTop {
  const output = graph.expectAffine(name);
  const hidden = graph.expectAffine(graph.expectActivation(output.input, activation));
  const convolution = graph.expectAffine(graph.expectActivation(hidden.input, activation));
  if (convolution.kernel !== 1 || hidden.inputs !== convolution.outputs * 64) {
    throw new Unrecognised('a head does not start with a 1×1 convolution');
  }
  return { convolution, hidden, output };
}

export function recogniseValue(
  graph: GraphReader,
  name: string,
  activation: Activation,
  isWdl: boolean,
): RecognisedTop {
  const node = graph.getMaker(name);
  const squash = isWdl ? 'Softmax' : 'Tanh';
  const raw = node.opType === squash ? getInput(node, 0) : name;
  if (!isWdl && raw === name) throw new Unrecognised('the value does not end in a tanh');
  return recogniseTop(graph, raw, activation);
}

/** The plies are a ReLU of the last layer, perhaps times a positive constant, which is multiplied into the layer's weights. */
export function recogniseMovesLeft(graph: GraphReader, name: string, activation: Activation): RecognisedTop {
  let relu = name;
  let scale = 1;
  if (graph.getMaker(name).opType === 'Mul') {
    const [plain, constant] = graph.getOperands(name, 'Mul', (_, second) => graph.findFloats(second) !== undefined);
    const { values } = graph.getFloats(constant);
    if (values.length !== 1 || !(values[0] > 0)) throw new Unrecognised('the moves left are not scaled by one number');
    relu = plain;
    scale = values[0];
  }
  const top = recogniseTop(graph, graph.expectActivation(relu, 'relu'), activation);
  return { ...top, output: scaleAffine(top.output, scale) };
}

export function recognisePolicy(graph: GraphReader, name: string, activation: Activation): RecognisedPolicy {
  const last = graph.getMaker(name);
  const isTurned = last.opType === 'Transpose';
  const gather = isTurned ? graph.getMaker(getInput(last, 0)) : last;
  if (gather.opType !== 'Gather') {
    const dense = graph.expectAffine(name);
    const convolution = graph.expectAffine(graph.expectActivation(dense.input, activation));
    if (convolution.kernel !== 1 || dense.inputs !== convolution.outputs * 64 || dense.outputs !== LC0_POLICY_SIZE) {
      throw new Unrecognised('the policy is no dense layer on a 1×1 convolution');
    }
    return { kind: 'dense', convolution, dense };
  }
  const map = graph.getIntegers(getInput(gather, 1)).join();
  if (getIntegerAttribute(gather, 'axis', 0) !== (isTurned ? 0 : 1)) {
    throw new Unrecognised('the policy is not gathered from logits');
  }
  const logits = isTurned ? getInput(graph.expect(getInput(gather, 0), 'Transpose'), 0) : getInput(gather, 0);
  const flat = graph.getMaker(logits);
  if (flat.opType === 'Conv') {
    const second = graph.expectAffine(logits);
    const first = graph.expectAffine(graph.expectActivation(second.input, activation));
    const isRight = first.kernel === 3 && second.kernel === 3 && map === computeConvolutionPolicyMap().join();
    if (!isRight) throw new Unrecognised("the policy's planes are not lc0's");
    return { kind: 'convolution', first, second: padPlanes(second) };
  }
  if (flat.opType !== 'Concat' || map !== computeAttentionPolicyMap().join()) {
    throw new Unrecognised("the policy's logits are not lc0's");
  }
  return recogniseAttentionPolicy(graph, getInput(flat, 0), getInput(flat, 1));
}

/** lc0's networks have 80 planes, of which 73 are used. */
function padPlanes(layer: Affine): Affine {
  const planes = 80;
  if (layer.outputs >= planes) return layer;
  const weights = new Float32Array((layer.weights.length / layer.outputs) * planes);
  const biases = new Float32Array(planes);
  weights.set(layer.weights);
  biases.set(layer.biases);
  return { ...layer, outputs: planes, weights, biases };
}

function recogniseAttentionPolicy(graph: GraphReader, fromTo: string, promotions: string): RecognisedPolicy {
  let scale = 1;
  let product = graph.skipReshapes(fromTo);
  if (graph.getMaker(product).opType === 'Mul') {
    const [plain, constant] = graph.getOperands(product, 'Mul', (_, second) => graph.findFloats(second) !== undefined);
    const { values } = graph.getFloats(constant);
    if (values.length !== 1) throw new Unrecognised('the policy logits are not scaled by one number');
    scale = values[0];
    product = plain;
  }
  const matrix = graph.expect(product, 'MatMul');
  const plainQuery = graph.expectAffine(getInput(matrix, 0));
  const turnedKeys = graph.expect(getInput(matrix, 1), 'Transpose');
  if (getIntegerList(turnedKeys, 'perm', []).join() !== '0,2,1')
    throw new Unrecognised('the policy keys are not transposed');
  const key = graph.expectAffine(getInput(turnedKeys, 0));
  if (graph.skipReshapes(plainQuery.input) !== graph.skipReshapes(key.input)) {
    throw new Unrecognised('policy queries and keys have different sources');
  }
  const rows = graph.expectAffine(graph.expectActivation(key.input, 'selu'));
  const transpose = graph.expect(rows.input, 'Transpose');
  if (!['0,2,1', '0,2,3,1'].includes(getIntegerList(transpose, 'perm', []).join())) {
    throw new Unrecognised('the policy does not see a row for each square');
  }
  const embedding = { ...rows, input: getInput(transpose, 0) };
  const promotion = findPromotion(graph, promotions, graph.skipReshapes(getInput(turnedKeys, 0)));
  // lc0 divides by the root of the size. If this graph uses another factor, it is multiplied into the queries.
  return {
    kind: 'attention',
    embedding,
    query: scaleAffine(plainQuery, scale * Math.sqrt(key.outputs)),
    key,
    promotion,
  };
}

/** The layer with four outputs between the keys and the promotions. */
function findPromotion(graph: GraphReader, promotions: string, keys: string): Affine {
  const found = new Map<string, Affine>();
  const seen = new Set<string>();
  const visit = (name: string): void => {
    const behind = graph.skipReshapes(name);
    if (seen.has(behind) || behind === keys || graph.findFloats(behind)) return;
    seen.add(behind);
    const node = graph.getMaker(behind);
    switch (node.opType) {
      case 'MatMul':
      case 'Gemm': {
        if (!graph.findFloats(getInput(node, 1))) return;
        const layer = graph.expectAffine(behind);
        if (layer.outputs !== 4 || layer.biases.some((bias) => bias !== 0)) break;
        found.set(behind, layer);
        return;
      }
      case 'Add':
        visit(getInput(node, 0));
        visit(getInput(node, 1));
        return;
      case 'Mul':
        return;
      case 'Slice':
      case 'Gather':
      case 'Split':
      case 'Transpose':
        visit(getInput(node, 0));
        return;
    }
    throw new Unrecognised(`"${describeNode(node)}" does not belong among promotions`);
  };
  visit(promotions);
  const [promotion] = found.values();
  if (found.size !== 1) throw new Unrecognised('the policy has no layer for promotions');
  return promotion;
}

function scaleAffine(layer: Affine, factor: number): Affine {
  const scale = (values: Float32Array): Float32Array => values.map((value) => value * factor);
  return { ...layer, weights: scale(layer.weights), biases: scale(layer.biases) };
}
