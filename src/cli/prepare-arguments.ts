/**
 * Rewrites the command line for yargs, which would misread a FEN without quotes, a command after its flags, and `--pgn -` for
 * stdout.
 */

import { DASH } from './declare-command.js';

const PIECES = /^[pnbrqkPNBRQK1-8]+(\/[pnbrqkPNBRQK1-8]+){7}$/;
/** The fields of a FEN after the pieces: side, castling, en passant, two counters. */
const FIELDS = [/^[wb]$/, /^(-|[KQkqA-Ha-h]+)$/, /^(-|[a-h][36])$/, /^\d+$/, /^\d+$/];

/** @param commands names and aliases of all commands */
export function prepareArguments(args: readonly string[], commands: ReadonlySet<string>): string[] {
  return joinDash(joinFenWords(moveCommandFirst(putHelpLast(args), commands)));
}

/** `help match` → `match --help`, and `-help` as other programs write it. */
function putHelpLast(args: readonly string[]): readonly string[] {
  const spelled = args.map((arg) => (arg === '-help' || arg === '-version' ? `-${arg}` : arg));
  return spelled[0] === 'help' ? [...spelled.filter((word) => word !== 'help'), '--help'] : spelled;
}

/**
 * `--nodes 500 bench` → `bench --nodes 500`. Only the command knows which of its flags take a value, so the command must
 * be found first: it is the first word that names one.
 */
export function moveCommandFirst(args: readonly string[], commands: ReadonlySet<string>): readonly string[] {
  if (args[0]?.startsWith('-') !== true) return args;
  const place = args.findIndex((arg) => commands.has(arg));
  return place < 0 ? args : [args[place], ...args.toSpliced(place, 1)];
}

/** The same arguments, each FEN as one word. */
export function joinFenWords(args: readonly string[]): string[] {
  const joined: string[] = [];
  for (let i = 0; i < args.length; i++) {
    const words = [args[i]];
    if (PIECES.test(args[i].replace(/^--?\w+=/, ''))) {
      while (words.length <= FIELDS.length && i + 1 < args.length && FIELDS[words.length - 1].test(args[i + 1])) {
        words.push(args[++i]);
      }
    }
    joined.push(words.join(' '));
  }
  return joined;
}

/** yargs would take the dash of `--pgn -` (stdout) as an argument of its own, and drops a dash that stands alone (stdin). */
function joinDash(args: readonly string[]): string[] {
  return args.flatMap((arg, i) => {
    if (arg === '-') return args[i - 1] === '--pgn' ? [] : DASH;
    return arg === '--pgn' && args[i + 1] === '-' ? '--pgn=-' : arg;
  });
}
