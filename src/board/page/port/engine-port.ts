/**
 * The port of this page, and what is known of the engine behind it. It has two sides, a WebSocket to `sardonyx board` and a Worker
 * with the engine inside the page, which share numbered requests, their answers, events, and the state of the connection.
 */
import { signal } from '@preact/signals';
import type { Thread, ThreadEvents } from '#platform/threads.js';
import type { Answers, EngineDescription, PortEvent, Reply, WorkerNews } from '../../protocol/replies.js';
import type { RequestType, SentRequestOf } from '../../protocol/requests.js';
import { addNotice } from '../shell/notices.js';
import { readStored, writeStored } from '../shell/stored.js';
import { startSiteEngine } from './site-start.js';

/** Without the number, which the port adds. */
type Question<Type extends RequestType> = Omit<SentRequestOf<Type>, 'id' | 'type'>;

/**
 * connecting → open ⇄ lost. While it is lost, requests are refused at once; when it is open again, the page asks anew for what it
 * shows, for the other side has forgotten it.
 */
type PortState = 'connecting' | 'open' | 'lost';

interface Sent<Answer> {
  /** Number of the request, by which its events are recognised. */
  readonly id: number;
  /** Rejects with an Error whose message is one sentence for the user. */
  readonly answer: Promise<Answer>;
}

interface Pending {
  resolve(answer: unknown): void;
  reject(error: Error): void;
}

interface NumberedMessage {
  readonly type: string;
  readonly id: number;
}

abstract class EnginePort {
  /**
   * Behind the port is `sardonyx board`, which also plays matches, runs a training loop and keeps analyses for every browser. The
   * engine inside the page has none of these, but opens networks by address.
   */
  abstract readonly hasServer: boolean;
  private state: PortState = 'connecting';
  protected reason = '';
  private nextId = 1;
  private readonly pending = new Map<number, Pending>();
  private readonly listeners: ((event: PortEvent) => void)[] = [];
  private readonly watchers: ((state: PortState, reason: string) => void)[] = [];

  send<Type extends RequestType>(type: Type, question: Question<Type>): Sent<Answers[Type]> {
    return this.ask<Answers[Type]>({ type, ...question });
  }

  listen(listener: (event: PortEvent) => void): void {
    this.listeners.push(listener);
  }

  /** Calls at once, and with each change. `reason` is empty, or says in one sentence why there will be no engine. */
  watchState(watcher: (state: PortState, reason: string) => void): void {
    this.watchers.push(watcher);
    watcher(this.state, this.reason);
  }

  /** The page shows what it began with. */
  begin?(): void;
  /** Begins anew at once: connects to the server, or starts the engine inside the page. */
  abstract reconnect(): void;
  /** Adds a network, a file of the user's or an https address, to the list and uses it. Rejects with one sentence. */
  abstract openNetwork(source: File | string): Promise<void>;
  /** Deletes a network that the browser keeps (`NetworkEntry.isKept`). Rejects with one sentence, also while it is in use. */
  abstract removeNetwork(name: string): Promise<void>;

  /** Sends a message, or keeps it until there is a connection. */
  protected abstract post(message: NumberedMessage): void;

  protected ask<Answer>(question: { readonly type: string }): Sent<Answer> {
    const id = this.nextId++;
    const answer = new Promise<Answer>((resolve, reject) => {
      if (this.state === 'lost') {
        reject(new Error(this.reason || 'The engine cannot be reached'));
        return;
      }
      this.pending.set(id, { resolve: resolve as (answer: unknown) => void, reject });
      this.post({ ...question, id });
    });
    return { id, answer };
  }

  protected receive(message: Reply | PortEvent): void {
    if (message.type === 'answer' || message.type === 'refusal') {
      const pending = message.id === null ? undefined : this.pending.get(message.id);
      if (message.id !== null) this.pending.delete(message.id);
      if (message.type === 'answer') pending?.resolve(message.answer);
      else pending?.reject(new Error(message.error));
      return;
    }
    for (const listener of this.listeners) listener(message);
  }

  /** When it is lost, all requests without an answer are refused, so that nobody waits for ever. */
  protected changeState(state: PortState, reason = ''): void {
    this.state = state;
    this.reason = reason;
    for (const watcher of this.watchers) watcher(state, reason);
    if (state !== 'lost') return;
    const error = new Error(reason || 'The connection to the engine was lost');
    for (const { reject } of this.pending.values()) reject(error);
    this.pending.clear();
  }
}

const FIRST_RETRY_S = 1;
const LONGEST_RETRY_S = 8;
/** Until a lost connection is tried again; 0 = that is being done. */
const secondsToRetry = signal(0);
export const RESTARTED =
  'The server was started again, or has forgotten this browser: this page goes on when one is opened by the address that it has printed';
/** Messages: the path of a page that the server knows, or '', which asks for one. */
const PLACES = 'sardonyx.places';

