/** The server: one HTTP server with its WebSockets, from the first port to the last connection. */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, isIP, type Socket } from 'node:net';
import { hostname, networkInterfaces } from 'node:os';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import type { PortEvent, Reply } from '../protocol/replies.js';
import { Access } from './access.js';
import { answerHttp } from './http-answers.js';
import type { KeptAnalyses } from './kept-analyses.js';
import { readPageFiles } from './page-files.js';
import type { SentFiles } from './sent-files.js';

/** Where the page looks for it. */
const SOCKET_PATH = '/engine';
const LARGEST_MESSAGE_BYTES = 1 << 20;
const MOST_SOCKETS = 64;
const MOST_CONNECTIONS = 1024;
/** Connections that have not shown the cookie; with one more, the oldest ends, so that they keep nobody out. */
const MOST_STRANGERS = 512;
/** A large network over a slow line. */
const LONGEST_REQUEST_MS = 1_800_000;
const LOOPBACK_NAMES = ['127.0.0.1', 'localhost', '[::1]'];

/**
 * The usual one, so that an address that was kept and what browsers keep for it stay good: no system gives it away by itself (from
 * 32768 on Linux does, from 49152 others do), and no development server or known service has it.
 */
const USUAL_PORT = 24827;
const NEXT_PORTS = 20;

interface ServerSettings {
  /** 0 = any free one; null = the usual one, or the next that is free. */
  readonly port: number | null;
  /** Address to listen on. */
  readonly address: string;
  readonly sent: SentFiles;
  readonly kept: KeptAnalyses;
  onWarning(text: string): void;
  /** The last one was used; this one is for another browser. */
  onNewUrl(url: string): void;
  findPgn(match: string): string | null;
  /** Further names by which the server may be called. */
  readonly extraHosts: readonly string[];
  createSession(send: (message: Reply | PortEvent) => void): { receive(message: unknown): void; close(): void };
}

export class BoardServer {
  private constructor(
    private readonly http: Server,
    private readonly sockets: WebSocketServer,
    private readonly access: Access,
    /** With a token behind it, it is for a browser. */
    private readonly entry: string,
  ) {}

  /** To be printed. */
  get url(): string {
    return `${this.entry}${this.access.token}`;
  }

  /** For the browser that is opened now: it ends after two minutes. */
  lendUrl(): string {
    return `${this.entry}${this.access.lendToken()}`;
  }

  /** Rejects with the sentence for the user. */
  static async start(settings: ServerSettings): Promise<BoardServer> {
    const strangers = new Set<Duplex>();
    const contents = { ...settings, files: readPageFiles(), welcome: (socket: Socket) => strangers.delete(socket) };
    const http = createServer({
      requestTimeout: LONGEST_REQUEST_MS,
      headersTimeout: 3000,
      connectionsCheckingInterval: 500,
      maxHeaderSize: 16_384,
    });
    http.maxConnections = MOST_CONNECTIONS;
    await listen(http, settings);
    const { port } = http.address() as AddressInfo;
    if (settings.port === null && port !== USUAL_PORT)
      settings.onWarning(
        `Port ${USUAL_PORT} is taken, by another board perhaps: this one is at port ${port}, where browsers have settings of their own`,
      );
    const [host] = listHosts(settings);
    const access = new Access(listHosts(settings), port, () => settings.onNewUrl(server.url));
    const sockets = new WebSocketServer({
      noServer: true,
      maxPayload: LARGEST_MESSAGE_BYTES,
      perMessageDeflate: false,
      clientTracking: true,
      // One message a turn: a flood in one chunk would otherwise be cut off before any answer to it has gone out.
      allowSynchronousEvents: false,
    });
    const server = new BoardServer(http, sockets, access, `http://${host}:${port}/?token=`);
    http.on('connection', (socket: Socket) => {
      strangers.add(socket);
      socket.once('close', () => strangers.delete(socket));
      const [oldest] = strangers;
      if (strangers.size <= MOST_STRANGERS) return;
      strangers.delete(oldest);
      oldest.destroy();
    });
    http.on('request', (request, response) => {
      answerHttp(request, response, access, contents).catch(() => response.destroy());
    });
    http.on('upgrade', (request, socket: Duplex, head: Buffer) => {
      socket.on('error', () => socket.destroy());
      const { headers, url } = request;
      if (access.findObstacle(headers, true) !== null) refuse(socket, '403 Forbidden');
      else if (!access.hasCookie(headers)) refuse(socket, '401 Unauthorized');
      else if (access.findPath(url) !== SOCKET_PATH) refuse(socket, '404 Not Found');
      else if (sockets.clients.size >= MOST_SOCKETS) refuse(socket, '503 Service Unavailable');
      else {
        strangers.delete(socket);
        sockets.handleUpgrade(request, socket, head, (webSocket) => connectSocket(webSocket, settings.createSession));
      }
    });
    http.on('clientError', refuseRequest);
    http.on('connect', (_, socket: Duplex) => refuse(socket, '405 Method Not Allowed'));
    return server;
  }

