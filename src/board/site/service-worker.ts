/**
 * The service worker of the site. It belongs to one build and knows the SHA-256 of each of its files. Scripts, styles and the
 * page are stored when it is installed, ONNX Runtime when it is first used; what is stored is served without the network, so that
 * the page works offline and never meets files of another build. It also sets the headers that isolate the page, for hosts
 * that set none. Networks are none of its business: the engine keeps them by itself.
 *
 * A newer build is stored beside the running one. It takes over when no page of this address is open, or when the only one asks.
 */

import type { PortEvent } from '../protocol/replies.js';

/** Path below the scope → what it is. Written by scripts/build-site.mjs. */
declare const SITE_FILES: Readonly<Record<string, SiteFile>>;
declare const SITE_BUILD: string;
declare const SITE_POLICY: string;

interface SiteFile {
  readonly sha256: string;
  readonly type: string;
  readonly bytes: number;
  /** Stored only when it is first asked for. */
  readonly isLate?: true;
}

const FILES = SITE_FILES;
const worker = globalThis as unknown as ServiceWorkerGlobalScope;
const { scope } = worker.registration;
/** Other sites of the same origin have their own. */
const CACHE = `sardonyx-site ${scope}`;
const INDEX = 'index.html';
/** The engine has so much; nothing else is waited for so long. */
const LEAST_REPORTED_BYTES = 1e6;
const PROGRESS_MS = 100;
const HEADERS: Readonly<Record<string, string>> = {
  'Content-Security-Policy': SITE_POLICY,
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Embedder-Policy': 'require-corp',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
};

worker.addEventListener('install', (event) => {
  const eager = Object.keys(FILES).filter((path) => FILES[path].isLate !== true);
  // A file that cannot be had, or is not of this build, ends the installation; the browser tries again later.
  event.waitUntil(Promise.all(eager.map(obtain)));
});

worker.addEventListener('activate', (event) => {
  event.waitUntil(dropOtherBuilds().then(() => worker.clients.claim()));
});

worker.addEventListener('fetch', (event) => {
  const path = findPath(event.request);
  if (path !== null) event.respondWith(answer(path));
});

worker.addEventListener('message', (event) => {
  const [port] = event.ports;
  if (event.data === 'hello') event.waitUntil(worker.clients.claim().then(() => port?.postMessage(SITE_BUILD)));
  else if (event.data === 'takeOver') event.waitUntil(takeOver().then((does) => port?.postMessage(does)));
});

/** @returns whether this build takes over now: no page but the one that asks is open */
async function takeOver(): Promise<boolean> {
  const pages = await worker.clients.matchAll({ type: 'window', includeUncontrolled: true });
  const isAlone = pages.filter(({ url }) => url.startsWith(scope)).length <= 1;
  if (isAlone) await worker.skipWaiting();
  return isAlone;
}

/** Path of a file of this build; null for everything else, which goes to the network as if there were no service worker. */
function findPath({ url, method }: Request): string | null {
  const address = url.split(/[?#]/)[0];
  if (method !== 'GET' || !address.startsWith(scope)) return null;
  const path = address.slice(scope.length) || INDEX;
  return Object.hasOwn(FILES, path) ? path : null;
}

async function answer(path: string): Promise<Response> {
  try {
    return await obtain(path);
  } catch (error) {
    const text = (error as Error).message;
    await tellPages({ type: 'notice', level: 'error', text });
    return new Response(text, { status: 503, headers: { ...HEADERS, 'Content-Type': 'text/plain' } });
  }
}

async function tellPages(event: PortEvent): Promise<void> {
  for (const page of await worker.clients.matchAll({ type: 'window' })) page.postMessage(event);
}

/** Downloads under way: all evaluators of an engine ask for the same files at once. */
const downloads = new Map<string, Promise<Response>>();

/** The file from the cache, else from the host. Rejects with the sentence for the user. */
async function obtain(path: string): Promise<Response> {
  const cache = await caches.open(CACHE).catch(() => null);
  const stored = await cache?.match(getAddress(path));
  if (stored !== undefined) return stored;
  const download = downloads.get(path) ?? downloadAndStore(path, cache).finally(() => downloads.delete(path));
  downloads.set(path, download);
  return (await download).clone();
}

/** Where nothing can be stored the file is downloaded at each visit. */
async function downloadAndStore(path: string, cache: Cache | null): Promise<Response> {
  const { sha256, type } = FILES[path];
  const bytes = await download(path);
  if ((await computeSha256(bytes)) !== sha256) {
    void worker.registration.update().catch(() => undefined);
    throw new Error(`${path} on the server is of another version of this page: load the page again`);
  }
  const response = new Response(bytes, { headers: { ...HEADERS, 'Content-Type': type } });
  await cache?.put(getAddress(path), response.clone()).catch(() => undefined);
  return response;
}

function getAddress(path: string): string {
  return `${scope}by-sha256/${FILES[path].sha256}`;
}

async function download(path: string): Promise<ArrayBuffer> {
  const response = await fetch(scope + (path === INDEX ? '' : path), { cache: 'no-cache' }).catch(() => {
    throw new Error(`${path} is not stored yet, and the server cannot be reached`);
  });
  if (!response.ok) throw new Error(`${path} cannot be had: the server answered ${response.status}`);
  const total = FILES[path].bytes;
  if (total < LEAST_REPORTED_BYTES) return response.arrayBuffer();
  const parts: BlobPart[] = [];
  let bytes = 0;
  let reportedAt = performance.now();
  const report = (isDone: boolean): Promise<void> => {
    reportedAt = performance.now();
    const text = `Engine ${(bytes / 1e6).toFixed(1)} of ${(total / 1e6).toFixed(1)} MB`;
    return tellPages({ type: 'progress', text, share: bytes / total, isDone });
  };
  const reader = response.body?.getReader();
  try {
    for (let part = await reader?.read(); part?.done === false; part = await reader?.read()) {
      parts.push(part.value);
      bytes += part.value.length;
      if (performance.now() - reportedAt >= PROGRESS_MS) void report(false);
    }
  } finally {
    await report(true);
  }
  return new Blob(parts).arrayBuffer();
}

async function computeSha256(bytes: ArrayBuffer): Promise<string> {
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

async function dropOtherBuilds(): Promise<void> {
  const cache = await caches.open(CACHE).catch(() => null);
  const current = new Set(Object.keys(FILES).map(getAddress));
  for (const { url } of (await cache?.keys()) ?? []) if (!current.has(url)) await cache?.delete(url);
}
