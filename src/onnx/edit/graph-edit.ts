/** Small edits of an existing ONNX graph: inserts nodes at its inputs and outputs. Changes the decoded graph in place. */
import { type Attributes, formatAttributes } from '../graph/graph-builder.js';
import { decodeModel, encodeModel } from '../onnx-model.js';
import {
  type GraphMessage,
  type ModelMessage,
  type NodeMessage,
  TensorType,
  type ValueInfoMessage,
} from '../onnx-schema.js';
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
