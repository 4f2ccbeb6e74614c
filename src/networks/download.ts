/**
 * Downloads one file over HTTP(S). It follows redirects, continues after a broken transfer, and gives the file its name only
 * when it is complete and its SHA-256 is right. Received bytes are kept in a `.part` file, so that the next start resumes the
 * download. Without a known digest it starts again, because the old and new bytes might be of different files.
 */
import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { rename } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ReadableStream } from 'node:stream/web';
import { setTimeout as wait } from 'node:timers/promises';
import { describeWriteFailure } from '#platform/files.js';
import { createFolder } from '#platform/folders.js';
import { failure, type Result, success } from '../util/index.js';
import { fetchThroughProxy } from './proxy-fetch.js';

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
/** A transfer without a byte for so long has failed. */
const STALL_MS = 30_000;

/** @returns size and digest, or one sentence if the download fails */
export async function downloadFile(download: Download): Promise<Result<DownloadedFile>> {
  const own = `${download.path}.${process.pid}.part`;
  try {
    createFolder(dirname(download.path));
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
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return { sizeBytes: statSync(path).size, sha256: hash.digest('hex') };
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
    .filter((name) => !isRunning(Number(pattern.exec(name)?.[1])))
    .map((name) => join(dirname(path), name))
    .sort((a, b) => statSync(b).size - statSync(a).size);
  const [largest, ...others] = mayResume ? parts : [undefined, ...parts];
  for (const part of others) if (part !== undefined) rmSync(part, { force: true });
  if (largest === undefined) return false;
  if (largest !== own) renameSync(largest, own);
  return true;
}

function isRunning(pid: number): boolean {
  if (pid === process.pid) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
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
  const stall = new Stall();
  try {
    const start = getSize(part);
    const response = await request(url, start, stall.signal);
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
      stall.restart();
      done += chunk.length;
      if (done > mostBytes) body.destroy(tooLarge);
      onProgress(done, total);
    });
    body.on('error', () => {});
    try {
      await pipeline(body, createWriteStream(part, { flags: isResumed ? 'a' : 'w', mode: 0o644 }));
    } catch (error) {
      if (error === tooLarge) rmSync(part, { force: true });
      if (error === tooLarge) throw error;
      if ((error as NodeJS.ErrnoException).syscall === 'write') throw error;
      if ((error as NodeJS.ErrnoException).syscall === 'open') throw error;
      throw new BrokenTransfer(`The transfer of ${url} broke off: ${describeCause(error)}`);
    }
    if (total !== null && done < total) throw new BrokenTransfer(`The transfer of ${url} broke off`);
  } finally {
    stall.end();
  }
}

async function request(url: string, start: number, signal: AbortSignal): Promise<Response> {
  // If the server compressed the file, its length and digest would be different.
  const headers: Record<string, string> = { 'accept-encoding': 'identity' };
  if (start > 0) headers.range = `bytes=${start}-`;
  let response: Response;
  try {
    response = await fetchThroughProxy(url, { headers, signal });
  } catch (error) {
    throw new BrokenTransfer(`Cannot reach ${url} (${describeCause(error)})`);
  }
  if (url.startsWith('https:') && !response.url.startsWith('https:')) {
    throw new DownloadError(`${url} leads to ${response.url}, which is not encrypted`);
  }
  if (response.status >= 500 || response.status === 429) throw new BrokenTransfer(`${url} answers ${response.status}`);
  if (response.status !== 416 && (!response.ok || response.body === null)) {
    throw new DownloadError(`${url} answers ${response.status}`);
  }
  return response;
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

/** Aborts a transfer when nothing arrives for STALL_MS. */
class Stall {
  private readonly controller = new AbortController();
  private timer = this.start();

  get signal(): AbortSignal {
    return this.controller.signal;
  }

  restart(): void {
    clearTimeout(this.timer);
    this.timer = this.start();
  }

  end(): void {
    clearTimeout(this.timer);
  }

  private start(): NodeJS.Timeout {
    return setTimeout(() => this.controller.abort(), STALL_MS);
  }
}
