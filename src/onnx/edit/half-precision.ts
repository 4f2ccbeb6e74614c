/**
 * Converts an ONNX network from single to half precision, for devices that compute it twice as fast. Inputs and outputs stay
 * single, with casts inside, so callers see no difference. Layer norms also stay single. Networks with quantised layers,
 * with halves already, or with anything that this room cannot read, are not converted: a slower network is better than a
 * wrong one.
 */

import { decodeModel, encodeHalfWeight, encodeModel, GraphIndex, listTensors } from '../onnx-model.js';
import { type GraphMessage, type NodeMessage, type TensorMessage, TensorType } from '../onnx-schema.js';
import { createNode, insertBeforeOutput, insertBehindInput } from './graph-edit.js';

// Finds layer norms that a graph spells out as single operators (mean, difference, squares, their mean, root, quotient) and keeps
// them in single precision when the graph becomes half. In half precision squares overflow from 256 on and small ones vanish; the
// operator LayerNormalization computes in single precision inside. RMS norms, without the first mean, are found too.

/** The nodes from the first mean to the quotient, without scale and shift. */
export function findNorms(graph: GraphMessage): Set<NodeMessage> {
  const index = new GraphIndex(graph);
  const getMaker = (name: string | undefined, ...types: string[]): NodeMessage | undefined => {
    const maker = index.findMaker(name ?? '');
    return maker !== undefined && types.includes(maker.opType ?? '') ? maker : undefined;
  };
  const isConstant = (name: string): boolean => (index.findMaker(name)?.opType ?? 'Constant') === 'Constant';
  const found = new Set<NodeMessage>();
  for (const root of graph.node ?? []) {
    if (root.opType !== 'Sqrt' && root.opType !== 'Pow') continue;
    const sum = getMaker(root.input?.[0], 'Add');
    const mean = [root, ...(sum ? [sum] : [])]
      .flatMap(({ input }) => input ?? [])
      .map((name) => getMaker(name, 'ReduceMean'))
      .find((node) => node !== undefined);
    const square = getMaker(mean?.input?.[0], 'Mul', 'Pow');
    if (mean === undefined || square === undefined) continue;
    if (square.opType === 'Mul' && square.input?.[0] !== square.input?.[1]) continue;
    const difference = getMaker(square.input?.[0], 'Sub');
    const centre = difference?.input?.map((name) => getMaker(name, 'ReduceMean')).find((node) => node !== undefined);
    const isCentred = centre !== undefined && difference?.input?.includes(centre.input?.[0] ?? '');
    const deviation = root.output?.[0] ?? '';
    const isOneOver = ({ opType, input }: NodeMessage): boolean =>
      opType === 'Reciprocal' || (opType === 'Div' && input?.[1] === deviation && isConstant(input[0]));
    const inverses = index.listUsers(deviation).filter(isOneOver);
    const quotients = [root, ...inverses]
      .flatMap(({ output }) => index.listUsers(output?.[0] ?? ''))
      .filter(({ opType }) => opType === 'Div' || opType === 'Mul');
    const parts = [centre, difference].filter((node) => node !== undefined);
    for (const node of [...(isCentred ? parts : []), square, mean, root, ...inverses, ...quotients]) found.add(node);
    if (sum !== undefined) found.add(sum);
  }
  return found;
}

/** Weights and constants of the norms, which must stay single. If other nodes use them too, the norms get copies. */
export function separateConstants(graph: GraphMessage, norms: ReadonlySet<NodeMessage>): Set<TensorMessage> {
  const index = new GraphIndex(graph);
  const kept = new Set<TensorMessage>();
  const copies = new Map<string, string>();
  for (const node of norms) {
    for (const [i, name] of (node.input ?? []).entries()) {
      const tensor = index.findConstant(name);
      if (tensor?.dataType !== TensorType.FLOAT) continue;
      if (index.listUsers(name).every((user) => norms.has(user))) {
        kept.add(tensor);
        continue;
      }
      let copy = copies.get(name);
      if (copy === undefined) {
        copy = findFreeName(graph, `${name}/single`);
        copies.set(name, copy);
        const single = { ...tensor, name: copy };
        graph.initializer = [...(graph.initializer ?? []), single];
        kept.add(single);
      }
      node.input = (node.input ?? []).with(i, copy);
    }
  }
  return kept;
}

/** Adds casts to single precision before these nodes and to half behind them. All other nodes already compute in half. */
export function insertCasts(graph: GraphMessage, norms: ReadonlySet<NodeMessage>): void {
  const index = new GraphIndex(graph);
  const createCast = (input: string, output: string, to: number): NodeMessage =>
    createNode(graph, output, [input], { opType: 'Cast', attributes: { to } });
  const nodes: NodeMessage[] = [];
  const wide = new Map<string, string>();
  const narrow = new Map<string, string>();
  for (const { output = [] } of norms) {
    for (const name of output) {
      if (index.listUsers(name).some((user) => !norms.has(user))) narrow.set(name, findFreeName(graph, `${name}/half`));
    }
  }
  for (const node of graph.node ?? []) {
    if (!norms.has(node)) {
      node.input = (node.input ?? []).map((name) => narrow.get(name) ?? name);
      nodes.push(node);
      continue;
    }
    node.input = (node.input ?? []).map((name, i) => {
      const maker = index.findMaker(name);
      const isAxes = i > 0 && node.opType === 'ReduceMean';
      const isWide = maker !== undefined && norms.has(maker);
      if (isAxes || isWide || maker?.opType === 'Constant' || index.findConstant(name)) return name;
      const known = wide.get(name);
      if (known !== undefined) return known;
      const single = findFreeName(graph, `${name}/single`);
      wide.set(name, single);
      nodes.push(createCast(name, single, TensorType.FLOAT));
      return single;
    });
    nodes.push(node);
    for (const name of node.output ?? []) {
      const half = narrow.get(name);
      if (half !== undefined) nodes.push(createCast(name, half, TensorType.FLOAT16));
    }
  }
  graph.node = nodes;
}

