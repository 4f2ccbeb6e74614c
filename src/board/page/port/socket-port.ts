/**
 * The engine of `sardonyx board`, over a WebSocket. A lost connection is made again, first soon, then ever more seldom; what was
 * asked and not answered is refused, so that nobody waits for ever.
 */
import type { EnginePort, PortState, Question, Sent } from '../../engine-port.js';
import type { Answers, PortEvent, Reply } from '../../protocol/replies.js';
import type { RequestType } from '../../protocol/requests.js';

const FIRST_RETRY_MS = 500;
const LONGEST_RETRY_MS = 8000;

interface Pending {
  resolve(answer: never): void;
  reject(error: Error): void;
}

export class SocketPort implements EnginePort {
  private socket: WebSocket | null = null;
  private state: PortState = 'connecting';
  private nextId = 1;
  private retryMs = FIRST_RETRY_MS;
  private isClosed = false;
  private readonly unsent: string[] = [];
  private readonly pending = new Map<number, Pending>();
  private readonly listeners = new Set<(event: PortEvent) => void>();
  private readonly watchers = new Set<(state: PortState) => void>();

  constructor(private readonly url: string) {
    this.connect();
  }

  send<Type extends RequestType>(type: Type, question: Question<Type>): Sent<Type> {
    const id = this.nextId++;
    const answer = new Promise<Answers[Type]>((resolve, reject) => {
      if (this.state === 'lost') {
        reject(new Error('The engine cannot be reached'));
        return;
      }
      this.pending.set(id, { resolve, reject });
      const text = JSON.stringify({ type, id, ...question });
      if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(text);
      else this.unsent.push(text);
    });
    return { id, answer };
  }

  listen(listener: (event: PortEvent) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  watchState(listener: (state: PortState) => void): () => void {
    this.watchers.add(listener);
    listener(this.state);
    return () => this.watchers.delete(listener);
  }

  close(): void {
    this.isClosed = true;
    this.socket?.close();
  }

  private connect(): void {
    const socket = new WebSocket(this.url);
    this.socket = socket;
    socket.onopen = () => {
      this.retryMs = FIRST_RETRY_MS;
      for (const text of this.unsent.splice(0)) socket.send(text);
      this.changeState('open');
    };
    socket.onmessage = ({ data }) => this.receive(JSON.parse(String(data)) as Reply | PortEvent);
    socket.onclose = () => {
      this.unsent.length = 0;
      this.changeState('lost');
      for (const { reject } of this.pending.values()) reject(new Error('The connection to the engine was lost'));
      this.pending.clear();
      if (this.isClosed) return;
      setTimeout(() => this.connect(), this.retryMs);
      this.retryMs = Math.min(LONGEST_RETRY_MS, 2 * this.retryMs);
    };
  }

  private receive(message: Reply | PortEvent): void {
    if (message.type === 'answer' || message.type === 'refusal') {
      const pending = message.id === null ? undefined : this.pending.get(message.id);
      if (message.id !== null) this.pending.delete(message.id);
      if (message.type === 'answer') pending?.resolve(message.answer as never);
      else pending?.reject(new Error(message.error));
      return;
    }
    for (const listener of this.listeners) listener(message);
  }

  private changeState(state: PortState): void {
    this.state = state;
    for (const watcher of this.watchers) watcher(state);
  }
}
