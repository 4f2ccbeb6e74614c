/**
 * How to start an engine: the `key=value` words that cutechess-cli and fastchess users know, in one string:
 *
 *   cmd=/usr/games/stockfish name=SF args="--fast -x" dir=/tmp option.Hash=16
 *
 * Values with spaces are quoted, with ' or ". Words that belong to the player and not to the process (nodes, tc, …) are
 * left to the caller.
 */
import { failure, type Result, success } from '../../base/util/index.js';

/** A setting as a user writes it. */
export type Pair = readonly [key: string, value: string];

export interface EngineSpec {
  /** Program, looked up in PATH when it has no folder. */
  readonly command: string;
  readonly args: readonly string[];
  /** Shown in results and PGN; null = the engine's `id name`. */
  readonly name: string | null;
  /** Working folder of the process; null = that of this process. */
  readonly folder: string | null;
  /** UCI options in the order in which they are set. */
  readonly options: readonly Pair[];
}

/** The engine's name in messages. */
export function nameInMessages({ name, command }: EngineSpec): string {
  return name ?? command;
}

/** Splits at spaces outside quotes; quotes may stand anywhere in a word (`args="a b"`) and are removed. */
export function splitWords(text: string): Result<string[]> {
  const words: string[] = [];
  let word: string | null = null;
  let quote = '';
  for (const letter of text) {
    if (quote !== '') {
      if (letter === quote) quote = '';
      else word += letter;
    } else if (letter === '"' || letter === "'") {
      quote = letter;
      word ??= '';
    } else if (/\s/.test(letter)) {
      if (word !== null) words.push(word);
      word = null;
    } else {
      word = (word ?? '') + letter;
    }
  }
  if (quote !== '') return failure(`A quotation mark is not closed in: ${text}`);
  if (word !== null) words.push(word);
  return success(words);
}

/**
 * @param pairs key and value of each word, in order
 * @returns the spec, and the pairs that it has no use for
 */
export function createEngineSpec(pairs: readonly Pair[]): Result<{ spec: EngineSpec; rest: Pair[] }> {
  let command = '';
  let args: string[] = [];
  let name: string | null = null;
  let folder: string | null = null;
  const options: Pair[] = [];
  const rest: Pair[] = [];
  for (const [key, value] of pairs) {
    if (key === 'cmd') command = value;
    else if (key === 'name') name = value;
    else if (key === 'dir') folder = value;
    else if (key.startsWith('option.')) options.push([key.slice('option.'.length), value]);
    else if (key === 'args') {
      const words = splitWords(value);
      if (!words.ok) return words;
      args = [...args, ...words.value];
    } else if (key === 'arg') args = [...args, value];
    else rest.push([key, value]);
  }
  if (command === '') {
    const [, network] = rest.find(([key]) => key === 'weights') ?? [];
    if (network === undefined) return failure('An engine needs cmd=PROGRAM');
    return failure(`${network} is a network; an engine that plays it is "cmd=sardonyx option.WeightsFile=${network}"`);
  }
  return success({ spec: { command, args, name, folder, options }, rest });
}

/** `key=value` words → pairs; a word without `=` is an error that names it. */
export function parsePairs(text: string): Result<Pair[]> {
  const words = splitWords(text);
  if (!words.ok) return words;
  const pairs: Pair[] = [];
  for (const word of words.value) {
    const equals = word.indexOf('=');
    if (equals < 1) return failure(`"${word}" is not of the form key=value`);
    pairs.push([word.slice(0, equals), word.slice(equals + 1)]);
  }
  return success(pairs);
}

/** The words that parsePairs reads as these pairs, whatever quotes and spaces are in them. */
export function formatPairs(pairs: readonly Pair[]): string {
  const quote = (text: string): string => `"${text.replaceAll('"', `"'"'"`)}"`;
  // A whole argument in quotes would lose them to the parser of the command line.
  const format = (key: string, value: string): string =>
    /^[\w.-]+$/.test(key) ? `${key}=${quote(value)}` : quote(`${key}=${value}`);
  return pairs.map(([key, value]) => format(key, value)).join(' ');
}
