/** Entry of the analysis thread, which sends leaves to the evaluators. It reads messages while it searches. */
import { getThreadData, onParentMessage, postToParent } from '#platform/threads.js';
import { LeafQueue } from '../../networks/leaves/index.js';
import { SearchScheduler } from '../../search/index.js';
import type { AnalysisStart, FromAnalysis, ToAnalysis } from './analysis-client.js';
import { AnalysisRun } from './analysis-run.js';

const { pool, settings } = await getThreadData<AnalysisStart>();

function post(message: FromAnalysis): void {
  postToParent(message);
}

const run = new AnalysisRun(new LeafQueue(pool), new SearchScheduler(), settings, (answer) =>
  post({ type: 'answer', answer }),
);

onParentMessage((message: ToAnalysis) => {
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