  async close(): Promise<void> {
    for (const socket of this.sockets.clients) socket.terminate();
    this.sockets.close();
    this.http.closeAllConnections();
    await new Promise((resolve) => this.http.close(resolve));
  }
}

async function listen(http: Server, { port, address }: ServerSettings): Promise<void> {
  const usual = Array.from({ length: NEXT_PORTS }, (_, next) => USUAL_PORT + next);
  const ports = port === null ? [...usual, 0] : [port];
  for (const [index, candidate] of ports.entries()) {
    // With a short queue, a flood would have others try again after a second.
    http.listen({ port: candidate, host: address, backlog: 2 * MOST_CONNECTIONS });
    const error = await once(http, 'listening').then(
      () => null,
      (reason: NodeJS.ErrnoException) => reason,
    );
    if (error === null) return;
    const isTaken = error.code === 'EADDRINUSE' || error.code === 'EACCES';
    if (isTaken && index < ports.length - 1) continue;
    const reason = error.code === 'EADDRINUSE' ? 'it is in use' : error.message;
    throw new Error(`The server cannot listen on port ${candidate} of ${address}: ${reason}`);
  }
}

/** Names by which the server may be called; the first one goes into the printed URL. */
function listHosts({ address, extraHosts }: ServerSettings): string[] {
  const isEverywhere = address === '0.0.0.0' || address === '::';
  const isLoopback = address === 'localhost' || address === '::1' || address.startsWith('127.');
  const own = isEverywhere ? listOwnAddresses() : [address];
  const named = own.map((name) => (isIP(name) === 6 ? `[${name}]` : name));
  const names = isEverywhere || isLoopback ? [...named, ...LOOPBACK_NAMES] : named;
  return [...new Set([...names, ...(isEverywhere ? [hostname()] : []), ...extraHosts])];
}

function listOwnAddresses(): string[] {
  const addresses = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  return addresses.filter(({ internal, family }) => !internal && family === 'IPv4').map(({ address }) => address);
}

/** A request that is no HTTP, or whose headers are too many, is answered too; a connection without one is not. */
function refuseRequest({ code }: NodeJS.ErrnoException, socket: Duplex): void {
  const isFlood = code === 'HPE_HEADER_OVERFLOW' || code === 'HPE_CHUNK_EXTENSIONS_OVERFLOW';
  if (!code?.startsWith('HPE_') || !socket.writable) socket.destroy();
  else refuse(socket, isFlood ? '431 Request Header Fields Too Large' : '400 Bad Request');
}

/** Does not wait for the other side to close its half. */
function refuse(socket: Duplex, status: string): void {
  socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`, () => socket.destroy());
}

const BURST = 200;
const MESSAGES_PER_SECOND = 50;
/** Messages over the rate after which the connection ends. */
const MOST_REFUSALS = 500;
/** Bytes that wait for a slow page, from which on events are dropped. */
const SLOW_BYTES = 1 << 20;
/** Bytes that wait for a page, from which on its connection ends: it does not read. */
const MOST_WAITING_BYTES = 1 << 24;
/** Characters of a refused message in which its number is looked for. */
const LONGEST_SCAN = 4096;
/** WebSocket close code: policy violation. */
const POLICY_VIOLATION = 1008;

function connectSocket(socket: WebSocket, createSession: ServerSettings['createSession']): void {
  const rate = new RateLimit();
  let refusals = 0;
  const send = (message: Reply | PortEvent): void => {
    const isEvent = message.type !== 'answer' && message.type !== 'refusal';
    if (socket.readyState !== socket.OPEN || (isEvent && socket.bufferedAmount > SLOW_BYTES)) return;
    if (socket.bufferedAmount > MOST_WAITING_BYTES) socket.terminate();
    else socket.send(JSON.stringify(message));
  };
  const session = createSession(send);
  socket.on('message', (data, isBinary) => {
    if (!rate.take()) {
      if (++refusals > MOST_REFUSALS) socket.close(POLICY_VIOLATION, 'Too many messages');
      else send({ type: 'refusal', id: findId(String(data)), error: 'Too many messages: wait a moment' });
      return;
    }
    const message = isBinary ? undefined : parseJson(String(data));
    if (message === undefined) send({ type: 'refusal', id: null, error: 'Not a request: it is not JSON text' });
    else session.receive(message);
  });
  // A frame that is too large or broken ends the connection; ws has already said so to the other side.
  socket.on('error', () => undefined);
  socket.on('close', () => session.close());
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
