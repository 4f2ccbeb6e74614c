/** UCI as text: a line of input to a command, and reports to lines of output. */

import { failure, type Result, success } from '../../base/util/index.js';
import {
  computeOutcome,
  formatFen,
  formatSquare,
  formatUciMove,
  listLegalMoves,
  type Move,
  NO_MOVE,
  NO_SQUARE,
  type Position,
} from '../../chess/rules/index.js';
import { computeWdl, type ScoreType } from '../../search/index.js';
import {
  computeRootScore,
  type GoRequest,
  getMovesLeft,
  type ReportLine,
  type RootMoveStats,
  type RootStats,
  type SearchReport,
  type TablebaseResult,
} from '../core/index.js';

// Parses one line of input into a command, or into one sentence that says what is wrong with it. It never throws and changes
// nothing. Unknown words in `go` are skipped, as the protocol says, and reported.

/** The commands of a GUI, after parsing. Moves and FENs are still text, because only the engine knows the position. */
export type GoCommand = {
  -readonly [Limit in keyof GoRequest as Exclude<Limit, 'searchMoves' | 'reportsMoves'>]: GoRequest[Limit];
} & {
  searchMoves?: string[];
  perft?: number;
};

export type UciCommand =
  | {
      readonly type:
        | 'uci'
        | 'isready'
        | 'ucinewgame'
        | 'stop'
        | 'ponderhit'
        | 'quit'
        | 'd'
        | 'eval'
        | 'wait'
        | 'help'
        | 'xyzzy'
        | 'register';
    }
  | { readonly type: 'debug'; readonly on: boolean }
  | { readonly type: 'setoption'; readonly option: string; readonly value: string }
  /** fen null = the start position. */
  | { readonly type: 'position'; readonly fen: string | null; readonly moves: readonly string[] }
  /** `ignored`: what could not be understood. */
  | { readonly type: 'go'; readonly go: GoCommand; readonly ignored: readonly string[] }
  | { readonly type: 'bench'; readonly words: readonly string[] };

