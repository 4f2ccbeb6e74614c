/**
 * Reads existing ONNX models without copying their weights, and writes them again after small changes. Parts that this room's
 * schema does not know (subgraphs, functions) are kept as they are.
 */

import { decodeFloat16, encodeFloat16, FLOAT16_LARGEST } from '../util/index.js';
import {
  type AttributeMessage,
  EXTERNAL_DATA,
  type GraphMessage,
  type ModelMessage,
  modelType,
  type NodeMessage,
  type TensorMessage,
} from './onnx-schema.js';
import { scanStructure } from './protobuf-messages.js';

/** Enough for graphs of some ten thousand nodes. Such a graph decodes to a few hundred megabytes at most. */
const MAX_FIELDS = 500_000;

/** @returns undefined if the bytes are not an ONNX model */
export function decodeModel(bytes: Uint8Array): ModelMessage | undefined {
  if (scanStructure(bytes, modelType, MAX_FIELDS) !== undefined) return undefined;
  try {
    const model = modelType.decode(bytes, true) as ModelMessage;
    const isModel = Object.hasOwn(model, 'irVersion') && (model.graph?.node?.length ?? 0) > 0;
    return isModel ? model : undefined;
  } catch {
    return undefined;
  }
}

export function encodeModel(model: ModelMessage): Uint8Array {
  return viewBytes(modelType.encode(model));
}

/** Weights and constants. */
export function listTensors(graph: GraphMessage): TensorMessage[] {
  const constants = (graph.node ?? []).flatMap(({ attribute }) => (attribute ?? []).flatMap(({ t }) => t ?? []));
  return [...(graph.initializer ?? []), ...constants];
}

/** Whether some of the model's tensors are in another file. */
export function hasExternalTensors(graph: GraphMessage): boolean {
  return listTensors(graph).some((tensor) => tensor.dataLocation === EXTERNAL_DATA);
}

/** protobufjs returns Buffers; this room uses plain arrays. */
export function viewBytes(bytes: Uint8Array): Uint8Array {
  return new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);
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
