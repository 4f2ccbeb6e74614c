/** Small edits of an ONNX graph: inserts nodes at its inputs and outputs. Changes the decoded graph in place. */

import type { GraphMessage, NodeMessage, ValueInfoMessage } from '../../nn/index.js';
import { type Attributes, formatAttributes } from '../graph/graph-builder.js';
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
