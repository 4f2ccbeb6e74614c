/**
 * Owns the search thread: creates it when the first network is loaded, and again after a failure. Messages to a thread that does
 * not exist yet are dropped; a new thread starts with an empty tree.
 */
import { type FromSearch, NO_SEARCH, type ToSearch, type TreeDump, type TreeDumpLimits } from '../search/index.js';
import type { EnginePorts, NetworkPort, SearchPort } from './ports.js';

/** Messages about a search; the host handles all other messages itself. */
export type FromRunningSearch = Exclude<FromSearch, { readonly type: 'ready' | 'tree' }>;

interface SearchHostEvents {
  onMessage(message: FromRunningSearch): void;
  /** Called when the thread has died; the next attach creates another. */
  onFailure(error: Error): void;
}

export class SearchHost {
  private thread: SearchPort | null = null;
  private network: NetworkPort | null = null;
  /** Called when the thread has taken the network over. */
  private onReady: () => void = () => undefined;
  private treeWaiters: ((tree: TreeDump | null) => void)[] = [];

  constructor(
    private readonly ports: Pick<EnginePorts, 'createSearch'>,
    private readonly events: SearchHostEvents,
  ) {}

  /** Whether the network of the running search has a moves-left head. */
  get hasMovesLeft(): boolean {
    return this.network?.handle.hasMovesLeft ?? false;
  }

  /** Share of the evaluation cache of the running search in use, per mille. */
  get cacheFill(): number | null {
    return this.network?.cacheFill ?? null;
  }

  /** Attaches the network, and resolves when the thread can search with it, or has failed. */
  async prepare(network: NetworkPort): Promise<void> {
    await new Promise<void>((resolve) => {
      this.onReady = resolve;
      if (!this.attach(network)) resolve();
    });
  }

  /** Creates the thread if needed and gives it this network. @returns false if it has it already */
  attach(network: NetworkPort): boolean {
    if (this.thread !== null && this.network === network) return false;
    this.thread ??= this.createThread();
    this.network = network;
    this.thread.attach(network.handle);
    return true;
  }

  post(message: ToSearch): void {
    this.thread?.post(message);
  }

  /** The tree of the last search; null if there is none, or if the thread dies before it answers. */
  dumpTree(limits: TreeDumpLimits): Promise<TreeDump | null> {
    if (this.thread === null) return Promise.resolve(null);
    this.post({ type: 'dumpTree', limits });
    return new Promise((resolve) => this.treeWaiters.push(resolve));
  }

  stop(): void {
    this.thread?.stop();
  }

  /** Ends a thread that has failed. The next attach creates another. */
  restart(): void {
    const { thread } = this;
    this.thread = null;
    this.network = null;
    this.onReady();
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
    // Ignore messages of a discarded thread.
    const thread: SearchPort = this.ports.createSearch({
      onMessage: (message: FromSearch) => {
        if (this.thread !== thread) return;
        if (message.type === 'ready') this.onReady();
        else if (message.type === 'tree') this.treeWaiters.shift()?.(message.tree);
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
