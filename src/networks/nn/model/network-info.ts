/** Facts about the network in use, for users (`id name`, describenet, bench). */
import type { Model } from './model-file.js';

export interface NetworkInfo
  extends Pick<Model, 'fileName' | 'fileSha256' | 'licence' | 'training' | 'parameterBytes'> {
  /** `sardonyx.name`, else the file's name; the backend's name if there is no network. */
  readonly name: string;
  readonly inputEncoding: string;
  readonly policyEncoding: string;
  /** Whether the network gives draw probabilities, and whether it has a moves-left head. */
  readonly hasWdl: boolean;
  readonly hasMovesLeft: boolean;
  /** Precision of the weights; empty without a network. */
  readonly precision: Model['precision'] | '';
  /** The backend in use, after any fallback. */
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
      hasMovesLeft: backend !== 'trivial' && backend !== 'random',
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
