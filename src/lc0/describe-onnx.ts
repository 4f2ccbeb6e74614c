/** What `describenet` tells of an ONNX model, alone or inside a network file. */
import type { DescriptionSection } from './describe.js';
import { getEnumName, OnnxDataType } from './net-enums.js';
import type { OnnxModelMessage } from './net-schema.js';
import { INFO_KEY } from './network-info.js';
import { type ModelMessage, TensorType } from './onnx-schema.js';

type Rows = [string, string][];

/** Which tensors of the model inside are what. */
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

/** The model itself: versions, tensors, metadata, size. */
export function describeOnnxModel(model: ModelMessage): DescriptionSection {
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
    ['Input', model.graph?.input],
    ['Output', model.graph?.output],
  ] as const) {
    for (const info of infos ?? [])
      rows.push([label, info.docString ? `${info.name} (${info.docString})` : `${info.name}`]);
  }
  for (const { domain, version } of model.opsetImport ?? []) {
    rows.push(['Opset', domain ? `${domain} ${version}` : String(version)]);
  }
  for (const { key, value } of model.metadataProps ?? []) if (key !== INFO_KEY) rows.push([key, value]);
  rows.push(['Parameters', countElements(model).toLocaleString('en-US')]);
  return { title: 'ONNX model', rows };
}

/** Numbers in the tensors of a model that hold weights; shapes and index tables, which are integers of 32 or 64 bits, do not. */
function countElements(model: ModelMessage): number {
  let elements = 0;
  for (const { dims, dataType } of model.graph?.initializer ?? []) {
    if (dataType === TensorType.INT32 || dataType === TensorType.INT64) continue;
    elements += (dims ?? []).reduce<number>((product, size) => product * Number(size), 1);
  }
  return elements;
}
