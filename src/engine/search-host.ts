/**
 * Keeps a search thread at hand: makes it when the first network is there, tells it things only when they have changed,
 * and makes a new one after a failure. Messages for a thread that does not exist yet have nothing to act on and are
 * dropped: a new thread starts with an empty tree.
 */
import { type FromSearch, NO_SEARCH, type SearchParams, type ToSearch } from '../search/index.js';
import type { EnginePorts, NetworkPort, SearchPort, SearchPortEvents } from './ports.js';

export class SearchHost {
  private thread: SearchPort | null = null;
  private network: NetworkPort | null = null;
  private configured = '';

  constructor(
    private readonly ports: Pick<EnginePorts, 'createSearch'>,
    private readonly events: SearchPortEvents,
  ) {}

  /** Makes the thread if need be and gives it this network. */
  attach(network: NetworkPort): void {
    if (this.thread !== null && this.network === network) return;
    this.thread ??= this.createThread();
    this.network = network;
    this.thread.attach(network.handle);
  }

  configure(params: SearchParams): void {
    const text = JSON.stringify(params);
    if (text === this.configured) return;
    this.configured = text;
    this.post({ type: 'configure', params });
  }

  /** @returns whether there is a thread to hear it */
  post(message: ToSearch): boolean {
    this.thread?.post(message);
    return this.thread !== null;
  }

  stop(): void {
    this.thread?.stop();
  }

  /** The thread cannot be trusted any more. The next attach makes another. */
  restart(): void {
    const { thread } = this;
    this.thread = null;
    this.network = null;
    this.configured = '';
    void thread?.dispose();
  }

  async dispose(): Promise<void> {
    await this.thread?.dispose();
    this.thread = null;
  }

  private createThread(): SearchPort {
    const fail = (error: Error): void => {
      this.restart();
      this.events.onFailure(error);
    };
    // What a discarded thread still has to say is of no interest.
    const thread: SearchPort = this.ports.createSearch({
      onMessage: (message: FromSearch) => {
        if (this.thread !== thread) return;
        if (message.type === 'error' && message.id === NO_SEARCH) fail(new Error(message.text));
        else this.events.onMessage(message);
      },
      onFailure: (error) => {
        if (this.thread === thread) fail(error);
      },
    });
    return thread;
  }
}
