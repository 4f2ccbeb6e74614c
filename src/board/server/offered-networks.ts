/**
 * The networks that a page may choose: the one of the command line, those that come with the program, the network files of the
 * folders that the user named, the catalogue of `sardonyx networks`, and files that a page has sent. A page chooses a name of
 * this list, never a path or an address.
 */
import { existsSync, readdirSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import {
  downloadNetwork,
  findRemoteNetwork,
  isDownloaded,
  listBundledNetworks,
  NETWORK_CATALOGUE,
  type RemoteNetwork,
} from '../../networks/index.js';
import type { OptionStore } from '../../options/index.js';
import { formatMegabytes, unwrap } from '../../util/index.js';
import { NetworkList } from '../desk/engine-services.js';
import type { NetworkEntry } from '../protocol/replies.js';
import { checkFile } from './file-check.js';

const NETWORK_FILE = /\.(onnx|pb)(\.gz)?$/i;
const MOST_FILES = 500;

export class OfferedNetworks extends NetworkList {
  /** Throws the sentence for the user when a folder cannot be read. */
  constructor(
    private readonly options: OptionStore,
    folders: readonly string[],
  ) {
    super('this machine');
    const given = options.getString('WeightsFile');
    if (given !== '') this.add(basename(given), given, 'from the command line');
    // By name: inside an executable they are no files.
    for (const { file, precision } of listBundledNetworks()) this.add(file, file, `bundled, ${precision}`);
    for (const folder of folders) {
      for (const { name, path, bytes } of listNetworkFiles(folder))
        this.add(name, path, `${formatMegabytes(bytes)} MB`);
    }
    for (const { name, megabytes, purpose } of NETWORK_CATALOGUE) {
      this.add(name, name, megabytes === null ? purpose : `${megabytes} MB, ${purpose}`);
    }
  }

  override get entries(): readonly NetworkEntry[] {
    return [...this.networks.values()].map(({ name, description, value }) => {
      const remote = findRemote(value);
      return { name, description, needsDownload: remote !== null && !isDownloaded(remote) };
    });
  }

  /**
   * Offers a file that a page has sent. Rejects with the sentence for the user when it is no network, or is damaged.
   * @returns its name in the list
   */
  async take(name: string, path: string): Promise<string> {
    const named = (['Backend', 'BackendOptions'] as const).map((own) => [own, this.options.getString(own)] as const);
    await checkFile({ kind: 'network', path, settings: named }, name);
    const { size } = statSync(path);
    return this.add(name, path, `${formatMegabytes(size)} MB, sent by a page`);
  }

  /** Downloads a network of the catalogue that is not on this machine yet. Rejects with the sentence for the user. */
  async obtain(name: string, onProgress: (share: number | null) => void): Promise<void> {
    const remote = findRemote(this.getValue(name) ?? '');
    if (remote === null || isDownloaded(remote)) return;
    const watcher = {
      onStart: () => onProgress(null),
      onProgress: (done: number, total: number | null) => onProgress(total === null ? null : done / total),
      onEnd: () => undefined,
    };
    unwrap(await downloadNetwork(remote, watcher));
  }
}

/** Null for files, also for those whose name is one of the catalogue. */
function findRemote(value: string): RemoteNetwork | null {
  const remote = existsSync(value) ? null : findRemoteNetwork(value);
  return remote?.ok ? remote.value : null;
}

function listNetworkFiles(folder: string): { name: string; path: string; bytes: number }[] {
  try {
    return readdirSync(folder)
      .filter((name) => NETWORK_FILE.test(name))
      .sort()
      .slice(0, MOST_FILES)
      .map((name) => ({ name, path: join(folder, name), bytes: statSync(join(folder, name)).size }));
  } catch (error) {
    throw new Error(`The networks of ${folder} cannot be listed: ${(error as Error).message}`);
  }
}
