/** Facts about the network in use, for the programs that show or record it. */
import type { Model } from './model-file.js';

export interface NetworkInfo extends Pick<Model, 'fileName' | 'fileSha256'> {
  /** `sardonyx.name`, else the file's name; the backend's name if there is no network. */
  readonly name: string;
  readonly inputEncoding: string;
  /** Whether the evaluations tell the moves left. */
  readonly hasMovesLeft: boolean;
  /** The backend in use, after any fallback. */
  readonly backend: string;
}

/** @param model null for evaluators without a network */
export function describeNetwork(model: Model | null, backend: string): NetworkInfo {
  if (model === null) {
    const hasMovesLeft = backend !== 'trivial' && backend !== 'random';
    return { name: backend, fileName: '', fileSha256: null, inputEncoding: '', hasMovesLeft, backend };
  }
  const { title: name, fileName, fileSha256, format } = model;
  const inputEncoding = format.inputEncoding.name;
  return { name, fileName, fileSha256, inputEncoding, hasMovesLeft: format.movesLeft !== null, backend };
}
