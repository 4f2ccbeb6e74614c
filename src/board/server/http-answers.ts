/**
 * The plain HTTP side, on node:http: the token's exchange, the files of the page, the games of a match as a download, files that
 * a page sends, refusals. So few kinds of answers need no framework, and the checks are shared with the WebSocket's handshake,
 * which frameworks leave to a plain server anyway.
 */
import { createReadStream } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import type { Access } from './access.js';
import type { PageFile } from './page-files.js';
import { createSecurityHeaders } from './security-headers.js';
import { type FileKind, type SentFiles, TooMuch } from './sent-files.js';

export interface HttpContents {
  /** By URL path. */
  readonly files: ReadonlyMap<string, PageFile>;
  readonly sent: SentFiles;
  /** The path of a match's games; null when there are none. Throws the sentence for the user. */
  findPgn(match: string): string | null;
}

const ONE_YEAR_S = 31_536_000;
const PGN_PATH = /^\/matches\/([\w.-]+)\.pgn$/;
const GZIP = /(^|,)\s*gzip\s*(?!\s*;\s*q=0(\.0*)?\s*(,|$))/i;
/** Where the token leads first: a browser that comes without the cookie keeps none. */
const COOKIE_CHECK = '/?cookies';
const SENT_PATH = /^\/files\/(network|book)$/;
/** Bytes of a refused file that are read and dropped, so that the browser hears why. */
const MOST_DROPPED_BYTES = 64e6;

export async function answerHttp(
  request: IncomingMessage,
  response: ServerResponse,
  access: Access,
  contents: HttpContents,
): Promise<void> {
  const { method = 'GET', headers } = request;
  const say = (status: number, text: string): void => {
    response.writeHead(status, { ...createSecurityHeaders('localhost'), 'Content-Type': 'text/plain; charset=utf-8' });
    response.end(`${text}\n`);
  };
  const redirect = (location: string, cookie?: string): void => {
    const secure = createSecurityHeaders(headers.host ?? '');
    const set = cookie === undefined ? {} : { 'Set-Cookie': cookie };
    response.writeHead(303, { ...secure, Location: location, ...set, 'Cache-Control': 'no-store' }).end();
  };
  const obstacle = access.findObstacle(headers, method === 'PUT');
  if (obstacle !== null) {
    say(403, obstacle);
    return;
  }
  const isEntry = /^\/(?:\?|$)/.test(request.url ?? '/');
  const path = isEntry ? '/' : access.findPath(request.url);
  const url = parseUrl(isEntry ? (request.url ?? '/') : (path ?? '/'));
  const [, kind] = SENT_PATH.exec(url?.pathname ?? '') ?? [];
  if (method !== 'GET' && method !== 'HEAD' && !(method === 'PUT' && kind !== undefined)) {
    response.setHeader('Allow', 'GET, HEAD');
    say(405, 'Only GET and HEAD are understood');
    return;
  }
  const token = isEntry ? (url?.searchParams.get('token') ?? null) : null;
  if (token !== null) {
    const cookie = access.exchange(token);
    if (cookie === null) {
      say(403, 'The token is wrong or was used: open the URL that `sardonyx board` has printed last');
      return;
    }
    // The address with the token is left at once: it stays neither in the history of the tab nor in a Referer.
    redirect(`${access.place}${COOKIE_CHECK}`, cookie);
    return;
  }
  const isCookieCheck = path === COOKIE_CHECK;
  if (isCookieCheck && access.hasCookie(headers)) {
    redirect(`${access.place}/`);
    return;
  }
  if (isCookieCheck) {
    say(401, `This browser keeps no cookies of ${headers.host}: allow them, and open the URL again`);
    return;
  }
  if (isEntry || path === null || !access.hasCookie(headers)) {
    say(401, 'Open the URL that `sardonyx board` has printed last: it holds the token that this page needs');
    return;
  }
  if (method === 'PUT') {
    const [status, text] = await takeFile(
      request,
      contents.sent,
      kind as FileKind,
      url?.searchParams.get('name') ?? '',
    );
    say(status, text);
    if (status !== 200) dropRest(request);
    return;
  }
  const [, match] = PGN_PATH.exec(url?.pathname ?? '') ?? [];
  if (match !== undefined) {
    await answerPgn(response, contents, match, headers.host ?? '', method).catch((error: Error) => {
      if (response.headersSent) response.destroy();
      else say(404, error.message);
    });
    return;
  }
  const file = url === null ? undefined : contents.files.get(url.pathname);
  if (file === undefined) {
    say(404, 'There is no such file');
    return;
  }
  const isGzipped = GZIP.test(`${headers['accept-encoding'] ?? ''}`);
  const content = isGzipped ? file.gzipped : file.bytes;
  response.writeHead(200, {
    ...createSecurityHeaders(headers.host ?? ''),
    'Content-Type': file.type,
    'Content-Length': content.byteLength,
    ...(isGzipped && { 'Content-Encoding': 'gzip' }),
    Vary: 'Accept-Encoding',
    'Cache-Control': file.isImmutable ? `public, max-age=${ONE_YEAR_S}, immutable` : 'no-cache',
  });
  response.end(method === 'HEAD' ? undefined : content);
}

/** @returns the answer's status and text */
async function takeFile(
  request: IncomingMessage,
  sent: SentFiles,
  kind: FileKind,
  name: string,
): Promise<readonly [status: number, text: string]> {
  const length = Number(request.headers['content-length']);
  try {
    return [200, await sent.receive(kind, name, request, Number.isSafeInteger(length) ? length : null)];
  } catch (error) {
    return [error instanceof TooMuch ? 413 : 422, (error as Error).message];
  }
}

/** A connection that closes in the middle of a file would hide the answer from the browser. */
function dropRest(request: IncomingMessage): void {
  let dropped = 0;
  request.on('data', (chunk: Buffer) => {
    dropped += chunk.length;
    if (dropped > MOST_DROPPED_BYTES) request.destroy();
  });
  request.resume();
}

async function answerPgn(
  response: ServerResponse,
  contents: HttpContents,
  match: string,
  host: string,
  method: string,
): Promise<void> {
  const path = contents.findPgn(match);
  if (path === null) throw new Error('There are no games yet');
  response.writeHead(200, {
    ...createSecurityHeaders(host),
    'Content-Type': 'application/x-chess-pgn',
    'Content-Disposition': `attachment; filename="${match}.pgn"`,
    'Cache-Control': 'no-store',
  });
  if (method === 'HEAD') response.end();
  else await pipeline(createReadStream(path), response);
}

function parseUrl(text: string): URL | null {
  try {
    return new URL(text, 'http://localhost');
  } catch {
    return null;
  }
}
