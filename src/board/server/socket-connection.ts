/**
 * One WebSocket of a page. Messages are JSON objects of text. One that cannot be read costs one refusal; a page that sends
 * more than the rate allows is refused, and cut off when it does not stop. A page that reads too slowly misses events, never
 * answers.
 */
import type { WebSocket } from 'ws';
import type { PortEvent, Reply } from '../protocol/replies.js';

const BURST = 200;
const MESSAGES_PER_SECOND = 50;
/** Messages over the rate after which the connection ends. */
const MOST_REFUSALS = 500;
/** Bytes that wait for a slow page, from which on events are dropped. */
const SLOW_BYTES = 1 << 20;
/** Characters of a refused message in which its number is looked for. */
const LONGEST_SCAN = 4096;
/** WebSocket close code: policy violation. */
const POLICY_VIOLATION = 1008;

interface Receiver {
  receive(message: unknown): void;
  close(): void;
}

export function connectSocket(
  socket: WebSocket,
  createReceiver: (send: (message: Reply | PortEvent) => void) => Receiver,
): void {
  const rate = new RateLimit();
  let refusals = 0;
  const send = (message: Reply | PortEvent): void => {
    const isEvent = message.type !== 'answer' && message.type !== 'refusal';
    if (socket.readyState !== socket.OPEN || (isEvent && socket.bufferedAmount > SLOW_BYTES)) return;
    socket.send(JSON.stringify(message));
  };
  const receiver = createReceiver(send);
  socket.on('message', (data, isBinary) => {
    if (!rate.take()) {
      if (++refusals > MOST_REFUSALS) socket.close(POLICY_VIOLATION, 'Too many messages');
      else send({ type: 'refusal', id: findId(String(data)), error: 'Too many messages: wait a moment' });
      return;
    }
    const message = isBinary ? undefined : parseJson(String(data));
    if (message === undefined) send({ type: 'refusal', id: null, error: 'Not a request: it is not JSON text' });
    else receiver.receive(message);
  });
  // A frame that is too large or broken ends the connection; ws has already said so to the other side.
  socket.on('error', () => undefined);
  socket.on('close', () => receiver.close());
}

/** Of a message that is refused unread: without it, the page would wait for its answer for ever. */
function findId(text: string): number | null {
  const [, id] = /"id":(\d{1,15})[,}]/.exec(text.length <= LONGEST_SCAN ? text : text.slice(-LONGEST_SCAN)) ?? [];
  return id === undefined ? null : Number(id);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** A token bucket: so many messages at once, then so many a second. */
export class RateLimit {
  private tokens = BURST;

  constructor(private refilledAtMs: number = performance.now()) {}

  /** @returns whether one more is allowed now */
  take(nowMs: number = performance.now()): boolean {
    this.tokens = Math.min(BURST, this.tokens + ((nowMs - this.refilledAtMs) / 1000) * MESSAGES_PER_SECOND);
    this.refilledAtMs = nowMs;
    if (this.tokens < 1) return false;
    this.tokens--;
    return true;
  }
}
