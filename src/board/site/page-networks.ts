/**
 * The networks that a page with its own engine may choose: those that come with it, and files and addresses that the user
 * opened, which the browser keeps.
 */
import { hasNetworkHead } from '../../lc0/index.js';
import { readPrecision } from '../../nn/index.js';
import { formatMegabytes, inflate, unwrap } from '../../util/index.js';
import {
  type DownloadWatch,
  keepNetwork,
  listKeptNetworks,
  listProvidedNetworks,
  readNetworkFile,
  removeKeptNetwork,
} from '../../web/index.js';
import { NetworkList } from '../desk/engine-services.js';

export class PageNetworks extends NetworkList {
  static async create(): Promise<PageNetworks> {
    const networks = new PageNetworks('this browser');
    for (const { file, address } of listProvidedNetworks()) networks.add(file, address, 'bundled');
    for (const { name, address, bytes } of await listKeptNetworks()) {
      networks.add(name, address, `${formatMegabytes(bytes)} MB`, true);
    }
    return networks;
  }

  /**
   * Reads a network and keeps it for later visits, where the browser keeps anything. Rejects with the sentence for the user.
   * @param source a file, or an address that answers requests of any page
   * @param use tries it: a network that cannot be used is neither kept nor listed
   * @returns whether the browser keeps it
   */
  async open(source: File | string, watch: DownloadWatch, use: (name: string) => Promise<void>): Promise<boolean> {
    const isAddress = typeof source === 'string';
    if (isAddress && !/^https?:\/\/./.test(source)) throw new Error(`Not an https address: ${source}`);
    const name = isAddress ? getLastPart(source) : source.name;
    const bytes = isAddress ? unwrap(await readNetworkFile(source, watch)) : await readBytes(source);
    await requireNetwork(name, bytes);
    const kept = await keepNetwork(name, bytes);
    const address = kept ?? URL.createObjectURL(new Blob([bytes.slice()]));
    const known = this.findName(address);
    const listed = known ?? this.add(name, address, `${formatMegabytes(bytes.length)} MB`, kept !== null);
    try {
      await use(listed);
    } catch (error) {
      if (known === null) await this.drop(listed, address);
      throw error;
    }
    return kept !== null;
  }

  /** Deletes a network that the browser keeps. Rejects with the sentence for the user. */
  async remove(name: string): Promise<void> {
    const kept = this.networks.get(name);
    if (kept?.isKept !== true) throw new Error(`${name} is not kept in this browser`);
    await this.drop(name, kept.value);
  }

  private async drop(name: string, address: string): Promise<void> {
    await removeKeptNetwork(address);
    this.networks.delete(name);
  }
}

async function readBytes(file: File): Promise<Uint8Array> {
  try {
    return new Uint8Array(await file.arrayBuffer());
  } catch {
    throw new Error(`The browser cannot read ${file.name}: it is too large, or was changed or moved`);
  }
}

async function requireNetwork(name: string, bytes: Uint8Array): Promise<void> {
  const inflated = await inflate(bytes);
  if (!inflated.ok) throw new Error(`Cannot read the network ${name}: ${inflated.error}`);
  if (hasNetworkHead(inflated.value) || readPrecision(inflated.value) !== null) return;
  throw new Error(`${name} is no network: it is neither an ONNX file nor one of lc0's`);
}

function getLastPart(address: string): string {
  const { pathname, hostname } = new URL(address);
  return decodeURIComponent(pathname.slice(pathname.lastIndexOf('/') + 1)) || hostname;
}
