/**
 * Downloads one file over HTTP(S). It follows redirects, continues after a broken transfer, and gives the file its name only
 * when it is complete and its SHA-256 is right. Received bytes are kept in a `.part` file, so that the next start resumes the
 * download. Without a known digest it starts again, because the old and new bytes might be of different files.
 */

import { createReadStream, createWriteStream, existsSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { rename } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ReadableStream } from 'node:stream/web';
import { setTimeout as wait } from 'node:timers/promises';
import { computeSha256 } from '#platform/byte-streams.js';
import { describeWriteFailure } from '#platform/files.js';
import { createFolder } from '#platform/folders.js';
import { isRunning } from '#platform/processes.js';
import type { OptionStore } from '../../base/options/index.js';
import { failure, formatMegabytes, type Result, success } from '../../base/util/index.js';
import { findRemoteNetwork, isDownloaded, type RemoteNetwork } from './network-catalogue.js';
import { fetchThroughProxy } from './proxied-fetch.js';

export interface Download {
  readonly url: string;
  /** Path of the downloaded file; its folder is created. */
  readonly path: string;
  /** Expected SHA-256 in hexadecimal; null if unknown. */
  readonly sha256: string | null;
  readonly mostBytes: number;
  /** @param totalBytes null when the server does not say */
  onProgress(doneBytes: number, totalBytes: number | null): void;
}

export interface DownloadedFile {
  readonly sizeBytes: number;
  readonly sha256: string;
}

/** Number of transfers in a row without a byte after which the download fails. */
const MOST_FAILURES = 4;
const FIRST_PAUSE_MS = 500;
const REDIRECTS = [301, 302, 303, 307, 308];
const MOST_REDIRECTS = 10;
/** A transfer without a byte for so long has failed. */
const STALL_MS = 30_000;

/** @returns size and digest, or one sentence if the download fails */
export async function downloadFile(download: Download): Promise<Result<DownloadedFile>> {
  const own = `${download.path}.${process.pid}.part`;
  try {
    createFolder(dirname(download.path), 0o700);
    const wasBegun = adoptPart(download.path, own, download.sha256 !== null);
    await receive(download, own);
    let received = await identifyFile(own);
    if (wasBegun && received.sha256 !== download.sha256) {
      // The bytes of an earlier start may be of another version of the file.
      rmSync(own, { force: true });
      await receive(download, own);
      received = await identifyFile(own);
    }
    if (download.sha256 !== null && received.sha256 !== download.sha256.toLowerCase()) {
      rmSync(own, { force: true });
      return failure(
        `${download.url} has the SHA-256 ${received.sha256}, not ${download.sha256}: it is damaged or another file`,
      );
    }
    await moveInto(download.path, own, received.sha256);
    return success(received);
  } catch (error) {
    if (error instanceof DownloadError) return failure(error.message);
    return failure(`Cannot write ${download.path}: ${describeWriteFailure(error)}`);
  }
}

export async function identifyFile(path: string): Promise<DownloadedFile> {
  const sha256 = await computeSha256(createReadStream(path));
  return { sizeBytes: statSync(path).size, sha256 };
}

/** Renames the part. If another process downloaded the same file first (Windows cannot replace an open file), keeps that one. */
async function moveInto(path: string, part: string, sha256: string): Promise<void> {
  try {
    await rename(part, path);
  } catch (error) {
    const present = await identifyFile(path).catch(() => null);
    if (present?.sha256 !== sha256) throw error;
    rmSync(part, { force: true });
  }
}

/** Its message is one sentence for the user. */
class DownloadError extends Error {}

/** A transfer that broke and may be tried again. */
class BrokenTransfer extends DownloadError {}

/**
 * Takes over the largest part that an earlier process left, and removes the others. The process number in a part's name keeps two
 * processes from writing to one file. @returns whether there was a part
 */
