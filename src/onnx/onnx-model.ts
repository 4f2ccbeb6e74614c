/**
 * Reads existing ONNX models without copying their weights, and writes them again after small changes. Parts that this room's
 * schema does not know (subgraphs, functions) are kept as they are.
 */
import { EXTERNAL_DATA, type GraphMessage, type ModelMessage, modelType, type TensorMessage } from './onnx-schema.js';
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
