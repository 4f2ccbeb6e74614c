/**
 * Existing ONNX models: read without copying their weights, changed a little, and written again. What this room's
 * schema does not know (subgraphs, functions) is kept as it was.
 */
import protobuf from 'protobufjs/light.js';
import { EXTERNAL_DATA, type GraphMessage, type ModelMessage, modelType, type TensorMessage } from './onnx-schema.js';
import { scanStructure } from './structure-scan.js';

/** Enough for graphs of some ten thousand nodes; at worst they decode to some hundred megabytes. */
const MAX_FIELDS = 500_000;

/** undefined when the bytes are no ONNX model. */
export function decodeModel(bytes: Uint8Array): ModelMessage | undefined {
  if (scanStructure(bytes, modelType, MAX_FIELDS) !== undefined) return undefined;
  try {
    const reader = protobuf.Reader.create(bytes);
    reader.discardUnknown = false;
    const model = modelType.decode(reader) as unknown as ModelMessage;
    const isModel = Object.hasOwn(model, 'irVersion') && (model.graph?.node?.length ?? 0) > 0;
    return isModel ? model : undefined;
  } catch {
    return undefined;
  }
}

export function encodeModel(model: ModelMessage): Uint8Array {
  return viewBytes(modelType.encode(model as protobuf.Message).finish());
}

/** Weights and constants. */
export function listTensors(graph: GraphMessage): TensorMessage[] {
  const constants = (graph.node ?? []).flatMap(({ attribute }) => (attribute ?? []).flatMap(({ t }) => t ?? []));
  return [...(graph.initializer ?? []), ...constants];
}

/** Whether the model is not whole: some of its tensors lie in another file. */
export function hasExternalTensors(graph: GraphMessage): boolean {
  return listTensors(graph).some((tensor) => tensor.dataLocation === EXTERNAL_DATA);
}

/** protobufjs gives Buffers; this room gives plain arrays. */
export function viewBytes(bytes: Uint8Array): Uint8Array {
  return new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
