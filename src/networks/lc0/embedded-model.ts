/**
 * Network files that hold an ONNX model (lc0's NETWORK_ONNX). The model is kept. Its outputs get the names and types of converted
 * networks, and metadata that say what they mean. Only lc0's file names their roles: without it, nothing tells a moves-left
 * output called "Identity:3" from a value.
 */

import { LC0_POLICY_SIZE } from '../encoding/index.js';
import {
  decodeModel,
  encodeModel,
  type GraphMessage,
  LC0_TENSOR_NAMES,
  TensorType,
  type ValueInfoMessage,
} from '../nn/index.js';
import {
  addAlias,
  findInput,
  findOutput,
  hasExternalTensors,
  insertBeforeOutput,
  insertBehindInput,
  NetworkError,
} from '../onnx/index.js';
import { formatMetadata, type Lc0NetworkInfo } from './lc0-network-info.js';
import type { NetMessage } from './net-schema.js';

/** @throws NetworkError */
export function adaptEmbeddedModel(net: NetMessage, info: Lc0NetworkInfo): Uint8Array {
  const onnx = net.onnxModel ?? {};
  const model = onnx.model ? decodeModel(onnx.model) : undefined;
  if (!model) throw new NetworkError('the ONNX model inside is damaged');
  const { graph } = model;
  if (hasExternalTensors(graph)) throw new NetworkError('the ONNX model inside keeps its weights in another file');
  if (!onnx.inputPlanes || !onnx.outputPolicy || !(onnx.outputWdl || onnx.outputValue)) {
    throw new NetworkError('it does not say which tensors of its ONNX model are planes, policy and value');
  }
  makeInputFloat(graph, onnx.inputPlanes);
  const outputs = [makeOutput(graph, onnx.outputPolicy, LC0_TENSOR_NAMES.policy, LC0_POLICY_SIZE)];
  if (onnx.outputWdl) outputs.push(makeOutput(graph, onnx.outputWdl, LC0_TENSOR_NAMES.wdl, 3));
  else if (onnx.outputValue) outputs.push(makeOutput(graph, onnx.outputValue, LC0_TENSOR_NAMES.value, 1));
  if (info.hasMovesLeft && onnx.outputMlh) {
    outputs.push(makeOutput(graph, onnx.outputMlh, LC0_TENSOR_NAMES.movesLeft, 1));
  }
  graph.output = outputs;
  model.metadataProps = [
    ...(model.metadataProps ?? []).filter(({ key }) => !key.startsWith('sardonyx.')),
    ...Object.entries(formatMetadata(info, !!onnx.outputWdl)).map(([key, value]) => ({ key, value })),
  ];
  return encodeModel(model);
}

function makeInputFloat(graph: GraphMessage, name: string): void {
  const input = findInput(graph, name);
  const tensor = input.type?.tensorType;
  const elementType = tensor?.elemType ?? TensorType.FLOAT;
  if (elementType === TensorType.FLOAT) return;
  insertBehindInput(graph, name, { opType: 'Cast', suffix: 'typed', attributes: { to: elementType } });
  input.type = { tensorType: { ...tensor, elemType: TensorType.FLOAT } };
}

/** @returns a float32 output with the new name; adds a node that leads to it where needed */
function makeOutput(graph: GraphMessage, name: string, newName: string, width: number): ValueInfoMessage {
  const output = findOutput(graph, name);
  const tensor = output.type?.tensorType;
  const cast = { opType: 'Cast', suffix: 'typed', attributes: { to: TensorType.FLOAT } };
  if (name !== newName) addAlias(graph, name, newName, cast);
  else if (tensor?.elemType !== TensorType.FLOAT) insertBeforeOutput(graph, name, cast);
  const batch = tensor?.shape?.dim?.[0] ?? { dimParam: 'batch' };
  const shape = { dim: [batch, { dimValue: width }] };
  return { name: newName, type: { tensorType: { elemType: TensorType.FLOAT, shape } } };
}
