/**
 * Where an engine runs: in this process, or in another one (engine/app/engine-process-client.ts). Everything that passes is plain data, so that it
 * can be sent.
 */

import type { OptionStore } from '../../base/options/index.js';
import type { Result } from '../../base/util/index.js';
import {
  type BestMove,
  Engine,
  type EnginePorts,
  type GoRequest,
  type RootStats,
  type SearchReport,
} from '../core/index.js';
import type { NetworkSource } from './chess-engine.js';

/** A position that has been checked. */
export interface HostPosition {
  readonly fen: string | null;
  readonly moves: readonly string[];
}

export interface HostTask extends HostPosition {
  readonly request: GoRequest;
}

export interface HostEvents {
  report(report: SearchReport): void;
  moveStats(stats: RootStats): void;
  bestMove(best: BestMove): void;
  /** The search under way has failed, or another network cannot be loaded. */
  failure(sentence: string): void;
  warning(sentence: string): void;
  progress(sentence: string): void;
  /** The engine is gone for good. */
  loss(sentence: string): void;
}

/** One request at a time: `go` and `evaluate` are called when nothing runs. */
export interface EngineHost {
  /** For checks and lists; changed by `setOption`. */
  readonly options: OptionStore;
  setOption(name: string, text: string): Result<unknown>;
  /** @param name of the network, for content in memory that has none */
  setNetwork(source: NetworkSource, name?: string): Result<unknown>;
  /** The description of the network in use. */
  readonly network: string;
  /** Resolves when the network for the options is loaded; rejects with one sentence. */
  load(): Promise<void>;
  go(task: HostTask): void;
  stop(): void;
  ponderHit(): void;
  /** Null when the game is over. */
  evaluate(position: HostPosition): Promise<RootStats | null>;
  newGame(): void;
  dispose(): Promise<void>;
}

export type HostFactory = (events: HostEvents) => EngineHost;

export class LocalHost implements EngineHost {
  private readonly engine: Engine;
  private readonly networks: NetworkAddress[] = [];
  /** Why the last network could not be loaded. */
  private problem: string | null = null;
  private loads = 0;

  constructor(
    readonly options: OptionStore,
    ports: EnginePorts,
    events: HostEvents,
  ) {
    this.engine = new Engine(options, ports, {
      ...events,
      note: () => undefined,
      debug: () => undefined,
      error: (sentence) => {
        this.problem = sentence;
        // Otherwise the caller of `load` is told.
        if (this.loads === 0) events.failure(sentence);
      },
    });
  }

  setOption(name: string, text: string): Result<unknown> {
    this.problem = null;
    return this.engine.setOption(name, text);
  }

  setNetwork(source: NetworkSource, name = 'network'): Result<unknown> {
    const address = addressNetwork(source, name);
    this.networks.push(address);
    return this.setOption('WeightsFile', address.text);
  }

  get network(): string {
    return this.engine.network?.description ?? '';
  }

  async load(): Promise<void> {
    this.loads++;
    await this.engine.prepare().finally(() => this.loads--);
    if (this.problem !== null) throw new Error(this.problem);
  }

  go({ fen, moves, request }: HostTask): void {
    this.engine.setPosition(fen, moves);
    this.engine.go(request);
  }

  stop(): void {
    this.engine.stop();
  }

  ponderHit(): void {
    this.engine.ponderHit();
  }

  evaluate({ fen, moves }: HostPosition): Promise<RootStats | null> {
    this.engine.setPosition(fen, moves);
    return this.engine.evaluate();
  }

  newGame(): void {
    this.engine.newGame();
  }

  async dispose(): Promise<void> {
    await this.engine.dispose();
    for (const network of this.networks) network.release();
  }
}

interface NetworkAddress {
  /** The value of the option WeightsFile. */
  readonly text: string;
  release(): void;
}

/** Gives content in memory an address, because an option is text and the network may have to be loaded again. Its name follows `#`. */
function addressNetwork(source: NetworkSource, givenName: string): NetworkAddress {
  if (typeof source === 'string') return { text: source, release: () => undefined };
  if ('href' in source) return { text: source.href, release: () => undefined };
  const isBlob = source instanceof Blob;
  const address = URL.createObjectURL(isBlob ? source : new Blob([new Uint8Array(source as Uint8Array)]));
  const name = isBlob && 'name' in source ? String(source.name) : givenName;
  return { text: `${address}#${encodeURIComponent(name)}`, release: () => URL.revokeObjectURL(address) };
}
