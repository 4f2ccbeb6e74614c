/** Facts of an lc0 network for the rest of the program. The converted model stores them. */
import type { NetworkPlan } from '../onnx/index.js';
import {
  getEnumName,
  InputFormat,
  MovesLeftFormat,
  type NetMessage,
  NetworkStructure,
  PolicyFormat,
  ValueFormat,
} from './net-schema.js';
import { countFlops, countParameters } from './network-size.js';
import { type HeadChoice, listPolicyHeads, listValueHeads } from './plan-heads.js';

export interface Lc0NetworkInfo {
  /** Names of lc0's enums. */
  readonly structure: string;
  readonly inputFormat: string;
  readonly policyFormat: string;
  readonly valueFormat: string;
  readonly hasMovesLeft: boolean;
  readonly policyHead: string;
  readonly valueHead: string;
  /** Names of the heads that can be chosen. */
  readonly policyHeads: readonly string[];
  readonly valueHeads: readonly string[];
  /** null if the file holds an ONNX model. */
  readonly parameters: number | null;
  readonly flopsPerEvaluation: number | null;
  readonly trainingSteps: number | null;
  readonly licence: string;
}

/** @param plan undefined if the file holds an ONNX model */
export function collectInfo(net: NetMessage, plan: NetworkPlan | undefined, heads: HeadChoice): Lc0NetworkInfo {
  const format = net.format?.networkFormat ?? {};
  const { weights } = net;
  return {
    structure: getEnumName(NetworkStructure, format.network ?? 0),
    inputFormat: getEnumName(InputFormat, format.input ?? 0),
    policyFormat: getEnumName(PolicyFormat, format.policy ?? 0),
    valueFormat: getEnumName(ValueFormat, format.value ?? 0),
    hasMovesLeft: format.movesLeft === MovesLeftFormat.MOVES_LEFT_V1,
    policyHead: heads.policyHead,
    valueHead: heads.valueHead,
    policyHeads: weights ? [...listPolicyHeads(weights).keys()] : ['vanilla'],
    valueHeads: weights ? [...listValueHeads(weights).keys()] : ['winner'],
    parameters: weights && plan ? countParameters(weights) : null,
    flopsPerEvaluation: plan ? countFlops(plan) : null,
    trainingSteps: net.trainingParams?.trainingSteps ?? null,
    licence: net.license ?? '',
  };
}

/** Metadata entry with all of `Lc0NetworkInfo`, as JSON. */
export const INFO_KEY = 'sardonyx.lc0';

/** Metadata that say what the model's tensors mean (docs/networks.md). */
export function formatMetadata(info: Lc0NetworkInfo, isWdl: boolean): Record<string, string> {
  return {
    'sardonyx.input': info.inputFormat === 'INPUT_CLASSICAL_112_PLANE' ? 'lc0-112' : info.inputFormat,
    'sardonyx.policy': 'lc0-1858',
    'sardonyx.value': isWdl ? 'wdl' : 'scalar',
    'sardonyx.value.activation': isWdl ? 'softmax' : 'tanh',
    ...(info.licence ? { 'sardonyx.licence': info.licence } : {}),
    ...(info.trainingSteps ? { 'sardonyx.training': `${info.trainingSteps} steps` } : {}),
    [INFO_KEY]: JSON.stringify(info),
  };
}

/** What `formatMetadata` wrote into a converted model. */
export function parseMetadata(metadata: ReadonlyMap<string, string>): Lc0NetworkInfo {
  return JSON.parse(metadata.get(INFO_KEY) ?? '') as Lc0NetworkInfo;
}
