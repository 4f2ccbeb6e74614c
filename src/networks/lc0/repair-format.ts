/**
 * Repairs the format of networks that were written before some of its fields existed, as lc0 does on load (`FixOlderWeightsFile`
 * in lc0's neural/loader.cc).
 */

import { failure, type Result, success } from '../../base/util/index.js';
import { type FileSource, NetworkError } from '../onnx/index.js';
import {
  ActivationFunction,
  InputEmbedding,
  InputFormat,
  type NetMessage,
  type NetworkFormatMessage,
  NetworkStructure,
  OutputFormat,
  PolicyFormat,
  ValueFormat,
} from './net-schema.js';

/** Changes `net.format.networkFormat` in place. Afterwards it is present, and its structure is a current one. */
export function repairNetworkFormat(net: NetMessage): void {
  net.format ??= {};
  const format = net.format.networkFormat;
  if (!format) {
    net.format.networkFormat = {
      input: InputFormat.INPUT_CLASSICAL_112_PLANE,
      output: OutputFormat.OUTPUT_CLASSICAL,
      network: NetworkStructure.NETWORK_CLASSICAL_WITH_HEADFORMAT,
      policy: PolicyFormat.POLICY_CLASSICAL,
      value: ValueFormat.VALUE_CLASSICAL,
    };
    return;
  }
  switch (format.network) {
    case NetworkStructure.NETWORK_CLASSICAL:
      setClassicalHeads(format, NetworkStructure.NETWORK_CLASSICAL_WITH_HEADFORMAT);
      break;
    case NetworkStructure.NETWORK_SE:
      setClassicalHeads(format, NetworkStructure.NETWORK_SE_WITH_HEADFORMAT);
      break;
    case NetworkStructure.NETWORK_SE_WITH_HEADFORMAT:
      if (net.weights?.encoder?.length) {
        format.network = NetworkStructure.NETWORK_ATTENTIONBODY_WITH_HEADFORMAT;
        if (net.weights.smolgenW) {
          format.ffnActivation = ActivationFunction.ACTIVATION_RELU_2;
          format.smolgenActivation = ActivationFunction.ACTIVATION_SWISH;
        }
      }
      break;
    case NetworkStructure.NETWORK_AB_LEGACY_WITH_MULTIHEADFORMAT:
      format.network = NetworkStructure.NETWORK_ATTENTIONBODY_WITH_MULTIHEADFORMAT;
      break;
  }
  if (format.network === NetworkStructure.NETWORK_ATTENTIONBODY_WITH_HEADFORMAT) {
    if (net.weights?.policyHeads && net.weights.valueHeads) {
      format.network = NetworkStructure.NETWORK_ATTENTIONBODY_WITH_MULTIHEADFORMAT;
      format.inputEmbedding = InputEmbedding.INPUT_EMBEDDING_PE_DENSE;
    }
    if (!Object.hasOwn(format, 'inputEmbedding')) format.inputEmbedding = InputEmbedding.INPUT_EMBEDDING_PE_MAP;
  }
}

function setClassicalHeads(format: NetworkFormatMessage, network: number): void {
  format.network = network;
  format.policy = PolicyFormat.POLICY_CLASSICAL;
  format.value = ValueFormat.VALUE_CLASSICAL;
}

/** An error about a network becomes a whole sentence that names its file; other errors are thrown. */
export async function attempt<T>(
  verb: string,
  source: FileSource,
  what: string,
  work: () => Promise<T>,
): Promise<Result<T>> {
  try {
    return success(await work());
  } catch (error) {
    if (!(error instanceof NetworkError)) throw error;
    return failure(`Cannot ${verb} ${typeof source === 'string' ? source : what}: ${error.message}`);
  }
}
