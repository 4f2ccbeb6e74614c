/**
 * The command line. Without a command it is a UCI engine, and loads only what it needs to answer `uci`. With a command, or a request
 * for help, it loads yargs.
 */
import { readSettings } from '../engine/app/options.js';
import { runUciMode } from './uci-mode.js';
import { writeNote } from './write-output.js';

/** lc0's names of searches, which may be given in place of a command: `lc0 dag-preview`. */
const SEARCHES = ['classic', 'dag-preview', 'policyhead', 'valuehead'];

export async function readCommandLine(): Promise<void> {
  // Notes that nobody reads any more (`sardonyx … 2>&1 | head`, a terminal that is gone) end neither a command nor the engine.
  process.stderr.on('error', () => undefined);
  const [word, ...rest] = process.argv.slice(2);
  const args = word === undefined ? [] : [SEARCHES.includes(word) ? `--search=${word}` : word, ...rest];
  const asksForHelp = args.some((arg) => ['--help', '-help', '-h', '--version', '-version'].includes(arg));
  const [first = '-'] = args;
  if (asksForHelp || (first !== 'uci' && !first.startsWith('-'))) return runCommand(args);

  const settings = readSettings(args);
  if (settings.ok) {
    const [command = 'uci', ...others] = settings.value.positionals;
    if (command === 'uci' && others.length === 0) return runUciMode(settings.value);
  } else if (!args.some((arg) => /^[a-z][a-z0-9-]+$/.test(arg))) {
    writeNote(settings.error);
    process.exitCode = 1;
    return;
  }
  // Flags of a command may stand before it; they are not the engine's.
  await runCommand(args);
}

async function runCommand(args: readonly string[]): Promise<void> {
  const { runProgram } = await import('./program.js');
  await runProgram(args);
}
