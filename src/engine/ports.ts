/**
 * What the engine needs from the rooms below, as narrow as it uses them: tests put fakes here, the command line puts the
 * real pool and the real search thread.
 */

import type { MateAnswer } from '../chess/index.js';
import type { SharedPoolHandle } from '../nn/index.js';
import type { OptionStore } from '../options/index.js';
import type { FromSearch, ToSearch } from '../search/index.js';
import type { BestMove } from './active-search.js';
import type { MateTask } from './mate-worker.js';
import type { RootStats } from './move-stats.js';
import type { SearchReport } from './search-report.js';

export interface NetworkPort {
  readonly handle: SharedPoolHandle;
  /** For people: name of the network and what it runs on. */
  readonly description: string;
  /** What it runs on now, after any fall-back. */
  readonly backend: string;
  /** Positions evaluated since it was loaded. */
  readonly evaluations: number;
  /** Share of the evaluation cache in use, per mille. */
  readonly cacheFill: number;
  /** The device it was loaded for is gone; at best it makes do with the processor. */
  readonly hasLostDevice: boolean;
  /** Takes over the options that change what a position is worth, and forgets all evaluations. Not while a search runs. */
  takeEvaluatorOptions(options: OptionStore): void;
  /** Takes over the options of tablebases. Not while a search runs. */
  takeTableOptions(options: OptionStore): void;
  clearCache(): void;
  dispose(): Promise<void>;
}

export interface SearchPort {
  /** Searches with this pool from now on; not while a search runs. */
  attach(handle: SharedPoolHandle): void;
  post(message: ToSearch): void;
  /** Ends the running search as soon as its leaves allow; it answers with a bestMove message. */
  stop(): void;
  dispose(): Promise<void>;
}

export interface SearchPortEvents {
  onMessage(message: FromSearch): void;
  /** The thread is gone; a new one must be made. */
  onFailure(error: Error): void;
}

export interface MateSearchPort {
  /** Never rejects: a search that fails has found no mate. */
  find(task: MateTask): Promise<MateAnswer>;
  dispose(): Promise<void>;
}

export interface EnginePorts {
  /**
   * Rejects with an Error whose message is one sentence for the user.
   * @param avoidsDevice the network is to work on the processor, as it does where the device of the options cannot be used
   */
  createNetwork(options: OptionStore, warn: (text: string) => void, avoidsDevice: boolean): Promise<NetworkPort>;
  /**
   * The options to play with when the first network cannot be loaded with these. Absent where the failure is the answer: in
   * commands that were asked about a network.
   */
  createSpareOptions?(options: OptionStore): OptionStore;
  createSearch(events: SearchPortEvents): SearchPort;
  createMateSearch(): MateSearchPort;
}

/** Whom the engine tells. */
export interface EngineListener {
  report(report: SearchReport): void;
  /** Only with VerboseMoveStats; before bestMove. */
  moveStats(stats: RootStats): void;
  bestMove(best: BestMove): void;
  warning(text: string): void;
  /** News that is no trouble. */
  note(text: string): void;
  /** What only a developer wants to know. */
  debug(text: string): void;
  error(text: string): void;
}
