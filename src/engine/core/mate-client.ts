/**
 * Runs the search for short mates in its own thread, so that `stop` and `isready` are answered meanwhile. Tasks are done in
 * order. If the thread fails, its tasks are answered with "no mate found", and the next task starts a new thread.
 */
import { startThread, type Thread } from '#platform/threads.js';
import type { MateAnswer } from '../../chess/rules/index.js';
import type { MateTask } from './mate-worker.js';

const NOTHING_FOUND: MateAnswer = { line: null, refuted: 0, visited: 0 };

export class MateClient {
  private thread: Thread<MateTask> | null;
  private readonly waiting: ((answer: MateAnswer) => void)[] = [];

  constructor() {
    this.thread = this.start();
  }

  /** Never rejects. */
  find(task: MateTask): Promise<MateAnswer> {
    this.thread ??= this.start();
    this.thread.keepProcessAlive(true);
    this.thread.post(task);
    return new Promise((resolve) => this.waiting.push(resolve));
  }

  async dispose(): Promise<void> {
    const { thread } = this;
    this.giveUp();
    await thread?.terminate();
  }

  private start(): Thread<MateTask> {
    const thread = startThread<MateTask, MateAnswer>(
      new URL('./mate-worker.js', import.meta.url),
      { name: 'mates' },
      {
        onMessage: (answer) => {
          if (this.thread === thread) this.answerNext(answer);
        },
      },
    );
    thread.keepProcessAlive(false);
    void thread.ended.then(() => {
      if (this.thread === thread) this.giveUp();
    });
    return thread;
  }

  private answerNext(answer: MateAnswer): void {
    this.waiting.shift()?.(answer);
    if (this.waiting.length === 0) this.thread?.keepProcessAlive(false);
  }

  private giveUp(): void {
    this.thread = null;
    for (const resolve of this.waiting.splice(0)) resolve(NOTHING_FOUND);
  }
}
