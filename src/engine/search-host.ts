/**
 * Keeps a search thread at hand: makes it when the first network is there, and makes a new one after a failure. Messages for a thread that does not exist yet have nothing to act on and are
 * dropped: a new thread starts with an empty tree.
 */
import { type FromSearch, NO_SEARCH, type ToSearch, type TreeDump, type TreeDumpLimits } from '../search/index.js';
import type { EnginePorts, NetworkPort, SearchPort } from './ports.js';

/** What is said of a search; the rest of what a thread says is for the host itself. */
export type FromRunningSearch = Exclude<FromSearch, { readonly type: 'ready' | 'tree' }>;

interface SearchHostEvents {
  onMessage(message: FromRunningSearch): void;
  /** The thread is gone; the next attach makes another. */
  onFailure(error: Error): void;
}

export class SearchHost {
  private thread: SearchPort | null = null;
  private network: NetworkPort | null = null;
  private treeWaiters: ((tree: TreeDump | null) => void)[] = [];

  constructor(
    private readonly ports: Pick<EnginePorts, 'createSearch'>,
    private readonly events: SearchHostEvents,
  ) {}

  /** Whether the network of the running search tells plies to the end. */
  get hasMovesLeft(): boolean {
    return this.network?.handle.hasMovesLeft ?? false;
  }

  /** Share of the evaluation cache of the running search in use, per mille. */
  get cacheFill(): number | null {
    return this.network?.cacheFill ?? null;
  }

  /** Makes the thread if need be and gives it this network. */
  attach(network: NetworkPort): void {
    if (this.thread !== null && this.network === network) return;
    this.thread ??= this.createThread();
    this.network = network;
    this.thread.attach(network.handle);
  }

  post(message: ToSearch): void {
    this.thread?.post(message);
  }

  /** The tree of the last search; null when there is none, or the thread is gone before it answers. */
  dumpTree(limits: TreeDumpLimits): Promise<TreeDump | null> {
    if (this.thread === null) return Promise.resolve(null);
    this.post({ type: 'dumpTree', limits });
    return new Promise((resolve) => this.treeWaiters.push(resolve));
  }

  stop(): void {
    this.thread?.stop();
  }

  /** The thread cannot be trusted any more. The next attach makes another. */
  restart(): void {
    const { thread } = this;
    this.thread = null;
    this.network = null;
    this.giveUpTrees();
    void thread?.dispose();
  }

  async dispose(): Promise<void> {
    const { thread } = this;
    this.thread = null;
    this.giveUpTrees();
    await thread?.dispose();
  }

  private giveUpTrees(): void {
    for (const resolve of this.treeWaiters.splice(0)) resolve(null);
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
        if (message.type === 'ready') return;
        if (message.type === 'tree') this.treeWaiters.shift()?.(message.tree);
        else if (message.type === 'error' && message.id === NO_SEARCH) fail(new Error(message.text));
        else this.events.onMessage(message);
      },
      onFailure: (error) => {
        if (this.thread === thread) fail(error);
      },
    });
    return thread;
  }
}
