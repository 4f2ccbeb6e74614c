/**
 * What the toolkit looks up in a decoded ONNX model: `GraphIndex` finds who makes and who uses a tensor. Also here:
 * the 16-bit formats of weights.
 */
import { decodeFloat16, encodeFloat16, FLOAT16_LARGEST } from '../../base/util/index.js';
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

// Finds the node that makes a tensor, the nodes that use it, and constants. The index reflects the graph at the time it was
// created; it does not see later edits.

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

// The 16-bit formats of stored weights: bfloat16, and half precision (util) with the rounding that weights need.

const float32 = new Float32Array(1);
const bits32 = new Uint32Array(float32.buffer);

/** Half precision. Values that are too large become the largest finite one, because a weight must stay a number. */
export function encodeHalfWeight(value: number): number {
  return encodeFloat16(value, FLOAT16_LARGEST);
}

/** Round to nearest, ties to even. */
export function encodeBfloat16(value: number): number {
  if (Number.isNaN(value)) return 0x7fc0;
  float32[0] = value;
  const bits = bits32[0];
  return (bits + 0x7fff + ((bits >>> 16) & 1)) >>> 16;
}

let float16Table: Float32Array | undefined;

/** All 65,536 binary16 values, created once, for decoding whole layers. */
export function getFloat16Table(): Float32Array {
  if (float16Table === undefined) {
    float16Table = new Float32Array(65536);
    for (let half = 0; half < 65536; half++) float16Table[half] = decodeFloat16(half);
  }
  return float16Table;
}
