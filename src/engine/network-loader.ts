/**
 * Keeps one network loaded that matches the options. Loading is asynchronous and never two at a time; options that change
 * meanwhile lead to one more load, not to one each. A failure is kept until an option changes, so that every `go` does
 * not wait for it again.
 */
import type { OptionStore } from './option-store.js';
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
  private failedKey = '';
  private loading: Promise<void> | null = null;
  private isDisposed = false;

  constructor(
    private readonly options: OptionStore,
    private readonly ports: Pick<EnginePorts, 'createNetwork' | 'networkOptionNames'>,
    private readonly events: LoaderEvents,
  ) {}

  /** The network for the present options; null while it is not loaded (or cannot be). */
  get current(): NetworkPort | null {
    return this.network !== null && this.loadedKey === this.wantedKey ? this.network : null;
  }

  /** Resolves when the network for the present options is loaded or has failed to load. Never rejects. */
  async ensure(): Promise<NetworkPort | null> {
    while (!this.isDisposed && this.current === null && this.failedKey !== this.wantedKey) {
      this.loading ??= this.load().finally(() => {
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

  private async load(): Promise<void> {
    const key = this.wantedKey;
    const old = this.network;
    this.network = null;
    const startedAt = performance.now();
    const progress = setInterval(() => {
      const seconds = Math.round((performance.now() - startedAt) / 1000);
      this.events.onWarning(`Still loading the network after ${seconds} s`);
    }, PROGRESS_MS);
    progress.unref();
    try {
      // The old one goes first: two sets of weights may not fit into the memory of a device.
      await old?.dispose();
      this.network = await this.ports.createNetwork(this.options, (text) => this.events.onWarning(text));
      this.loadedKey = key;
      this.failedKey = '';
    } catch (error) {
      this.failedKey = key;
      this.events.onError(error instanceof Error ? error.message : String(error));
    } finally {
      clearInterval(progress);
    }
  }
}
