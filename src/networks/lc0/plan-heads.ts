/** Plans the heads of a network file, which are chosen by lc0's names. */

import { LC0_POLICY_SIZE } from '../encoding/index.js';
import {
  type Activation,
  CONVOLUTION_POLICY_PLANES,
  type DenseLayer,
  type MovesLeftHead,
  NetworkError,
  type PolicyHead,
  type Reduction,
  type ValueHead,
} from '../onnx/index.js';
import { isPresent, readConvolution, readDense, readDenseWithoutBias } from './layer-encoding.js';
import {
  type ConvBlockMessage,
  type LayerMessage,
  MovesLeftFormat,
  type NetworkFormatMessage,
  PolicyFormat,
  type PolicyHeadMessage,
  ValueFormat,
  type ValueHeadMessage,
  type WeightsMessage,
} from './net-schema.js';
import { type EncoderContext, planEncoder } from './plan-encoders.js';

export interface HeadChoice {
  /** vanilla, optimistic, soft, opponent, or a key of the network's own map. */
  readonly policyHead: string;
  /** winner, q, st, or a key of the network's own map. */
  readonly valueHead: string;
}

export const DEFAULT_HEADS: HeadChoice = { policyHead: 'vanilla', valueHead: 'winner' };

/** The body's output, which the heads read. */
export interface BodyShape {
  /** Channels of a convolutional body, embedding of an attention body. */
  readonly width: number;
  readonly isAttention: boolean;
}

/** The policy heads, by the names that `--policy-head` accepts. */
export function listPolicyHeads(weights: WeightsMessage): Map<string, PolicyHeadMessage> {
  const heads = new Map<string, PolicyHeadMessage>();
  const multi = weights.policyHeads;
  if (!multi) return heads.set('vanilla', weights);
  for (const { key, value } of multi.policyHeadMap ?? []) if (key !== undefined && value) heads.set(key, value);
  if (multi.vanilla) heads.set('vanilla', multi.vanilla);
  if (multi.optimisticSt) heads.set('optimistic', multi.optimisticSt);
  if (multi.soft) heads.set('soft', multi.soft);
  if (multi.opponent) heads.set('opponent', multi.opponent);
  return heads;
}

/** The value heads, by the names that `--value-head` accepts. */
export function listValueHeads(weights: WeightsMessage): Map<string, ValueHeadMessage> {
  const heads = new Map<string, ValueHeadMessage>();
  const multi = weights.valueHeads;
  if (!multi) return heads.set('winner', weights);
  for (const { key, value } of multi.valueHeadMap ?? []) if (key !== undefined && value) heads.set(key, value);
  if (multi.winner) heads.set('winner', multi.winner);
  if (multi.q) heads.set('q', multi.q);
  if (multi.st) heads.set('st', multi.st);
  return heads;
}

function chooseHead<Head>(heads: Map<string, Head>, name: string, what: string): Head {
  const head = heads.get(name);
  if (head === undefined) {
    throw new NetworkError(`it has no ${what} head "${name}"; it has ${[...heads.keys()].join(', ') || 'none'}`);
  }
  return head;
}

