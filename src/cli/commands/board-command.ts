/** `sardonyx board`: the page to play and analyse in a browser, served from this process. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { getDataFolder } from '#platform/folders.js';
import { isPackaged } from '#platform/program-files.js';
import { startBoard } from '../../board/index.js';
import { readVersion } from '../../engine/app/options.js';
import { declareCommand, onOff, text, texts, whole } from '../declare-command.js';
import { readEngineFlags } from '../engine-flags.js';
import { INTERRUPTED, printLine, printNote } from '../output.js';
import { endProcess } from '../write-output.js';

const LOOPBACK = /^(127\.[\d.]+|localhost|::1)$/;
const PLAIN_HTTP =
  'Other machines reach this server over plain HTTP: whoever can read the traffic between can use the engine too (a tunnel of ssh prevents it)';

export const boardCommand = declareCommand({
  command: 'board',
  describe: 'A page to play, analyse and watch in a browser',
  // biome-ignore format: a row a flag
  flags: {
    port: whole({ min: 0, max: 65535, defaultDescription: '24827, or the next that is free' }, 'Port of the server; 0 = any free port'),
    host: text('Address to listen on; with any other than the default, other machines that know the URL have access', { default: '127.0.0.1' }),
    'allow-host': texts('Another name by which browsers may call the server'),
    networks: texts('Folder of networks that the page may choose'),
    loop: text('Folder of a training loop to show, start and stop'),
    'loop-config': text('configuration with which the page starts the loop', { goesWith: ['loop'], defaultDescription: 'loop.yaml in that folder' }),
    python: text('the Python that runs the loop', { goesWith: ['loop'], defaultDescription: 'that of .venv, or python3' }),
    matches: text('Folder in which matches are kept', { default: 'matches' }),
    engine: texts('UCI engine that may play matches: a program, or "cmd=… name=… option.X=…"'),
    book: texts('Opening book that matches may use: PGN, EPD, a list of FENs or Polyglot, plain, .gz, .zst, .bz2 or .zip'),
    open: onOff('Open the page in the browser', true),
  },
  engineFlags: 'named',
  epilogue:
    'The first line on stdout is the URL, for one browser; when it has been used, the next line is the URL for another. ' +
    'Everyone who has one can use the engine, and read and delete the analyses. Ctrl-C ends the server.',
  run: async (args, given) => {
    const dataFolder = getDataFolder();
    const board = await startBoard({
      options: await readEngineFlags(given),
      version: readVersion(),
      port: args.port ?? null,
      address: args.host,
      extraHosts: args['allow-host'],
      onNewUrl: (url) => printLine(url),
      onWarning: printNote,
      networkFolders: args.networks,
      keptFolder: dataFolder === undefined ? undefined : join(dataFolder, 'board'),
      matchFolder: args.matches,
      loop:
        args.loop === undefined
          ? null
          : { folder: args.loop, config: args['loop-config'] ?? null, python: args.python ?? null },
      engines: args.engine,
      books: args.book,
      command: isPackaged ? [process.execPath] : [process.execPath, process.argv[1]],
    });
    printLine(board.url);
    if (!LOOPBACK.test(args.host)) printNote(PLAIN_HTTP);
    if (args.open) openInBrowser(board.lendUrl());
    const end = (): void => {
      // A match may take longer to be written down than a user waits.
      setTimeout(() => endProcess(INTERRUPTED), 2000).unref();
      void board.close().finally(() => endProcess(INTERRUPTED));
    };
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, end);
  },
});

/** The program that opens a URL, and its first words. */
const OPENERS: Partial<Record<NodeJS.Platform, readonly string[]>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
};

/** Does nothing if there is no browser: the URL is on stdout. */
function openInBrowser(url: string): void {
  const { platform, env } = process;
  if (platform === 'linux' && (env.DISPLAY ?? '') === '' && (env.WAYLAND_DISPLAY ?? '') === '') return;
  const [program, ...args] = OPENERS[platform] ?? ['xdg-open'];
  const child = spawn(program, [...args, url], { stdio: 'ignore', detached: true });
  child.on('error', () => printNote('No browser could be started: open the URL above'));
  child.unref();
}
