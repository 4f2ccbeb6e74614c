/**
 * Keeps one network loaded that matches the options. Loading is asynchronous and never two at a time; options that change
 * meanwhile lead to one more load, not to one each. When a load fails, the network before is loaded again, or a spare one if
 * there was none, and serves until an option changes: a wrong file name loses nothing, and no `go` waits for the same failure twice. A network that has lost
 * its device in a search is loaded once more, for the processor: what took over in its threads had the device's batches.
 *
 * The engine tells it when options change (`onPoolChange`, `onEvaluatorChange`, `onTablesChange`).
 */
import { repeatEvery } from '#platform/threads.js';
import type { OptionStore } from '../options/index.js';
import type { EnginePorts, NetworkPort } from './ports.js';

interface LoaderEvents {
  onWarning(text: string): void;
  onError(text: string): void;
}

/** After this the user is told that loading goes on, and again each time it passes. */
const PROGRESS_MS = 5000;

export class NetworkLoader {
  private network: NetworkPort | null = null;
  /** What the network, or the one before it that is gone, was loaded with; null when nothing was loaded yet. */
  private loadedOptions: OptionStore | null = null;
  /** The options ask for another network, and nobody has begun to load it. */
  private isOutdated = true;
  /** The next search must hand over the options of evaluation, or those of tablebases. */
  private hasNewEvaluation = false;
  private hasNewTables = false;
  /** Lost its device, and could not be loaded for the processor: it goes on as it is. */
  private stranded: NetworkPort | null = null;
  private loading: Promise<void> | null = null;
  private isDisposed = false;

  constructor(
    private readonly options: OptionStore,
    private readonly ports: Pick<EnginePorts, 'createNetwork' | 'createSpareOptions'>,
    private readonly events: LoaderEvents,
  ) {}

  /** The network for the present options, or the one that serves in its place; null while there is neither. */
  get current(): NetworkPort | null {
    return this.loading !== null || this.mustLoad ? null : this.network;
  }

  /** Resolves when the network for the present options is loaded or has failed to load. Never rejects. */
  async ensure(): Promise<NetworkPort | null> {
    while (!this.isDisposed && (this.loading !== null || this.mustLoad)) {
      this.loading ??= this.loadNext().finally(() => {
        this.loading = null;
      });
      await this.loading;
    }
    return this.current;
  }

  onPoolChange(): void {
    const isLoaded = this.network !== null && this.loadedOptions?.describe('pool') === this.options.describe('pool');
    this.isOutdated = !isLoaded;
  }

  onEvaluatorChange(): void {
    this.hasNewEvaluation = true;
  }

  onTablesChange(): void {
    this.hasNewTables = true;
  }

  /** Hands the network the options that need no loading. Not while a search runs. */
  handOver(network: NetworkPort): void {
    if (this.hasNewEvaluation) network.takeEvaluatorOptions(this.options);
    if (this.hasNewTables) network.takeTableOptions(this.options);
    this.hasNewEvaluation = false;
    this.hasNewTables = false;
  }

  async dispose(): Promise<void> {
    this.isDisposed = true;
    await this.loading;
    await this.network?.dispose();
    this.network = null;
  }

  private get mustLoad(): boolean {
    return this.isOutdated || this.mustLeaveDevice;
  }

  private get mustLeaveDevice(): boolean {
    return this.network?.hasLostDevice === true && this.network !== this.stranded;
  }

  private async loadNext(): Promise<void> {
    const startedAt = performance.now();
    const endProgress = repeatEvery(PROGRESS_MS, () => {
      const seconds = Math.round((performance.now() - startedAt) / 1000);
      this.events.onWarning(`Still loading the network after ${seconds} s`);
    });
    const loading = this.isOutdated ? this.load() : this.leaveDevice();
    await loading.finally(endProgress);
  }

  private async load(): Promise<void> {
    const old = this.network;
    this.network = null;
    const options = this.options.clone();
    this.isOutdated = false;
    this.hasNewEvaluation = false;
    this.hasNewTables = false;
    try {
      // The old one goes first: two sets of weights may not fit into the memory of a device.
      await old?.dispose();
      this.network = await this.create(options);
      this.loadedOptions = options;
    } catch (error) {
      const reason = getReason(error);
      const hadNetwork = this.loadedOptions !== null;
      this.loadedOptions ??= this.ports.createSpareOptions?.(options) ?? null;
      this.network = await this.createAgain();
      const rest =
        this.network === null ? '' : `; ${this.network.description} ${hadNetwork ? 'stays' : 'plays instead'}`;
      this.events.onError(`${reason}${rest}`);
    }
    // Options that changed in the meantime may have changed back.
    if (this.isOutdated) this.onPoolChange();
  }

  /** The old one stays until the new one is there: it works, if slowly, and what it holds of the device is lost anyway. */
  private async leaveDevice(): Promise<void> {
    const old = this.network;
    try {
      this.network = await this.createWithEarlierOptions(this.loadedOptions ?? this.options, true);
      await old?.dispose();
    } catch (error) {
      this.stranded = old;
      this.events.onWarning(`The network cannot be loaded for the processor: ${getReason(error)}`);
    }
  }

  private create(options: OptionStore, avoidsDevice = false): Promise<NetworkPort> {
    return this.ports.createNetwork(options, (text) => this.events.onWarning(text), avoidsDevice);
  }

  private async createWithEarlierOptions(options: OptionStore, avoidsDevice = false): Promise<NetworkPort> {
    const network = await this.create(options, avoidsDevice);
    this.hasNewEvaluation = true;
    this.hasNewTables = true;
    return network;
  }

  /** The network of `loadedOptions`, or null: there are none, or it is gone as well. */
  private async createAgain(): Promise<NetworkPort | null> {
    if (this.loadedOptions === null) return null;
    try {
      return await this.createWithEarlierOptions(this.loadedOptions);
    } catch {
      this.loadedOptions = null;
      return null;
    }
  }
}

function getReason(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
