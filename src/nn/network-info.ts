/** What users are told about the network in use (`id name`, describenet, bench). */
import type { Model } from './model/model-file.js';

export interface NetworkInfo {
  /** `sardonyx.name`, else the file's name; the backend's name when there is no network. */
  readonly name: string;
  readonly fileName: string;
  /** Of its file, in hexadecimal; null without one, and where nobody worked it out. */
  readonly fileSha256: string | null;
  readonly licence: string;
  readonly training: string;
  readonly inputEncoding: string;
  readonly policyEncoding: string;
  /** Whether draws have a probability of their own, and whether there is a moves-left head. */
  readonly hasWdl: boolean;
  readonly hasMovesLeft: boolean;
  /** Of its weights: fp32, fp16 or int8; empty without a network. */
  readonly precision: string;
  readonly parameterBytes: number;
  /** The backend really in use, after any fall-back. */
  readonly backend: string;
}

/** @param model null for evaluators without a network */
export function describeNetwork(model: Model | null, backend: string): NetworkInfo {
  if (model === null) {
    return {
      name: backend,
      fileName: '',
      fileSha256: null,
      licence: '',
      training: '',
      inputEncoding: '',
      policyEncoding: '',
      hasWdl: true,
      hasMovesLeft: backend !== 'trivial',
      precision: '',
      parameterBytes: 0,
      backend,
    };
  }
  const { format } = model;
  return {
    name: model.title,
    fileName: model.fileName,
    fileSha256: model.fileSha256,
    licence: model.licence,
    training: model.training,
    inputEncoding: format.inputEncoding.name,
    policyEncoding: format.policyEncoding.name,
    hasWdl: format.valueKind !== 'scalar',
    hasMovesLeft: format.movesLeft !== null,
    precision: model.precision,
    parameterBytes: model.parameterBytes,
    backend,
  };
}
