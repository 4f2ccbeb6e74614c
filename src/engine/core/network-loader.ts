/**
 * Keeps a network loaded that matches the options. Loading is asynchronous, one network at a time; all options that change
 * meanwhile cause one more load. If a load fails, the previous network is loaded again, or else a spare one, and is
 * used until an option changes. So a wrong file name loses nothing, and no `go` waits for the same failure twice. A network that
 * lost its device in a search is loaded once more, for the CPU, because its threads still use the device's batches.
 *
 * The engine tells it when options change (`onPoolChange`, `onEvaluatorChange`, `onTablesChange`).
 */

import { repeatEvery } from '#platform/threads.js';
import type { OptionStore } from '../../base/options/index.js';
import { getErrorMessage } from '../../base/util/index.js';
import type { EngineListener, EnginePorts, NetworkPort } from './ports.js';

/** Tells the user at this interval that loading is not finished. */
const PROGRESS_MS = 5000;

export class NetworkLoader {
  private network: NetworkPort | null = null;
  /** The options of the current network, or of the last one; null if none was loaded yet. */
  private loadedOptions: OptionStore | null = null;
  /** Whether the options ask for another network that is not being loaded yet. */
  private isOutdated = true;
  /** Whether the next search must apply the evaluation options, or those of tablebases. */
  private hasNewEvaluation = false;
  private hasNewTables = false;
  /** The network that lost its device and could not be loaded for the CPU; it stays in use. */
  private stranded: NetworkPort | null = null;
  private loading: Promise<void> | null = null;
  private isDisposed = false;

  constructor(
    private readonly options: OptionStore,
    private readonly ports: Pick<EnginePorts, 'createNetwork' | 'createSpareOptions' | 'describeChoice'>,
    private readonly listener: Pick<Required<EngineListener>, 'warning' | 'note' | 'error' | 'progress'>,
  ) {}

  /** The network for the current options, or the one in its place; null if there is neither. */
  get current(): NetworkPort | null {
    return this.loading !== null || this.mustLoad ? null : this.network;
  }

  /** Resolves when the network for the current options is loaded or has failed to load. Never rejects. */
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
    const { loadedOptions } = this;
    const isLoaded =
      this.network !== null && loadedOptions !== null && this.describe(loadedOptions) === this.describe(this.options);
    this.isOutdated = !isLoaded;
  }

  onEvaluatorChange(): void {
    this.hasNewEvaluation = true;
  }

  onTablesChange(): void {
    this.hasNewTables = true;
  }

  /** Applies the options that need no loading. Do not call it during a search. */
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
      this.listener.progress(`Still loading the network after ${seconds} s`);
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
      // Dispose of the old one first: two sets of weights may not fit into a device's memory.
      await old?.dispose();
      this.network = await this.create(options);
      this.loadedOptions = options;
      this.explain(this.network);
    } catch (error) {
      const reason = getErrorMessage(error);
      this.network = await this.createAgain();
      const role = this.network === null ? 'plays instead' : 'stays';
      if (this.network === null) {
        this.loadedOptions = this.ports.createSpareOptions?.(options) ?? null;
        this.network = await this.createAgain();
      }
      this.listener.error(this.network === null ? reason : `${reason}; ${this.network.description} ${role}`);
    }
    // Options that changed meanwhile may have changed back.
    if (this.isOutdated) this.onPoolChange();
  }

  /** Tells the user which network plays, and why: it depends on the machine and on the options. */
  private explain({ description, reason }: NetworkPort): void {
    if (reason !== null) this.listener.note(`Network ${description}${reason === '' ? '' : `: ${reason}`}`);
  }

  /** Keeps the old network until the new one is loaded: it works, if slowly, and its device memory is lost anyway. */
  private async leaveDevice(): Promise<void> {
    const old = this.network;
    try {
      this.network = await this.createWithEarlierOptions(this.loadedOptions ?? this.options, true);
      this.explain(this.network);
      await old?.dispose();
    } catch (error) {
      this.stranded = old;
      this.listener.warning(`The network cannot be loaded for the CPU: ${getErrorMessage(error)}`);
    }
  }

  private describe(options: OptionStore): string {
    return `${options.describe('pool')} ${this.ports.describeChoice?.(options) ?? ''}`;
  }

  private create(options: OptionStore, avoidsDevice = false): Promise<NetworkPort> {
    const { listener } = this;
    const warn = (text: string): void => listener.warning(text);
    return this.ports.createNetwork(options, warn, avoidsDevice, (text) => listener.progress(text));
  }

  private async createWithEarlierOptions(options: OptionStore, avoidsDevice = false): Promise<NetworkPort> {
    const network = await this.create(options, avoidsDevice);
    this.hasNewEvaluation = true;
    this.hasNewTables = true;
    return network;
  }

  /** The network of `loadedOptions`; null if there are none, or it cannot be loaded any more. */
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
