/**
 * Reads the parts of a graph: the residual tower, from its last activation back to the planes, and the policy, value and moves-left
 * heads, from their outputs back to the body.
 */

import { LC0_POLICY_SIZE } from '../../encoding/index.js';
import { getIntegerAttribute, getIntegerList } from '../../nn/index.js';
import { computeAttentionPolicyMap, computeConvolutionPolicyMap } from '../policy-maps.js';
import { type Affine, describeNode, type GraphReader, getInput, Unrecognised } from './graph-reader.js';

type Activation = 'relu' | 'mish';

export interface RecognisedBlock {
  readonly first: Affine;
  readonly second: Affine;
  readonly squeezeExcite?: { readonly squeeze: Affine; readonly excite: Affine };
}

export interface RecognisedBody {
  readonly input: Affine;
  readonly blocks: readonly RecognisedBlock[];
  readonly activation: Activation;
}

/** More blocks are a cycle, which a damaged file may have. */
const MAX_BLOCKS = 500;

/** @param trunk the body's output. @param planes the graph's input. */
export function recogniseBody(graph: GraphReader, trunk: string, planes: string): RecognisedBody {
  const activation = graph.getMaker(trunk).opType === 'Relu' ? 'relu' : 'mish';
  const blocks: RecognisedBlock[] = [];
  let top = trunk;
  while (blocks.length < MAX_BLOCKS) {
    const sum = graph.expectActivation(top, activation);
    if (graph.getMaker(sum).opType !== 'Add') {
      const input = readStem(graph, sum, planes);
      return { input, blocks: blocks.reverse(), activation };
    }
    const [block, skip] = readBlock(graph, sum, activation);
    blocks.push(block);
    top = skip;
  }
  throw new Unrecognised('the body has no beginning');
}

/** @returns the block and the tensor that it starts from */
function readBlock(graph: GraphReader, sum: string, activation: Activation): [RecognisedBlock, string] {
  const node = graph.getMaker(sum);
  const problems: string[] = [];
  for (const [inner, skip] of [
    [getInput(node, 0), getInput(node, 1)],
    [getInput(node, 1), getInput(node, 0)],
  ]) {
    try {
      const { convolved, squeezeExcite } = readSqueezeExcite(graph, inner, activation);
      const second = graph.expectAffine(convolved);
      const first = graph.expectAffine(graph.expectActivation(second.input, activation));
      if (first.kernel !== 3 || second.kernel !== 3)
        throw new Unrecognised('a block has convolutions that are not 3×3');
      if (graph.skipReshapes(first.input) !== graph.skipReshapes(skip))
        throw new Unrecognised('a skip starts elsewhere');
      return [{ first, second, ...(squeezeExcite ? { squeezeExcite } : {}) }, skip];
    } catch (error) {
      if (!(error instanceof Unrecognised)) throw error;
      problems.push(error.message);
    }
  }
  throw new Unrecognised(problems.join('; '));
}

/** Reads sigmoid(γ)·x + β with γ and β from the mean of x, if the block has squeeze-excitation. */
function readSqueezeExcite(
  graph: GraphReader,
  name: string,
  activation: Activation,
): { convolved: string; squeezeExcite?: RecognisedBlock['squeezeExcite'] } {
  if (graph.getMaker(name).opType === 'Conv') return { convolved: name };
  const [gated, beta] = graph.getOperands(name, 'Add', (first) => graph.getMaker(first).opType === 'Mul');
  const [convolved, gate] = graph.getOperands(gated, 'Mul', (_, second) => graph.getMaker(second).opType === 'Sigmoid');
  const gamma = getInput(graph.expect(gate, 'Sigmoid'), 0);
  const excite = readExcitation(graph, gamma, beta);
  const squeeze = toDense(graph.expectAffine(graph.expectActivation(excite.input, activation)));
  const mean = graph.getMaker(squeeze.input);
  const isMean =
    mean.opType === 'GlobalAveragePool' ||
    (mean.opType === 'ReduceMean' && getIntegerList(mean, 'axes', []).join() === '2,3');
  if (!isMean || graph.skipReshapes(getInput(mean, 0)) !== graph.skipReshapes(convolved)) {
    throw new Unrecognised(`"${describeNode(mean)}" is no mean of what it excites`);
  }
  return { convolved, squeezeExcite: { squeeze, excite } };
}

