/** `sardonyx board`: the page to play and analyse in a browser, served from this process. */
import { spawn } from 'node:child_process';
import type { ArgumentsCamelCase, CommandModule } from 'yargs';
import { isPackaged } from '#platform/program-files.js';
import { readVersion } from '../../app/options.js';
import { startBoard } from '../../board/index.js';
import { addEngineFlags, readEngineFlags } from '../engine-flags.js';
import { wholeFlag } from '../number-flag.js';
import { INTERRUPTED, printLine, printNote } from '../output.js';

interface BoardArguments {
  port: number;
  host: string;
  'allow-host': string[];
  networks: string[];
  matches: string;
  loop: string | undefined;
  'loop-config': string | undefined;
  python: string | undefined;
  engine: string[];
  book: string[];
  open: boolean;
}

const LOOPBACK = /^(127\.[\d.]+|localhost|::1)$/;
const PLAIN_HTTP =
  'Other machines reach this server over plain HTTP: whoever can read the traffic between can use the engine too (a tunnel of ssh prevents it)';

export const boardCommand: CommandModule<object, BoardArguments> = {
  command: 'board',
  describe: 'A page to play, analyse and watch in a browser',
  builder: (yargs) =>
    addEngineFlags(yargs)
      .option(
        ...wholeFlag('port', { min: 0, max: 65535, default: 0, describe: 'Port of the server; 0 = any free port' }),
      )
      .option('host', {
        type: 'string',
        default: '127.0.0.1',
        describe: 'Address to listen on; with any other than the default, other machines that know the URL have access',
      })
      .option('allow-host', {
        type: 'string',
        array: true,
        nargs: 1,
        default: [],
        describe: 'Another name by which browsers may call the server',
      })
      .option('networks', {
        type: 'string',
        array: true,
        nargs: 1,
        default: [],
        describe: 'Folder of networks that the page may choose',
      })
      .option('loop', { type: 'string', describe: 'Folder of a training loop to show, start and stop' })
      .option('loop-config', {
        type: 'string',
        implies: 'loop',
        defaultDescription: 'loop.yaml in that folder',
        describe: 'Configuration with which the page starts the loop',
      })
      .option('python', {
        type: 'string',
        defaultDescription: 'that of .venv, or python3',
        describe: 'Python that runs the loop',
      })
      .option('matches', { type: 'string', default: 'matches', describe: 'Folder in which matches are kept' })
      .option('engine', {
        type: 'string',
        array: true,
        nargs: 1,
        default: [],
        describe: 'UCI engine that may play matches: a program, or "cmd=… name=… option.X=…"',
      })
      .option('book', {
        type: 'string',
        array: true,
        nargs: 1,
        default: [],
        describe:
          'Opening book that matches may use: PGN, EPD, a list of FENs or Polyglot, plain, .gz, .zst, .bz2 or .zip',
      })
      .option('open', { type: 'boolean', default: true, describe: 'Open the page in the browser' })
      .epilogue(
        'The first line on stdout is the URL, for one browser; when it has been used, the next line is the URL for another. ' +
          'Everyone who has one can use the engine. Ctrl-C ends the server.',
      ) as never,
  handler: async (args: ArgumentsCamelCase<BoardArguments>) => {
    const board = await startBoard({
      options: await readEngineFlags(args),
      version: readVersion(),
      port: args.port,
      address: args.host,
      extraHosts: args['allow-host'],
      onNewUrl: (url) => printLine(url),
      networkFolders: args.networks,
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
    if (args.open) openInBrowser(board.url);
    const end = (): void => {
      // Do not wait for a thread that is busy in native code.
      setTimeout(() => process.exit(INTERRUPTED), 2000).unref();
      void board.close().finally(() => process.exit(INTERRUPTED));
    };
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, end);
  },
};

/** Does nothing if there is no browser: the URL is on stdout. */
function openInBrowser(url: string): void {
  const { platform, env } = process;
  if (platform === 'linux' && (env.DISPLAY ?? '') === '' && (env.WAYLAND_DISPLAY ?? '') === '') return;
  const [program, ...args] =
    platform === 'darwin'
      ? ['open']
      : platform === 'win32'
        ? ['rundll32', 'url.dll,FileProtocolHandler']
        : ['xdg-open'];
  const child = spawn(program, [...args, url], { stdio: 'ignore', detached: true });
  child.on('error', () => printNote('No browser could be started: open the URL above'));
  child.unref();
}
