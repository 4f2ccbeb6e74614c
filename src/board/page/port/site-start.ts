/**
 * Makes a page without a server of its own ready for its engine. A service worker keeps the files of one build, so that scripts
 * of two versions never meet and the page works offline, and it isolates the page where the host does not. So the page loads
 * itself again in three cases, at most twice in a row: it is not isolated yet; it came from the host and is of another build than the stored
 * files; or a newer build is stored and no other tab uses the older one. Once the user has clicked or typed, it asks instead.
 */

import { startThread, type Thread, type ThreadEvents } from '#platform/threads.js';
import type { PortEvent } from '../../protocol/replies.js';

/** In the state of the history entry: how often the page has loaded itself again without coming to an engine. */
const RELOADS = 'sardonyxReloads';
/** Once to be isolated, once for a newer build. */
const MOST_RELOADS = 2;

/** Why there is no engine yet: the page is in use, and a reload would interrupt the user. */
export const ASKS_FOR_RELOAD = 'The engine starts when this page is loaded again';

const NOT_ISOLATED =
  'The engine needs a cross-origin isolated page, which this host or browser does not give (docs/web.md says how)';

/** Whether the user has clicked or typed in this page. */
let isInUse = false;
for (const type of ['pointerdown', 'keydown', 'drop']) {
  addEventListener(
    type,
    () => {
      isInUse = true;
    },
    { once: true, capture: true },
  );
}

interface SiteStart {
  /** Of the page. */
  readonly build: string;
  /** Name of the network to begin with; '' or an unknown one = the bundled one. */
  readonly network: string;
  /** The service worker's events are among the Worker's. */
  readonly events: ThreadEvents<PortEvent>;
}

/** @returns the Worker with the engine. Rejects with the sentence for the user; never settles when the page loads itself again */
export async function startSiteEngine({ build, network, events }: SiteStart): Promise<Thread<unknown>> {
  if (!isSecureContext) throw new Error('The engine needs a page from an https address or from this computer');
  // A page that came from the service worker is of its build.
  const isServed = crossOriginIsolated && navigator.serviceWorker?.controller != null;
  const end = isolate(build, events).catch((error: unknown) => String((error as Error).message ?? error));
  const problem = isServed ? '' : await end;
  if (problem === ASKS_FOR_RELOAD) throw new Error(problem);
  if (!crossOriginIsolated) throw new Error(problem === '' ? NOT_ISOLATED : `${NOT_ISOLATED}, and ${problem}`);
  forgetReloads();
  return startThread(new URL('board-worker.js', document.baseURI), { name: 'board', data: network }, events);
}

/** @returns '' when the service worker serves this page, else why there is none */
async function isolate(build: string, events: ThreadEvents<PortEvent>): Promise<string> {
  const { serviceWorker } = navigator;
  if (serviceWorker === undefined) return 'this browser or private window has no service workers';
  serviceWorker.onmessage = ({ data }) => events.onMessage(data);
  const registration = await serviceWorker
    .register(new URL('service-worker.js', document.baseURI), { updateViaCache: 'none' })
    .catch(() => undefined);
  if (registration === undefined) return 'this browser or private window does not let the page keep a service worker';
  const { waiting } = registration;
  if (waiting !== null && !isInUse && (await ask(waiting, 'takeOver')) === true) {
    await waitUntilActive(waiting);
    return reload();
  }
  const active = registration.active ?? (await waitForFirst(registration));
  if (active === null) return 'the files of the page could not be stored';
  const stored = await ask(active, 'hello');
  return crossOriginIsolated && stored === build ? '' : reload();
}

/** The first service worker of this address, when it is active; null when it cannot be installed. */
async function waitForFirst(registration: ServiceWorkerRegistration): Promise<ServiceWorker | null> {
  const worker = registration.installing ?? registration.waiting;
  if (worker === null) return registration.active;
  return (await waitUntilActive(worker)) ? worker : null;
}

/** @returns false when it cannot be installed */
function waitUntilActive(worker: ServiceWorker): Promise<boolean> {
  return new Promise((resolve) => {
    const check = (): void => {
      if (worker.state === 'activated' || worker.state === 'redundant') resolve(worker.state === 'activated');
    };
    worker.addEventListener('statechange', check);
    check();
  });
}

function ask(worker: ServiceWorker, question: 'hello' | 'takeOver'): Promise<unknown> {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = ({ data }) => resolve(data);
    worker.postMessage(question, [port2]);
  });
}

/** @returns '' when that was tried and nothing came of it */
async function reload(): Promise<string> {
  const state = (history.state ?? {}) as Record<string, unknown>;
  const reloads = Number(state[RELOADS] ?? 0);
  if (reloads >= MOST_RELOADS) return '';
  if (isInUse) return ASKS_FOR_RELOAD;
  history.replaceState({ ...state, [RELOADS]: reloads + 1 }, '');
  location.reload();
  return new Promise(() => undefined);
}

function forgetReloads(): void {
  const { [RELOADS]: reloads, ...state } = (history.state ?? {}) as Record<string, unknown>;
  if (reloads !== undefined) history.replaceState(state, '');
}
