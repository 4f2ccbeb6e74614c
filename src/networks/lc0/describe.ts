/**
 * The description that `describenet` prints of a network file: lc0's sections and lines, then the size of the network.
 */

import type { Result } from '../../base/util/index.js';
import { decodeModel } from '../nn/index.js';
import { type FileSource, NetworkError, readInflated } from '../onnx/index.js';
import { hasNetworkHead, parseNet } from './container.js';
import { type DescriptionSection, describeOnnxInterface, describeOnnxModel, type Rows } from './describe-onnx.js';
import {
  ActivationFunction,
  DefaultActivation,
  type EncoderLayerMessage,
  getEnumName,
  InputEmbedding,
  InputFormat,
  MovesLeftFormat,
  type NetMessage,
  type NetworkFormatMessage,
  NetworkStructure,
  PolicyFormat,
  ValueFormat,
  WeightsEncoding,
  type WeightsMessage,
} from './net-schema.js';
import { countFlops, countParameters, countWeights } from './network-size.js';
import { DEFAULT_HEADS, listPolicyHeads, listValueHeads } from './plan-heads.js';
import { planNetwork } from './plan-network.js';
import { attempt } from './repair-format.js';

/** lc0's sections in lc0's order (General, Format, Training Parameters, Weights, ONNX interface, ONNX model), then Size. */
type NetworkDescription = readonly DescriptionSection[];

/** Describes an lc0 network file, with its default heads, or a bare ONNX file. The error is a whole sentence that names the file. */
export function describeNetworkFile(source: FileSource): Promise<Result<NetworkDescription>> {
  return attempt('describe', source, 'the network', async () => {
    const bytes = await readInflated(source);
    if (!hasNetworkHead(bytes)) {
      const model = decodeModel(bytes);
      if (model) return [describeOnnxModel(model)];
      if (typeof source === 'string' && /\.onnx(\.gz)?$/i.test(source)) {
        throw new NetworkError('it is not an ONNX model, or is cut short');
      }
    }
    return describeNet(parseNet(bytes));
  });
}

/** lc0's layout: underlined titles, labels aligned right in 28 columns. */
export function formatDescription(description: NetworkDescription): string {
  const lines: string[] = [];
  for (const { title, rows } of description) {
    lines.push('', title, '~'.repeat(title.length));
    for (const [label, value] of rows) lines.push(`${label.padStart(28)}: ${value}`);
  }
  return `${lines.join('\n')}\n`;
}

function describeNet(net: NetMessage): NetworkDescription {
  const version = net.minVersion;
  const sections: DescriptionSection[] = [
    {
      title: 'General',
      rows: [['Minimal Lc0 version', `v${version?.major ?? 0}.${version?.minor ?? 0}.${version?.patch ?? 0}`]],
    },
    { title: 'Format', rows: describeFormat(net) },
  ];
  if (net.trainingParams) sections.push({ title: 'Training Parameters', rows: describeTraining(net) });
  if (net.weights) {
    sections.push({ title: 'Weights', rows: describeWeights(net, net.weights) });
    sections.push({ title: 'Size', rows: describeSize(net, net.weights) });
  }
  if (net.onnxModel) {
    sections.push(describeOnnxInterface(net.onnxModel));
    const model = net.onnxModel.model ? decodeModel(net.onnxModel.model) : undefined;
    if (model) sections.push(describeOnnxModel(model));
  }
  return sections;
}

function describeFormat(net: NetMessage): Rows {
  const rows: Rows = [];
  const format = net.format ?? {};
  if (Object.hasOwn(format, 'weightsEncoding')) {
    rows.push(['Weights encoding', getEnumName(WeightsEncoding, format.weightsEncoding ?? 0)]);
  }
  const fields: [string, keyof NetworkFormatMessage, Readonly<Record<string, number>>][] = [
    ['Input', 'input', InputFormat],
    ['Network', 'network', NetworkStructure],
    ['Policy', 'policy', PolicyFormat],
    ['Value', 'value', ValueFormat],
    ['MLH', 'movesLeft', MovesLeftFormat],
    ['Default activation', 'defaultActivation', DefaultActivation],
    ['Smolgen activation', 'smolgenActivation', ActivationFunction],
    ['FFN activation', 'ffnActivation', ActivationFunction],
    ['Input embedding', 'inputEmbedding', InputEmbedding],
  ];
  const networkFormat = format.networkFormat ?? {};
  for (const [label, key, table] of fields) {
    if (Object.hasOwn(networkFormat, key)) rows.push([label, getEnumName(table, networkFormat[key] ?? 0)]);
  }
  return rows;
}

