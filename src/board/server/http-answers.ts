/**
 * The plain HTTP side, on node:http: the token's exchange, the files of the page, analyses that are kept, the games of a match as a
 * download, files that a page sends, refusals. So few kinds of answers need no framework, and the checks are shared with the WebSocket's handshake,
 * which frameworks leave to a plain server anyway.
 */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { pipeline } from 'node:stream/promises';
import { describeRefusal } from '../../base/util/index.js';
import type { Access } from './access.js';
import { HttpRefusal } from './http-refusal.js';
import { type KeptAnalyses, LARGEST_ANALYSIS_BYTES } from './kept-analyses.js';
import type { PageFile } from './page-files.js';
import type { FileKind, SentFiles } from './sent-files.js';

interface HttpContents {
  /** By URL path. */
  readonly files: ReadonlyMap<string, PageFile>;
  readonly sent: SentFiles;
  readonly kept: KeptAnalyses;
  /** The path of a match's games; null when there are none. Throws the sentence for the user. */
  findPgn(match: string): string | null;
  /** The connection belongs to a browser with the cookie. */
  welcome(connection: Socket): void;
}

const ONE_YEAR_S = 31_536_000;
const PGN_PATH = /^\/matches\/([\w.-]+)\.pgn$/;
const GZIP = /(^|,)\s*gzip\s*(?!\s*;\s*q=0(\.0*)?\s*(,|$))/i;
/** Where the token leads first: a browser that comes without the cookie keeps none. */
const COOKIE_CHECK = '/?cookies';
const SENT_PATH = /^\/files\/(network|book)$/;
const KEPT_PATH = /^\/kept\/([a-z0-9-]{0,64})$/;
const LONGEST_FORM = 4096;
/** A stranger may send a token; a browser sends it with its headers. */
const LONGEST_FORM_MS = 10_000;
/** Bytes of a refused file that are read and dropped, so that the browser hears why. */
const MOST_DROPPED_BYTES = 64e6;

