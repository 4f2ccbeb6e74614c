/**
 * Parses one line of input into a command, or into one sentence that says what is wrong with it. It never throws and changes
 * nothing. The protocol says to skip unknown words. Like lc0 we report them instead, so that a typing error in a script does
 * not start another search than the one meant.
 */
import { failure, type Result, success } from '../util/index.js';
import { COMMAND_HELP, type GoCommand, type UciCommand } from './command.js';

/** @returns null for an empty line */
export function parseCommand(line: string): Result<UciCommand> | null {
  const words = line.trim().split(/\s+/);
  const name = words[0];
  if (name === '') return null;
  if (!Object.hasOwn(COMMAND_HELP, name)) return failure(`Unknown command: ${line.trim()}`);
  const type = name as UciCommand['type'];
  switch (type) {
    case 'setoption':
      return parseSetOption(line);
    case 'position':
      return parsePosition(words.slice(1));
    case 'go':
      return parseGo(words.slice(1));
    case 'debug': {
      const state = words[1] ?? 'on';
      if (state !== 'on' && state !== 'off') return failure(`debug needs on or off, not ${state}`);
      return success({ type, on: state === 'on' });
    }
    case 'bench':
      return success({ type, words: words.slice(1) });
    default:
      return success({ type });
  }
}

/** `setoption name <words> [value <anything>]`. A value keeps its inner blanks and its case. */
function parseSetOption(line: string): Result<UciCommand> {
  const match = /^\s*setoption\s+name\s+(\S.*?)(?:\s+value(?:\s(.*))?)?\s*$/is.exec(line);
  if (match === null) return failure('The format is: setoption name <option> [value <value>]');
  return success({ type: 'setoption', option: match[1], value: (match[2] ?? '').trim() });
}

function parsePosition(words: readonly string[]): Result<UciCommand> {
  const movesAt = words.indexOf('moves');
  const head = movesAt < 0 ? words : words.slice(0, movesAt);
  const moves = movesAt < 0 ? [] : words.slice(movesAt + 1);
  if (head[0] === 'startpos') {
    if (head.length > 1) return failure(`Only moves can follow position startpos, not ${head[1]}`);
    return success({ type: 'position', fen: null, moves });
  }
  if (head[0] === 'fen') {
    if (head.length === 1) return failure('position fen lacks the FEN');
    return success({ type: 'position', fen: head.slice(1).join(' '), moves });
  }
  return failure('The format is: position startpos|fen <FEN> [moves <move>…]');
}

type NumberField = Exclude<keyof GoCommand, 'infinite' | 'ponder' | 'searchMoves'>;

const GO_NUMBERS: Record<string, NumberField> = {
  wtime: 'whiteTimeMs',
  btime: 'blackTimeMs',
  winc: 'whiteIncrementMs',
  binc: 'blackIncrementMs',
  movestogo: 'movesToGo',
  depth: 'depth',
  nodes: 'nodes',
  mate: 'mate',
  movetime: 'moveTimeMs',
  perft: 'perft',
};
/** A lagging server may send negative clocks, and some GUIs send fractions of a millisecond. All other numbers are counts. */
const SIGNED = new Set<NumberField>([
  'whiteTimeMs',
  'blackTimeMs',
  'whiteIncrementMs',
  'blackIncrementMs',
  'movesToGo',
  'moveTimeMs',
]);
const GO_WORDS = new Set([...Object.keys(GO_NUMBERS), 'infinite', 'ponder', 'searchmoves']);

function parseGo(words: readonly string[]): Result<UciCommand> {
  const go: GoCommand = {};
  for (let i = 0; i < words.length; i++) {
    const word = words[i];
    if (word === 'infinite' || word === 'ponder') {
      go[word] = true;
    } else if (word === 'searchmoves') {
      const moves: string[] = [];
      while (i + 1 < words.length && !GO_WORDS.has(words[i + 1])) moves.push(words[++i]);
      if (moves.length === 0) return failure('go searchmoves lacks the moves');
      go.searchMoves = moves;
    } else if (Object.hasOwn(GO_NUMBERS, word)) {
      const parsed = parseNumber(word, GO_NUMBERS[word], words[++i]);
      if (!parsed.ok) return parsed;
      go[GO_NUMBERS[word]] = parsed.value;
    } else {
      return failure(`Unknown word in go: ${word}`);
    }
  }
  return success({ type: 'go', go });
}

function parseNumber(word: string, field: NumberField, text: string | undefined): Result<number> {
  if (text === undefined || !/^[+-]?\d+(\.\d*)?$/.test(text)) {
    return failure(`go ${word} needs a whole number, not ${text ?? 'the end of the line'}`);
  }
  const value = Math.trunc(Number(text));
  if (value < 0 && !SIGNED.has(field)) return failure(`go ${word} must not be negative: ${text}`);
  return success(value);
}