/** The engine of `sardonyx board`. A lost connection is made again, first soon, then ever more seldom. */
class SocketPort extends EnginePort {
  readonly hasServer = true;
  private socket: WebSocket | null = null;
  private retryS = FIRST_RETRY_S;
  private countdown: ReturnType<typeof setInterval> | undefined;
  private readonly unsent: string[] = [];
  private readonly places = new BroadcastChannel(PLACES);
  /** The page has begun with its analysis, so that older tabs come to theirs. */
  private hasBegun = false;

  constructor() {
    super();
    this.places.onmessage = ({ data: place }: MessageEvent<string>) => {
      const isOpen = this.socket?.readyState === WebSocket.OPEN;
      if (place === '') this.tellPlace();
      else if (!isOpen && place !== location.pathname) location.replace(place + location.hash);
    };
    this.connect();
  }

  override begin(): void {
    this.hasBegun = true;
    this.tellPlace();
  }

  /** Tabs that the server does not know go on where this one is. */
  private tellPlace(): void {
    const isOpen = this.socket?.readyState === WebSocket.OPEN;
    if (isOpen && this.hasBegun) this.places.postMessage(location.pathname);
  }

  async openNetwork(source: File | string): Promise<void> {
    if (typeof source === 'string')
      throw new Error('The server opens no address: download the network, and open the file');
    const name = await sendFile('network', source);
    await this.send('useNetwork', { name }).answer;
  }

  async removeNetwork(): Promise<void> {
    throw new Error('The server keeps its networks until it ends');
  }

  /** A connection that is there, and answers nothing, ends. */
  reconnect(): void {
    clearInterval(this.countdown);
    secondsToRetry.value = 0;
    const { socket } = this;
    this.socket = null;
    socket?.close();
    this.changeState('lost', this.reason);
    this.connect();
  }

  protected override post(message: NumberedMessage): void {
    const text = JSON.stringify(message);
    if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(text);
    else this.unsent.push(text);
  }

  private connect(): void {
    const socket = new WebSocket(new URL('./engine', location.href.replace(/^http/, 'ws')));
    this.socket = socket;
    socket.onopen = () => {
      this.retryS = FIRST_RETRY_S;
      for (const text of this.unsent.splice(0)) socket.send(text);
      this.changeState('open');
      this.tellPlace();
    };
    socket.onmessage = ({ data }) => {
      if (this.socket === socket) this.receive(JSON.parse(String(data)) as Reply | PortEvent);
    };
    socket.onclose = () => {
      if (this.socket === socket) this.wait();
    };
  }

  private wait(): void {
    this.unsent.length = 0;
    this.changeState('lost', this.reason);
    void this.explainLoss();
    secondsToRetry.value = this.retryS;
    this.retryS = Math.min(LONGEST_RETRY_S, 2 * this.retryS);
    this.countdown = setInterval(() => {
      if (--secondsToRetry.value === 0) this.reconnect();
    }, 1000);
  }

  /** A server that answers, but not to this page, is another one at the same address: it has another token. */
  private async explainLoss(): Promise<void> {
    const response = await fetch('./', { method: 'HEAD', cache: 'no-store' }).catch(() => null);
    if (response?.status !== 401 && response?.status !== 403) return;
    if (this.socket?.readyState === WebSocket.OPEN) return;
    this.changeState('lost', RESTARTED);
    this.places.postMessage('');
  }
}

/** Longer than a thread may take until it evaluates: with a network that is here, it says nothing meanwhile. */
const LONGEST_SILENCE_MS = 75_000;

type FromWorker = Reply | PortEvent | WorkerNews;

/** The engine inside the page: a Worker that takes the same messages as `sardonyx board` does. */
class WorkerPort extends EnginePort {
  readonly hasServer = false;
  private worker: Thread<unknown> | null = null;
  /** Ends a silence; null when there is a network, or when it is said why there is none. */
  private silence: ReturnType<typeof setTimeout> | null = null;
  private readonly unsent: NumberedMessage[] = [];
  private launches = 0;

  /** @param build of the page */
  constructor(private readonly build: string) {
    super();
    this.launch();
  }

  reconnect(): void {
    this.fail('');
    this.changeState('connecting');
    this.launch();
  }

  async openNetwork(source: File | string): Promise<void> {
    await this.ask({ type: 'openNetwork', source } as { type: string }).answer;
  }

  async removeNetwork(name: string): Promise<void> {
    await this.ask({ type: 'removeNetwork', name } as { type: string }).answer;
  }

  protected override post(message: NumberedMessage): void {
    if (this.worker === null) this.unsent.push(message);
    else this.worker.post(message);
  }

