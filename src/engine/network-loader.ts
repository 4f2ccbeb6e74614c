/**
 * Keeps one network loaded that matches the options. Loading is asynchronous and never two at a time; options that change
 * meanwhile lead to one more load, not to one each. When a load fails, the network before is loaded again and serves until
 * an option changes: a wrong file name loses nothing, and no `go` waits for the same failure twice. A network that has lost
 * its device in a search is loaded once more, for the processor: what took over in its threads had the device's batches.
 */
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
  private loadedKey = '';
  /** What `loadedKey` stands for; null when nothing was loaded yet. */
  private loadedOptions: OptionStore | null = null;
  private failedKey = '';
  /** Lost its device, and could not be loaded for the processor: it goes on as it is. */
  private stranded: NetworkPort | null = null;
  private loading: Promise<void> | null = null;
  private isDisposed = false;

  constructor(
    private readonly options: OptionStore,
    private readonly ports: Pick<EnginePorts, 'createNetwork' | 'networkOptionNames'>,
    private readonly events: LoaderEvents,
  ) {}

  /** The network for the present options, or the one that serves in its place; null while there is neither. */
  get current(): NetworkPort | null {
    return this.mustLoad ? null : this.network;
  }

  /** Resolves when the network for the present options is loaded or has failed to load. Never rejects. */
  async ensure(): Promise<NetworkPort | null> {
    while (!this.isDisposed && this.mustLoad) {
      this.loading ??= this.loadNext().finally(() => {
        this.loading = null;
      });
      await this.loading;
    }
    return this.current;
  }

  async dispose(): Promise<void> {
    this.isDisposed = true;
    await this.loading;
    await this.network?.dispose();
    this.network = null;
  }

  private get wantedKey(): string {
    return JSON.stringify(this.ports.networkOptionNames.map((name) => this.options.values.get(name)));
  }

  private get mustLoad(): boolean {
    return this.hasOtherOptions || this.mustLeaveDevice;
  }

  /** The options ask for another network, which has not failed to load. */
  private get hasOtherOptions(): boolean {
    const { wantedKey, failedKey, loadedKey, network } = this;
    return failedKey !== wantedKey && (network === null || loadedKey !== wantedKey);
  }

  private get mustLeaveDevice(): boolean {
    return this.network?.hasLostDevice === true && this.network !== this.stranded;
  }

  private async loadNext(): Promise<void> {
    const startedAt = performance.now();
    const progress = setInterval(() => {
      const seconds = Math.round((performance.now() - startedAt) / 1000);
      this.events.onWarning(`Still loading the network after ${seconds} s`);
    }, PROGRESS_MS);
    progress.unref();
    const loading = this.hasOtherOptions ? this.load() : this.leaveDevice();
    await loading.finally(() => clearInterval(progress));
  }

  private async load(): Promise<void> {
    const key = this.wantedKey;
    const old = this.network;
    this.network = null;
    const options = this.options.clone();
    try {
      // The old one goes first: two sets of weights may not fit into the memory of a device.
      await old?.dispose();
      this.network = await this.create(options);
      this.loadedOptions = options;
      this.loadedKey = key;
      this.failedKey = '';
    } catch (error) {
      const reason = getReason(error);
      this.network = await this.createAgain();
      this.failedKey = key;
      this.events.onError(this.network === null ? reason : `${reason}; ${this.network.description} stays`);
    }
  }

  /** The old one stays until the new one is there: it works, if slowly, and what it holds of the device is lost anyway. */
  private async leaveDevice(): Promise<void> {
    const old = this.network;
    try {
      this.network = await this.create(this.loadedOptions ?? this.options, true);
      await old?.dispose();
    } catch (error) {
      this.stranded = old;
      this.events.onWarning(`The network cannot be loaded for the processor: ${getReason(error)}`);
    }
  }

  private create(options: OptionStore, avoidsDevice = false): Promise<NetworkPort> {
    return this.ports.createNetwork(options, (text) => this.events.onWarning(text), avoidsDevice);
  }

  /** The network before, or null: it may have been the first, or be gone as well. */
  private async createAgain(): Promise<NetworkPort | null> {
    if (this.loadedOptions === null) return null;
    try {
      return await this.create(this.loadedOptions);
    } catch {
      this.loadedOptions = null;
      this.loadedKey = '';
      return null;
    }
  }
}

function getReason(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
