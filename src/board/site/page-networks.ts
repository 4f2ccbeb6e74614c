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
import type { NetworkList } from '../desk/engine-services.js';
import type { NetworkEntry } from '../protocol/replies.js';

const AUTODISCOVER = '<autodiscover>';

export class PageNetworks implements NetworkList {
  /** Name → value of WeightsFile. */
  private readonly values = new Map<string, string>([['bundled', AUTODISCOVER]]);
  private list: NetworkEntry[] = [{ name: 'bundled', description: 'the network that suits this browser' }];

  private constructor() {}

  static async create(): Promise<PageNetworks> {
    const networks = new PageNetworks();
    for (const { file, address } of listProvidedNetworks()) networks.add(file, address, 'bundled');
    for (const { name, address, bytes } of await listKeptNetworks()) {
      networks.add(name, address, `${formatMegabytes(bytes)} MB`, true);
    }
    return networks;
  }

  get entries(): readonly NetworkEntry[] {
    return this.list;
  }

  getValue(name: string): string | undefined {
    return this.values.get(name);
  }

  findName(value: string): string | null {
    const wanted = value === '' ? AUTODISCOVER : value;
    return [...this.values].find(([, known]) => known === wanted)?.[0] ?? null;
  }

  /**
   * Reads a network and keeps it for later visits, where the browser keeps anything. Rejects with the sentence for the user.
   * @param source a file, or an address that answers requests of any page
   * @param use tries it: a network that cannot be used is neither kept nor listed
   */
  async open(source: File | string, watch: DownloadWatch, use: (name: string) => Promise<void>): Promise<void> {
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
  }

  /** Deletes a network that the browser keeps. Rejects with the sentence for the user. */
  async remove(name: string): Promise<void> {
    const address = this.values.get(name);
    const isKept = this.list.some((entry) => entry.name === name && entry.isKept === true);
    if (address === undefined || !isKept) throw new Error(`${name} is not kept in this browser`);
    await this.drop(name, address);
  }

  private async drop(name: string, address: string): Promise<void> {
    await removeKeptNetwork(address);
    this.values.delete(name);
    this.list = this.list.filter((entry) => entry.name !== name);
  }

  /** @returns the name; numbered where another network has it */
  private add(name: string, address: string, description: string, isKept = false): string {
    let unique = name;
    for (let number = 2; this.values.has(unique); number++) unique = `${name} (${number})`;
    this.values.set(unique, address);
    this.list.push({ name: unique, description, isKept });
    return unique;
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
