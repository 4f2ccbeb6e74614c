/** Turns a network's file into an ONNX model, in a thread of its own if it must be inflated or converted. */

import { startThread } from '#platform/threads.js';
import { createDeferred, failure, isGzip, type Result, success } from '../base/util/index.js';
import { describeProviderFailure, readPrecision } from '../networks/nn/index.js';
import type { ConversionAnswer, ConversionTask } from './conversion-worker.js';

/**
 * The ONNX model of a network's file.
 * @param name for messages
 * @param lc0 choices for lc0's networks
 */
export async function convertNetwork(
  file: Uint8Array,
  name: string,
  lc0: ConversionTask['lc0'],
): Promise<Result<Uint8Array>> {
  if (!isGzip(file) && readPrecision(file) !== null) return success(file);
  const shared = new Uint8Array(new SharedArrayBuffer(file.length));
  shared.set(file);
  const data: ConversionTask = { file: shared, name, lc0 };
  const { promise, resolve } = createDeferred<ConversionAnswer>();
  let problem = 'the thread that converts it ended';
  const onError = ({ message }: Error): void => {
    problem = message;
  };
  const script = new URL('./conversion-worker.js', import.meta.url);
  const thread = startThread<never, ConversionAnswer>(
    script,
    { name: 'conversion', data },
    { onMessage: resolve, onError },
  );
  void thread.ended.then(() =>
    resolve(failure(`Cannot read the network ${name}: ${describeProviderFailure(problem)}`)),
  );
  return promise;
}
