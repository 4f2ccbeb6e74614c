/**
 * What an ONNX model says of itself: metadata, names, types and shapes of inputs and outputs, and the size of its weights.
 * onnxruntime-node does not expose `metadata_props`.
 */
import {
  EXTERNAL_DATA,
  type GraphMessage,
  type ReadModel,
  type TensorMessage,
  type ValueInfoMessage,
} from './onnx-messages.js';
import { TensorType } from './tensor-type.js';

export interface TensorDescription {
  readonly name: string;
  /** TensorProto.DataType; 0 if the file does not say. */
  readonly elementType: number;
  /** −1 for an open dimension (the batch). */
  readonly shape: readonly number[];
}

export interface OnnxHeader {
  readonly metadata: ReadonlyMap<string, string>;
  /** Inputs that are not weights. */
  readonly inputs: readonly TensorDescription[];
  readonly outputs: readonly TensorDescription[];
  /** Element type of weights (TensorProto.DataType; unsigned bytes count as signed ones) → total size in bytes. */
  readonly bytesByType: ReadonlyMap<number, number>;
}

export function describeHeader({ metadataProps, graph }: ReadModel): OnnxHeader {
  const weights = listGraphs(graph).flatMap(({ initializer = [] }) => initializer);
  const bytesByType = new Map<number, number>();
  for (const weight of weights) {
    const type = weight.dataType === TensorType.UINT8 ? TensorType.INT8 : (weight.dataType ?? 0);
    bytesByType.set(type, (bytesByType.get(type) ?? 0) + countBytes(weight));
  }
  return {
    metadata: new Map((metadataProps ?? []).map(({ key, value }) => [key, value])),
    inputs: listInputs(graph).map(describeTensor),
    outputs: (graph.output ?? []).map(describeTensor),
    bytesByType,
  };
}

/** A graph and the graphs of its branches, which may have weights of their own. */
export function listGraphs(graph: GraphMessage): GraphMessage[] {
  const found = [graph];
  for (const { node = [] } of found) {
    for (const { g, graphs = [] } of node.flatMap(({ attribute = [] }) => attribute))
      for (const branch of [g ?? [], graphs].flat()) found.push(branch);
  }
  return found;
}

/** Old models list their weights as inputs too. A weight of a branch hides no input of the model. */
function listInputs(graph: GraphMessage): ValueInfoMessage[] {
  const weights = new Set(graph.initializer?.map(({ name }) => name));
  return (graph.input ?? []).filter(({ name }) => !weights.has(name));
}

/** Packed numbers and raw bytes of a tensor. */
export function listData(tensor: TensorMessage): readonly Uint8Array[] {
  const { floatData, int32Data, stringData, int64Data, doubleData, uint64Data, rawData } = tensor;
  const lists = [floatData, int32Data, stringData, int64Data, doubleData, uint64Data];
  return [...lists.flatMap((list) => list ?? []), ...(rawData ? [rawData] : [])];
}

export function countBytes(tensor: TensorMessage): number {
  const length = tensor.externalData?.find(({ key }) => key === 'length')?.value;
  return listData(tensor).reduce((sum, data) => sum + data.length, Number(length ?? 0) || 0);
}

export function isExternal({ dataLocation, externalData }: TensorMessage): boolean {
  return dataLocation === EXTERNAL_DATA || (externalData?.length ?? 0) > 0;
}

function describeTensor({ name = '', type }: ValueInfoMessage): TensorDescription {
  const tensor = type?.tensorType;
  const shape = (tensor?.shape?.dim ?? []).map((dimension) =>
    Object.hasOwn(dimension, 'dimValue') ? Number(dimension.dimValue) : -1,
  );
  return { name, elementType: tensor?.elemType ?? 0, shape };
}
