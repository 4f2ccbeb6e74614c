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
  const first = args.find((arg) => !arg.startsWith('-'));
  const isUci = !asksForHelp && (first === undefined || first === 'uci' || args[0].startsWith('-'));

  if (isUci) {
    const settings = readSettings(args);
    const [command = 'uci', ...others] = settings.ok ? settings.value.positionals : [];
    // Flags of a command may stand before it; they are not the engine's.
    if (!settings.ok && args.some((arg) => /^[a-z][a-z0-9-]+$/.test(arg))) await runCommand(args);
    else if (!settings.ok) fail(settings.error);
    else if (command === 'uci' && others.length === 0) runUciMode(settings.value);
    else await runCommand(args);
  } else {
    await runCommand(args);
  }
}

async function runCommand(args: readonly string[]): Promise<void> {
  const { runProgram } = await import('./program.js');
  await runProgram([...args]);
}

function fail(sentence: string): void {
  writeNote(sentence);
  process.exitCode = 1;
}
