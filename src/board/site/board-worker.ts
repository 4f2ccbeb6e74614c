/**
 * The engine of a page without a server: the desk of `sardonyx board`, in a Worker beside the page. Messages are those of the
 * WebSocket, as objects, and these more: `openNetwork` and `removeNetwork` from the page, and `ready` or `obstacle`, the Worker's
 * first words. The page starts it with the name of the network to begin with.
 */
import { getMemoryBytes } from '#platform/machine.js';
import { getThreadData, onParentMessage, postToParent } from '#platform/threads.js';
import { describeRefusal, formatMegabytes, inflate, unwrap } from '../../base/util/index.js';
import { hasNetworkHead } from '../../networks/lc0/index.js';
import { readPrecision } from '../../networks/nn/index.js';
import {
  createPageOptions,
  createPagePool,
  createPagePorts,
  type DownloadWatch,
  describeProgress,
  findObstacle,
  keepNetwork,
  listKeptNetworks,
  listProvidedNetworks,
  readNetworkFile,
  removeKeptNetwork,
} from '../../web/index.js';
import { EngineDesk } from '../desk/engine-desk.js';
import { EngineServices, NetworkList } from '../desk/engine-services.js';
import { PageSession } from '../desk/page-session.js';
import type { PortEvent, Reply, WorkerNews } from '../protocol/replies.js';
import type { OpenNetwork, RemoveNetwork } from '../protocol/requests.js';

/** Of the memory of a page: half is the tree's, and phones have little. */
const CACHE_SHARE = 1 / 8;
const MEGABYTE = 2 ** 20;

declare const SARDONYX_VERSION: string;

const send = (message: Reply | PortEvent | WorkerNews): void => postToParent(message);
const watch: DownloadWatch = (progress) => {
  const { name, doneBytes, totalBytes, isDone } = progress;
  const share = totalBytes === null ? null : doneBytes / totalBytes;
  send({ type: 'progress', text: `${name} ${describeProgress(progress)}`, share, isDone });
};
/**
 * The networks that a page with its own engine may choose: those that come with it, and files and addresses that the user
 * opened, which the browser keeps.
 */
class PageNetworks extends NetworkList {
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

const obstacle = findObstacle();
if (obstacle === null) void openDesk();
else send({ type: 'obstacle', text: obstacle });

async function openDesk(): Promise<void> {
  const networks = await PageNetworks.create();
  const options = createPageOptions();
  unwrap(options.set('Hash', String(Math.round((CACHE_SHARE * getMemoryBytes()) / MEGABYTE))));
  unwrap(options.set('WeightsFile', networks.getValue(await getThreadData<string>()) ?? ''));
  const desk = new EngineDesk(options, createPagePorts(watch), send);
  const services = new EngineServices({
    desk,
    networks,
    version: SARDONYX_VERSION,
    broadcast: send,
    createPool: (store, warn) => createPagePool(store, warn, false, watch),
    describeLock: (option) => `${option} cannot be set in a page`,
    // Tablebases, log files and devices need the program, and so do matches and loops.
    isOffered: ({ spec, isLocked }) => !isLocked && !spec.uci.startsWith('Syzygy'),
    matches: null,
    loop: null,
  });
  const openNetwork = async (source: File | string): Promise<void> => {
    const isKept = await networks
      .open(source, watch, (named) => services.useNetwork(named))
      .finally(() => services.announce());
    const text = 'The browser has no room to keep this network: open it again in your next visit';
    if (!isKept) send({ type: 'notice', level: 'warning', text });
  };
  const removeNetwork = async (removed: string): Promise<void> => {
    if (services.describe().network === removed) {
      throw new Error(`${removed} is in use: choose another network first`);
    }
    await networks.remove(removed);
    services.announce();
  };
  const session = new PageSession(desk, services, send);
  send({ type: 'ready' });
  onParentMessage((message: OpenNetwork | RemoveNetwork) => {
    if (message.type === 'openNetwork') void answer(message.id, openNetwork(message.source));
    else if (message.type === 'removeNetwork') void answer(message.id, removeNetwork(message.name));
    else session.receive(message);
  });
  await desk.prepare();
  services.announce();
}

async function answer(id: number, work: Promise<void>): Promise<void> {
  try {
    await work;
    send({ type: 'answer', id, answer: null });
  } catch (error) {
    send({ type: 'refusal', id, error: describeRefusal(error) });
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
