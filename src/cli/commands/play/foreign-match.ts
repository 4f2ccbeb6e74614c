/**
 * A command line of fastchess or cutechess-cli, whose flags have one dash, as the command of ours that plays the same match. It is shown
 * and not played: the two programs count rounds and games differently, so a guess might play another match.
 */
import { getProgramCommand } from '#platform/machine.js';

interface ForeignFlag {
  readonly name: string;
  readonly values: readonly string[];
}

/** Keys of -engine and -each that our players have too. */
const PLAYER_KEY = /^(?:cmd|name|dir|args?|tc|st|nodes|depth|option\..+)$/;
/** What our matches do anyway. */
const ALWAYS_SO =
  /^(?:proto=uci|repeat(?: \d+)?|variant standard|tournament round-?robin|format=\w+|ratinginterval 0)$/;
const WHOLE = /^\d+$/;

/** @returns lines for the user; null when no flag is of the two programs */
export function translateMatch(words: readonly string[]): string[] | null {
  const flags = groupWords(words);
  if (!flags.some(({ name }) => /^-[a-z]{2}/i.test(name))) return null;
  const left: string[] = [];
  const ours = flags.flatMap((flag) => translateFlag(flag, left));
  const { flag, note } = countGames(flags);
  const command = [getProgramCommand(), 'match', ...ours, ...flag].map(quoteForShell).join(' ');
  const unknown = left.filter((text) => !ALWAYS_SO.test(text));
  return [
    'match takes its flags with two dashes, and not those of fastchess and cutechess-cli. Nothing was played; this is the same match:',
    '',
    `  ${command}`,
    '',
    ...note,
    ...(unknown.length === 0 ? [] : [`Left out, because Sardonyx has nothing like it: ${unknown.join(', ')}`]),
  ];
}

/** Each flag with the words up to the next one; our own flags, with two dashes, stay as they are. */
function groupWords(words: readonly string[]): ForeignFlag[] {
  const flags: { name: string; values: string[] }[] = [];
  for (const word of words) {
    if (/^--?[a-z]/i.test(word)) flags.push({ name: word, values: [] });
    else if (flags.length === 0) flags.push({ name: '', values: [word] });
    else flags[flags.length - 1].values.push(word);
  }
  return flags;
}

/** @param left receives what has no translation */
function translateFlag({ name, values }: ForeignFlag, left: string[]): string[] {
  const word = name.slice(1);
  const [value = ''] = values;
  const leave = (...texts: string[]): string[] => {
    left.push(...texts);
    return [];
  };
  if (name.startsWith('--') || name === '') return name === '' ? values.slice() : [name, ...values];
  switch (word) {
    case 'engine':
    case 'each':
      return translatePlayer(word, values, left);
    case 'rounds':
    case 'games':
      return [];
    case 'sprt':
    case 'resign':
    case 'draw':
    case 'concurrency':
    case 'event':
      return [`--${word}`, values.join(' ')];
    case 'recover':
      return ['--recover'];
    case 'maxmoves':
      return WHOLE.test(value) ? ['--max-plies', String(2 * Number(value))] : leave(`maxmoves ${value}`);
    case 'ratinginterval':
      return ['--rating-interval', value];
    case 'srand':
      return ['--seed', value];
    case 'tb':
      return ['--syzygy-paths', value];
    case 'pgnout':
      return ['--pgnout', readPairs(values).get('file') ?? value];
    case 'tournament':
      return value === 'gauntlet' ? ['--tournament', value] : leave(`tournament ${value}`);
    case 'variant':
      return /^(?:fischer(?:e?andom|random)|chess960|frc)$/i.test(value) ? ['--chess960'] : leave(`variant ${value}`);
    case 'openings':
      return translateOpenings(values, left);
    default:
      return leave([word, ...values].join(' '));
  }
}

function translatePlayer(word: string, values: readonly string[], left: string[]): string[] {
  const margin: string[] = [];
  const kept: string[] = [];
  for (const value of values) {
    const [key, text] = splitPair(value);
    if (text === undefined || PLAYER_KEY.test(key))
      kept.push(text === undefined ? value : `${key}=${quoteValue(text)}`);
    else if (key === 'timemargin') margin.push('--time-margin', text);
    else left.push(value);
  }
  return [...(kept.length === 0 ? [] : [`--${word}`, kept.join(' ')]), ...margin];
}

function translateOpenings(values: readonly string[], left: string[]): string[] {
  const pairs = readPairs(values);
  const { file, order, plies, ...others } = Object.fromEntries(pairs);
  left.push(...Object.entries(others).map(([key, value]) => `${key}=${value}`));
  return [
    ...(file === undefined ? [] : ['--openings-pgn', file]),
    // Their "random" shuffles the book, as our default does; without a word they take it from its beginning.
    ...(order === 'random' ? [] : ['--openings-mode', 'sequential']),
    ...(plies === undefined ? [] : ['--openings-plies', plies]),
  ];
}

/** `--games`, and how it was counted. Their rounds multiply their games; fastchess plays two a round by default, cutechess-cli one. */
function countGames(flags: readonly ForeignFlag[]): { flag: string[]; note: string[] } {
  const read = (name: string): number | null => {
    const value = flags.findLast((flag) => flag.name === name)?.values[0] ?? '';
    return WHOLE.test(value) ? Number(value) : null;
  };
  const [rounds, games] = [read('-rounds'), read('-games')];
  if (rounds === null && games === null) return { flag: [], note: [] };
  const total = (rounds ?? 1) * (games ?? 2);
  const counted =
    games === null
      ? `without -games fastchess plays 2 games a round, so ${total}, and cutechess-cli 1, so --games ${total / 2}`
      : `here ${rounds ?? 1} × ${games}`;
  const rest = 'an even number plays each opening with both colours, as -repeat does';
  return {
    flag: ['--games', String(total)],
    note: [`--games counts all games of a pair of players: ${counted}; ${rest}.`],
  };
}

function splitPair(text: string): [key: string, value: string | undefined] {
  const at = text.indexOf('=');
  return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)];
}

function readPairs(values: readonly string[]): Map<string, string> {
  return new Map(values.map(splitPair).filter((pair): pair is [string, string] => pair[1] !== undefined));
}

/** Inside the text of a player, which is one word of the shell. */
function quoteValue(value: string): string {
  if (!/[\s"']/.test(value)) return value;
  return value.includes("'") ? `"${value}"` : `'${value}'`;
}

function quoteForShell(word: string): string {
  return /^(?:[\w@%+=:,./-]+|npm start --|node \S+)$/.test(word) ? word : `"${word.replace(/["\\$`]/g, '\\$&')}"`;
}
