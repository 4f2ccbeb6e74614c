/**
 * The messages between the threads of a shards run: the main thread hands out one input file at a time, and a worker answers with
 * progress, finished parts and warnings until it is done with the file.
 */

import type { HistoryFill } from '../../networks/encoding/index.js';
import type { GameFilter } from '../records/index.js';
import type { Split, SplitCounts, SplitShares } from './splits.js';

export interface ShardSettings {
  readonly input: string;
  readonly policy: string;
  readonly historyFill: HistoryFill;
  readonly shares: SplitShares;
  readonly filter: GameFilter;
}

export interface ShardsTask {
  readonly path: string;
  /** First half of the shards' file names. */
  readonly inputNumber: number;
  /** Where an earlier run stopped. */
  readonly firstPart: number;
  readonly skipGames: number;
  /** All games of this file go to this split; null = the hash of each game decides. */
  readonly onlySplit: Split | null;
  /** Stop at the first game border after this many positions. */
  readonly maxPositions: number;
  readonly folder: string;
  readonly settings: ShardSettings;
}

export type FromShardsWorker =
  | { readonly type: 'progress'; readonly bytes: number; readonly positions: number }
  | { readonly type: 'part'; readonly games: number; readonly counts: SplitCounts }
  | { readonly type: 'warning'; readonly text: string }
  /** The file is finished, with `damaged` games skipped; or it is refused, beyond what was read. */
  | { readonly type: 'done'; readonly damaged: number; readonly isRefused: boolean };
