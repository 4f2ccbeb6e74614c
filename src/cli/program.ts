/**
 * The commands, their help and their errors: every error is one sentence on stderr and exit status 1.
 */
import yargs from 'yargs';
import { getProgramCommand } from '#platform/machine.js';
import { cutText, findNearWord, getErrorMessage, showControls, suggestName, unwrap } from '../base/util/index.js';
import { CrashReporter, readSettings } from '../engine/app/options.js';
import { analyseCommand } from './commands/analyse/analyse.js';
import { backendBenchCommand } from './commands/backendbench.js';
import { benchCommand, benchmarkCommand } from './commands/bench-command.js';
import { boardCommand } from './commands/board-command.js';
import { doctorCommand } from './commands/doctor/doctor.js';
import { eloCommand } from './commands/elo.js';
import { encodeCommand } from './commands/encode-command.js';
import { evalCommand } from './commands/eval-command.js';
import { explainCommand } from './commands/explain.js';
import { labelCommand } from './commands/label.js';
import { lichessEngineCommand } from './commands/lichess/lichess-engine.js';
import { describeNetCommand, leela2OnnxCommand, onnx2LeelaCommand } from './commands/network-file-commands.js';
import { networksCommand } from './commands/networks.js';
import { perftCommand } from './commands/perft-command.js';
import { translateMatch } from './commands/play/foreign-match.js';
import { matchCommand } from './commands/play/match-command.js';
import { selfPlayCommand } from './commands/play/selfplay.js';
import { rescoreCommand } from './commands/rescore.js';
import { shardsCommand } from './commands/shards.js';
import { suiteCommand } from './commands/suite.js';
import { type Command, declareCommand, onOff } from './declare-command.js';
import { printNote } from './output.js';
import { prepareArguments } from './prepare-arguments.js';
import { runUciMode } from './uci-mode.js';
import { createVersionText } from './version-text.js';
import { describeError } from './write-output.js';

export async function runProgram(args: readonly string[]): Promise<void> {
  process.on('uncaughtException', endWithReport);
  try {
    await parseAndRun(args);
  } catch (error) {
    // Errors meant for users are plain Errors; these two types are programming mistakes.
    if (error instanceof TypeError || error instanceof ReferenceError) endWithReport(error);
    printNote(describeError(error));
    process.exitCode = 1;
  }
}

/** The default command, for `--help`: without a command main.ts starts the engine without yargs. */
const uciCommand = declareCommand({
  command: ['uci', '$0'],
  describe: 'The engine itself: talks UCI on stdin and stdout',
  // biome-ignore format: a row a flag
  flags: {
    'show-hidden': onOff('List hidden options too, in the answer to `uci` and in this help', null),
    preload: onOff('No effect: the network is always loaded at the start', null),
  },
  engineFlags: 'listed',
  epilogue:
    '`sardonyx COMMAND --help` lists the flags of a command. Flags of the engine are UCI options and lines of a config ' +
    'file too: docs/options.md.',
  run: () => {
    const words = process.argv.slice(2).filter((arg) => arg !== 'uci');
    runUciMode(unwrap(readSettings(words)));
  },
});

/** In the order of `sardonyx --help`. */
const COMMANDS = [
  uciCommand,
  benchCommand,
  benchmarkCommand,
  backendBenchCommand,
  perftCommand,
  evalCommand,
  eloCommand,
  explainCommand,
  encodeCommand,
  boardCommand,
  analyseCommand,
  lichessEngineCommand,
  networksCommand,
  describeNetCommand,
  leela2OnnxCommand,
  onnx2LeelaCommand,
  selfPlayCommand,
  matchCommand,
  labelCommand,
  rescoreCommand,
  shardsCommand,
  suiteCommand,
  doctorCommand,
] as const;

