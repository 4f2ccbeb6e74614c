/**
 * The networks that a page may choose: the one of the command line, those that come with the program, and the network files of
 * the folders that the user named. A page sends a name of this list, never a path.
 */
import { readdirSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { getProgramFolder } from '#platform/program-files.js';
import { listBundledNetworks } from '../../app/index.js';
import type { OptionStore } from '../../options/index.js';
import type { NetworkList } from '../desk/engine-services.js';
import type { NetworkEntry } from '../protocol/replies.js';

const AUTODISCOVER = '<autodiscover>';
const NETWORK_FILE = /\.(onnx|pb)(\.gz)?$/i;
const MOST_FILES = 500;
const MEGABYTE = 1e6;

export class OfferedNetworks implements NetworkList {
  /** Name → value of WeightsFile. */
  private readonly values = new Map<string, string>();
  readonly entries: readonly NetworkEntry[];

  /** Throws the sentence for the user when a folder cannot be read. */
  constructor(options: OptionStore, folders: readonly string[]) {
    const entries: NetworkEntry[] = [];
    const add = (name: string, value: string, description: string): void => {
      const unique = this.values.has(name) ? value : name;
      if (this.values.has(unique)) return;
      this.values.set(unique, value);
      entries.push({ name: unique, description });
    };
    const given = options.getString('WeightsFile');
    add('bundled', AUTODISCOVER, 'the network that suits this machine');
    if (given !== AUTODISCOVER && given !== '') add(basename(given), given, 'from the command line');
    for (const { file, precision } of listBundledNetworks()) {
      add(file, join(getProgramFolder(), 'models', file), `bundled, ${precision}`);
    }
    for (const folder of folders) {
      for (const { name, path, bytes } of listNetworkFiles(folder)) {
        add(name, path, `${(bytes / MEGABYTE).toFixed(1)} MB`);
      }
    }
    this.entries = entries;
  }

  /** Value of WeightsFile; undefined for a name that was not offered. */
  getValue(name: string): string | undefined {
    return this.values.get(name);
  }

  /** Name of the entry with this value of WeightsFile; null for none. */
  findName(value: string): string | null {
    const wanted = value === '' ? AUTODISCOVER : value;
    return [...this.values].find(([, known]) => known === wanted)?.[0] ?? null;
  }
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
