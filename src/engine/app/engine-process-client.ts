/**
 * The engine of a program that asks for it on a worker thread. Such a thread may be terminated at any moment, which
 * would abort the whole process if evaluator threads below it were inside onnxruntime: Node gives them no time to leave. So the
 * engine runs in a process of its own there, which ends when the channel to it closes.
 */
import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { isMainThread } from '#platform/threads.js';
import type { OptionStore } from '../../base/options/index.js';
import { type Result, success } from '../../base/util/index.js';
import type { RootStats } from '../core/index.js';
import type { NetworkSource } from '../library/chess-engine.js';
import { type EngineHost, type HostEvents, type HostPosition, type HostTask, LocalHost } from '../library/index.js';
import { enginePorts } from './evaluator-network.js';
import { createOptionStore } from './options.js';

/** A call of the host in the other process, and its answer. */
export interface HostCall {
  readonly id: number;
  readonly method: Exclude<keyof EngineHost, 'options' | 'network'>;
  readonly args: readonly unknown[];
}

export type HostMessage =
  | { readonly event: keyof HostEvents; readonly data: unknown }
  | { readonly id: number; readonly value?: unknown; readonly error?: string; readonly network: string };

export function createEngineHost(events: HostEvents): EngineHost {
  const options = createOptionStore();
  if (isMainThread) return new LocalHost(options, enginePorts, events);
  return new EngineProcessClient(options, events);
}

class EngineProcessClient implements EngineHost {
  network = '';
  private readonly process = fork(fileURLToPath(new URL('./engine-process-worker.js', import.meta.url)), {
    serialization: 'advanced',
    execArgv: [],
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  private readonly calls = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>();
  private nextId = 1;
  private readonly ended: Promise<void>;
  private isDisposed = false;
  /** A network's content on its way to the process. */
  private content: Promise<unknown> = Promise.resolve();

  constructor(
    readonly options: OptionStore,
    private readonly events: HostEvents,
  ) {
    this.process.on('message', (message) => this.receive(message as HostMessage));
    this.ended = new Promise((resolve) => this.process.on('close', () => resolve()));
    this.process.on('error', (error) => this.failAll(error.message));
    this.process.on('exit', () => this.failAll('it ended'));
  }

  setOption(name: string, text: string): Result<unknown> {
    const result = this.options.set(name, text);
    if (result.ok) this.send('setOption', name, text);
    return result;
  }

  setNetwork(source: NetworkSource): Result<unknown> {
    if (typeof source === 'string') return this.setOption('WeightsFile', source);
    if ('href' in source) return this.setOption('WeightsFile', source.href);
    if (!(source instanceof Blob)) {
      this.send('setNetwork', source);
      return success(true);
    }
    const name = 'name' in source ? String(source.name) : undefined;
    this.content = source.arrayBuffer().then((bytes) => this.send('setNetwork', bytes, name));
    return success(true);
  }

  async load(): Promise<void> {
    await this.content;
    await this.call('load');
  }

  go(task: HostTask): void {
    this.send('go', task);
  }

  stop(): void {
    this.send('stop');
  }

  ponderHit(): void {
    this.send('ponderHit');
  }

  async evaluate(position: HostPosition): Promise<RootStats | null> {
    return (await this.call('evaluate', position)) as RootStats | null;
  }

  newGame(): void {
    this.send('newGame');
  }

  async dispose(): Promise<void> {
    this.isDisposed = true;
    await this.call('dispose').catch(() => undefined);
    if (this.process.connected) this.process.disconnect();
    await this.ended;
  }

  private send(method: HostCall['method'], ...args: unknown[]): void {
    // A failure is reported by the process itself, or by its end.
    this.call(method, ...args).catch(() => undefined);
  }

  private call(method: HostCall['method'], ...args: unknown[]): Promise<unknown> {
    const id = this.nextId++;
    return new Promise((resolve, reject) => {
      this.calls.set(id, { resolve, reject });
      if (this.process.connected) this.process.send({ id, method, args });
      else this.failAll('it has ended');
    });
  }

  private receive(message: HostMessage): void {
    if ('event' in message) {
      const handle = this.events[message.event] as (data: unknown) => void;
      handle(message.data);
      return;
    }
    this.network = message.network;
    const call = this.calls.get(message.id);
    this.calls.delete(message.id);
    if (message.error === undefined) call?.resolve(message.value);
    else call?.reject(new Error(message.error));
  }

  private failAll(reason: string): void {
    const sentence = `The process of the engine has failed: ${reason}`;
    for (const { reject } of this.calls.values()) reject(new Error(sentence));
    if (!this.isDisposed) this.events.loss(sentence);
    this.isDisposed = true;
    this.calls.clear();
  }
}
