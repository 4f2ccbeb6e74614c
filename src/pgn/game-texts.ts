/**
 * The games of a text that people call a file of games: PGN of any kind, or FENs and EPD, one a line, each of which is a game without
 * moves. The first line says which. Like the reader of PGN it streams.
 */
import { parseEpdLine } from '../chess/index.js';
import { cutText, failure, type Result, readLines, success } from '../util/index.js';
import { escapeTag } from './pgn-format.js';
import { type PgnText, readPgn } from './pgn-text.js';

/** Seven slashes in the first word: the board of a FEN. */
const POSITION = /^(?:FEN:?\s*)?["'\x5b]?(?:[^\s/"']{1,8}\/){7}[^\s/]{1,8}(?:[\s_]|$)/i;
/** Characters in which the first line is looked for. */
const LONGEST_HEAD = 10_000;

/**
 * The games in order; an error is one sentence about a line that is no position.
 * @param pieces as of readPgn
 * @param isPositions whether the text is a list of positions; null = its first line says it
 */
export async function* readGameTexts(
  pieces: AsyncIterable<string>,
  isPositions: boolean | null = null,
): AsyncGenerator<Result<PgnText>, void, void> {
  const { head, all } = await peek(pieces);
  if (!(isPositions ?? isPositionLine(head))) {
    for await (const game of readPgn(all)) yield success(game);
    return;
  }
  let number = 0;
  for await (const { text: line, number: row } of readLines(all)) {
    if (!line.startsWith('#')) yield readPositionText(line, row, ++number);
  }
}

function readPositionText(line: string, row: number, number: number): Result<PgnText> {
  const notes: string[] = [];
  const epd = parseEpdLine(line, notes);
  if (!epd.ok) return failure(`Line ${row} is no position: ${epd.error}`);
  const { fen, operations } = epd.value;
  const id = operations.get('id')?.join(' ');
  const event = id === undefined ? '' : `[Event "${escapeTag(cutText(id, 200))}"]\n`;
  return success({ text: `${event}[SetUp "1"]\n[FEN "${fen}"]\n\n*`, number, line: row, isTooLong: false, notes });
}

function isPositionLine(head: string): boolean {
  const lines = head.slice(0, LONGEST_HEAD).split('\n');
  return POSITION.test(lines.find(saysWhatItIs)?.trim() ?? '');
}

function saysWhatItIs(line: string): boolean {
  return line.trim() !== '' && !line.startsWith('#');
}

/** The beginning of the text, with the first line that says something, and the text as a whole. An error of the source is thrown by `all`. */
async function peek(pieces: AsyncIterable<string>): Promise<{ head: string; all: AsyncIterable<string> }> {
  const iterator = pieces[Symbol.asyncIterator]();
  let head = '';
  let failed: { readonly error: unknown } | null = null;
  let isDone = false;
  while (!isDone && head.length <= LONGEST_HEAD && !head.split('\n').slice(0, -1).some(saysWhatItIs)) {
    try {
      const next = await iterator.next();
      isDone = next.done === true;
      if (next.done !== true) head += next.value;
    } catch (error) {
      failed = { error };
      isDone = true;
    }
  }
  async function* readAll(): AsyncGenerator<string, void, void> {
    try {
      yield head;
      if (failed !== null) throw failed.error;
      while (!isDone) {
        const next = await iterator.next();
        if (next.done === true) return;
        yield next.value;
      }
    } finally {
      await iterator.return?.();
    }
  }
  return { head, all: readAll() };
}