/** γ and β: one layer whose output is split, or two layers. */
function readExcitation(graph: GraphReader, gamma: string, beta: string): Affine {
  const isCut = graph.getMaker(gamma).opType === 'Slice' || graph.getMaker(gamma).opType === 'Split';
  if (isCut) {
    const [gammaCut, betaCut] = [readCut(graph, gamma), readCut(graph, beta)];
    const layer = toDense(graph.expectAffine(gammaCut.source));
    const half = layer.outputs / 2;
    const isHalved = gammaCut.start === 0 && betaCut.start === half && gammaCut.source === betaCut.source;
    if (!isHalved) throw new Unrecognised('an excitation is not cut into two halves');
    return layer;
  }
  const first = toDense(graph.expectAffine(gamma));
  const second = toDense(graph.expectAffine(beta));
  if (first.input !== second.input || first.outputs !== second.outputs) {
    throw new Unrecognised('an excitation has two unlike halves');
  }
  return {
    ...first,
    outputs: 2 * first.outputs,
    weights: Float32Array.from([...first.weights, ...second.weights]),
    biases: Float32Array.from([...first.biases, ...second.biases]),
  };
}

function readCut(graph: GraphReader, name: string): { source: string; start: number } {
  const behind = graph.skipReshapes(name);
  const node = graph.getMaker(behind);
  if (node.opType === 'Split') {
    const index = node.output?.indexOf(behind) ?? -1;
    const axis = getIntegerAttribute(node, 'axis', 0);
    if (axis !== 1 || node.output?.length !== 2)
      throw new Unrecognised(`"${describeNode(node)}" does not halve the channels`);
    const source = graph.skipReshapes(getInput(node, 0));
    return { source, start: index * (graph.expectAffine(source).outputs / 2) };
  }
  if (node.opType !== 'Slice') throw new Unrecognised(`"${describeNode(node)}" does not cut`);
  const axes = node.input?.[3] ? graph.getIntegers(node.input[3]) : [0];
  if (axes.join() !== '1') throw new Unrecognised(`"${describeNode(node)}" does not cut the channels`);
  return { source: graph.skipReshapes(getInput(node, 0)), start: graph.getIntegers(getInput(node, 1))[0] };
}

/** A 1×1 convolution on one square is a dense layer. */
function toDense(layer: Affine): Affine {
  if (layer.kernel > 1) throw new Unrecognised('a dense layer is a convolution');
  return layer;
}

/** The first convolution. A constant that scales each plane before it is multiplied into its weights. */
function readStem(graph: GraphReader, name: string, planes: string): Affine {
  const layer = graph.expectAffine(name);
  if (layer.kernel !== 3 || layer.inputs !== 112) throw new Unrecognised('the body does not start from 112 planes');
  const input = graph.skipReshapes(layer.input);
  if (input === planes) return layer;
  const [source, scales] = graph.getScaled(input);
  if (graph.skipReshapes(source) !== planes) throw new Unrecognised('the body does not start from the planes');
  if (scales.length !== 112) throw new Unrecognised('the planes are not scaled one by one');
  const weights = layer.weights.map((weight, index) => weight * scales[Math.floor(index / 9) % 112]);
  return { ...layer, weights };
}

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

/** A 1×1 convolution, flattened in lc0's order, and two dense layers. `name` is the output of the last one. */
function recogniseTop(graph: GraphReader, name: string, activation: Activation): RecognisedTop {
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
    const [plain, scales] = graph.getScaled(name);
    if (scales.length !== 1 || !(scales[0] > 0)) throw new Unrecognised('the moves left are not scaled by one number');
    relu = plain;
    scale = scales[0];
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
    const [plain, scales] = graph.getScaled(product);
    if (scales.length !== 1) throw new Unrecognised('the policy logits are not scaled by one number');
    scale = scales[0];
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
