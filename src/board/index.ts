/** The door of board/, the server side of the page: starts the engine, its desk and the server. The page itself is built from page/. */

import type { OptionStore } from '../base/options/index.js';
import { createPoolOptions, createSpareOptions, enginePorts } from '../engine/app/index.js';
import type { EnginePorts } from '../engine/core/index.js';
import { EngineDesk } from './desk/engine-desk.js';
import { EngineServices } from './desk/engine-services.js';
import { PageSession } from './desk/page-session.js';
import type { PortEvent } from './protocol/replies.js';
import { BoardServer } from './server/board-server.js';
import { KeptAnalyses } from './server/kept-analyses.js';
import { LoopControl, type LoopSettings } from './server/loop-control.js';
import { Matches } from './server/matches.js';
import { MatchBooks, MatchPlayers, OfferedNetworks, requireEngines } from './server/offers.js';
import { SentFiles } from './server/sent-files.js';

export interface BoardSettings {
  readonly options: OptionStore;
  readonly version: string;
  /** 0 = any free one; null = the usual one, or the next that is free. */
  readonly port: number | null;
  readonly address: string;
  readonly extraHosts: readonly string[];
  /** The last URL was used; this one is for another browser. */
  onNewUrl(url: string): void;
  /** Something goes wrong, and no page is there to hear it. */
  onWarning(text: string): void;
  /** Folders whose networks the page may choose. */
  readonly networkFolders: readonly string[];
  /** Folder in which analyses of the pages are kept; undefined = this user has none. */
  readonly keptFolder: string | undefined;
  /** Folder of matches; created when the first one starts. */
  readonly matchFolder: string;
  /** UCI engines that may play matches, as `sardonyx match --engine` describes them. */
  readonly engines: readonly string[];
  /** Opening books that matches may use. */
  readonly books: readonly string[];
  /** A training loop to show; null = none. */
  readonly loop: LoopSettings | null;
  /** How this program is started: its path, and before it Node's. */
  readonly command: readonly string[];
}

export interface RunningBoard {
  /** With the token. */
  readonly url: string;
  /** For the browser that is opened now: it ends after two minutes. */
  lendUrl(): string;
  /** The engine goes on: the process ends next, and a thread may be busy in native code. */
  close(): Promise<void>;
}

/** Resolves when the network is loaded. Rejects with one sentence for the user when anything that was named cannot be used. */
export async function startBoard(settings: BoardSettings): Promise<RunningBoard> {
  const { options, version } = settings;
  const networks = new OfferedNetworks(options, settings.networkFolders);
  const books = await MatchBooks.open(settings.books);
  requireEngines(settings.engines);
  const players = new MatchPlayers(networks, settings.engines);
  const matches = new Matches(settings.matchFolder, settings.command, players, books);
  const loop = settings.loop === null ? null : new LoopControl(settings.loop);
  const sessions = new Set<PageSession>();
  const broadcast = (event: PortEvent): void => {
    for (const session of sessions) session.send(event);
    if (sessions.size === 0 && event.type === 'notice' && event.level === 'warning') settings.onWarning(event.text);
  };
  let hasStarted = false;
  const ports: EnginePorts = {
    ...enginePorts,
    createSpareOptions: (current) => (hasStarted ? createSpareOptions(current) : null),
  };
  const desk = new EngineDesk(options, ports, broadcast);
  const services = new EngineServices({
    desk,
    networks,
    version,
    broadcast,
    createPool: createPoolOptions,
    describeLock: (option) => `${option} can be set only on the command line of sardonyx board`,
    obtain: (name) => {
      const report = (share: number | null, isDone: boolean): void =>
        broadcast({ type: 'progress', text: `Downloading ${name}`, share, isDone });
      let isLate = false;
      const watch = (share: number | null): void => {
        isLate = true;
        report(share, false);
      };
      return networks.obtain(name, watch).finally(() => isLate && report(null, true));
    },
    matches,
    loop,
  });
  const sent = new SentFiles({
    network: async (name, path) => {
      const offered = await networks.take(name, path);
      services.announce();
      return offered;
    },
    book: async (name, path) => books.add(name, path),
  });
  const start = async (): Promise<BoardServer> => {
    const problem = await desk.prepare();
    if (problem !== '') throw new Error(problem);
    hasStarted = true;
    return BoardServer.start({
      ...settings,
      sent,
      kept: new KeptAnalyses(settings.keptFolder),
      findPgn: (match) => matches.findPgn(match),
      createSession: (send) => {
        const session = new PageSession(desk, services, send);
        sessions.add(session);
        return {
          receive: (message) => session.receive(message),
          close: () => {
            sessions.delete(session);
            session.close();
          },
        };
      },
    });
  };
  const server = await start().catch(async (error: unknown) => {
    await desk.dispose();
    throw error;
  });
  return {
    url: server.url,
    lendUrl: () => server.lendUrl(),
    close: async () => {
      loop?.stop();
      await matches.close();
      await server.close();
      await sent.close();
    },
  };
}