function adoptPart(path: string, own: string, mayResume: boolean): boolean {
  const pattern = /\.(\d+)\.part$/;
  const parts = readdirSync(dirname(path))
    .filter((name) => name.startsWith(`${basename(path)}.`) && pattern.test(name))
    .filter((name) => {
      const pid = Number(pattern.exec(name)?.[1]);
      return pid === process.pid || !isRunning(pid);
    })
    .map((name) => join(dirname(path), name))
    .sort((a, b) => statSync(b).size - statSync(a).size);
  const [largest, ...others] = mayResume ? parts : [undefined, ...parts];
  for (const part of others) if (part !== undefined) rmSync(part, { force: true });
  if (largest === undefined) return false;
  if (largest !== own) renameSync(largest, own);
  return true;
}

/** Repeats transfers until the file is complete, or too many in a row have brought nothing. */
async function receive(download: Download, part: string): Promise<void> {
  for (let failures = 0; ; ) {
    const before = getSize(part);
    try {
      await transfer(download, part);
      return;
    } catch (error) {
      if (!(error instanceof BrokenTransfer)) throw error;
      failures = getSize(part) > before ? 0 : failures + 1;
      // If nothing has ever arrived, there is no network or no such server.
      if (failures >= MOST_FAILURES || (getSize(part) === 0 && failures > 1)) throw error;
      await wait(FIRST_PAUSE_MS * 2 ** failures);
    }
  }
}

