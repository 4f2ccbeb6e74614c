/**
 * Cuts a network's graph behind its body: where a single tensor carries all that the heads know of the position. Explanations look
 * at that tensor, and run the heads alone on changed copies of it.
 */

import {
  decodeModel,
  encodeModel,
  findAttribute,
  type GraphMessage,
  type NodeMessage,
  type ReadModel,
  TensorType,
  type ValueInfoMessage,
} from '../../nn/index.js';

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
  if (model === undefined) return bytes;
  let { node: nodes = [], initializer = [] } = model.graph;
  const outputs = (model.graph.output ?? []).map(({ name }) => name ?? '');
  for (let number = 0; ; number++) {
    const choice = nodes.find(({ opType }) => opType === 'If');
    if (choice === undefined) break;
    const branch = findAttribute(choice, number === body ? 'then_branch' : 'else_branch')?.g ?? {};
    initializer = [...initializer, ...(branch.initializer ?? [])];
    const results = new Map((branch.output ?? []).map(({ name = '' }, i) => [name, choice.output?.[i] ?? '']));
    const rename = (name: string): string => results.get(name) ?? name;
    const taken = (branch.node ?? []).map((node) => {
      return { ...node, input: node.input?.map(rename) ?? [], output: node.output?.map(rename) ?? [] };
    });
    nodes = nodes.flatMap((node) => (node === choice ? taken : [node]));
  }
  // What counted the men gives nothing any more.
  const node = listNodesBehind({ node: nodes }, '', outputs);
  return encodeModel({ ...model, graph: { ...model.graph, initializer, node } });
}

/** Operators that read only the size of their input. */
const SIZE_READERS = new Set(['Shape', 'Size']);

/**
 * @param input the planes' tensor; `outputs` are those of the heads
 * @returns undefined if the bytes are no ONNX model, or no tensor lies on all ways to the outputs
 */
export function cutBehindBody(bytes: Uint8Array, input: string, outputs: readonly string[]): BodyCut | undefined {
  const model = decodeModel(bytes);
  if (model === undefined) return undefined;
  const { graph } = model;
  const tensor = findLastCut(graph, input, outputs);
  if (tensor === undefined) return undefined;
  const elemType = TensorType.FLOAT;
  const seen: ValueInfoMessage = { name: tensor, type: { tensorType: { elemType } } };
  const heads = listNodesBehind(graph, tensor, outputs);
  const readsInput = heads.some((node) => node.input?.includes(input));
  const planes = readsInput ? (graph.input ?? []).filter(({ name }) => name === input) : [];
  return {
    tensor,
    whole: encodeModel({ ...model, graph: { ...graph, output: [...(graph.output ?? []), seen] } }),
    readsInput,
    createHeads: (dims) => {
      const shape = { dim: dims.map((dimValue) => ({ dimValue })) };
      const features: ValueInfoMessage = { name: tensor, type: { tensorType: { elemType, shape } } };
      return encodeHeads(model, heads, [features, ...planes], outputs);
    },
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

/** A model of some of a graph's nodes, with the weights that they read. */
function encodeHeads(
  model: ReadModel,
  node: NodeMessage[],
  input: ValueInfoMessage[],
  outputs: readonly string[],
): Uint8Array {
  const { graph } = model;
  const read = new Set(node.flatMap(({ input = [] }) => input));
  const initializer = graph.initializer?.filter(({ name }) => read.has(name ?? '')) ?? [];
  const output = graph.output?.filter(({ name }) => outputs.includes(name ?? '')) ?? [];
  return encodeModel({ ...model, graph: { ...graph, node, initializer, input, output, valueInfo: [] } });
}
