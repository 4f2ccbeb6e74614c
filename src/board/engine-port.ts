/**
 * The one way in which a page talks to an engine. It has two sides: a WebSocket to `sardonyx board`, and the engine inside the
 * page. A panel never knows which of the two it has; it asks `offers` for what only one of them can do.
 */
import type { Answers, PortEvent } from './protocol/replies.js';
import type { RequestType, SentRequestOf } from './protocol/requests.js';

/** Without the number, which the port adds. */
export type Question<Type extends RequestType> = Omit<SentRequestOf<Type>, 'id' | 'type'>;

/**
 * connecting → open ⇄ lost. While it is lost, requests are refused at once; when it is open again, the page asks anew for what it
 * shows, for the other side has forgotten it.
 */
export type PortState = 'connecting' | 'open' | 'lost';

export interface Sent<Type extends RequestType> {
  /** Number of the request, by which its events are recognised. */
  readonly id: number;
  /** Rejects with an Error whose message is one sentence for the user. */
  readonly answer: Promise<Answers[Type]>;
}

/** What this side of the port can do beside searching. */
export interface PortOffers {
  /** Matches between engines of other processes. */
  readonly matches: boolean;
  /** Watching a training loop. */
  readonly training: boolean;
  /** `openNetwork` with an address. */
  readonly opensAddresses: boolean;
}

export interface EnginePort {
  readonly offers: PortOffers;
  send<Type extends RequestType>(type: Type, question: Question<Type>): Sent<Type>;
  /** Adds a network, a file of the user's or an https address, to the list and uses it. Rejects with one sentence. */
  openNetwork(source: File | string): Promise<void>;
  /** Deletes a network that the browser keeps (`NetworkEntry.isKept`). Rejects with one sentence, also while it is in use. */
  removeNetwork(name: string): Promise<void>;
  /** @returns a function that ends it */
  listen(listener: (event: PortEvent) => void): () => void;
  /**
   * Calls at once, and with each change. `reason` is empty, or says in one sentence why there will be no engine.
   * @returns a function that ends it
   */
  watchState(listener: (state: PortState, reason: string) => void): () => void;
  close(): void;
}
