/** Entry of the analysis thread: the producer of the evaluators' leaves. Messages are read while it searches. */
import { parentPort, workerData } from 'node:worker_threads';
import { LeafQueue } from '../../nn/index.js';
import { SearchScheduler } from '../../search/index.js';
import { AnalysisRun } from './analysis-run.js';
import type { AnalysisStart, FromAnalysis, ToAnalysis } from './protocol.js';

const { pool, settings } = workerData as AnalysisStart;

function post(message: FromAnalysis): void {
  parentPort?.postMessage(message);
}

const run = new AnalysisRun(LeafQueue.attach(pool), new SearchScheduler(), settings, (answer) =>
  post({ type: 'answer', answer }),
);

parentPort?.on('message', (message: ToAnalysis) => {
  switch (message.type) {
    case 'add':
      run.add(message.tasks);
      break;
    case 'terminate':
      run.terminate(message.selection);
      break;
    case 'finish':
      void run.whenIdle().then(() => post({ type: 'finished' }));
      break;
  }
});
