/** The description that `describenet` prints of an ONNX model, alone or inside a network file. */

import { listGraphs, type ReadModel, TensorType } from '../nn/index.js';
import { countValues, hasExternalTensors } from '../onnx/index.js';
import { INFO_KEY } from './lc0-network-info.js';
import { getEnumName, OnnxDataType, type OnnxModelMessage } from './net-schema.js';

export interface DescriptionSection {
  readonly title: string;
  readonly rows: readonly (readonly [label: string, value: string])[];
}

export type Rows = [string, string][];

/** The roles of the tensors of the model inside. */
export function describeOnnxInterface(onnx: OnnxModelMessage): DescriptionSection {
  const rows: Rows = [];
  if (Object.hasOwn(onnx, 'dataType')) rows.push(['Data type', getEnumName(OnnxDataType, onnx.dataType ?? 0)]);
  const names: [string, string | undefined][] = [
    ['Input planes', onnx.inputPlanes],
    ['Output value', onnx.outputValue],
    ['Output WDL', onnx.outputWdl],
    ['Output Policy', onnx.outputPolicy],
    ['Output MLH', onnx.outputMlh],
  ];
  for (const [label, name] of names) if (name) rows.push([label, name]);
  return { title: 'ONNX interface', rows };
}

/** Versions, tensors, metadata and size of the model. */
export function describeOnnxModel(model: ReadModel): DescriptionSection {
  const rows: Rows = [];
  const texts: [string, unknown][] = [
    ['IR version', model.irVersion],
    ['Producer Name', model.producerName],
    ['Producer Version', model.producerVersion],
    ['Domain', model.domain],
    ['Model Version', Object.hasOwn(model, 'modelVersion') ? model.modelVersion : undefined],
    ['Doc String', model.docString],
  ];
  for (const [label, value] of texts) if (value !== undefined && value !== '') rows.push([label, String(value)]);
  for (const [label, infos] of [
    ['Input', model.graph.input],
    ['Output', model.graph.output],
  ] as const) {
    for (const info of infos ?? [])
      rows.push([label, info.docString ? `${info.name} (${info.docString})` : `${info.name}`]);
  }
  for (const { domain, version } of model.opsetImport ?? []) {
    rows.push(['Opset', domain ? `${domain} ${version}` : String(version)]);
  }
  for (const { key, value } of model.metadataProps ?? []) if (key !== INFO_KEY) rows.push([key, value]);
  const parameters = countParameters(model).toLocaleString('en-US');
  const isWhole = !listGraphs(model.graph).some(hasExternalTensors);
  rows.push(['Parameters', isWhole ? parameters : `${parameters}, stored in another file`]);
  return { title: 'ONNX model', rows };
}

/** For each operator, its inputs that are scales and zero points. */
const QUANTISATION_INPUTS: Readonly<Record<string, readonly number[]>> = {
  QuantizeLinear: [1, 2],
  DequantizeLinear: [1, 2],
  QLinearConv: [1, 2, 4, 5, 6, 7],
  QLinearMatMul: [1, 2, 4, 5, 6, 7],
  ConvInteger: [2, 3],
  MatMulInteger: [2, 3],
};
/** For each operator, the input that is a weight even as a 32-bit integer: the bias of a quantised layer. */
const BIAS_INPUTS: Readonly<Record<string, number>> = { DequantizeLinear: 0, QLinearConv: 8 };

/** Counts the weights of a model, those of its branches too. Shapes, index tables, masks and the scales of quantised weights do not count. */
function countParameters(model: ReadModel): number {
  const roundings = new Set<string>();
  const biases = new Set<string>();
  const graphs = listGraphs(model.graph);
  for (const { opType = '', input = [] } of graphs.flatMap(({ node = [] }) => node)) {
    for (const index of QUANTISATION_INPUTS[opType] ?? []) if (input[index]) roundings.add(input[index]);
    const bias = input[BIAS_INPUTS[opType] ?? -1];
    if (bias) biases.add(bias);
  }
  let elements = 0;
  for (const tensor of graphs.flatMap(({ initializer = [] }) => initializer)) {
    const { name = '', dataType } = tensor;
    const isTable = dataType === TensorType.INT64 || dataType === TensorType.BOOL;
    if (isTable || roundings.has(name) || (dataType === TensorType.INT32 && !biases.has(name))) continue;
    elements += countValues(tensor);
  }
  return elements;
}