/** @param context settings for encoders inside the head */
export function planPolicy(
  weights: WeightsMessage,
  format: NetworkFormatMessage,
  headName: string,
  body: BodyShape,
  activation: Activation,
  context: EncoderContext,
): PolicyHead {
  const head = chooseHead(listPolicyHeads(weights), headName, 'policy');
  const { width } = body;
  if (format.policy === PolicyFormat.POLICY_ATTENTION) {
    // Policy heads of multi-head networks may share one embedding.
    const shared = weights.policyHeads ?? {};
    const embeddingW = [head.ipPolW, shared.ipPolW, weights.ipPolW].find(isPresent);
    const embeddingB = [head.ipPolB, shared.ipPolB, weights.ipPolB].find(isPresent);
    const embedding = readDense(embeddingW, embeddingB, width, 'ip_pol');
    const inner = embedding.outputs;
    const encoders = (head.polEncoder ?? []).map((encoder, index) =>
      planEncoder(encoder, inner, head.polHeadcount ?? 0, context, `pol_encoder[${index}]`),
    );
    const query = readDense(head.ip2PolW, head.ip2PolB, inner, 'ip2_pol');
    const key = readDense(head.ip3PolW, head.ip3PolB, inner, 'ip3_pol');
    if (key.outputs !== query.outputs) throw new NetworkError('its policy queries and keys have different sizes');
    const promotion = readDenseWithoutBias(head.ip4PolW, key.outputs, 'ip4_pol_w');
    if (promotion.outputs !== 4) throw new NetworkError('its promotion layer ip4_pol_w does not have four outputs');
    return { kind: 'attention', embedding, activation, encoders, query, key, promotion };
  }
  if (body.isAttention) throw new NetworkError('it joins an attention body with a policy head that is not attention');
  if (isPresent(head.policy1?.weights)) {
    const first = readConvolution(head.policy1, 3, width, 'policy1');
    const second = readConvolution(head.policy, 3, first.outputs, 'policy');
    if (second.outputs < CONVOLUTION_POLICY_PLANES) {
      throw new NetworkError(`its policy has ${second.outputs} planes where ${CONVOLUTION_POLICY_PLANES} are needed`);
    }
    return { kind: 'convolution', first, second };
  }
  const convolution = readConvolution(head.policy, 1, width, 'policy');
  const dense = readDense(head.ipPolW, head.ipPolB, convolution.outputs * 64, 'ip_pol');
  if (dense.outputs !== LC0_POLICY_SIZE)
    throw new NetworkError(`its policy has ${dense.outputs} outputs, not ${LC0_POLICY_SIZE}`);
  return { kind: 'dense', convolution, dense };
}

function planReduction(
  block: ConvBlockMessage | undefined,
  denseW: LayerMessage | undefined,
  denseB: LayerMessage | undefined,
  body: BodyShape,
  names: { readonly convolution: string; readonly dense: string },
): Reduction {
  if (body.isAttention) return { kind: 'dense', layer: readDense(denseW, denseB, body.width, names.dense) };
  return { kind: 'convolution', layer: readConvolution(block, 1, body.width, names.convolution) };
}

export function planValue(
  weights: WeightsMessage,
  format: NetworkFormatMessage,
  headName: string,
  body: BodyShape,
): ValueHead {
  const head = chooseHead(listValueHeads(weights), headName, 'value');
  const names = { convolution: 'value', dense: 'ip_val' };
  const reduction = planReduction(head.value, head.ipValW, head.ipValB, body, names);
  const hidden = readDense(head.ip1ValW, head.ip1ValB, 64 * reduction.layer.outputs, 'ip1_val');
  const output = readDense(head.ip2ValW, head.ip2ValB, hidden.outputs, 'ip2_val');
  const isWdl = format.value === ValueFormat.VALUE_WDL;
  checkWidth(output, isWdl ? 3 : 1, 'value head');
  return { reduction, hidden, output, isWdl };
}

/** @returns undefined if the network has none */
export function planMovesLeft(
  weights: WeightsMessage,
  format: NetworkFormatMessage,
  body: BodyShape,
): MovesLeftHead | undefined {
  if (format.movesLeft !== MovesLeftFormat.MOVES_LEFT_V1) return undefined;
  const names = { convolution: 'moves_left', dense: 'ip_mov' };
  const reduction = planReduction(weights.movesLeft, weights.ipMovW, weights.ipMovB, body, names);
  const hidden = readDense(weights.ip1MovW, weights.ip1MovB, 64 * reduction.layer.outputs, 'ip1_mov');
  const output = readDense(weights.ip2MovW, weights.ip2MovB, hidden.outputs, 'ip2_mov');
  checkWidth(output, 1, 'moves-left head');
  return { reduction, hidden, output };
}

function checkWidth(layer: DenseLayer, width: number, what: string): void {
  if (layer.outputs !== width)
    throw new NetworkError(`its ${what} has ${layer.outputs} outputs where ${width} are needed`);
}