export async function answerHttp(
  request: IncomingMessage,
  response: ServerResponse,
  access: Access,
  contents: HttpContents,
): Promise<void> {
  const { method = 'GET', headers } = request;
  const say = (status: number, text: string, more: OutgoingHttpHeaders = {}): void => {
    const secure = createSecurityHeaders('localhost');
    response.writeHead(status, { ...secure, 'Content-Type': 'text/plain; charset=utf-8', ...more });
    response.end(`${text}\n`);
  };
  const askForToken = (status: number, sentence: string): void => {
    const type = { 'Content-Type': 'text/html; charset=utf-8', 'Cache-Control': 'no-store' };
    response.writeHead(status, { ...createSecurityHeaders('localhost'), ...TOKEN_HEADERS, ...type });
    response.end(method === 'HEAD' ? undefined : createTokenPage(sentence));
  };
  const redirect = (location: string, cookie?: string): void => {
    const secure = createSecurityHeaders(headers.host ?? '');
    const set = cookie === undefined ? {} : { 'Set-Cookie': cookie };
    response.writeHead(303, { ...secure, Location: location, ...set, 'Cache-Control': 'no-store' }).end();
  };
  const isReading = method === 'GET' || method === 'HEAD';
  const obstacle = access.findObstacle(headers, !isReading);
  const isEntry = /^\/(?:\?|$)/.test(request.url ?? '/');
  const path = isEntry ? '/' : access.findPath(request.url);
  const isKnown = obstacle === null && !isEntry && path !== null && access.hasCookie(headers);
  if (isKnown) contents.welcome(request.socket);
  // An upload with the cookie may take half an hour; nobody else is waited for.
  const hasBody = headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined;
  if (!isKnown || (hasBody && method !== 'PUT')) response.setHeader('Connection', 'close');
  if (obstacle !== null) {
    say(403, obstacle);
    return;
  }
  const url = parseUrl(isEntry ? (request.url ?? '/') : (path ?? '/'));
  const [, kind] = SENT_PATH.exec(url?.pathname ?? '') ?? [];
  const [, id] = KEPT_PATH.exec(url?.pathname ?? '') ?? [];
  const isChange = (method === 'PUT' && Boolean(kind ?? id)) || (method === 'DELETE' && Boolean(id));
  const isForm = method === 'POST' && isEntry;
  if (!isReading && !isChange && !isForm) {
    response.setHeader('Allow', 'GET, HEAD');
    say(405, 'Only GET and HEAD are understood');
    return;
  }
  const origin = access.findOrigin(headers);
  if (origin !== null && isReading) {
    redirect(`${origin}${/^\//.test(request.url ?? '') ? request.url : '/'}`);
    return;
  }
  const token = isForm ? await readToken(request) : isEntry ? (url?.searchParams.get('token') ?? null) : null;
  if (token !== null) {
    const cookie = access.exchange(token);
    if (cookie === null) {
      askForToken(403, 'The token is wrong or was used.');
      return;
    }
    // The address with the token is left at once: it stays neither in the history of the tab nor in a Referer.
    redirect(`${access.place}${COOKIE_CHECK}`, cookie);
    return;
  }
  const isCookieCheck = path === COOKIE_CHECK;
  if (isCookieCheck && isKnown) {
    redirect(`${access.place}/`);
    return;
  }
  if (isCookieCheck) {
    askForToken(401, `This browser keeps no cookies of ${headers.host}: allow them first.`);
    return;
  }
  if (!isKnown) {
    askForToken(401, 'The board asks each browser for a token, and again when it was started anew.');
    return;
  }
  const refuse = (error: unknown, usualStatus: number): void => {
    say(error instanceof HttpRefusal ? error.status : usualStatus, describeRefusal(error));
    dropRest(request);
  };
  if (id !== undefined) {
    await answerKept(request, contents.kept, id, say).catch((error: unknown) => refuse(error, 500));
    return;
  }
  if (method === 'PUT') {
    const length = Number(headers['content-length']);
    const bytes = Number.isSafeInteger(length) ? length : null;
    const taken = contents.sent.receive(kind as FileKind, url?.searchParams.get('name') ?? '', request, bytes);
    await taken.then(
      (name) => say(200, name),
      (error: unknown) => refuse(error, 422),
    );
    return;
  }
  const [, match] = PGN_PATH.exec(url?.pathname ?? '') ?? [];
  if (match !== undefined) {
    await answerPgn(response, contents, match, headers.host ?? '', method).catch((error: Error) => {
      if (response.headersSent) response.destroy();
      else say(404, describeRefusal(error));
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

/** `kept/` is the list, `kept/ID` an analysis. A change names in If-Match the state that it changes, "0" for none. */
async function answerKept(
  request: IncomingMessage,
  kept: KeptAnalyses,
  id: string,
  say: (status: number, text: string, headers: OutgoingHttpHeaders) => void,
): Promise<void> {
  const { method, headers } = request;
  const tag = (revision: number): OutgoingHttpHeaders => ({ ETag: `"${revision}"`, 'Cache-Control': 'no-store' });
  const [, digits] = /^"(\d{1,16})"$/.exec(headers['if-match'] ?? '') ?? [];
  const isChange = method === 'PUT' || method === 'DELETE';
  if (isChange && digits === undefined) throw new HttpRefusal(428, 'If-Match must name the state that is changed');
  if (method === 'PUT') {
    const text = await readBody(request, LARGEST_ANALYSIS_BYTES);
    say(200, 'Kept', tag(await kept.put(id, Number(digits), text)));
  } else if (method === 'DELETE') {
    await kept.remove(id, Number(digits));
    say(200, 'Deleted', {});
  } else if (id === '') say(200, JSON.stringify(await kept.list()), { 'Cache-Control': 'no-store' });
  else {
    const { revision, text } = await kept.read(id);
    say(200, text, tag(revision));
  }
}

async function readBody(request: IncomingMessage, mostBytes: number): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > mostBytes) throw new HttpRefusal(413, `The server keeps analyses of at most ${mostBytes / 1e6} MB`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** What the form has sent: a token, or the address that ends with it. */
async function readToken(request: IncomingMessage): Promise<string> {
  const timer = setTimeout(() => request.destroy(), LONGEST_FORM_MS);
  const form = await readBody(request, LONGEST_FORM)
    .catch(() => '')
    .finally(() => clearTimeout(timer));
  return (new URLSearchParams(form).get('token') ?? '').trim().replace(/^.*token=/, '');
}

const TOKEN_STYLE =
  ':root{color-scheme:light dark;font:16px/1.5 system-ui,sans-serif}body{max-width:34rem;margin:15vh auto;padding:0 1rem}' +
  'label{display:block}input,button{font:inherit;min-height:44px;margin:.25rem .5rem 0 0;padding:0 .75rem}input{width:20rem;max-width:100%;box-sizing:border-box}';
const TOKEN_HEADERS: OutgoingHttpHeaders = {
  'Content-Security-Policy': `default-src 'none'; style-src 'sha256-${createHash('sha256').update(TOKEN_STYLE).digest('base64')}'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'`,
  // With no-referrer, the Origin of the form would be null.
  'Referrer-Policy': 'same-origin',
};

/** A refusal that a person may see. @param sentence of ours */
function createTokenPage(sentence: string): string {
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Sardonyx: token</title><style>${TOKEN_STYLE}</style></head>
<body><main><h1>Sardonyx</h1><p>${sentence}</p><form method="post" action="/">
<label for="token">The address that <code>sardonyx board</code> has printed last, or the token at its end</label>
<input id="token" name="token" autocomplete="off" autofocus required><button>Open the board</button></form>
</main></body></html>
`;
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

/** @param host as the browser called the server, port included: 'self' does not cover WebSockets in every browser */
function createSecurityHeaders(host: string): OutgoingHttpHeaders {
  const policy = [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    // The pieces are pictures inside of the style sheet.
    "img-src 'self' data:",
    `connect-src 'self' ws://${host}`,
    "worker-src 'self'",
    "manifest-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
  return {
    'Content-Security-Policy': policy,
    'Cross-Origin-Opener-Policy': 'same-origin',
    'Cross-Origin-Embedder-Policy': 'require-corp',
    'Cross-Origin-Resource-Policy': 'same-origin',
    'Permissions-Policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
    'Referrer-Policy': 'no-referrer',
    'X-Content-Type-Options': 'nosniff',
    'X-Frame-Options': 'DENY',
  };
}
