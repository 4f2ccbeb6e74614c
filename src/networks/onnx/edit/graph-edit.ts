/**
 * Small edits of an existing ONNX graph: inserts nodes at its inputs and outputs. Changes the decoded graph in place. Also cuts a
 * network behind its body, converts it to half precision, and finds layer norms.
 */

import { encodeFloat16, FLOAT16_LARGEST } from '../../../base/util/index.js';
import {
  decodeModel,
  encodeModel,
  findAttribute,
  type GraphMessage,
  type ModelMessage,
  type NodeMessage,
  type TensorMessage,
  TensorType,
  type ValueInfoMessage,
} from '../../nn/index.js';
import { type Attributes, formatAttributes } from '../graph/graph-builder.js';
import { GraphIndex, listTensors } from '../onnx-model.js';
import { NetworkError } from '../read-file.js';

export interface InsertedNode {
  readonly opType: string;
  readonly attributes?: Attributes;
  /** Names of further inputs, after the tensor behind which the node is inserted. */
  readonly operands?: readonly string[];
  /** The tensor's new name inside the graph is `<name>/<suffix>`. */
  readonly suffix: string;
}

/** @throws NetworkError when the graph has no such input */
export function findInput(graph: GraphMessage, name: string): ValueInfoMessage {
  const input = graph.input?.find((info) => info.name === name);
  if (!input) throw new NetworkError(`the ONNX model has no input "${name}"; it has ${listNames(graph.input)}`);
  return input;
}

/** @throws NetworkError when the graph has no such output */
export function findOutput(graph: GraphMessage, name: string): ValueInfoMessage {
  const output = graph.output?.find((info) => info.name === name);
  const isMade = graph.node?.some((node) => node.output?.includes(name));
  if (!output || !isMade) {
    throw new NetworkError(`the ONNX model has no output "${name}"; it has ${listNames(graph.output)}`);
  }
  return output;
}

export function listNames(infos: readonly ValueInfoMessage[] | undefined): string {
  return infos?.map((info) => `"${info.name}"`).join(', ') || 'none';
}

/** Inserts a node behind an input. All nodes that read the input then read the new node's output. */
export function insertBehindInput(graph: GraphMessage, name: string, node: InsertedNode): void {
  const inner = `${name}/${node.suffix}`;
  renameUses(graph, name, inner);
  graph.node = [createNode(graph, inner, [name, ...(node.operands ?? [])], node), ...(graph.node ?? [])];
}

/** Inserts a node before an output. The node that made the output then makes the new node's input. */
export function insertBeforeOutput(graph: GraphMessage, name: string, node: InsertedNode): void {
  const inner = `${name}/${node.suffix}`;
  renameUses(graph, name, inner);
  for (const maker of graph.node ?? []) {
    if (maker.output) maker.output = maker.output.map((made) => (made === name ? inner : made));
  }
  graph.node = [...(graph.node ?? []), createNode(graph, name, [inner, ...(node.operands ?? [])], node)];
}

/** Gives a tensor a second name, through a node that may convert it. */
export function addAlias(graph: GraphMessage, name: string, newName: string, node: InsertedNode): void {
  graph.node = [...(graph.node ?? []), createNode(graph, newName, [name], node)];
}

function renameUses(graph: GraphMessage, name: string, newName: string): void {
  for (const node of graph.node ?? []) {
    if (node.input) node.input = node.input.map((used) => (used === name ? newName : used));
  }
}

/** A node with a name that no other node of the graph has. It is not added yet. */
export function createNode(
  graph: GraphMessage,
  output: string,
  input: string[],
  { opType, attributes }: Pick<InsertedNode, 'opType' | 'attributes'>,
): NodeMessage {
  // The output often has the name of the node that made it before, and names of nodes must differ.
  const taken = new Set(graph.node?.map((other) => other.name));
  let name = `${output}/${opType}`;
  while (taken.has(name)) name += "'";
  return { opType, name, input, output: [output], attribute: formatAttributes(attributes ?? {}) };
}

// Cuts a network's graph behind its body: where a single tensor carries all that the heads know of the position. Explanations
// look at that tensor, and run the heads alone on changed copies of it.

/** A graph cut behind its body. */
export interface BodyCut {
  /** The body's output. */
  readonly tensor: string;
  /** The model with that tensor among its outputs. */
  readonly whole: Uint8Array;
  /** Whether the heads also read the planes. */
  readonly readsInput: boolean;
  /** The heads alone; their input has the shape `dims`. */
  createHeads(dims: readonly number[]): Uint8Array;
}

