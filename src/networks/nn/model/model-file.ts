/** Reads a model and finds the meaning of its tensors. Errors are one sentence for the user. */
import { getFileName } from '#platform/files.js';
import { failure, inflate, type Result, success, toOneLine } from '../../../base/util/index.js';
import type { OnnxPlan } from '../backend/backend-plan.js';
import { type NetworkFormat, recogniseNetwork } from './network-format.js';
import { describeHeader, listData, listGraphs, type OnnxHeader } from './onnx-header.js';
import { findRefusal } from './onnx-limits.js';
import { parseOnnxModel, type ReadModel } from './onnx-messages.js';
import { TensorType } from './tensor-type.js';

/** An ONNX model, and what is known of the file from which it comes. */
export interface ModelSource {
  readonly bytes: Uint8Array;
  /** The file's path or name, for messages. */
  readonly name: string;
  /** Set if the weights may be in a file of this folder, which threads map instead of copying. */
  readonly weightsFolder?: string | undefined;
  readonly fileSha256?: string | undefined;
  /** The model's operators and sizes have been checked, or are of the program's own making. */
  readonly isChecked?: true;
  /** Not one of the program's own networks. */
  readonly isForeign?: boolean | undefined;
}

/** What is known of a model, as data that can be posted to another thread. */
export interface ModelFacts {
  /** The path as the user wrote it. */
  readonly path: string;
  /** The file's name without folders. */
  readonly fileName: string;
  readonly bytes: Uint8Array;
  readonly weightsFolder: string | undefined;
  /** SHA-256 of its file, in hexadecimal; null if not computed. */
  readonly fileSha256: string | null;
  /** Not one of the program's own networks: the sizes of its tensors are checked before it runs. */
  readonly isForeign: boolean;
  readonly header: OnnxHeader;
  /** Precision of its weights. */
  readonly precision: 'fp32' | 'fp16' | 'int8';
  /**
   * Whether the weights may have full 8 bits. Then the sum of two products can exceed the 16 bits in which CPUs without VNNI
   * add them. Our own export uses 7 bits and says so (`sardonyx.precision`).
   */
  readonly needsWideSums: boolean;
  /** `sardonyx.name` or the file's name without its extension. */
  readonly title: string;
}

export interface Model extends ModelFacts {
  readonly format: NetworkFormat;
}

/** The source may be gzipped; the model's bytes are not. */
export async function loadModel(source: ModelSource): Promise<Result<Model>> {
  const { name: path, weightsFolder, fileSha256 = null, isForeign = false } = source;
  const inflated = await inflate(source.bytes);
  if (!inflated.ok) return failure(`Cannot read the network ${path}: ${inflated.error}`);
  const bytes = inflated.value;
  const model = parseOnnxModel(bytes);
  if (!model.ok) return failure(`The network ${path} ${model.error}`);
  const refusal = source.isChecked ? null : findRefusal(model.value, weightsFolder !== undefined);
  if (refusal !== null) return failure(`The network ${path} ${refusal}`);
  const header = describeHeader(model.value);
  const format = recogniseNetwork(header);
  if (!format.ok) return failure(`The network ${path} ${format.error}`);
  const { metadata } = header;
  const precision = findPrecision(header);
  const fileName = getFileName(path);
  return success({
    path,
    fileName,
    bytes: dropTinyWeights(bytes, model.value),
    weightsFolder,
    fileSha256,
    isForeign,
    header,
    format: format.value,
    precision,
    needsWideSums: precision === 'int8' && metadata.get('sardonyx.precision') !== 'int8',
    title: toOneLine(metadata.get('sardonyx.name') ?? fileName.replace(/\.onnx(\.gz)?$/i, '')),
  });
}

/** The byte with the sign and most of the exponent; without its sign it is less than this in numbers below 2^-101. */
const LEAST_HIGH_BYTE = 13;

/**
 * Weights below 2^-101 become 0, in a copy of the bytes. Decay leaves such weights where nothing is learnt, as for moves that no piece
 * has. They and their products are subnormal numbers, with which a CPU computes slowly: a network had an eighth of its nodes/s.
 */
function dropTinyWeights(bytes: Uint8Array, { graph }: ReadModel): Uint8Array {
  let changed = bytes;
  const tensors = listGraphs(graph).flatMap(({ initializer = [] }) => initializer);
  for (const data of tensors.filter(({ dataType }) => dataType === TensorType.FLOAT).flatMap(listData)) {
    const start = data.byteOffset - bytes.byteOffset;
    for (let at = 0; at + 3 < data.length; at += 4) {
      const high = data[at + 3] & 0x7f;
      if (high >= LEAST_HIGH_BYTE || (high | data[at + 2] | data[at + 1] | data[at]) === 0) continue;
      if (changed === bytes) changed = bytes.slice();
      changed.fill(0, start + at, start + at + 4);
    }
  }
  return changed;
}

/** @returns null if it is not an ONNX model */
export function readPrecision(bytes: Uint8Array): Model['precision'] | null {
  const model = parseOnnxModel(bytes);
  return model.ok ? findPrecision(describeHeader(model.value)) : null;
}

/** The precision of most weights, if the metadata do not say: an int8 network has heads in fp32, a half one may have layers in fp32. */
function findPrecision({ bytesByType, metadata }: Pick<OnnxHeader, 'bytesByType' | 'metadata'>): Model['precision'] {
  if (metadata.get('sardonyx.precision') === 'int8') return 'int8';
  const countOf = (type: number, bytesEach: number): number => (bytesByType.get(type) ?? 0) / bytesEach;
  const [int8, half, float] = [
    countOf(TensorType.INT8, 1),
    countOf(TensorType.FLOAT16, 2),
    countOf(TensorType.FLOAT, 4),
  ];
  if (int8 > Math.max(half, float)) return 'int8';
  return half > float ? 'fp16' : 'fp32';
}

/** What decides the form of a network: devices may want half precision, and the CPU has a form of its own. */
export type ModelEdition = Pick<OnnxPlan, 'provider' | 'precision'>;
export type ModelFinder = (edition: ModelEdition) => Promise<Result<ModelSource>>;

/** Loads a source, or asks a finder for the source that suits the edition. */
export async function loadEdition(wanted: ModelSource | ModelFinder, edition: ModelEdition): Promise<Result<Model>> {
  const source = typeof wanted === 'function' ? await wanted(edition) : success(wanted);
  return source.ok ? loadModel(source.value) : source;
}
