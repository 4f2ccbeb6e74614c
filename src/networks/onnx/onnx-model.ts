/** What the toolkit looks up in a decoded ONNX model: its tensors, and which nodes make and use each of them. */
import {
  findAttribute,
  type GraphMessage,
  isExternal,
  type NodeMessage,
  type TensorMessage,
  TensorType,
} from '../nn/index.js';

/** Weights and constants. */
export function listTensors(graph: GraphMessage): TensorMessage[] {
  const constants = (graph.node ?? []).flatMap(({ attribute }) => (attribute ?? []).flatMap(({ t }) => t ?? []));
  return [...(graph.initializer ?? []), ...constants];
}

/** Whether some of the model's tensors are in another file. */
export function hasExternalTensors(graph: GraphMessage): boolean {
  return listTensors(graph).some(isExternal);
}

/**
 * The numbers of a tensor, as a copy (`rawData` may be a Buffer, whose slice is none).
 * @returns undefined for other types, and for numbers in another file or field
 */
export function readFloats(tensor: TensorMessage): Float32Array | undefined {
  const { dataType, rawData } = tensor;
  if (dataType !== TensorType.FLOAT || rawData?.length !== 4 * countValues(tensor)) return undefined;
  return new Float32Array(new Uint8Array(rawData).buffer);
}

export function countValues({ dims }: TensorMessage): number {
  return (dims ?? []).reduce<number>((product, size) => product * Number(size), 1);
}

/** From [rows][columns] to [columns][rows]. */
export function transpose<Values extends Float32Array | Int8Array>(
  values: Values,
  rows: number,
  columns: number,
): Values {
  const turned = values.slice() as Values;
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++) turned[column * rows + row] = values[row * columns + column];
  }
  return turned;
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