/** One body of a network with several (`sardonyx.phases`), by its number: the branch of each If takes its place. */
export function takeBody(bytes: Uint8Array, body: number): Uint8Array {
  const model = decodeModel(bytes);
  let nodes = model?.graph?.node ?? [];
  if (model?.graph === undefined) return bytes;
  const outputs = (model.graph.output ?? []).map(({ name }) => name ?? '');
  for (let number = 0; ; number++) {
    const choice = nodes.find(({ opType }) => opType === 'If');
    if (choice === undefined) break;
    const branch = findAttribute(choice, number === body ? 'then_branch' : 'else_branch')?.g ?? {};
    const results = new Map((branch.output ?? []).map(({ name = '' }, i) => [name, choice.output?.[i] ?? '']));
    const rename = (name: string): string => results.get(name) ?? name;
    const taken = (branch.node ?? []).map((node) => {
      return { ...node, input: node.input?.map(rename) ?? [], output: node.output?.map(rename) ?? [] };
    });
    nodes = nodes.flatMap((node) => (node === choice ? taken : [node]));
  }
  // What counted the men gives nothing any more.
  const node = listNodesBehind({ node: nodes }, '', outputs);
  return encodeModel({ ...model, graph: { ...model.graph, node } });
}

/** Operators that read only the size of their input. */
const SIZE_READERS = new Set(['Shape', 'Size']);

/**
 * @param input the planes' tensor; `outputs` are those of the heads
 * @returns undefined if the bytes are no ONNX model, or no tensor lies on all ways to the outputs
 */
export function cutBehindBody(bytes: Uint8Array, input: string, outputs: readonly string[]): BodyCut | undefined {
  const model = decodeModel(bytes);
  const graph = model?.graph;
  if (model === undefined || graph === undefined) return undefined;
  const tensor = findLastCut(graph, input, outputs);
  if (tensor === undefined) return undefined;
  const seen: ValueInfoMessage = { name: tensor, type: { tensorType: { elemType: TensorType.FLOAT } } };
  const heads = listNodesBehind(graph, tensor, outputs);
  return {
    tensor,
    whole: encodeModel({ ...model, graph: { ...graph, output: [...(graph.output ?? []), seen] } }),
    readsInput: heads.some((node) => node.input?.includes(input)),
    createHeads: (dims) => encodeHeads(model, graph, heads, { input, tensor, outputs, dims }),
  };
}

/**
 * Follows what depends on the planes through the nodes, which are in an order in which they can run. Where only one tensor is left
 * that a later node reads, and no output was made yet, all ways go through it; the last such tensor is the body's output.
 */
export function findLastCut(graph: GraphMessage, input: string, outputs: readonly string[]): string | undefined {
  const wanted = new Set(listNodesBehind(graph, '', outputs));
  const nodes = (graph.node ?? []).filter((node) => wanted.has(node));
  const lastUse = new Map<string, number>();
  for (const output of outputs) lastUse.set(output, nodes.length);
  nodes.forEach((node, i) => {
    if (SIZE_READERS.has(node.opType ?? '')) return;
    for (const name of node.input ?? []) lastUse.set(name, Math.max(i, lastUse.get(name) ?? 0));
  });
  const live = new Set([input]);
  let cut: string | undefined;
  nodes.forEach((node, i) => {
    const isDependent = !SIZE_READERS.has(node.opType ?? '') && node.input?.some((name) => live.has(name));
    if (isDependent) for (const name of node.output ?? []) live.add(name);
    for (const name of live) if ((lastUse.get(name) ?? -1) <= i) live.delete(name);
    const [only] = live;
    if (live.size === 1 && !outputs.includes(only)) cut = only;
  });
  return cut === input ? undefined : cut;
}

/** The nodes that the outputs need, in their order, without those before `tensor`. */
export function listNodesBehind(graph: GraphMessage, tensor: string, outputs: readonly string[]): NodeMessage[] {
  const needed = new Set(outputs);
  const found: NodeMessage[] = [];
  for (const node of [...(graph.node ?? [])].reverse()) {
    if (!node.output?.some((name) => needed.has(name) && name !== tensor)) continue;
    found.push(node);
    for (const name of node.input ?? []) needed.add(name);
  }
  return found.reverse();
}

interface Cut {
  readonly input: string;
  readonly tensor: string;
  readonly outputs: readonly string[];
  readonly dims: readonly number[];
}

function encodeHeads(
  model: ModelMessage,
  graph: GraphMessage,
  nodes: NodeMessage[],
  { input, tensor, outputs, dims }: Cut,
): Uint8Array {
  const read = new Set(nodes.flatMap((node) => node.input ?? []));
  const shape = { dim: dims.map((dimValue) => ({ dimValue })) };
  const entry: ValueInfoMessage = { name: tensor, type: { tensorType: { elemType: TensorType.FLOAT, shape } } };
  return encodeModel({
    ...model,
    graph: {
      ...graph,
      node: nodes,
      initializer: graph.initializer?.filter(({ name }) => read.has(name ?? '')) ?? [],
      input: [entry, ...(graph.input ?? []).filter(({ name }) => name === input && read.has(input))],
      output: graph.output?.filter(({ name }) => outputs.includes(name ?? '')) ?? [],
      valueInfo: [],
    },
  });
}

// Converts an ONNX network from single to half precision, for devices that compute it twice as fast. Inputs and outputs stay
// single, with casts inside, so callers see no difference. Layer norms also stay single. Networks with quantised layers,
// with halves already, or with anything that this room cannot read, are not converted: a slower network is better than a
// wrong one.

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
  for (let i = 0; i < half.length; i += 2)
    view.setUint16(i, encodeFloat16(single.getFloat32(2 * i, true), FLOAT16_LARGEST), true);
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
