/**
 * Downloads networks. A name of the catalogue or an address in WeightsFile means a file in the cache folder, which is
 * downloaded once. Only commands that evaluate with a network download it; `--version` and `doctor` only report that it is
 * missing.
 */
import { createHash } from 'node:crypto';
import { existsSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { findCacheFolder } from '#platform/folders.js';
import type { OptionStore } from '../options/index.js';
import { failure, formatMegabytes, type Result, success } from '../util/index.js';
import { downloadFile } from './download.js';
import { findCatalogued, getFileName } from './network-catalogue.js';

/** A network that can be downloaded. */
export interface RemoteNetwork {
  /** As the user wrote it. */
  readonly name: string;
  readonly url: string;
  /** In hexadecimal; null for an address without one. */
  readonly sha256: string | null;
  /** Path of the file, which may not exist yet. */
  readonly path: string;
}

export interface DownloadWatcher {
  onStart(network: RemoteNetwork): void;
  /** @param totalBytes null when the server does not say */
  onProgress(doneBytes: number, totalBytes: number | null): void;
  onEnd(): void;
}

/** The largest ones of lc0 have 0.4 GB. */
const LARGEST_NETWORK_BYTES = 2e9;

const DIGEST = /^#sha256=([0-9a-f]{64})$/i;

/**
 * The network of the catalogue, or of an address, that WeightsFile names; null if it is neither. An address may end in
 * `#sha256=…`, which the download then checks.
 */
export function findRemoteNetwork(weightsFile: string): Result<RemoteNetwork> | null {
  const catalogued = findCatalogued(weightsFile);
  if (catalogued === undefined && !/^https?:\/\//i.test(weightsFile)) return null;
  const folder = findCacheFolder('networks');
  if (folder === undefined) return failure(`There is no cache folder to keep the network ${weightsFile} in`);
  if (catalogued !== undefined) {
    const { url, sha256 } = catalogued;
    return success({ name: weightsFile, url, sha256, path: join(folder, getFileName(url)) });
  }
  if (!URL.canParse(weightsFile)) return failure(`${weightsFile} is not an address`);
  const url = new URL(weightsFile);
  const sha256 = DIGEST.exec(url.hash)?.[1].toLowerCase() ?? null;
  if (url.hash !== '' && sha256 === null) {
    return failure(`${weightsFile} ends in ${url.hash}, which is not #sha256= and 64 hexadecimal digits`);
  }
  const key = createHash('sha256').update(url.href).digest('hex').slice(0, 12);
  url.hash = '';
  const path = join(folder, `${key}-${getFileName(url.href) || 'network'}`);
  return success({ name: weightsFile, url: url.href, sha256, path });
}

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
export async function obtainNetwork(options: OptionStore, watcher: DownloadWatcher): Promise<Result<true>> {
  const weightsFile = options.getString('WeightsFile');
  const remote = existsSync(weightsFile) ? null : findRemoteNetwork(weightsFile);
  if (remote === null) return success(true);
  if (!remote.ok) return remote;
  if (isDownloaded(remote.value)) return success(true);
  const downloaded = await downloadNetwork(remote.value, watcher);
  return downloaded.ok ? success(true) : downloaded;
}

export function isDownloaded({ path }: RemoteNetwork): boolean {
  return (statSync(path, { throwIfNoEntry: false })?.size ?? 0) > 0;
}

async function runDownload(network: RemoteNetwork, watcher: DownloadWatcher): Promise<Result<string>> {
  watcher.onStart(network);
  try {
    const { url, path, sha256 } = network;
    const downloaded = await downloadFile({
      url,
      path,
      sha256,
      mostBytes: LARGEST_NETWORK_BYTES,
      onProgress: watcher.onProgress,
    });
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
