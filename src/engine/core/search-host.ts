/**
 * The engine's side of the search thread. `SearchHost` owns the thread: it creates one beside the first network, and another
 * after a failure. Messages to a thread that does not exist yet are dropped; a new thread starts with an empty tree.
 * `createSearchOrder` makes the message that starts a search.
 */

import type { OptionStore } from '../../base/options/index.js';
import { BLACK } from '../../chess/rules/index.js';
import {
  createSearchParams,
  type FromSearch,
  NO_SEARCH,
  type SearchLimits,
  type SearchOrder,
  type TreeDump,
  type TreeDumpLimits,
} from '../../search/index.js';
import { createSearchLimits } from './go-request.js';
import { createPonderLimits, stepBack } from './ponder-step.js';
import type { EnginePorts, NetworkPort, SearchPort } from './ports.js';
import type { RequestedSearch } from './requested-search.js';
import { weaken } from './strength.js';

/** Messages about a search; the host handles all other messages itself. */
export type FromRunningSearch = Exclude<FromSearch, { readonly type: 'ready' | 'tree' }>;

interface SearchHostEvents {
  onMessage(message: FromRunningSearch): void;
  /** Called when the thread has died; the next attach creates another. */
  onFailure(error: Error): void;
}

export class SearchHost {
  /** Null before the first network, and after a failure. Messages that concern the host go through its methods. */
  thread: SearchPort | null = null;
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

  /** The thread; it is created if there is none. */
  start(): SearchPort {
    this.thread ??= this.createThread();
    return this.thread;
  }

  /** Attaches the network, and resolves when the thread can search with it, or has failed. */
  async prepare(network: NetworkPort): Promise<void> {
    await new Promise<void>((resolve) => {
      this.onReady = resolve;
      if (!this.attach(network)) resolve();
    });
  }

  /** Gives the thread this network. @returns false if it has it already */
  attach(network: NetworkPort): boolean {
    const thread = this.start();
    if (this.network === network) return false;
    this.network = network;
    thread.attach(network.handle);
    return true;
  }

  /** The tree of the last search; null if there is none, or if the thread dies before it answers. */
  dumpTree(limits: TreeDumpLimits): Promise<TreeDump | null> {
    if (this.thread === null) return Promise.resolve(null);
    this.thread.post({ type: 'dumpTree', limits });
    return new Promise((resolve) => this.treeWaiters.push(resolve));
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

/** The message that starts a search: its options, position and limits. */
export function createSearchOrder(search: RequestedSearch, options: OptionStore): SearchOrder {
  const { game, startsEarlier, limitedRequest, strength } = search;
  const { position, rootFen, moves } = startsEarlier ? stepBack(game) : game;
  const { clock, ...limits } = createSearchLimits(limitedRequest, position, options, search);
  const params = createSearchParams(options.values);
  return {
    params: strength === null ? params : weaken(params, strength),
    position: {
      rootFen,
      moves,
      chess960: options.getBoolean('UCI_Chess960'),
      blackToMove: position.sideToMove === BLACK,
      gamePly: position.gamePly,
      pliesSinceRepetition: position.pliesSinceAnyRepetition(),
    },
    limits: {
      ...limits,
      // A search that was stopped before it began must not count as a move for the time manager.
      ...(clock !== undefined && !search.stopRequested && { clock }),
      reportedLines: options.getNumber('MultiPV'),
      reportIntervalMs: options.getNumber('InfoIntervalMs'),
      ...readStatsWish(search, options),
      ...(startsEarlier ? createPonderLimits(game) : search.tablebaseLimits),
    },
  };
}

function readStatsWish(
  { request, purpose }: RequestedSearch,
  options: OptionStore,
): Pick<SearchLimits, 'reportedStats'> {
  if (options.getBoolean('LogLiveStats')) return { reportedStats: 'always' };
  return purpose === 'evaluation' || request.reportsMoves === true || options.getBoolean('VerboseMoveStats')
    ? { reportedStats: 'atEnd' }
    : {};
}
