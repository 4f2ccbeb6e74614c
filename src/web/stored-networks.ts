/**
 * Networks in Cache Storage, each under its SHA-256, so that a second visit downloads nothing and works offline. Every read
 * checks the hash again, because Cache Storage guarantees no integrity. If the browser stores nothing, each visit downloads
 * the network again.
 */
import { computeSha256 } from '#platform/byte-streams.js';
import {
  findCacheFolder,
  listCacheFiles,
  readCacheFile,
  removeCacheFile,
  writeCacheFile,
} from '#platform/cache-files.js';
import { getFileName } from '#platform/files.js';
import { concatBytes, failure, formatMegabytes, type Result, success } from '../base/util/index.js';

/** The networks that lie beside the scripts, written by scripts/build-web.mjs. */
declare const SARDONYX_NETWORKS: readonly { readonly file: string; readonly sha256: string }[];

/** Their addresses, written out so that bundlers find the files. */
export const PROVIDED_NETWORKS = {
  'light.onnx': new URL('./models/light.onnx', import.meta.url).href,
  'default.onnx': new URL('./models/default.onnx', import.meta.url).href,
};
/** Prefix of the addresses of networks that the user opened, in this visit or an earlier one. */
const KEPT = 'kept:';
/** Kind of cache: networks of the program, and networks of the user. */
const BUNDLED = 'bundled-networks';
const OPENED = 'opened-networks';

interface DownloadProgress {
  /** The file's. */
  readonly name: string;
  readonly doneBytes: number;
  /** Null when the server does not say. */
  readonly totalBytes: number | null;
  /** The last news of this download, well or badly. */
  readonly isDone: boolean;
}
/** Called ten times a second at most, from a tenth of a second on. */
export type DownloadWatch = (progress: DownloadProgress) => void;
const PROGRESS_MS = 100;

interface KeptNetwork {
  readonly name: string;
  /** A value for the option WeightsFile. */
  readonly address: string;
  readonly bytes: number;
}

/** Files of the networks that lie beside the scripts, and their addresses. */
export function listProvidedNetworks(): readonly { readonly file: string; readonly address: string }[] {
  return Object.entries(PROVIDED_NETWORKS).map(([file, address]) => ({ file, address }));
}

