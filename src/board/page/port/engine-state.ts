/** The port of this page and what is known of the engine behind it, for every panel. */
import { signal } from '@preact/signals';
import type { EngineDescription } from '../../protocol/replies.js';
import { addNotice } from '../shell/notices.js';
import { readStored, writeStored } from '../shell/stored.js';
import type { EnginePort, PortState } from './page-ports.js';
import { SocketPort, showProgress, WorkerPort } from './page-ports.js';
import { startSiteEngine } from './site-start.js';

export const portState = signal<PortState>('connecting');
/** Why there will be no engine, in one sentence; '' = there is one, or it may come back. */
export const obstacle = signal('');
export const engine = signal<EngineDescription | null>(null);

export const port: EnginePort = createPort();

/** A page of the site says of which build it is, and has its engine inside. */
function createPort(): EnginePort {
  const build = document.querySelector('meta[name="sardonyx-build"]')?.getAttribute('content');
  if (typeof build !== 'string') return new SocketPort(new URL('./engine', location.href.replace(/^http/, 'ws')).href);
  const network = readStored('network');
  return new WorkerPort(() =>
    startSiteEngine({
      build,
      network: typeof network === 'string' ? network : '',
      onNotice: (text) => addNotice('error', text),
    }),
  );
}

/** The engine in a page begins with the network that ran last; `sardonyx board` knows its own. */
function takeDescription(description: EngineDescription): void {
  engine.value = description;
  const { network, running, problem } = description;
  if (port.offers.opensAddresses && running !== null && problem === '') writeStored('network', network);
}

port.listen((event) => {
  if (event.type === 'description') takeDescription(event.description);
  if (event.type === 'progress') showProgress(event);
  if (event.type === 'notice' && event.level !== 'note') addNotice(event.level, event.text);
});

port.watchState((state, reason) => {
  portState.value = state;
  obstacle.value = reason;
  if (state !== 'open') return;
  port.send('describe', {}).answer.then(takeDescription, reportError);
});

/** For promises whose failure the user should read. */
export function reportError(error: unknown): void {
  addNotice('error', error instanceof Error ? error.message : String(error));
}

/** For every page of this engine. @returns whether it was taken */
export async function setOption(name: string, value: string): Promise<boolean> {
  try {
    await port.send('setOption', { name, value }).answer;
    return true;
  } catch (error) {
    reportError(error);
    return false;
  }
}

export function useNetwork(name: string): void {
  addNotice('note', 'Loading the network …');
  port.send('useNetwork', { name }).answer.catch(reportError);
}

/** Deletes a network that the browser keeps. */
export function removeNetwork(name: string): void {
  port.removeNetwork(name).catch(reportError);
}

/** A file of the user's, or an https address. */
export function openNetwork(source: File | string): void {
  addNotice('note', 'Loading the network …');
  port.openNetwork(source).catch(reportError);
}
