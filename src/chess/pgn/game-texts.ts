/**
 * The games of a text that people call a file of games: PGN of any kind, positions (FEN, EPD, UCI's `position`), one a line, or
 * lichess's table of openings. The kind is told by the content, not by the file's name. Like the reader of PGN this one streams.
 */

import {
  cutText,
  failure,
  type Result,
  readLines,
  readUntilBreak,
  success,
  type TextLine,
} from '../../base/util/index.js';
import { looksLikeFen, parseEpdLine } from '../rules/index.js';
import { escapeTag } from './pgn-format.js';
import { type PgnText, readPgn } from './pgn-text.js';

export type TextKind = 'games' | 'positions';

const GAME = /^\s{0,99}(?:\{|\[\s{0,9}[a-z]\w{0,99}[\s"“”:=]|1\.{1,3}\s{0,9}(?:[a-h][1-8x]|[NBRQKO][a-hx1-8-]))/i;
/** Two moves without their numbers; one alone may be a word of a letter. */
const BARE_MOVES = /^\s{0,99}(?:(?:[NBRQK]?[a-h]?[1-8]?[x-]?[a-h][1-8][+#]?|O-O(?:-O)?)(?:\s{1,9}|$)){2}/;
/** Openings with their moves, between tabs: https://github.com/lichess-org/chess-openings. */
const OPENING_TABLE = /^(?:\ufeff?[a-z\t -]{0,99}\bpgn\b|[A-E]\d\d\t[^\t]{1,999}\t1\.)/;
/** Characters in which lines are looked at. */
const LONGEST_HEAD = 10_000;

/**
 * What a text holds, and the text.
 * @param expected when no line of its beginning says it
 */
export async function openGameTexts(
  pieces: AsyncIterable<string>,
  expected: TextKind,
): Promise<{ kind: TextKind; all: AsyncIterable<string> }> {
  const breaks: Error[] = [];
  const rest = readUntilBreak(pieces, (error) => breaks.push(error));
  let head = '';
  let kind: TextKind | null = null;
  let isDone = false;
  while (!isDone && kind === null && head.length <= LONGEST_HEAD) {
    const next = await rest.next();
    isDone = next.done === true;
    if (next.done !== true) head += next.value;
    kind = findGameTextKind(isDone ? head : head.slice(0, head.lastIndexOf('\n') + 1));
  }
  async function* readAll(): AsyncGenerator<string, void, void> {
    try {
      yield head;
      yield* rest;
      if (breaks.length > 0) throw breaks[0];
    } finally {
      await rest.return();
    }
  }
  const first = head.split('\n').find((line) => !isRemarkLine(line)) ?? '';
  return { kind: kind ?? expected, all: isOpeningTable(first) ? readOpeningTable(readAll()) : readAll() };
}

/** What a text holds, by its beginning; null when no line says it. */
export function findGameTextKind(head: string): TextKind | null {
  for (const line of head.slice(0, LONGEST_HEAD).split('\n')) {
    if (isRemarkLine(line)) continue;
    if (looksLikeFen(line)) return 'positions';
    if (isOpeningTable(line) || GAME.test(line) || BARE_MOVES.test(line)) return 'games';
  }
  return null;
}

function isOpeningTable(line: string): boolean {
  return line.includes('\t') && OPENING_TABLE.test(line);
}

/** Each row as a game on the same line. */
async function* readOpeningTable(pieces: AsyncIterable<string>): AsyncGenerator<string, void, void> {
  let columns = ['eco', 'name', 'pgn'];
  let row = 1;
  for await (const { text, number } of readLines(pieces)) {
    const cells = text.replace(/^\ufeff/, '').split('\t');
    if (row === 1 && cells.includes('pgn')) columns = cells;
    else {
      const [eco, name, moves] = ['eco', 'name', 'pgn'].map((column) => cells[columns.indexOf(column)] ?? '');
      yield `${'\n'.repeat(number - row)}[ECO "${escapeTag(eco)}"] [Opening "${escapeTag(name)}"] ${moves} *\n`;
      row = number + 1;
    }
  }
}

/** Whether a line of a list of positions is blank or a remark. */
export function isRemarkLine(line: string): boolean {
  return /^(?:[#;%]|\/\/|[\0-\x20]*$)/.test(line);
}

/** The lines of a list of positions that are no remarks. */
export async function* readPositionLines(pieces: AsyncIterable<string>): AsyncGenerator<TextLine, void, void> {
  for await (const line of readLines(pieces)) if (!isRemarkLine(line.text)) yield line;
}

/**
 * The games in order, of a list of positions each as a game; an error is one sentence about a line that is no position.
 * @param pieces as of readPgn
 * @param expected as of openGameTexts
 */
export async function* readGameTexts(
  pieces: AsyncIterable<string>,
  expected: TextKind = 'games',
): AsyncGenerator<Result<PgnText>, void, void> {
  const { kind, all } = await openGameTexts(pieces, expected);
  if (kind === 'games') {
    for await (const game of readPgn(all)) yield success(game);
    return;
  }
  let number = 0;
  for await (const line of readPositionLines(all)) yield readPositionText(line, ++number);
}

/** @param number of the position in its list, from 1 */
export function readPositionText({ text: line, number: row }: TextLine, number: number): Result<PgnText> {
  const notes: string[] = [];
  const epd = parseEpdLine(line, notes);
  if (!epd.ok) return failure(`Line ${row} is no position: ${epd.error}`);
  const { fen, operations } = epd.value;
  const id = operations.get('id')?.join(' ');
  const event = id === undefined ? '' : `[Event "${escapeTag(cutText(id, 200))}"]\n`;
  const moves = operations.get('moves') ?? [];
  const text = `${event}[SetUp "1"]\n[FEN "${fen}"]\n\n${[...moves, '*'].join(' ')}`;
  return success({ text, number, line: row, isTooLong: false, isPosition: moves.length === 0, notes });
}
