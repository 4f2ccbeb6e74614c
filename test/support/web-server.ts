/** Serves an empty page and folders of files to a browser in tests, cross-origin isolated or not, under the site's own policy. */
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { repositoryRoot } from './shared-folder.js';

const { getContentType, SITE_POLICY } = await import(join(repositoryRoot, 'scripts', 'site-headers.mjs'));

/** With an icon of its own: the browser asks for none. */
const EMPTY_PAGE = '<!doctype html><title>test</title><link rel="icon" href="data:,">';

/** In parts: as slowly as they come. */
export type Content = Buffer | string | AsyncIterable<Buffer>;

export interface WebServer {
  readonly origin: string;
  close(): void;
}

/**
 * @param folders by the first part of the path; '' for all other paths
 * @param policy content security policy of every answer
 * @param edit what is served in place of a file, by its path in the request
 */
export async function startWebServer(
  folders: Readonly<Record<string, string>>,
  isIsolated: boolean,
  edit: (path: string, content: Buffer) => Content | Promise<Content> = (_, content) => content,
  policy: string = SITE_POLICY,
): Promise<WebServer> {
  const headers = {
    'content-security-policy': policy,
    ...(isIsolated && {
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-embedder-policy': 'require-corp',
    }),
  };
  const server = createServer(async ({ url = '/' }, response) => {
    const asked = new URL(url, 'http://localhost').pathname;
    const pathname = asked.length > 1 && asked.endsWith('/') ? `${asked}index.html` : asked;
    const [, first = '', ...rest] = pathname.split('/');
    const path = first in folders ? join(folders[first], ...rest) : join(folders[''], pathname);
    try {
      const content = pathname === '/' ? EMPTY_PAGE : await edit(pathname, await readFile(path));
      const type = pathname === '/' ? 'text/html' : getContentType(path);
      Readable.from(content).pipe(response.writeHead(200, { ...headers, 'content-type': type }));
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