function getSize(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

async function transfer({ url, mostBytes, onProgress }: Download, part: string): Promise<void> {
  const stalled = new AbortController();
  const stallTimer = setTimeout(() => stalled.abort(), STALL_MS);
  try {
    const start = getSize(part);
    const response = await request(url, start, stalled.signal);
    if (response.status === 416) {
      rmSync(part, { force: true });
      throw new BrokenTransfer(`${url} cannot be resumed`);
    }
    const isResumed = response.status === 206 && readRangeStart(response) === start;
    const offset = isResumed ? start : 0;
    const length = Number(response.headers.get('content-length') ?? Number.NaN);
    const total = Number.isNaN(length) ? null : offset + length;
    const tooLarge = new DownloadError(`${url} is larger than ${Math.round(mostBytes / 1e6)} MB`);
    if (total !== null && total > mostBytes) throw tooLarge;
    let done = offset;
    const body = Readable.fromWeb(response.body as ReadableStream);
    body.on('data', (chunk: Buffer) => {
      stallTimer.refresh();
      done += chunk.length;
      if (done > mostBytes) body.destroy(tooLarge);
      onProgress(done, total);
    });
    body.on('error', () => {});
    try {
      await pipeline(body, createWriteStream(part, { flags: isResumed ? 'a' : 'w', mode: 0o644 }));
    } catch (error) {
      if (error === tooLarge) rmSync(part, { force: true });
      const { syscall = '' } = error as NodeJS.ErrnoException;
      if (error === tooLarge || ['open', 'write'].includes(syscall)) throw error;
      throw new BrokenTransfer(`The transfer of ${url} broke off: ${describeCause(error)}`);
    }
    if (total !== null && done < total) throw new BrokenTransfer(`The transfer of ${url} broke off`);
  } finally {
    clearTimeout(stallTimer);
  }
}

async function request(url: string, start: number, signal: AbortSignal): Promise<Response> {
  // If the server compressed the file, its length and digest would be different.
  const headers: Record<string, string> = { 'accept-encoding': 'identity' };
  if (start > 0) headers.range = `bytes=${start}-`;
  const response = await followRedirects(url, { headers, signal, redirect: 'manual' });
  if (response.status >= 500 || response.status === 429) throw new BrokenTransfer(`${url} answers ${response.status}`);
  if (response.status !== 416 && (!response.ok || response.body === null)) {
    throw new DownloadError(`${url} answers ${response.status}`);
  }
  return response;
}

/** One by one: of an encrypted address none may lead to one that is not, not even on the way to a third. */
async function followRedirects(url: string, request: RequestInit): Promise<Response> {
  let address = url;
  for (let redirects = 0; redirects <= MOST_REDIRECTS; redirects++) {
    let response: Response;
    try {
      response = await fetchThroughProxy(address, request);
    } catch (error) {
      throw new BrokenTransfer(`Cannot reach ${address} (${describeCause(error)})`);
    }
    const location = REDIRECTS.includes(response.status) ? response.headers.get('location') : null;
    if (location === null) return response;
    await response.body?.cancel();
    const next = URL.canParse(location, address) ? new URL(location, address) : null;
    if (next === null || !['http:', 'https:'].includes(next.protocol)) {
      throw new DownloadError(`${url} leads to ${location}, which is no address of a file`);
    }
    if (address.startsWith('https:') && next.protocol !== 'https:') {
      throw new DownloadError(`${url} leads to ${next.href}, which is not encrypted`);
    }
    address = next.href;
  }
  throw new DownloadError(`${url} leads to other addresses more than ${MOST_REDIRECTS} times`);
}

/** `bytes 100-199/200` → 100 */
function readRangeStart(response: Response): number {
  return Number(/^bytes (\d+)-/.exec(response.headers.get('content-range') ?? '')?.[1] ?? Number.NaN);
}

/** The reason of a failed fetch, which is in the error's cause. */
function describeCause(error: unknown): string {
  const { name, message, cause } = error as Error & { cause?: Error };
  if (name === 'TimeoutError' || name === 'AbortError') return `no data for ${STALL_MS / 1000} s`;
  return cause?.message ?? message;
}

export interface DownloadWatcher {
  onStart(network: RemoteNetwork): void;
  /** @param totalBytes null when the server does not say */
  onProgress(doneBytes: number, totalBytes: number | null): void;
  onEnd(): void;
}

/** The largest ones of lc0 have 0.4 GB. */
const LARGEST_NETWORK_BYTES = 2e9;

/** Downloads that are running: two players of one process may ask for the same network. */
const underWay = new Map<string, Promise<Result<string>>>();

/** @param from a mirror's address; the digest stays the same. @returns the path of the file */
export function downloadNetwork(
  network: RemoteNetwork,
  watcher: DownloadWatcher,
  from = network.url,
): Promise<Result<string>> {
  const running = underWay.get(network.path) ?? runDownload({ ...network, url: from }, watcher);
  underWay.set(network.path, running);
  return running.finally(() => underWay.delete(network.path));
}

/** Downloads the network that the options name, if it is one to download and is missing. */
export async function obtainNetwork(options: OptionStore, watcher: DownloadWatcher): Promise<Result<unknown>> {
  const weightsFile = options.getString('WeightsFile');
  const remote = existsSync(weightsFile) ? null : findRemoteNetwork(weightsFile);
  if (remote === null) return success(null);
  return remote.ok && !isDownloaded(remote.value) ? downloadNetwork(remote.value, watcher) : remote;
}

async function runDownload(network: RemoteNetwork, watcher: DownloadWatcher): Promise<Result<string>> {
  watcher.onStart(network);
  try {
    const { url, path, sha256 } = network;
    const { onProgress } = watcher;
    const downloaded = await downloadFile({ url, path, sha256, mostBytes: LARGEST_NETWORK_BYTES, onProgress });
    if (!downloaded.ok) return downloaded;
    if (sha256 !== null) return success(path);
    const { findDamage } = await import('./network-file.js');
    const damage = await findDamage(path);
    if (damage === null) return success(path);
    // Otherwise every later start would find it in the cache, and fail.
    rmSync(path, { force: true });
    return failure(`${url} is no network: ${damage}`);
  } finally {
    watcher.onEnd();
  }
}

/** Reports progress as sentences, one for each tenth, for UCI and logs. */
export function describeDownload(say: (text: string) => void): DownloadWatcher {
  let tenths = 0;
  return {
    onStart: ({ name, url, sha256 }) => {
      say(`Downloading ${name.startsWith('http') ? '' : `${name} from `}${url}`);
      if (url.startsWith('http:') && sha256 === null) {
        say('Nothing proves that this file is the right one: it comes over plain HTTP, without #sha256=…');
      }
    },
    onProgress: (done, total) => {
      const now = total === null ? 0 : Math.floor((10 * done) / total);
      if (now > tenths) say(`Downloaded ${10 * now} % of ${formatMegabytes(total ?? 0)} MB`);
      tenths = Math.max(now, tenths);
    },
    onEnd: () => {},
  };
}
