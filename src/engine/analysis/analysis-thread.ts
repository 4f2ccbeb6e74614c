/** The main thread's side of the analysis thread. A thread that dies says so through `finish`, which then rejects. */
import { startThread, type Thread } from '#platform/threads.js';
import type { AnalysisAnswer } from './answer.js';
import type { PositionTask, TaskSelection } from './position-task.js';
import type { AnalysisStart, FromAnalysis, ToAnalysis } from './protocol.js';

export class AnalysisThread {
  private readonly worker: Thread<ToAnalysis>;
  private readonly over: Promise<void>;

  constructor(start: AnalysisStart, onAnswer: (answer: AnalysisAnswer) => void) {
    let finish: () => void = () => undefined;
    let fail: (error: Error) => void = () => undefined;
    this.over = new Promise((resolve, reject) => {
      finish = resolve;
      fail = reject;
    });
    this.worker = startThread<ToAnalysis, FromAnalysis>(
      new URL('./analysis-worker.js', import.meta.url),
      { name: 'analysis', data: start },
      {
        onMessage: (message) => {
          if (message.type === 'answer') onAnswer(message.answer);
          else finish();
        },
        onError: (error) => fail(new Error(`The analysis thread has failed: ${error.message}`)),
      },
    );
    void this.worker.ended.then(() => fail(new Error('The analysis thread has ended')));
    // Until somebody waits for it, a failure has no one to tell.
    this.over.catch(() => undefined);
  }

  /** Resolves when `finish` was called and everything is answered; rejects when the thread has died. */
  get finished(): Promise<void> {
    return this.over;
  }

  add(tasks: readonly PositionTask[]): void {
    this.post({ type: 'add', tasks });
  }

  terminate(selection: TaskSelection): void {
    this.post({ type: 'terminate', selection });
  }

  /** No more tasks come. */
  finish(): void {
    this.post({ type: 'finish' });
  }

  async dispose(): Promise<void> {
    await this.worker.terminate();
  }

  private post(message: ToAnalysis): void {
    this.worker.post(message);
  }
}
