/** A worker thread of a shards run: converts the files it is given, one after another. */
import { parentPort } from 'node:worker_threads';
import { convertInput } from './convert-input.js';
import type { ShardsTask } from './shards-task.js';

const port = parentPort;
if (port === null) throw new Error('shards-worker runs only as a worker thread');
port.on('message', (task: ShardsTask) => {
  void convertInput(task, (message) => port.postMessage(message));
});
