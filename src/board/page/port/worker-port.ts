/** The engine inside the page: a Worker that takes the same messages as `sardonyx board` does. */
import type { PortEvent, Reply, WorkerNews } from '../../protocol/replies.js';
import { type NumberedMessage, RequestPort } from './request-port.js';

export class WorkerPort extends RequestPort {
  /** Other processes and folders are out of a page's reach. */
  readonly offers = { matches: false, training: false, opensAddresses: true };
  private worker: Worker | null = null;
  private isReady = false;
  private readonly unsent: NumberedMessage[] = [];

  /** @param start rejects with the sentence for the user */
  constructor(start: () => Promise<Worker>) {
    super();
    start().then(
      (worker) => this.connect(worker),
      (error: unknown) => this.fail(error instanceof Error ? error.message : String(error)),
    );
  }

  async openNetwork(source: File | string): Promise<void> {
    await this.ask({ type: 'openNetwork', source } as { type: string }).answer;
  }

  async removeNetwork(name: string): Promise<void> {
    await this.ask({ type: 'removeNetwork', name } as { type: string }).answer;
  }

  close(): void {
    this.fail('The engine was closed');
  }

  protected override post(message: NumberedMessage): void {
    if (this.worker === null) this.unsent.push(message);
    else this.worker.postMessage(message);
  }

  private connect(worker: Worker): void {
    this.worker = worker;
    worker.onmessage = ({ data }) => this.take(data as Reply | PortEvent | WorkerNews);
    worker.onerror = ({ message }) => {
      // A script that cannot be loaded has no message.
      const text = message || 'its scripts cannot be loaded';
      if (this.isReady) this.receive({ type: 'notice', level: 'error', text: `The engine has failed: ${text}` });
      else this.fail(`The engine does not start: ${text}`);
    };
    for (const message of this.unsent.splice(0)) worker.postMessage(message);
  }

  private take(message: Reply | PortEvent | WorkerNews): void {
    if (message.type === 'obstacle') this.fail(message.text);
    else if (message.type === 'ready') {
      this.isReady = true;
      this.changeState('open');
    } else this.receive(message);
  }

  private fail(reason: string): void {
    this.worker?.terminate();
    this.worker = null;
    this.changeState('lost', reason);
  }
}
