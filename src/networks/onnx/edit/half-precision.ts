/**
 * Converts an ONNX network from single to half precision, for devices that compute it twice as fast. Inputs and outputs stay
 * single, with casts inside, so callers see no difference. Layer norms also stay single. Networks with quantised layers, with bodies
 * for phases of the game, with halves already, or with anything that this room cannot read, are not converted: a slower network is better than a wrong one.
 */

import { encodeFloat16, FLOAT16_LARGEST } from '../../../base/util/index.js';
import {
  decodeModel,
  encodeModel,
  type GraphMessage,
  type NodeMessage,
  type TensorMessage,
  TensorType,
} from '../../nn/index.js';
import { countValues, listTensors } from '../onnx-model.js';
import { insertBeforeOutput, insertBehindInput } from './graph-edit.js';
import { findNorms, insertCasts, separateConstants } from './layer-norms.js';

/**
 * Models with these operators are not converted: quantised ones have scales in single precision; the others contain numbers or
 * graphs that this file does not read.
 */
const UNTOUCHABLE =
  /Quantize|QLinear|Integer|^(If|Loop|Scan|Resize|Range|RandomNormal.*|RandomUniform.*|EyeLike|Multinomial)$/;

/** @returns null if the model cannot be converted, or need not be */
export function halveModel(bytes: Uint8Array): Uint8Array | null {
  const model = decodeModel(bytes);
  if (model === undefined || !isHalvable(model.graph)) return null;
  const { graph } = model;
  const norms = findNorms(graph);
  const single = separateConstants(graph, norms);
  for (const tensor of listTensors(graph)) if (!single.has(tensor)) halveTensor(tensor);
  for (const node of graph.node ?? []) if (node.opType === 'Cast') redirectCast(node);
  if (norms.size > 0) insertCasts(graph, norms);
  const inputs = (graph.input ?? []).filter(isSingle).map(({ name }) => name ?? '');
  const outputs = (graph.output ?? []).filter(isSingle).map(({ name }) => name ?? '');
  for (const name of inputs) {
    insertBehindInput(graph, name, { opType: 'Cast', attributes: { to: TensorType.FLOAT16 }, suffix: 'half' });
  }
  for (const name of outputs) {
    insertBeforeOutput(graph, name, { opType: 'Cast', attributes: { to: TensorType.FLOAT }, suffix: 'half' });
  }
  // The types of inner tensors have changed; onnxruntime infers them again.
  graph.valueInfo = [];
  return encodeModel(model);
}

function isHalvable(graph: GraphMessage): boolean {
  const nodes = graph.node ?? [];
  const weights = new Set((graph.initializer ?? []).map(({ name }) => name));
  return (
    (graph.initializer ?? []).some(({ dataType }) => dataType === TensorType.FLOAT) &&
    nodes.every(({ opType = '', domain = '' }) => domain === '' && !UNTOUCHABLE.test(opType)) &&
    // An input that is also an initializer is a default value; we leave such a graph alone.
    (graph.input ?? []).every(({ name }) => !weights.has(name)) &&
    // If a graph has half-precision tensors already, the others are single precision on purpose: their squares would overflow.
    listTensors(graph).every((tensor) => tensor.dataType !== TensorType.FLOAT16 && isReadable(tensor)) &&
    nodes.every(({ opType, attribute }) => opType !== 'Constant' || (attribute ?? []).every(({ t }) => t !== undefined))
  );
}

/** Whether its numbers are in rawData, not in a field of their own or in another file. */
function isReadable(tensor: TensorMessage): boolean {
  if (tensor.dataType !== TensorType.FLOAT) return tensor.dataType !== TensorType.BFLOAT16;
  return (tensor.rawData?.length ?? 0) === 4 * countValues(tensor);
}

function halveTensor(tensor: TensorMessage): void {
  const { dataType, rawData } = tensor;
  if (dataType !== TensorType.FLOAT || rawData === undefined) return;
  const single = new DataView(rawData.buffer, rawData.byteOffset, rawData.byteLength);
  const half = new Uint8Array(rawData.length / 2);
  const view = new DataView(half.buffer);
  for (let i = 0; i < half.length; i += 2)
    view.setUint16(i, encodeFloat16(single.getFloat32(2 * i, true), FLOAT16_LARGEST), true);
  tensor.rawData = half;
  tensor.dataType = TensorType.FLOAT16;
}

function redirectCast(node: NodeMessage): void {
  for (const attribute of node.attribute ?? []) {
    if (attribute.name === 'to' && Number(attribute.i) === TensorType.FLOAT) attribute.i = TensorType.FLOAT16;
  }
}

function isSingle(info: { type?: { tensorType?: { elemType?: number } } }): boolean {
  return info.type?.tensorType?.elemType === TensorType.FLOAT;
}
