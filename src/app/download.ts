/**
 * Downloads one file over HTTP(S): follows redirects, goes on after a broken transfer, and gives the file its name only
 * when it is complete and its SHA-256 is right. What has arrived stays beside it as a `.part` file, so that the next
 * start resumes where this one stopped; without a known digest nobody could tell whether old and new bytes belong
 * together, and the download starts again.
 */
import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { rename } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as wait } from 'node:timers/promises';
import { describeWriteFailure } from '#platform/files.js';
import { createFolder } from '#platform/folders.js';
import { failure, type Result, success } from '../util/index.js';

export interface Download {
  readonly url: string;
  /** Where the file goes; its folder is made. */
  readonly path: string;
  /** Expected SHA-256 in hexadecimal; null when nobody has published one. */
  readonly sha256: string | null;
  /** @param totalBytes null when the server does not say */
  onProgress(doneBytes: number, totalBytes: number | null): void;
}

export interface DownloadedFile {
  readonly sizeBytes: number;
  readonly sha256: string;
}

/** Transfers in a row that bring nothing before the download gives up. */
const MOST_FAILURES = 4;
const FIRST_PAUSE_MS = 500;
/** A server that sends nothing for so long has gone. */
const STALL_MS = 30_000;

/** @returns one sentence when the file cannot be had */
export async function downloadFile(download: Download): Promise<Result<DownloadedFile>> {
  const own = `${download.path}.${process.pid}.part`;
  try {
    createFolder(dirname(download.path));
    const wasBegun = adoptPart(download.path, own, download.sha256 !== null);
    await receive(download, own);
    let received = await identifyFile(own);
    if (wasBegun && received.sha256 !== download.sha256) {
      // The bytes of an earlier start may be of another edition of the file.
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

/** On Windows a file that another process downloaded first and has open cannot be replaced; then that one is as good. */
async function moveInto(path: string, part: string, sha256: string): Promise<void> {
  try {
    await rename(part, path);
  } catch (error) {
    const present = await identifyFile(path).catch(() => null);
    if (present?.sha256 !== sha256) throw error;
    rmSync(part, { force: true });
  }
}

/** Carries the one sentence for the user. */
class DownloadError extends Error {}

/** A transfer that broke: worth another try. */
class BrokenTransfer extends DownloadError {}

/**
 * Takes over what an earlier process left behind; its number in the name keeps two processes from writing to one file.
 * @returns whether there was something
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

/** Until the file is whole, or too many transfers in a row brought nothing. */
async function receive(download: Download, part: string): Promise<void> {
  for (let failures = 0; ; ) {
    const before = getSize(part);
    try {
      await transfer(download, part);
      return;
    } catch (error) {
      if (!(error instanceof BrokenTransfer)) throw error;
      failures = getSize(part) > before ? 0 : failures + 1;
      // Nothing has arrived at all: there is no network, or no such server.
      if (failures >= MOST_FAILURES || (getSize(part) === 0 && failures > 1)) throw error;
      await wait(FIRST_PAUSE_MS * 2 ** failures);
    }
  }
}

function getSize(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

async function transfer({ url, onProgress }: Download, part: string): Promise<void> {
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
    let done = offset;
    const body = Readable.fromWeb(response.body as never);
    body.on('data', (chunk: Buffer) => {
      stall.restart();
      done += chunk.length;
      onProgress(done, total);
    });
    body.on('error', () => {});
    try {
      await pipeline(body, createWriteStream(part, { flags: isResumed ? 'a' : 'w', mode: 0o644 }));
    } catch (error) {
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
  // A server that compressed the file once more would make its length and digest others.
  const headers: Record<string, string> = { 'accept-encoding': 'identity' };
  if (start > 0) headers.range = `bytes=${start}-`;
  let response: Response;
  try {
    response = await fetch(url, { headers, signal });
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

/** fetch wraps what happened in an error without any news. */
function describeCause(error: unknown): string {
  const { name, message, cause } = error as Error & { cause?: Error };
  if (name === 'TimeoutError' || name === 'AbortError') return `nothing came for ${STALL_MS / 1000} s`;
  return cause?.message ?? message;
}

/** Ends a transfer when nothing arrives for a while. */
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
