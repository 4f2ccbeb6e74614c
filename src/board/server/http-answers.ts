/**
 * The plain HTTP side, on node:http: the token's exchange, the files of the page, refusals. Three kinds of answers need no
 * framework, and the checks are shared with the WebSocket's handshake, which frameworks leave to a plain server anyway.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Access } from './access.js';
import type { PageFile } from './page-files.js';
import { createSecurityHeaders } from './security-headers.js';

const ONE_YEAR_S = 31_536_000;

export function answerHttp(
  request: IncomingMessage,
  response: ServerResponse,
  access: Access,
  files: ReadonlyMap<string, PageFile>,
): void {
  const { method = 'GET', headers } = request;
  const refuse = (status: number, text: string): void => {
    response.writeHead(status, { ...createSecurityHeaders('localhost'), 'Content-Type': 'text/plain; charset=utf-8' });
    response.end(`${text}\n`);
  };
  const obstacle = access.findObstacle(headers, false);
  if (obstacle !== null) {
    refuse(403, obstacle);
    return;
  }
  if (method !== 'GET' && method !== 'HEAD') {
    response.setHeader('Allow', 'GET, HEAD');
    refuse(405, 'Only GET and HEAD are understood');
    return;
  }
  const url = parseUrl(request.url ?? '/');
  const token = url?.pathname === '/' ? url.searchParams.get('token') : null;
  if (token !== null) {
    const exchanged = access.exchange(token);
    if ('refusal' in exchanged) {
      if (exchanged.refusal === 'wait') refuse(429, 'Too many wrong tokens: wait a minute');
      else refuse(403, 'The token is wrong: use the URL that `sardonyx board` has printed');
      return;
    }
    // The address with the token is left at once: it stays neither in the history of the tab nor in a Referer.
    const secure = createSecurityHeaders(headers.host ?? '');
    response.writeHead(303, { ...secure, Location: '/', 'Set-Cookie': exchanged.cookie, 'Cache-Control': 'no-store' });
    response.end();
    return;
  }
  if (!access.hasCookie(headers)) {
    refuse(401, 'Open the URL that `sardonyx board` has printed: it holds the token that this page needs');
    return;
  }
  const file = url === null ? undefined : files.get(url.pathname);
  if (file === undefined) {
    refuse(404, 'There is no such file');
    return;
  }
  response.writeHead(200, {
    ...createSecurityHeaders(headers.host ?? ''),
    'Content-Type': file.type,
    'Content-Length': file.bytes.byteLength,
    'Cache-Control': file.isImmutable ? `public, max-age=${ONE_YEAR_S}, immutable` : 'no-cache',
  });
  response.end(method === 'HEAD' ? undefined : file.bytes);
}

function parseUrl(text: string): URL | null {
  try {
    return new URL(text, 'http://localhost');
  } catch {
    return null;
  }
}
