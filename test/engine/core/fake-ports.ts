/** An engine on strings: the search is scripted by the test, the network loads when the test says so. */

import type { OptionStore } from '#sardonyx/base/options/index.js';
import { unwrap } from '#sardonyx/base/util/index.js';
import { findMate, type MateAnswer, parseFen } from '#sardonyx/chess/rules/index.js';
import { createOptionStore } from '#sardonyx/engine/app/options.js';
import {
  Engine,
  type EngineListener,
  type EnginePorts,
  type MateSearchPort,
  type NetworkPort,
  type SearchPort,
} from '#sardonyx/engine/core/index.js';
import type { MateTask } from '#sardonyx/engine/core/mate-worker.js';
import type { FromSearch, SearchClientEvents, SearchInfo, ToSearch } from '#sardonyx/search/index.js';

export function createInfo(pv: readonly number[], changes: Partial<SearchInfo> = {}): SearchInfo {
  const gathering = { playouts: 30, batches: 4, collisions: 0 };
  const line = { wl: 0.1, d: 0.5, m: 40, searched: null, q: 0.1, mu: 0.1, mate: null, visits: 20, pv };
  return {
    depth: 3,
    seldepth: 5,
    timeMs: 12,
    nodes: 30,
    nps: 2500,
    eps: 2000,
    tbHits: 0,
    gathering,
    lines: [line],
    ...changes,
  };
}

export class FakeSearch implements SearchPort {
  readonly posted: ToSearch[] = [];
  stops = 0;
  isDisposed = false;
  /** Called for each `go`; by default nothing happens. */
  onGo: (id: number) => void = () => undefined;
  /** Called by stop(); by default nothing happens. */
  onStop: () => void = () => undefined;

  constructor(private readonly events: SearchClientEvents) {}

  attach(): void {
    this.events.onMessage({ type: 'ready' });
  }

  post(message: ToSearch): void {
    this.posted.push(message);
    if (message.type === 'go') this.onGo(message.id);
  }

  stop(): void {
    this.stops++;
    this.onStop();
  }

  async dispose(): Promise<void> {
    this.isDisposed = true;
  }

  send(message: FromSearch): void {
    this.events.onMessage(message);
  }

  fail(error: Error): void {
    this.events.onFailure(error);
  }

  get lastGo(): Extract<ToSearch, { type: 'go' }> {
    const message = this.posted.findLast((posted) => posted.type === 'go');
    if (message === undefined) throw new Error('no go was posted');
    return message;
  }
}

export class FakeWorld implements EnginePorts {
  readonly searches: FakeSearch[] = [];
  readonly networks: (NetworkPort & { cleared: number; disposed: number; hasLostDevice: boolean })[] = [];
  createSpareOptions?: (options: OptionStore) => OptionStore | null;
  describeChoice?: (options: OptionStore) => string;
  /** Each load waits for this. */
  loading: Promise<void> = Promise.resolve();
  loadError: Error | null = null;
  onCreateSearch: (search: FakeSearch) => void = () => undefined;

  /** Holds every load back. @returns what ends that */
  holdLoading(): () => void {
    let end: () => void = () => undefined;
    this.loading = new Promise((resolve) => {
      end = resolve;
    });
    return () => end();
  }

  async createNetwork(_options: OptionStore): Promise<NetworkPort> {
    await this.loading;
    if (this.loadError !== null) throw this.loadError;
    const network = {
      handle: {} as NetworkPort['handle'],
      description: 'fake',
      reason: null,
      evaluations: 0,
      cacheFill: 250,
      hasLostDevice: false,
      takeEvaluatorOptions: () => undefined,
      takeTableOptions: () => undefined,
      cleared: 0,
      disposed: 0,
      clearCache: () => {
        network.cleared++;
      },
      dispose: async () => {
        network.disposed++;
      },
    };
    this.networks.push(network);
    return network;
  }

  createMateSearch(): MateSearchPort {
    return { find: (task) => this.findMate(task), dispose: async () => undefined };
  }

  async findMate({ rootFen, moves, question }: MateTask): Promise<MateAnswer> {
    const position = unwrap(parseFen(rootFen));
    for (const move of moves) position.makeMove(move);
    return findMate(position, question);
  }

  createSearch(events: SearchClientEvents): FakeSearch {
    const search = new FakeSearch(events);
    this.onCreateSearch(search);
    this.searches.push(search);
    return search;
  }

  get search(): FakeSearch {
    const search = this.searches.at(-1);
    if (search === undefined) throw new Error('no search thread was made');
    return search;
  }
}

/** The listener's calls as short strings, in order. */
export function createEngine(
  world = new FakeWorld(),
  listener: Partial<EngineListener> = {},
): { engine: Engine; world: FakeWorld; said: string[] } {
  const said: string[] = [];
  const engine = new Engine(createOptionStore(), world, {
    report: (report) => said.push(`report ${report.lines[0]?.pv.length}`),
    moveStats: () => said.push('stats'),
    bestMove: ({ move }) => said.push(`best ${move}`),
    warning: (text) => said.push(`warning ${text}`),
    note: (text) => said.push(`note ${text}`),
    debug: () => undefined,
    error: (text) => said.push(`error ${text}`),
    ...listener,
  });
  return { engine, world, said };
}

/** Lets promises that are ready take effect. */
export async function settle(): Promise<void> {
  for (let i = 0; i < 5; i++) await new Promise((resolve) => setImmediate(resolve));
}
