/**
 * The engine of a page without a server: the desk of `sardonyx board`, in a Worker beside the page. Messages are those of the
 * WebSocket, as objects, and these more: `openNetwork` and `removeNetwork` from the page, and `ready` or `obstacle`, the Worker's
 * first words.
 */
import { getMemoryBytes } from '#platform/machine.js';
import { unwrap } from '../../util/index.js';
import {
  createPageOptions,
  createPagePool,
  createPagePorts,
  type DownloadWatch,
  describeProgress,
  findObstacle,
} from '../../web/index.js';
import { EngineDesk } from '../desk/engine-desk.js';
import { EngineServices, type EngineServicesSettings } from '../desk/engine-services.js';
import { type DeskServices, PageSession } from '../desk/page-session.js';
import type { OptionState, PortEvent, Reply, WorkerNews } from '../protocol/replies.js';
import type { OpenNetwork, RemoveNetwork } from '../protocol/requests.js';
import { PageNetworks } from './page-networks.js';

/** Of the memory of a page: half is the tree's, and phones have little. */
const CACHE_SHARE = 1 / 8;
const MEGABYTE = 2 ** 20;

declare const SARDONYX_VERSION: string;

const send = (message: Reply | PortEvent | WorkerNews): void => postMessage(message);
const watch: DownloadWatch = (progress) => {
  const { name, doneBytes, totalBytes, isDone } = progress;
  const share = totalBytes === null ? null : doneBytes / totalBytes;
  send({ type: 'progress', text: `Downloading ${name}: ${describeProgress(progress)}`, share, isDone });
};
/** Messages that come before the desk stands. */
const early: unknown[] = [];
let receive = (message: unknown): void => void early.push(message);
addEventListener('message', ({ data }) => receive(data));

const obstacle = findObstacle();
if (obstacle === null) void openDesk();
else send({ type: 'obstacle', text: obstacle });

async function openDesk(): Promise<void> {
  const networks = await PageNetworks.create();
  const options = createPageOptions();
  unwrap(options.set('Hash', String(Math.round((CACHE_SHARE * getMemoryBytes()) / MEGABYTE))));
  // The page names the Worker after the network to begin with.
  unwrap(options.set('WeightsFile', networks.getValue(name) ?? ''));
  const desk = new EngineDesk(options, createPagePorts(watch), send);
  const createPool: EngineServicesSettings['createPool'] = (store, warn) => createPagePool(store, warn, false, watch);
  const settings = { desk, networks, version: SARDONYX_VERSION, broadcast: send, createPool };
  const services = new SiteServices(settings, networks);
  const session = new PageSession(desk, services, send);
  receive = (message) => {
    if (isOpenNetwork(message)) void answer(message.id, services.openNetwork(message.source));
    else if (isRemoveNetwork(message)) void answer(message.id, services.removeNetwork(message.name));
    else session.receive(message);
  };
  send({ type: 'ready' });
  for (const message of early.splice(0)) receive(message);
  await desk.prepare();
  services.announce();
}

async function answer(id: number, work: Promise<void>): Promise<void> {
  try {
    await work;
    send({ type: 'answer', id, answer: null });
  } catch (error) {
    send({ type: 'refusal', id, error: error instanceof Error ? error.message : String(error) });
  }
}

function isOpenNetwork(message: unknown): message is OpenNetwork {
  return typeof message === 'object' && message !== null && (message as OpenNetwork).type === 'openNetwork';
}

function isRemoveNetwork(message: unknown): message is RemoveNetwork {
  return typeof message === 'object' && message !== null && (message as RemoveNetwork).type === 'removeNetwork';
}

class SiteServices extends EngineServices implements DeskServices {
  protected override readonly players = [];
  /** Engines of other processes, and a loop's folder, are out of a page's reach. */
  readonly matches = null;
  readonly loop = null;

  constructor(
    settings: EngineServicesSettings,
    private readonly networks: PageNetworks,
  ) {
    super(settings);
  }

  async openNetwork(source: File | string): Promise<void> {
    await this.networks.open(source, watch, (name) => this.useNetwork(name)).finally(() => this.announce());
  }

  async removeNetwork(name: string): Promise<void> {
    if (this.describe().network === name) throw new Error(`${name} is in use: choose another network first`);
    await this.networks.remove(name);
    this.announce();
  }

  protected override describeLock(option: string): string {
    return `${option} cannot be set in a page`;
  }

  /** Tablebases, log files and devices need the program. */
  protected override isOffered({ spec, isLocked }: OptionState): boolean {
    return !isLocked && !spec.uci.startsWith('Syzygy');
  }
}