/** For messages: a kept network, or one in memory (`blob:`), by the name of its file, others by their URL. */
export function describeAddress(address: string): string {
  if (address.startsWith(KEPT)) return getName(address);
  const [, name] = /^blob:[^#]*#(.+)$/.exec(address) ?? [];
  return name === undefined ? address : decodeURIComponent(name);
}

/** `12.3 of 40.0 MB` */
export function describeProgress({ doneBytes, totalBytes }: DownloadProgress): string {
  const done = formatMegabytes(doneBytes);
  return totalBytes === null ? `${done} MB` : `${done} of ${formatMegabytes(totalBytes)} MB`;
}

/** The content of a network's file. @param address a URL, or the address of a kept network */
export async function readNetworkFile(address: string, watch: DownloadWatch): Promise<Result<Uint8Array>> {
  if (address.startsWith(KEPT)) return readKept(address);
  const provided = listProvidedNetworks().find((network) => network.address === address);
  const bundled = SARDONYX_NETWORKS.find(({ file }) => file === provided?.file);
  return bundled === undefined ? download(address, watch) : readBundled(address, bundled, watch);
}

async function readBundled(
  address: string,
  { file, sha256 }: { readonly file: string; readonly sha256: string },
  watch: DownloadWatch,
): Promise<Result<Uint8Array>> {
  const stored = await readStored(BUNDLED, sha256, sha256);
  if (stored !== null) return success(stored);
  const bytes = await download(address, watch);
  if (!bytes.ok) return bytes;
  if ((await computeSha256([bytes.value])) !== sha256) {
    return failure(`The network ${file} on the server is not the one of this version: reload the page`);
  }
  await store(BUNDLED, sha256, bytes.value);
  await dropOldBundled();
  return bytes;
}

/** Deletes the bundled networks of earlier versions. */
async function dropOldBundled(): Promise<void> {
  const folder = findCacheFolder(BUNDLED);
  if (folder === undefined) return;
  const current = new Set(SARDONYX_NETWORKS.map(({ sha256 }) => sha256));
  for (const { name } of await listCacheFiles(folder)) if (!current.has(name)) await removeCacheFile(folder, name);
}

/**
 * Keeps a network that the user opened.
 * @returns its address; null if the browser stores nothing
 */
export async function keepNetwork(name: string, bytes: Uint8Array): Promise<string | null> {
  const sha256 = await computeSha256([bytes]);
  const isKept = await store(OPENED, `${sha256} ${name}`, bytes);
  return isKept ? `${KEPT}${sha256} ${name}` : null;
}

/** Newest first. */
export async function listKeptNetworks(): Promise<KeptNetwork[]> {
  const folder = findCacheFolder(OPENED);
  const files = folder === undefined ? [] : await listCacheFiles(folder);
  files.sort((a, b) => b.modifiedAtMs - a.modifiedAtMs);
  return files.map(({ name, bytes }) => ({ name: getName(name), address: KEPT + name, bytes }));
}

/** @param address of a kept network */
export async function removeKeptNetwork(address: string): Promise<void> {
  const folder = findCacheFolder(OPENED);
  if (folder !== undefined) await removeCacheFile(folder, address.slice(KEPT.length));
}

async function readKept(address: string): Promise<Result<Uint8Array>> {
  const file = address.slice(KEPT.length);
  const bytes = await readStored(OPENED, file, file.split(' ')[0]);
  return bytes === null
    ? failure(`The network ${getName(file)} is no longer in the browser's storage: open it again`)
    : success(bytes);
}

function getName(file: string): string {
  return file.slice(file.indexOf(' ') + 1);
}

/** Null when it is not there or damaged. */
async function readStored(kind: string, name: string, sha256: string): Promise<Uint8Array | null> {
  const folder = findCacheFolder(kind);
  if (folder === undefined) return null;
  try {
    const bytes = await readCacheFile(folder, name);
    if ((await computeSha256([bytes])) === sha256) return bytes;
    await removeCacheFile(folder, name);
  } catch {
    // Not there.
  }
  return null;
}

async function store(kind: string, name: string, bytes: Uint8Array): Promise<boolean> {
  const folder = findCacheFolder(kind);
  return folder !== undefined && writeCacheFile(folder, name, (file) => file.write(bytes, 0));
}

async function download(address: string, watch: DownloadWatch): Promise<Result<Uint8Array>> {
  const fail = (reason: string): Result<Uint8Array> =>
    failure(`Cannot read the network ${describeAddress(address)}: ${reason}`);
  let response: Response;
  try {
    response = await fetch(address);
  } catch {
    return fail('there is no answer, or the server does not let other sites read the file (CORS)');
  }
  if (!response.ok) return fail(`the server answered ${response.status}`);
  try {
    const bytes = concatBytes(await readBody(response, getFileName(address), watch));
    return isWebPage(bytes) ? fail('the server sent a web page') : success(bytes);
  } catch {
    return fail('the download broke off, or there is not enough memory for it');
  }
}

/** Rejects when the download breaks off. */
export async function readBody(response: Response, name: string, watch: DownloadWatch): Promise<Uint8Array[]> {
  const length = Number(response.headers.get('content-length') ?? 0);
  // Of a compressed answer it is the length before it is inflated.
  const isPlain = length > 0 && response.headers.get('content-encoding') === null;
  const parts: Uint8Array[] = [];
  let doneBytes = 0;
  let reportedAt = performance.now();
  let isReported = false;
  const report = (isDone: boolean): void =>
    watch({ name, doneBytes, totalBytes: isPlain && doneBytes <= length ? length : null, isDone });
  const reader = response.body?.getReader();
  try {
    for (let piece = await reader?.read(); piece?.done === false; piece = await reader?.read()) {
      parts.push(piece.value);
      doneBytes += piece.value.length;
      if (performance.now() - reportedAt < PROGRESS_MS) continue;
      reportedAt = performance.now();
      isReported = true;
      report(false);
    }
  } finally {
    if (isReported) report(true);
  }
  return parts;
}

/** Hosts of single-page applications answer so to any address. */
function isWebPage(bytes: Uint8Array): boolean {
  return /^\s*<(!doctype html|html)/i.test(new TextDecoder().decode(bytes.slice(0, 100)));
}
