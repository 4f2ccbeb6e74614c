/**
 * The engine's network port over a pool of evaluator threads. Node and the browser create the pool in different ways.
 */

import type { OptionStore } from '../../base/options/index.js';
import type { HistoryFill } from '../../networks/encoding/index.js';
import type { EvaluatorPool, PoolOptions } from '../../networks/nn/index.js';
import { getTablebaseSettings } from './endgame-tables.js';
import type { NetworkPort } from './ports.js';

/** The options of a pool, without its network. */
export function readPoolOptions(options: OptionStore, onWarning: (text: string) => void): PoolOptions {
  return {
    backend: options.getString('Backend'),
    backendOptions: options.getString('BackendOptions'),
    threads: options.getNumber('Threads'),
    minibatch: options.getNumber('MinibatchSize'),
    cachePositions: options.getNumber('NNCacheSize'),
    cacheMb: options.getNumber('Hash'),
    onWarning,
    tablebases: getTablebaseSettings(options),
    ...readEvaluationOptions(options),
  };
}

/** Options that a running pool can change without loading the network again. */
function readEvaluationOptions(options: OptionStore): { policyTemperature: number; historyFill: HistoryFill } {
  return {
    policyTemperature: options.getNumber('PolicyTemperature'),
    historyFill: options.getString('HistoryFill') as HistoryFill,
  };
}

export function createPoolNetwork(pool: EvaluatorPool, reason: string | null = null): NetworkPort {
  return {
    reason,
    handle: pool.handle,
    get description() {
      const { name, backend } = pool.network;
      const threads = pool.threads === 1 ? '1 thread' : `${pool.threads} threads`;
      return name === backend ? `${name}, ${threads}` : `${name} on ${backend}, ${threads}`;
    },
    get cacheFill() {
      return pool.cacheFill;
    },
    get evaluations() {
      return pool.counters.evaluations;
    },
    get hasLostDevice() {
      return pool.hasLostDevice;
    },
    takeEvaluatorOptions: (current) => pool.configure(readEvaluationOptions(current)),
    takeTableOptions: (current) => pool.configure({ tablebases: getTablebaseSettings(current) }),
    clearCache: () => pool.clearCache(),
    dispose: () => pool.dispose(),
  };
}
