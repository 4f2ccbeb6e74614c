/** What the toolkit looks up in a decoded ONNX model: its tensors, and which nodes make and use each of them. */
import { findAttribute, type GraphMessage, isExternal, type NodeMessage, type TensorMessage } from '../nn/index.js';

/** Weights and constants. */
export function listTensors(graph: GraphMessage): TensorMessage[] {
  const constants = (graph.node ?? []).flatMap(({ attribute }) => (attribute ?? []).flatMap(({ t }) => t ?? []));
  return [...(graph.initializer ?? []), ...constants];
}

/** Whether some of the model's tensors are in another file. */
export function hasExternalTensors(graph: GraphMessage): boolean {
  return listTensors(graph).some(isExternal);
}

const NO_NODES: readonly NodeMessage[] = [];

/** Finds the node that makes a tensor, the nodes that use it, and constants, as the graph was when the index was created. */
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