async function parseAndRun(args: readonly string[]): Promise<void> {
  const words = prepareArguments(args, new Set(COMMANDS.flatMap(({ names }) => names)));
  const [first = '-'] = words;
  const command = COMMANDS.find(({ names }) => names.includes(first)) ?? (first.startsWith('-') ? uciCommand : null);
  if (command === null) throw new Error(describeUnknownCommand(first));
  const translation = command === matchCommand ? translateMatch(words.slice(1)) : null;
  if (translation !== null) {
    for (const line of translation) printNote(line);
    process.exitCode = 1;
    return;
  }
  const strange = words.filter(isSingleDashed);
  if (strange.length > 0) throw new Error(describeUnknown(command, strange, strange));
  const parser = yargs(words);
  for (const command of COMMANDS) command.addTo(parser);
  parser
    .scriptName('sardonyx')
    .usage('$0 [command] [flags]\n\nWithout a command: a UCI chess engine.')
    // A value such as 007 or 1e3 reaches the command as it was written.
    .parserConfiguration({ 'parse-numbers': false, 'parse-positional-numbers': false })
    .version(words.includes('--version') ? showControls(await createVersionText(args)) : '')
    .help()
    .showHidden('show-hidden', 'With --help: list hidden flags too')
    .alias('help', 'h')
    .strict()
    .wrap(Math.min(120, process.stdout.columns ?? 120))
    .updateStrings({
      'Argument: %s, Given: %s, Choices: %s': '--%s is %s, not one of %s',
      'Not enough arguments following: %s': 'Flag --%s needs a value',
    })
    .fail((message: string | null, error: Error | undefined) => {
      throw error ?? new Error(rewordMessage(message ?? 'The command failed', command, words));
    });
  await parser.parseAsync();
}

/** `-rounds`, which yargs would take apart into six flags of one letter. */
function isSingleDashed(word: string): boolean {
  return /^-[a-z]{2}/i.test(word);
}

function describeUnknownCommand(word: string): string {
  const names = COMMANDS.flatMap((command) => command.names);
  return `There is no command ${cutText(word)}${suggestName(word, names, `${getProgramCommand()} --help lists them`)}`;
}

/**
 * @param names as yargs lists them: of flags without their dashes, and a second time in camel case
 * @param words of the command line
 */
function describeUnknown(command: Command, names: readonly string[], words: readonly string[]): string {
  const written = new Map(
    words.filter((word) => word.startsWith('-')).map((word) => [nameFlag(word), word.split('=')[0]]),
  );
  const isCopy = (name: string): boolean => written.has(toKebab(name));
  const flags = names.flatMap((name) => written.get(nameFlag(name)) ?? []);
  const others = names.filter((name) => !written.has(nameFlag(name)) && !isCopy(name));
  const help = `${getProgramCommand()} ${command === uciCommand ? '' : `${command.names[0]} `}--help lists its flags`;
  if (flags.length === 0 && command === uciCommand) return describeUnknownCommand(others[0]);
  if (flags.length === 0)
    return `${command.names[0]} takes no ${others.map((word) => `"${cutText(word)}"`).join(', ')}`;
  if (flags.length === 1) return `Unknown flag ${flags[0]}${suggestName(flags[0], command.flags, help)}`;
  const hint = (flag: string): string => {
    const near = findNearWord(flag, command.flags);
    return near === null ? flag : `${flag} (did you mean --${near}?)`;
  };
  return `Unknown flags: ${flags.map(hint).join(', ')}; ${help}`;
}

/** `--no-such.key=5` → `such` */
function nameFlag(word: string): string {
  return word.replace(/^-+(?:no-)?/, '').replace(/[=.].*$/s, '');
}

function toKebab(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

/** yargs's message in one line. It writes flags without dashes, words with them, and only counts the words that are missing. */
function rewordMessage(message: string, command: Command, words: readonly string[]): string {
  const lines = message.split('\n').map((line) => line.trim());
  const sentence = lines.filter((line) => line !== '').join(' ');
  const unknown = /^Unknown arguments?: (.+)$/.exec(sentence);
  if (unknown !== null) return describeUnknown(command, unknown[1].split(', '), words);
  if (/^(?:Not enough non-option|Missing required) arguments?/.test(sentence)) {
    const given = new Set(words.map((word) => word.split('=')[0]));
    const lacksWord = sentence.startsWith('Not enough');
    const missing = command.required.filter((name) => (name.startsWith('<') ? lacksWord : !given.has(name)));
    const isTaken = (word: string): boolean => command.takenFlags.includes(toKebab(nameFlag(word)));
    const strange = words.filter((word) => word.startsWith('--') && !isTaken(word));
    const needs = `The command needs ${missing.join(', ')}`;
    return strange.length === 0 ? needs : `${needs}. ${describeUnknown(command, strange, words)}`;
  }
  return sentence.replace(/(?<=^Invalid values: )--([\w-]+)/, (flag, word) =>
    command.words.includes(word) ? `<${word}>` : flag,
  );
}

/** For internal errors: writes a report and exits with status 70 (EX_SOFTWARE of sysexits.h). */
function endWithReport(error: unknown): never {
  const path = new CrashReporter().write(error);
  printNote(`Internal error: ${getErrorMessage(error)}${path === null ? '' : ` (report in ${path})`}`);
  process.exit(70);
}
