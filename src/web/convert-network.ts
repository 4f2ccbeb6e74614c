/** Turns a network's file into an ONNX model, in a thread of its own if it must be inflated or converted. */

import { startThread } from '#platform/threads.js';
import { failure, isGzip, type Result, success } from '../base/util/index.js';
import { describeProviderFailure, readPrecision } from '../networks/nn/index.js';
import type { ConversionAnswer, ConversionTask } from './conversion-worker.js';

/**
 * The ONNX model of a network's file.
 * @param name for messages
 * @param lc0 choices for lc0's networks
 */
export function convertNetwork(
  file: Uint8Array,
  name: string,
  lc0: ConversionTask['lc0'],
): Promise<Result<Uint8Array>> | Result<Uint8Array> {
  if (!isGzip(file) && readPrecision(file) !== null) return success(file);
  const shared = new Uint8Array(new SharedArrayBuffer(file.length));
  shared.set(file);
  return runConversion({ file: shared, name, lc0 });
}

function runConversion(task: ConversionTask): Promise<ConversionAnswer> {
  return new Promise((resolve) => {
    let problem = 'the thread that converts it ended';
    const thread = startThread<never, ConversionAnswer>(
      new URL('./conversion-worker.js', import.meta.url),
      { name: 'conversion', data: task },
      {
        onMessage: resolve,
        onError: ({ message }) => {
          problem = message;
        },
      },
    );
    void thread.ended.then(() =>
      resolve(failure(`Cannot read the network ${task.name}: ${describeProviderFailure(problem)}`)),
    );
  });
}
