/**
 * Parses one line of input into a command, or into one sentence that says what is wrong with it. It never throws and changes
 * nothing. Unknown words in `go` are skipped, as the protocol says, and reported.
 */

import { failure, type Result, success } from '../../base/util/index.js';
import type { GoRequest } from '../core/index.js';

/** The commands of a GUI, after parsing. Moves and FENs are still text, because only the engine knows the position. */
export type GoCommand = {
  -readonly [Limit in keyof GoRequest as Exclude<Limit, 'searchMoves' | 'reportsMoves'>]: GoRequest[Limit];
} & {
  searchMoves?: string[];
  perft?: number;
};

export type UciCommand =
  | { readonly type: Exclude<CommandName, 'debug' | 'setoption' | 'position' | 'go' | 'bench'> }
  | { readonly type: 'debug'; readonly on: boolean }
  | { readonly type: 'setoption'; readonly option: string; readonly value: string }
  /** fen null = the start position. */
  | { readonly type: 'position'; readonly fen: string | null; readonly moves: readonly string[] }
  /** `ignored`: what could not be understood. */
  | { readonly type: 'go'; readonly go: GoCommand; readonly ignored: readonly string[] }
  | { readonly type: 'bench'; readonly words: readonly string[] };

/** Every command, with the lines that `help` prints for it. The parser accepts no other. */
export const COMMAND_HELP = {
  uci: 'uci                          print name and options, then uciok',
  isready: 'isready                      print readyok once the network is loaded',
  setoption: 'setoption name N [value V]   set an option; names are not case-sensitive',
  ucinewgame: 'ucinewgame                   forget the last game',
  position: 'position startpos|fen F [moves m1 m2 …]',
  go: 'go [infinite] [ponder] [wtime|btime|winc|binc MS] [movestogo N] [movetime MS]\n   [nodes N] [depth N] [mate N] [searchmoves m1 m2 …]   search;   go perft N   count moves',
  stop: 'stop                         end the search or perft and answer',
  ponderhit: 'ponderhit                    the opponent played the expected move',
  wait: 'wait                         read no further line until the search has ended (for scripts)',
  d: 'd                            show the board',
  eval: 'eval                         show the network’s evaluation of the position',
  bench: 'bench [nodes] [flags]        search fixed positions; print speed and signature',
  debug: 'debug on|off                 print more info strings',
  register: 'register                     does nothing; Sardonyx needs no registration',
  xyzzy: 'xyzzy',
  help: 'help                         show this list',
  quit: 'quit                         end the program',
};
type CommandName = keyof typeof COMMAND_HELP;

/** @returns null for an empty line */
export function parseCommand(line: string): Result<UciCommand> | null {
  const words = line.trim().split(/\s+/);
  const name = words[0];
  if (name === '') return null;
  if (!Object.hasOwn(COMMAND_HELP, name)) return failure(`Unknown command: ${line.trim()}`);
  const type = name as CommandName;
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
  const value = /\svalue(?=\s|$)/i.exec(line);
  const [, name = '', ...words] = line.slice(0, value?.index).trim().split(/\s+/);
  if (name.toLowerCase() !== 'name' || words.length === 0) {
    return failure('The format is: setoption name <option> [value <value>]');
  }
  const text = value === null ? '' : line.slice(value.index + value[0].length).trim();
  return success({ type: 'setoption', option: words.join(' '), value: text });
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
/** The other numbers may be negative: a lagging server may send such clocks. */
const COUNTS = new Set<NumberField>(['depth', 'nodes', 'mate', 'perft']);
const GO_WORDS = new Set([...Object.keys(GO_NUMBERS), 'infinite', 'ponder', 'searchmoves']);

/** Every `go` gets its bestmove, so what cannot be understood is skipped and reported. */
function parseGo(words: readonly string[]): Result<UciCommand> {
  const go: GoCommand = {};
  const ignored: string[] = [];
  for (let i = 0; i < words.length; i++) {
    const word = words[i];
    if (word === 'infinite' || word === 'ponder') {
      go[word] = true;
    } else if (word === 'searchmoves') {
      const moves: string[] = [];
      while (i + 1 < words.length && !GO_WORDS.has(words[i + 1])) moves.push(words[++i]);
      if (moves.length === 0) ignored.push('searchmoves without moves');
      else go.searchMoves = moves;
    } else if (Object.hasOwn(GO_NUMBERS, word)) {
      const field = GO_NUMBERS[word];
      const text = i + 1 < words.length && !GO_WORDS.has(words[i + 1]) ? words[++i] : '';
      const value = parseNumber(field, text);
      if (value !== null) go[field] = value;
      else if (field === 'perft') return failure('go perft needs a whole number: the depth');
      else ignored.push(text === '' ? `${word} without a number` : `${word} ${text}`);
    } else {
      ignored.push(word);
    }
  }
  return success({ type: 'go', go, ignored });
}

/** A negative count is read as 0. Some GUIs send fractions of a millisecond. @returns null if the text is no number */
function parseNumber(field: NumberField, text: string): number | null {
  if (!/^[+-]?\d+(\.\d*)?(e\d{1,2})?$/i.test(text)) return null;
  const value = Math.trunc(Number(text));
  return COUNTS.has(field) ? Math.max(0, value) : value;
}
