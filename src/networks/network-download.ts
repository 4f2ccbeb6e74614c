import { existsSync, rmSync } from 'node:fs';
import type { OptionStore } from '../options/index.js';
import { failure, formatMegabytes, type Result, success } from '../util/index.js';
import { downloadFile } from './download.js';
import { findRemoteNetwork, isDownloaded, type RemoteNetwork } from './network-catalogue.js';

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
export async function obtainNetwork(options: OptionStore, watcher: DownloadWatcher): Promise<Result<true>> {
  const weightsFile = options.getString('WeightsFile');
  const remote = existsSync(weightsFile) ? null : findRemoteNetwork(weightsFile);
  if (remote === null) return success(true);
  if (!remote.ok) return remote;
  if (isDownloaded(remote.value)) return success(true);
  const downloaded = await downloadNetwork(remote.value, watcher);
  return downloaded.ok ? success(true) : downloaded;
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