/** Every command, with the lines that `help` prints for it. The parser accepts no other. */
export const COMMAND_HELP: Record<UciCommand['type'], string> = {
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

/** Every `go` gets its bestmove, so what cannot be understood is passed over and reported. */
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

/** A negative count is read as 0. @returns null if the text is no number */
function parseNumber(field: NumberField, text: string): number | null {
  if (!/^[+-]?\d+(\.\d*)?(e\d{1,2})?$/i.test(text)) return null;
  const value = Math.trunc(Number(text));
  return SIGNED.has(field) ? value : Math.max(0, value);
}

// Search reports as text: `info` lines with fields in lc0's order (chess/uciloop.cc, StringUciResponder) and whole
// numbers only, the statistics of moves, and what is printed for people in a console.

/** What the GUI asked for by options. */
export interface InfoStyle {
  readonly chess960: boolean;
  readonly showWdl: boolean;
  readonly showMovesLeft: boolean;
  readonly showEps: boolean;
  /** A line has `multipv k` only if several lines were asked for, now or when the search began. */
  readonly multiPv: number;
  /** `nodes` of each line instead of the total. */
  readonly perPvCounters: boolean;
}

export function formatInfo(report: SearchReport, line: ReportLine, style: InfoStyle): string {
  const nodes = style.perPvCounters ? line.visits : report.nodes;
  const words = ['info depth', report.depth, 'seldepth', report.seldepth, 'time', report.timeMs, 'nodes', nodes];
  words.push('score', line.score.kind, line.score.value);
  if (style.showWdl) words.push('wdl', line.wdl.win, line.wdl.draw, line.wdl.loss);
  if (style.showMovesLeft && line.movesLeft !== null) words.push('movesleft', line.movesLeft);
  if (report.hashFull !== null) words.push('hashfull', report.hashFull);
  if (report.nps !== null) words.push('nps', report.nps);
  if (style.showEps && report.eps !== null) words.push('eps', report.eps);
  words.push('tbhits', report.tbHits);
  if (style.multiPv > 1 || report.lines.length > 1) words.push('multipv', line.rank);
  if (line.pv.length > 0) words.push('pv', ...line.pv.map((move) => formatUciMove(move, style.chess960)));
  return words.join(' ');
}

/** Without a legal move the answer is `(none)`, as Stockfish prints it and python-chess reads it. */
export function formatBestMove(move: Move, ponder: Move, chess960: boolean): string {
  if (move === NO_MOVE) return 'bestmove (none)';
  const best = `bestmove ${formatUciMove(move, chess960)}`;
  return ponder === NO_MOVE ? best : `${best} ponder ${formatUciMove(ponder, chess960)}`;
}

// VerboseMoveStats, character for character as lc0 prints it (search/classic/search.cc, GetVerboseStats), because Nibbler,
// Arena and many scripts parse it: ascending order, fixed widths, a blank at the end of each line.

export type MoveStatsFormat = 'current' | 'classic';

/** @returns the lines, without the leading `info string ` */
export function formatMoveStats(stats: RootStats, format: MoveStatsFormat = 'current'): string[] {
  const formatRow = format === 'current' ? formatCurrent : formatClassic;
  return [...stats.moves.map((row) => formatRow(row, false)), formatRow(stats.node, true)];
}

function formatCurrent(row: RootMoveStats, isNode: boolean): string {
  const tail = isNode ? '' : `(U: ${fixed(row.u, 6, 5)}) (S: ${fixed(row.s, 8, 5)}) `;
  return `${formatHead(row, isNode)} ${formatAverages(row)}${tail}${formatValue(row)}${BOUNDS[row.bound]}`;
}

/** lc0's format from 2018 to 2020: Q, U, Q+U and V only. */
function formatClassic(row: RootMoveStats, isNode: boolean): string {
  const sum = row.u === null ? null : row.q + row.u;
  const tail = isNode ? '' : `(U: ${fixed(row.u, 6, 5)}) (Q+U: ${fixed(sum, 8, 5)}) `;
  return `${formatHead(row, isNode)} (Q: ${fixed(row.q, 8, 5)}) ${tail}${formatValue(row)}`;
}

/** As in lc0, the index of a move is aligned left in its four columns, the index of the node right. */
function formatHead(row: RootMoveStats, isNode: boolean): string {
  const label = isNode ? 'node ' : formatUciMove(row.move as Move, true).padEnd(5);
  const index = isNode ? String(row.index).padStart(4) : String(row.index).padEnd(4);
  const visits = String(row.visits).padStart(7);
  const inFlight = String(row.inFlight).padStart(2);
  const prior = fixed(row.prior * 100, 5, row.prior >= 0.99995 ? 1 : 2);
  return `${label} (${index}) N: ${visits} (+${inFlight}) (P: ${prior}%)`;
}

function formatAverages(row: RootMoveStats): string {
  const q = `(Q: ${fixed(row.q, 8, 5)}) `;
  if (row.wl === null) return `(WL:  -.-----) (D: -.---) (M:  -.-) ${q}`;
  return `(WL: ${fixed(row.wl, 8, 5)}) (D: ${fixed(row.d ?? 0, 5, 3)}) (M: ${fixed(row.m ?? 0, 4, 1)}) ${q}`;
}

function formatValue(row: RootMoveStats): string {
  return row.v === null ? '(V:  -.----) ' : `(V: ${fixed(row.v, 7, 4)}) `;
}

const BOUNDS = { none: '', exact: '(T) ', drawOrWin: '(W) ', lossOrDraw: '(L) ' } as const;

function fixed(value: number | null, width: number, digits: number): string {
  return (value ?? 0).toFixed(digits).padStart(width);
}

// What people at a terminal read: the board of `d` as Stockfish shows it, the evaluation of `eval`, and the greeting. A GUI
// sees none of it.

const PIECES = '.PNBRQK..pnbrqk';
const RANK_BORDER = ` +${'---+'.repeat(8)}`;

const TABLEBASE_RESULTS = ['loss', 'blessed loss', 'draw', 'cursed win', 'win'];

/** The answer to `d`. @param tables null if the position is in no tablebase */
export function formatBoard(position: Position, chess960: boolean, tables: TablebaseResult | null = null): string[] {
  const ranks = [7, 6, 5, 4, 3, 2, 1, 0].flatMap((rank) => {
    const pieces = Array.from(position.board.subarray(rank * 8, rank * 8 + 8), (code) => PIECES[code]);
    return [` | ${pieces.join(' | ').replaceAll('.', ' ')} | ${rank + 1}`, RANK_BORDER];
  });
  const key = [position.keyHigh, position.keyLow].map((word) => (word >>> 0).toString(16).padStart(8, '0')).join('');
  const { enPassantSquare } = position;
  const legal = listLegalMoves(position).map((move) => formatUciMove(move, chess960));
  return [
    RANK_BORDER,
    ...ranks,
    '   a   b   c   d   e   f   g   h',
    '',
    `Fen: ${formatFen(position, chess960 ? 'shredder' : 'x-fen')}`,
    `Key: ${key}`,
    `En passant: ${enPassantSquare === NO_SQUARE ? '-' : formatSquare(enPassantSquare)}`,
    `Repetitions: ${position.repetitions()}`,
    `In check: ${position.inCheck() ? 'yes' : 'no'}`,
    `Outcome: ${computeOutcome(position)}`,
    `Legal moves: ${legal.length}${legal.length === 0 ? '' : ` (${legal.join(' ')})`}`,
    ...(tables === null ? [] : [formatTables(tables)]),
  ];
}

function formatTables({ wdl, dtz }: TablebaseResult): string {
  return `Tablebases: WDL ${wdl} (${TABLEBASE_RESULTS[wdl + 2]}), DTZ ${dtz ?? 'missing'}`;
}

/** The answer to `eval`: the network's evaluation, without search. */
export function formatEvalAnswer(stats: RootStats, scoreType: ScoreType, chess960: boolean): string[] {
  const { node } = stats;
  const wdl = computeWdl(node.wl ?? node.q, node.d ?? 0);
  const movesLeft = getMovesLeft(stats);
  const moves = [...stats.moves].sort((a, b) => b.prior - a.prior);
  return [
    `Score: ${computeRootScore(stats, scoreType)} (side to move)`,
    `WDL: ${wdl.win} ${wdl.draw} ${wdl.loss}`,
    ...(movesLeft === null ? [] : [`Moves left: ${movesLeft.toFixed(1)}`]),
    'Policy:',
    ...moves.map(({ move, prior }) => `${formatUciMove(move as Move, chess960).padEnd(6)}${percent(prior)}`),
  ];
}

function percent(probability: number): string {
  return `${(probability * 100).toFixed(2).padStart(6)} %`;
}

/** Written to stderr at the start, if that is a terminal. */
export function formatGreeting(version: string, network: string): string {
  return [
    `Sardonyx ${version}, a UCI chess engine. Network: ${network}`,
    'Try:  position startpos moves e2e4',
    '      go movetime 1000',
    '      eval                        (help lists all commands, quit ends)',
    '',
  ].join('\n');
}