/** A name for a new tensor. */
function findFreeName(graph: GraphMessage, wish: string): string {
  const isTaken = (name: string): boolean =>
    (graph.node ?? []).some((node) => node.output?.includes(name)) ||
    (graph.initializer ?? []).some((tensor) => tensor.name === name);
  let name = wish;
  while (isTaken(name)) name += "'";
  return name;
}

/**
 * Models with these operators are not converted: quantised ones have scales in single precision; the others contain numbers or
 * graphs that this file does not read.
 */
const UNTOUCHABLE =
  /Quantize|QLinear|Integer|^(If|Loop|Scan|Resize|Range|RandomNormal.*|RandomUniform.*|EyeLike|Multinomial)$/;

/** @returns null if the model cannot be converted, or need not be */
export function halveModel(bytes: Uint8Array): Uint8Array | null {
  const model = decodeModel(bytes);
  const graph = model?.graph;
  if (model === undefined || graph === undefined || !isHalvable(graph)) return null;
  const norms = findNorms(graph);
  const single = separateConstants(graph, norms);
  for (const tensor of listTensors(graph)) if (!single.has(tensor)) halveTensor(tensor);
  for (const node of graph.node ?? []) if (node.opType === 'Cast') redirectCast(node);
  if (norms.size > 0) insertCasts(graph, norms);
  const inputs = (graph.input ?? []).filter(isSingle).map(({ name }) => name ?? '');
  const outputs = (graph.output ?? []).filter(isSingle).map(({ name }) => name ?? '');
  for (const name of inputs) {
    insertBehindInput(graph, name, { opType: 'Cast', attributes: { to: TensorType.FLOAT16 }, suffix: 'half' });
  }
  for (const name of outputs) {
    insertBeforeOutput(graph, name, { opType: 'Cast', attributes: { to: TensorType.FLOAT }, suffix: 'half' });
  }
  // The types of inner tensors have changed; onnxruntime infers them again.
  graph.valueInfo = [];
  return encodeModel(model);
}

function isHalvable(graph: GraphMessage): boolean {
  const nodes = graph.node ?? [];
  const weights = new Set((graph.initializer ?? []).map(({ name }) => name));
  return (
    (graph.initializer ?? []).some(({ dataType }) => dataType === TensorType.FLOAT) &&
    nodes.every(({ opType = '', domain = '' }) => domain === '' && !UNTOUCHABLE.test(opType)) &&
    // An input that is also an initializer is a default value; we leave such a graph alone.
    (graph.input ?? []).every(({ name }) => !weights.has(name)) &&
    // If a graph has half-precision tensors already, the others are single precision on purpose: their squares would overflow.
    listTensors(graph).every((tensor) => tensor.dataType !== TensorType.FLOAT16 && isReadable(tensor)) &&
    nodes.every(({ opType, attribute }) => opType !== 'Constant' || (attribute ?? []).every(({ t }) => t !== undefined))
  );
}

/** Whether its numbers are in rawData, not in a field of their own or in another file. */
function isReadable({ dataType, dims, rawData }: TensorMessage): boolean {
  if (dataType !== TensorType.FLOAT) return dataType !== TensorType.BFLOAT16;
  const count = (dims ?? []).reduce<number>((product, size) => product * Number(size), 1);
  return (rawData?.length ?? 0) === 4 * count;
}

function halveTensor(tensor: TensorMessage): void {
  const { dataType, rawData } = tensor;
  if (dataType !== TensorType.FLOAT || rawData === undefined) return;
  const single = new DataView(rawData.buffer, rawData.byteOffset, rawData.byteLength);
  const half = new Uint8Array(rawData.length / 2);
  const view = new DataView(half.buffer);
  for (let i = 0; i < half.length; i += 2) view.setUint16(i, encodeHalfWeight(single.getFloat32(2 * i, true)), true);
  tensor.rawData = half;
  tensor.dataType = TensorType.FLOAT16;
}

function redirectCast(node: NodeMessage): void {
  for (const attribute of node.attribute ?? []) {
    if (attribute.name === 'to' && Number(attribute.i) === TensorType.FLOAT) attribute.i = TensorType.FLOAT16;
  }
}

function isSingle(info: { type?: { tensorType?: { elemType?: number } } }): boolean {
  return info.type?.tensorType?.elemType === TensorType.FLOAT;
}
