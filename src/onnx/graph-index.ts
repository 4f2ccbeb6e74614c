/**
 * Finds the node that makes a tensor, the nodes that use it, and constants. The index reflects the graph at the time it was
 * created; it does not see later edits.
 */
import type { AttributeMessage, GraphMessage, NodeMessage, TensorMessage } from './onnx-schema.js';

const NO_NODES: readonly NodeMessage[] = [];

export class GraphIndex {
  private readonly makers = new Map<string, NodeMessage>();
  private readonly users = new Map<string, NodeMessage[]>();
  private readonly constants = new Map<string, TensorMessage>();

  constructor(graph: GraphMessage) {
    for (const tensor of graph.initializer ?? []) this.constants.set(tensor.name ?? '', tensor);
    for (const node of graph.node ?? []) {
      const constant = node.opType === 'Constant' ? findAttribute(node, 'value')?.t : undefined;
      for (const name of node.output ?? []) {
        this.makers.set(name, node);
        if (constant !== undefined) this.constants.set(name, constant);
      }
      for (const name of node.input ?? []) {
        const known = this.users.get(name);
        if (known === undefined) this.users.set(name, [node]);
        else known.push(node);
      }
    }
  }

  /** @returns undefined for weights and inputs of the graph */
  findMaker(name: string): NodeMessage | undefined {
    return this.makers.get(name);
  }

  listUsers(name: string): readonly NodeMessage[] {
    return this.users.get(name) ?? NO_NODES;
  }

  /** A weight, or the value of a Constant node. */
  findConstant(name: string): TensorMessage | undefined {
    return this.constants.get(name);
  }
}

export function findAttribute(node: NodeMessage, name: string): AttributeMessage | undefined {
  return node.attribute?.find((attribute) => attribute.name === name);
}

export function getIntegerAttribute(node: NodeMessage, name: string, fallback: number): number {
  return Number(findAttribute(node, name)?.i ?? fallback);
}

export function getIntegerList(node: NodeMessage, name: string, fallback: readonly number[]): readonly number[] {
  const ints = findAttribute(node, name)?.ints;
  return ints?.length ? ints.map(Number) : fallback;
}