function describeTraining(net: NetMessage): Rows {
  const training = net.trainingParams ?? {};
  const rows: Rows = [];
  const add = (label: string, key: keyof typeof training): void => {
    const value = training[key];
    if (!Object.hasOwn(training, key) || value === undefined) return;
    rows.push([label, typeof value === 'number' ? formatNumber(value) : value]);
  };
  add('Training steps', 'trainingSteps');
  add('Learning rate', 'learningRate');
  add('MSE loss', 'mseLoss');
  add('Policy loss', 'policyLoss');
  add('Accuracy', 'accuracy');
  add('Lc0 Params', 'lc0Params');
  return rows;
}

/** Six significant digits, as C++ streams print a float. */
function formatNumber(value: number): string {
  return Number.isInteger(value) ? String(value) : String(Number(value.toPrecision(6)));
}

function describeWeights(net: NetMessage, weights: WeightsMessage): Rows {
  const format = net.format?.networkFormat ?? {};
  const rows: Rows = [];
  const add = (label: string, value: string | number): void => void rows.push([label, String(value)]);
  const encoders = weights.encoder ?? [];
  const blocks = weights.residual ?? [];
  if (encoders.length > 0) {
    add('Encoders', encoders.length);
    add('Encoder heads', weights.headcount ?? 0);
    add('Embedding size', countWeights(weights.ipEmbB));
    add('Dmodel', countWeights(encoders[0].mha?.qB));
    add('Encoder DFF', countWeights(encoders[0].ffn?.dense1B));
  }
  if (encoders.length === 0 || blocks.length > 0) {
    add('Blocks', blocks.length);
    const seBlocks = blocks.filter((block) => block.se).length;
    if (seBlocks > 0) add('SE blocks', seBlocks);
    add('Filters', Math.floor(countWeights(weights.input?.weights) / 112 / 9));
  }
  const policyHeads = listPolicyHeads(weights);
  const head = policyHeads.get(DEFAULT_HEADS.policyHead) ?? weights;
  const defaultName = getEnumName(ActivationFunction, ActivationFunction.ACTIVATION_DEFAULT);
  if (format.policy === PolicyFormat.POLICY_ATTENTION) {
    // Attention policies on convolutional bodies use SELU, whatever the format says (lc0 hard-codes it).
    const selu = encoders.length === 0 ? ActivationFunction.ACTIVATION_SELU : undefined;
    add('Policy', 'Attention');
    add('Policy activation', selu === undefined ? defaultName : getEnumName(ActivationFunction, selu));
    const policyEncoders: EncoderLayerMessage[] = head.polEncoder ?? [];
    if (policyEncoders.length > 0) {
      add('Policy encoders', policyEncoders.length);
      add('Policy encoder heads', head.polHeadcount ?? 0);
      add('Policy encoder Dmodel', countWeights(policyEncoders[0].mha?.qB));
      add('Policy encoder DFF', countWeights(policyEncoders[0].ffn?.dense1B));
      add('Policy FFN activation', getEnumName(ActivationFunction, selu ?? format.ffnActivation ?? 0));
    }
    add('Policy Dmodel', countWeights(head.ip2PolB));
  } else {
    add('Policy', head.policy1 ? 'Convolution' : 'Dense');
    add('Policy activation', defaultName);
    if (!head.policy1) add('Policy channels', countWeights(head.policy?.biases) || countWeights(head.policy?.bnMeans));
  }
  if (policyHeads.size > 1) add('Policy heads', [...policyHeads.keys()].join(', '));
  const valueHeads = listValueHeads(weights);
  const valueHead = valueHeads.get(DEFAULT_HEADS.valueHead) ?? weights;
  add('Value', countWeights(valueHead.ip2ValW) % 3 === 0 ? 'WDL' : 'Classical');
  if (valueHeads.size > 1) add('Value heads', [...valueHeads.keys()].join(', '));
  add('MLH', weights.ip2MovW ? 'Present' : 'Absent');
  return rows;
}

function describeSize(net: NetMessage, weights: WeightsMessage): Rows {
  const rows: Rows = [['Parameters', countParameters(weights).toLocaleString('en-US')]];
  try {
    rows.push(['FLOPs per evaluation', countFlops(planNetwork(net, DEFAULT_HEADS)).toLocaleString('en-US')]);
  } catch (error) {
    if (!(error instanceof NetworkError)) throw error;
    rows.push(['Cannot be run', error.message]);
  }
  return rows;
}
