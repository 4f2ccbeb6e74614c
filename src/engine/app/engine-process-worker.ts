/** The process of an engine whose program runs on a thread (engine-process-client.ts). It ends when the thread or its process does. */
import { getErrorMessage } from '../../base/util/index.js';
import { LocalHost } from '../library/index.js';
import type { HostCall, HostMessage } from './engine-process-client.js';
import { enginePorts } from './evaluator-network.js';
import { createOptionStore } from './options.js';

const post = (message: HostMessage): void => {
  // The other side may end before `disconnect` is known here; then nobody waits for the message.
  if (process.connected) process.send?.(message, undefined, undefined, () => undefined);
};
const pass =
  (event: Extract<HostMessage, { event: unknown }>['event']) =>
  (data: unknown): void =>
    post({ event, data });

const host = new LocalHost(createOptionStore(), enginePorts, {
  report: pass('report'),
  moveStats: pass('moveStats'),
  bestMove: pass('bestMove'),
  failure: pass('failure'),
  warning: pass('warning'),
  progress: pass('progress'),
  loss: pass('loss'),
});

process.on('message', async ({ id, method, args }: HostCall) => {
  try {
    const call = host[method] as (...parameters: readonly unknown[]) => unknown;
    const value = await Reflect.apply(call, host, args);
    post({ id, network: host.network, ...(method === 'evaluate' ? { value } : {}) });
  } catch (error) {
    post({ id, network: host.network, error: getErrorMessage(error) });
  }
});
process.on('disconnect', () => process.exit());
