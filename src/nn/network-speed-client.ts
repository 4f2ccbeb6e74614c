/**
 * Measures how many positions per second one thread of this CPU evaluates with each of several networks. It compares networks, for
 * a choice between them, in about a tenth of a second; `backendbench` measures what a whole pool reaches. A thread of its own
 * does the work, because inference blocks its thread.
 */
import { prepareRuntime } from '#platform/onnx-runtime.js';
import { startThread } from '#platform/threads.js';
import { failure, type Result } from '../util/index.js';
import type { ModelSource } from './model/model-file.js';

export interface NetworkSpeeds {
  /** In the order of the networks. */
  readonly evaluationsPerSecond: readonly number[];
  /** False if the machine was too busy for a reliable figure. */
  readonly isSteady: boolean;
}

export interface SpeedTask {
  readonly models: readonly Extract<ModelSource, { bytes: Uint8Array }>[];
}

/** Fails if a network cannot be run; never rejects. */
export function measureNetworkSpeeds(models: SpeedTask['models']): Promise<Result<NetworkSpeeds>> {
  prepareRuntime(true);
  const task: SpeedTask = { models };
  return new Promise((resolve) => {
    const thread = startThread<never, Result<NetworkSpeeds>>(
      new URL('./network-speed-worker.js', import.meta.url),
      { name: 'network-speed', data: task },
      { onMessage: resolve, onError: ({ message }) => resolve(failure(message)) },
    );
    // No effect if the thread has answered before.
    void thread.ended.then(() => resolve(failure('The thread that measures networks has ended')));
  });
}
