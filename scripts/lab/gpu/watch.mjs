// Loaded into every thread of the program by NODE_OPTIONS=--import; prove.mjs beside it reads what it writes.
// - WATCH_FOLDER: a CSV file a thread. A call of the network is a row: when it began and ended (ms since 1970), its batch size, and how
//   long the thread waited for work before it. A thread that calls none, as the search does, writes what it waited about every 50 ms.
// - LOSE_AFTER=N: the first network of each thread fails from its Nth call on, as on a device that is lost.
import { appendFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { threadId } from 'node:worker_threads';

const { WATCH_FOLDER, LOSE_AFTER } = process.env;
const { InferenceSession } = createRequire(import.meta.url)('onnxruntime-common');
const { run } = InferenceSession.prototype;
const { wait } = Atomics;
let first;
let calls = 0;
let waitedMs = 0;
let rows = [];
let writtenMs = now();

InferenceSession.prototype.run = async function (feeds, ...rest) {
  const beganMs = now();
  const [size] = Object.values(feeds)[0].dims;
  first ??= size > 1 ? this : undefined;
  if (this === first && ++calls > Number(LOSE_AFTER ?? Number.POSITIVE_INFINITY))
    throw new Error('CUDA failure 999: unknown error');
  const outputs = await run.call(this, feeds, ...rest);
  addRow(beganMs, size);
  return outputs;
};

Atomics.wait = (...words) => {
  const beganMs = now();
  const answer = wait(...words);
  waitedMs += now() - beganMs;
  if (first === undefined && now() - writtenMs > 50) addRow(writtenMs, 0);
  return answer;
};

function now() {
  return performance.timeOrigin + performance.now();
}

function addRow(beganMs, size) {
  if (WATCH_FOLDER === undefined) return;
  const endedMs = now();
  rows.push([beganMs.toFixed(3), endedMs.toFixed(3), size, waitedMs.toFixed(3)].join(','));
  waitedMs = 0;
  if (endedMs - writtenMs < 50) return;
  appendFileSync(join(WATCH_FOLDER, `${process.pid}-${threadId}.csv`), `${rows.join('\n')}\n`);
  [rows, writtenMs] = [[], endedMs];
}
