/**
 * What the engine needs of other rooms and of its threads. Tests pass fakes; the program passes the real pool and the real threads.
 */

import type { OptionStore } from '../../base/options/index.js';
import type { Move } from '../../chess/rules/index.js';
import type { SharedPoolHandle } from '../../networks/leaves/index.js';
import type { SearchClient, SearchClientEvents } from '../../search/index.js';
import type { MateClient } from './mate-client.js';
import type { RootStats } from './root-stats.js';
import type { SearchReport } from './search-report.js';

export interface BestMove {
  /** NO_MOVE if the game is over. */
  readonly move: Move;
  readonly ponder: Move;
}

export interface NetworkPort {
  readonly handle: SharedPoolHandle;
  /** Shown to users: the network's name and its backend. */
  readonly description: string;
  /** Why the options lead to this network, for the user; null if it is not reported. */
  readonly reason: string | null;
  /** Positions evaluated since it was loaded. */
  readonly evaluations: number;
  /** Share of the evaluation cache in use, per mille. */
  readonly cacheFill: number;
  /** Whether its device has failed; it may still work on the CPU. */
  readonly hasLostDevice: boolean;
  /** Applies the options that change evaluations, and forgets all evaluations. Do not call it during a search. */
  takeEvaluatorOptions(options: OptionStore): void;
  /** Applies the options of tablebases. Do not call it during a search. */
  takeTableOptions(options: OptionStore): void;
  clearCache(): void;
  dispose(): Promise<void>;
}

/** The search thread. */
export type SearchPort = Pick<SearchClient, keyof SearchClient>;

/** The thread that looks for mates. */
export type MateSearchPort = Pick<MateClient, keyof MateClient>;

export interface EnginePorts {
  /**
   * Rejects with an Error whose message is one sentence for the user.
   * @param avoidsDevice load it for the CPU, as if the device of the options could not be used
   * @param tell receives messages about what takes long
   */
  createNetwork(
    options: OptionStore,
    warn: (text: string) => void,
    avoidsDevice: boolean,
    tell: (text: string) => void,
  ): Promise<NetworkPort>;
  /** What decides which network is created, beside the options of the pool; absent if only they do. */
  describeChoice?(options: OptionStore): string;
  /**
   * The options to use if neither the network nor the one before can be loaded; null = none. Absent in commands about a network,
   * which report the failure.
   */
  createSpareOptions?(options: OptionStore): OptionStore | null;
  createSearch(events: SearchClientEvents): SearchPort;
  createMateSearch(): MateSearchPort;
}

/** Receives the engine's reports, answers and messages. */
export interface EngineListener {
  report(report: SearchReport): void;
  /** Only with VerboseMoveStats; before bestMove. */
  moveStats(stats: RootStats): void;
  bestMove(best: BestMove): void;
  warning(text: string): void;
  /** Progress of slow work; without this method it is reported as a warning. */
  progress?(text: string): void;
  /** Information that is not a warning. */
  note(text: string): void;
  /** Details for developers. */
  debug(text: string): void;
  error(text: string): void;
}
