/**
 * The engine of a page without a server: the desk of `sardonyx board`, in a Worker beside the page. Messages are those of the
 * WebSocket, as objects, and these more: `openNetwork` and `removeNetwork` from the page, and `ready` or `obstacle`, the Worker's
 * first words.
 */
import { getMemoryBytes } from '#platform/machine.js';
import { describeRefusal, unwrap } from '../../util/index.js';
import {
  createPageOptions,
  createPagePool,
  createPagePorts,
  type DownloadWatch,
  describeProgress,
  findObstacle,
} from '../../web/index.js';
import { EngineDesk } from '../desk/engine-desk.js';
import { EngineServices } from '../desk/engine-services.js';
import { PageSession } from '../desk/page-session.js';
import type { PortEvent, Reply, WorkerNews } from '../protocol/replies.js';
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
  receive = (message) => {
    const own = message as OpenNetwork | RemoveNetwork;
    if (own.type === 'openNetwork') void answer(own.id, openNetwork(own.source));
    else if (own.type === 'removeNetwork') void answer(own.id, removeNetwork(own.name));
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
    send({ type: 'refusal', id, error: describeRefusal(error) });
  }
}
