/** One line of a test suite in EPD: a position, the moves that solve it (`bm`), the moves that do not (`am`), its name. */

import { cutText, failure, type Result, success, unwrap } from '../../base/util/index.js';
import {
  findMate,
  formatFen,
  formatSanLine,
  type Move,
  type Position,
  parseEpdLine,
  parseFen,
  parseSan,
  parseUciMove,
} from '../../chess/rules/index.js';
import type { Score } from '../../engine/core/index.js';

export type MateRule = 'score' | 'move';
/** Positions that the search for a mate behind a move visits: about a second. */
const MATE_EFFORT = 1_000_000;

export interface SuitePosition {
  readonly id: string;
  readonly fen: string;
  /** As the suite writes them: `bm Qg6`, `am Rxb2`. */
  readonly task: string;
  /** Any of these solves it; empty = every move that is not to be avoided. */
  readonly best: readonly Move[];
  readonly avoided: readonly Move[];
  /** Length of the mate that solves a position without moves, below 0 for the side that is mated; absent = none. */
  readonly mateIn?: number;
  /** Of a puzzle: the opponent's reply, the next move to find, and so on. */
  readonly replies?: readonly Move[];
  readonly rating?: number;
  readonly themes?: readonly string[];
}

/** Source: database.lichess.org, "Puzzles". */
export const PUZZLE_COLUMNS = [
  'PuzzleId',
  'FEN',
  'Moves',
  'Rating',
  'RatingDeviation',
  'Popularity',
  'NbPlays',
  'Themes',
];

const PUZZLE = /^"?\w{1,20}"?,"?[^,;"]{1,99}"?,"?[a-h][1-8][a-h][1-8]/;

/** The columns of a table of puzzles, by its first line; null = it is none. */
export function readPuzzleColumns(line: string): readonly string[] | null {
  const cells = splitCells(line.replace(/^\ufeff/, ''));
  if (cells.includes('FEN') && cells.includes('Moves')) return cells;
  return PUZZLE.test(line) ? PUZZLE_COLUMNS : null;
}

/** Spreadsheets put marks around cells. */
function splitCells(line: string): string[] {
  return line
    .trim()
    .split(',')
    .map((cell) => cell.replace(/^"(.*)"$/, '$1'));
}

/** A line of lichess's puzzles: the first move is the opponent's, the others are the solution. @param notes as of parseFen */
export function parsePuzzle(line: string, columns: readonly string[], notes: string[] = []): Result<SuitePosition> {
  const cells = splitCells(line);
  const [id, fen, text, rating, themes] = ['PuzzleId', 'FEN', 'Moves', 'Rating', 'Themes'].map(
    (column) => cells[columns.indexOf(column)] ?? '',
  );
  const position = parseFen(fen, notes);
  if (!position.ok) return position;
  const game = position.value;
  const moves: Move[] = [];
  let start = game;
  for (const word of text.split(' ').filter((one) => one !== '')) {
    const move = parseUciMove(game, word);
    if (!move.ok) return move;
    moves.push(move.value);
    game.makeMove(move.value);
    if (moves.length === 1) start = unwrap(parseFen(formatFen(game)));
  }
  if (moves.length < 2) return failure('A puzzle needs two moves, the first of them the opponent’s');
  const solution = moves.slice(1);
  return success({
    id: cutText(id),
    fen: formatFen(start),
    task: cutText(`bm ${formatSanLine(start, solution).join(' ')}`, 200),
    best: [solution[0]],
    avoided: [],
    replies: solution.slice(1),
    ...(rating !== '' && { rating: Number(rating) }),
    ...(themes !== '' && { themes: cutText(themes, 200).split(' ') }),
  });
}

/**
 * @param lineNumber from 1, the name of a position without an `id`
 * @param notes as of parseFen
 */
export function parseSuiteLine(line: string, lineNumber: number, notes: string[] = []): Result<SuitePosition> {
  const parsed = parseEpdLine(line, notes);
  if (!parsed.ok) return parsed;
  const { fen, operations } = parsed.value;
  const position = unwrap(parseFen(fen));
  const best = parseMoves(position, operations, 'bm');
  if (!best.ok) return best;
  const avoided = parseMoves(position, operations, 'am');
  if (!avoided.ok) return avoided;
  const mateIn = readMateLength(operations);
  if (best.value.length + avoided.value.length === 0 && mateIn === null) {
    return failure('There is neither a bm nor an am nor a dm operation');
  }
  const tasks = ['bm', 'am', 'dm'].filter((opcode) => operations.has(opcode));
  const task = tasks.map((opcode) => [opcode, ...(operations.get(opcode) ?? [])].join(' ')).join(', ');
  const id = operations.get('id')?.join(' ') || `line ${lineNumber}`;
  const moves = { best: best.value, avoided: avoided.value };
  return success({ id: cutText(id), fen, task: cutText(task), ...moves, ...(mateIn !== null && { mateIn }) });
}

/** `bm #5`, `bm +M5`, `bm mate in 5`, `dm 5` and `dm #5`. */
function readMateLength(operations: ReadonlyMap<string, readonly string[]>): number | null {
  const [announced, length] = ['bm', 'dm'].map((opcode) => (operations.get(opcode) ?? []).join(' '));
  const match = MATE_LENGTH.exec(announced) ?? MATE_LENGTH.exec(length) ?? /^([+-]?)(\d{1,3})/.exec(length);
  return match === null || Number(match[2]) === 0
    ? null
    : Number(match[1].replace('+', '') + match[2].replace('+', ''));
}

const MATE_LENGTH = /(?:^|\s)([+-]?)(?:#|m(?:ate)?(?: in)? ?)([+-]?\d{1,3})(?!\S)/i;

interface Found {
  readonly score: Score;
  /** Before the move. */
  readonly game: Position;
  readonly mateBy: MateRule;
}

/** The moves of the suite decide; where it has none, the length of the mate. */
export function isSolution(
  { best, avoided, mateIn }: SuitePosition,
  move: Move,
  { score, game, mateBy }: Found,
): boolean {
  if (avoided.includes(move)) return false;
  if (best.length > 0 || mateIn === undefined) return best.length === 0 || best.includes(move);
  if (mateBy === 'move' && mateIn > 0) {
    return findMate(game, { moves: mateIn, checks: mateIn, effort: MATE_EFFORT, candidates: [move] }).line !== null;
  }
  return score.kind === 'mate' && score.value > 0 === mateIn > 0 && Math.abs(score.value) <= Math.abs(mateIn);
}

function parseMoves(
  position: Position,
  operations: ReadonlyMap<string, readonly string[]>,
  opcode: string,
): Result<Move[]> {
  const moves: Move[] = [];
  const text = (operations.get(opcode) ?? []).join(' ').replace(MATE_LENGTH, '').replace(UNSEEN, '');
  const words = text.split(/[\s,]+/).map((word) => word.replace(AROUND_MOVE, ''));
  for (const word of words.filter((one) => one !== '')) {
    const san = parseSan(position, word);
    const move = san.ok ? san : parseUciMove(position, word);
    if (!move.ok) return failure(`${opcode} ${word.slice(0, 40)}: ${san.ok ? move.error : san.error}`);
    moves.push(move.value);
  }
  return success(moves);
}

const UNSEEN = /\p{Default_Ignorable_Code_Point}/gu;
/** Move numbers, brackets, check marks and signs, which may stand apart from their move too. */
const AROUND_MOVE = /^(?:\d{1,4}\.{1,9}|[^\p{L}\p{N}♔-♟])+|[^\p{L}\p{N}]+$/gu;
