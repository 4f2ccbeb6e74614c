/** What both sides of the port share: numbered requests, their answers, events, and the state of the connection. */
import type { EnginePort, PortOffers, PortState, Question, Sent } from '../../engine-port.js';
import type { Answers, PortEvent, Reply } from '../../protocol/replies.js';
import type { RequestType } from '../../protocol/requests.js';

interface Pending {
  resolve(answer: never): void;
  reject(error: Error): void;
}

export interface NumberedMessage {
  readonly type: string;
  readonly id: number;
}

export abstract class RequestPort implements EnginePort {
  abstract readonly offers: PortOffers;
  private state: PortState = 'connecting';
  private reason = '';
  private nextId = 1;
  private readonly pending = new Map<number, Pending>();
  private readonly listeners = new Set<(event: PortEvent) => void>();
  private readonly watchers = new Set<(state: PortState, reason: string) => void>();

  send<Type extends RequestType>(type: Type, question: Question<Type>): Sent<Type> {
    return this.ask<Answers[Type]>({ type, ...question });
  }

  listen(listener: (event: PortEvent) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  watchState(listener: (state: PortState, reason: string) => void): () => void {
    this.watchers.add(listener);
    listener(this.state, this.reason);
    return () => this.watchers.delete(listener);
  }

  abstract openNetwork(source: File | string): Promise<void>;
  abstract removeNetwork(name: string): Promise<void>;
  abstract close(): void;

  /** Sends a message, or keeps it until there is a connection. */
  protected abstract post(message: NumberedMessage): void;

  protected ask<Answer>(question: { readonly type: string }): {
    readonly id: number;
    readonly answer: Promise<Answer>;
  } {
    const id = this.nextId++;
    const answer = new Promise<Answer>((resolve, reject) => {
      if (this.state === 'lost') {
        reject(new Error(this.reason || 'The engine cannot be reached'));
        return;
      }
      this.pending.set(id, { resolve, reject });
      this.post({ ...question, id });
    });
    return { id, answer };
  }

  protected receive(message: Reply | PortEvent): void {
    if (message.type === 'answer' || message.type === 'refusal') {
      const pending = message.id === null ? undefined : this.pending.get(message.id);
      if (message.id !== null) this.pending.delete(message.id);
      if (message.type === 'answer') pending?.resolve(message.answer as never);
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
