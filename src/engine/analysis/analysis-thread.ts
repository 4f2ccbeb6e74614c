/** The main thread's side of the analysis thread. A thread that dies says so through `finish`, which then rejects. */
import { Worker } from 'node:worker_threads';
import type { AnalysisAnswer } from './answer.js';
import type { PositionTask, TaskSelection } from './position-task.js';
import type { AnalysisStart, FromAnalysis, ToAnalysis } from './protocol.js';

export class AnalysisThread {
  private readonly worker: Worker;
  private readonly over: Promise<void>;

  constructor(start: AnalysisStart, onAnswer: (answer: AnalysisAnswer) => void) {
    this.worker = new Worker(new URL('./analysis-worker.js', import.meta.url), { name: 'analysis', workerData: start });
    this.over = new Promise((resolve, reject) => {
      this.worker.on('message', (message: FromAnalysis) => {
        if (message.type === 'answer') onAnswer(message.answer);
        else resolve();
      });
      this.worker.on('error', (error) => reject(new Error(`The analysis thread has failed: ${error.message}`)));
      this.worker.on('exit', () => reject(new Error('The analysis thread has ended')));
    });
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
    this.worker.postMessage(message);
  }
}
