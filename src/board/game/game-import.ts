/**
 * A file of games or positions as the list from which the user chooses: PGN of any kind, FENs and EPD, one a line. It streams and
 * runs in a Worker, so that the page stays responsive; games are kept as text, and the one that is chosen becomes a tree.
 */
import { parseEpdLine } from '../../chess/index.js';
import { nameGame, type PgnGame, readPgn, readPgnGame, spellMoves } from '../../pgn/index.js';
import { cutText, failure, type Result, readLines, success } from '../../util/index.js';

export interface ImportedGame {
  /** `Tal – Fischer  1-0  Bled 1961`, or its first moves. */
  readonly title: string;
  /** PGN of this game alone. */
  readonly text: string;
}

/** The file's games in order; the error says what cannot be read, in one sentence. */
export async function* importGames(pieces: AsyncIterable<string>): AsyncGenerator<Result<ImportedGame>, void, void> {
  const { isPositions, all } = await peek(pieces);
  if (isPositions) {
    for await (const { text, number } of readLines(all)) {
      if (!text.startsWith('#')) yield importPosition(text, number);
    }
    return;
  }
  for await (const source of readPgn(all)) {
    const game = readPgnGame(source);
    if (!game.ok) yield failure(`${nameGame(source)} cannot be read: ${game.error}`);
    else yield success({ title: describeGame(game.value), text: source.text });
  }
}

/** Seven slashes in the first word: the board of a FEN. */
const POSITION = /^(?:FEN:?\s*)?["'\x5b]?(?:[^\s/"']{1,8}\/){7}[^\s/]{1,8}(?:[\s_]|$)/i;

/** Characters in which the first line is looked for. */
const LONGEST_HEAD = 10_000;

async function peek(pieces: AsyncIterable<string>): Promise<{ isPositions: boolean; all: AsyncIterable<string> }> {
  const iterator = pieces[Symbol.asyncIterator]();
  let head = '';
  let next = await iterator.next();
  while (next.done !== true) {
    head += next.value;
    if (head.length > LONGEST_HEAD || head.trimStart().includes('\n')) break;
    next = await iterator.next();
  }
  async function* readAll(): AsyncGenerator<string, void, void> {
    yield head;
    while (next.done !== true) {
      next = await iterator.next();
      if (next.done !== true) yield next.value;
    }
  }
  const lines = head.slice(0, LONGEST_HEAD).split('\n');
  const first = lines.find((line) => line.trim() !== '' && !line.startsWith('#')) ?? '';
  return { isPositions: POSITION.test(first.trim()), all: readAll() };
}

function importPosition(line: string, number: number): Result<ImportedGame> {
  const epd = parseEpdLine(line);
  if (!epd.ok) return failure(`Line ${number} is no position: ${epd.error}`);
  const { fen: position, operations } = epd.value;
  const id = operations.get('id')?.join(' ') ?? '';
  const event = id === '' ? '' : `[Event "${id.replace(/[\\"]/g, '')}"]\n`;
  const title = id === '' ? position : `${id}  ${position}`;
  return success({ title, text: `${event}[SetUp "1"]\n[FEN "${position}"]\n\n*` });
}

const LISTED_PLIES = 8;

function describeGame(game: PgnGame): string {
  const read = (name: string): string => (game.tags.get(name) ?? '').replace(/^[?.*]*$/, '');
  const names = [read('White'), read('Black')];
  const about = [read('Result'), read('Event'), read('Date')].filter((text) => text !== '').join(' ');
  const line = spellMoves({ ...game, moves: game.moves.slice(0, LISTED_PLIES) }).map(({ san }) => san);
  const players = names.some((name) => name !== '') ? names.map((name) => name || '?').join(' – ') : line.join(' ');
  return cutText([players, about].filter((text) => text !== '').join('  ') || 'No moves', 200);
}
