/** Reads the residual tower of a graph, from its last activation back to the planes. */
import { getIntegerAttribute, getIntegerList } from '../onnx-model.js';
import { type Affine, type GraphReader, getInput, Unrecognised } from './graph-reader.js';

export interface RecognisedBlock {
  readonly first: Affine;
  readonly second: Affine;
  readonly squeezeExcite?: { readonly squeeze: Affine; readonly excite: Affine };
}

export interface RecognisedBody {
  readonly input: Affine;
  readonly blocks: readonly RecognisedBlock[];
  readonly activation: 'relu' | 'mish';
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
function readBlock(graph: GraphReader, sum: string, activation: 'relu' | 'mish'): [RecognisedBlock, string] {
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
  activation: 'relu' | 'mish',
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
    throw new Unrecognised(`"${mean.name}" is no mean of what it excites`);
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
    if (axis !== 1 || node.output?.length !== 2) throw new Unrecognised(`"${node.name}" does not halve the channels`);
    const source = graph.skipReshapes(getInput(node, 0));
    return { source, start: index * (graph.expectAffine(source).outputs / 2) };
  }
  if (node.opType !== 'Slice') throw new Unrecognised(`"${node.name}" does not cut`);
  const axes = node.input?.[3] ? graph.getIntegers(node.input[3]) : [0];
  if (axes.join() !== '1') throw new Unrecognised(`"${node.name}" does not cut the channels`);
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
  const [source, scales] = graph.getOperands(input, 'Mul', (_, second) => graph.findFloats(second) !== undefined);
  if (graph.skipReshapes(source) !== planes) throw new Unrecognised('the body does not start from the planes');
  const { values } = graph.getFloats(scales);
  if (values.length !== 112) throw new Unrecognised('the planes are not scaled one by one');
  const weights = layer.weights.map((weight, index) => weight * values[Math.floor(index / 9) % 112]);
  return { ...layer, weights };
}