  private launch(): void {
    const events: ThreadEvents<FromWorker> = {
      onMessage: (message) => this.take(message),
      onError: ({ message }) =>
        this.fail(`The engine ${this.silence === null ? 'has failed' : 'does not start'}: ${message}`),
    };
    const network = readStored('network');
    const number = ++this.launches;
    startSiteEngine({ build: this.build, network: typeof network === 'string' ? network : '', events }).then(
      (worker) => {
        if (number !== this.launches) return void worker.terminate();
        this.worker = worker;
        for (const message of this.unsent.splice(0)) worker.post(message);
        this.awaitNews();
      },
      ({ message }: Error) => {
        if (number === this.launches) this.fail(message);
      },
    );
  }

  private take(message: FromWorker): void {
    if (message.type === 'obstacle') {
      this.fail(message.text);
      return;
    }
    if (this.silence !== null) this.awaitNews();
    if (message.type === 'description' && (message.description.running ?? message.description.problem) !== '')
      this.endSilence();
    if (message.type === 'ready') this.changeState('open');
    else this.receive(message);
  }

  private awaitNews(): void {
    this.endSilence();
    const text = `The engine does not start: it has said nothing for ${LONGEST_SILENCE_MS / 1000} s`;
    this.silence = setTimeout(() => this.fail(text), LONGEST_SILENCE_MS);
  }

  private endSilence(): void {
    if (this.silence !== null) clearTimeout(this.silence);
    this.silence = null;
  }

  private fail(reason: string): void {
    this.endSilence();
    void this.worker?.terminate();
    this.worker = null;
    this.unsent.length = 0;
    this.changeState('lost', reason);
  }
}

/** What is being sent or fetched now, for all to see; null = nothing. `share` is 0 to 1, null when it is not known. */
export const transfer = signal<{ readonly text: string; readonly share: number | null } | null>(null);

/**
 * Rejects with the sentence for the user.
 * @returns the name under which the server offers it
 */
export function sendFile(kind: 'network' | 'book', file: File): Promise<string> {
  const request = new XMLHttpRequest();
  return new Promise<string>((resolve, reject) => {
    request.open('PUT', `files/${kind}?name=${encodeURIComponent(file.name)}`);
    request.upload.onprogress = ({ loaded, total }) => {
      transfer.value = { text: `Sending ${file.name}`, share: total > 0 ? loaded / total : null };
    };
    request.onerror = () =>
      reject(new Error(`${file.name} could not be sent: the connection ended, or it is too large`));
    request.onload = () => {
      const answer = request.responseText.trim();
      if (request.status === 200) resolve(answer);
      else reject(new Error(answer === '' ? `${file.name} was refused` : answer));
    };
    request.send(file);
  }).finally(() => {
    transfer.value = null;
  });
}

export const portState = signal<PortState>('connecting');
/** Why there will be no engine, in one sentence; '' = there is one, or it may come back. */
export const obstacle = signal('');
export const engine = signal<EngineDescription | null>(null);

export const port: EnginePort = createPort();

/** A page of the site says of which build it is, and has its engine inside. */
function createPort(): EnginePort {
  const build = document.querySelector('meta[name="sardonyx-build"]')?.getAttribute('content');
  return typeof build === 'string' ? new WorkerPort(build) : new SocketPort();
}

/** The engine in a page begins with the network that ran last; `sardonyx board` knows its own. */
function takeDescription(description: EngineDescription): void {
  engine.value = description;
  const { network, running, problem } = description;
  if (!port.hasServer && running !== null && problem === '') writeStored('network', network);
}

port.listen((event) => {
  if (event.type === 'description') takeDescription(event.description);
  if (event.type === 'progress') transfer.value = event.isDone ? null : event;
  if (event.type === 'notice' && event.level !== 'note') addNotice(event.level, event.text);
});

port.watchState((state, reason) => {
  portState.value = state;
  obstacle.value = reason;
  if (state === 'connecting') engine.value = null;
  if (state !== 'open') return;
  port.send('describe', {}).answer.then(takeDescription, reportError);
});

/** While the connection is lost. */
export function describeLoss(): string {
  if (obstacle.value !== '') return 'No engine';
  return secondsToRetry.value === 0 ? 'No connection: trying …' : `No connection: again in ${secondsToRetry.value} s`;
}

/** For promises whose failure the user should read. */
export function reportError(error: unknown): void {
  addNotice('error', error instanceof Error ? error.message : String(error));
}

/** For every page of this engine. Resolves when the engine has taken it, or the user has read why not. */
export function setOption(name: string, value: string): Promise<unknown> {
  return port.send('setOption', { name, value }).answer.catch(reportError);
}

export function useNetwork(name: string): void {
  addNotice('note', 'Loading the network …');
  port.send('useNetwork', { name }).answer.catch(reportError);
}

/** A file of the user's, or an https address. */
export function openNetwork(source: File | string): void {
  addNotice('note', 'Loading the network …');
  port.openNetwork(source).catch(reportError);
}
