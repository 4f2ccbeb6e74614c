/**
 * Lists of games: a file of games or positions (PGN of any kind, FENs and EPD, one a line) from which the user chooses, and an index
 * of the moves that games made in a position. Both run in a Worker, so that the page stays responsive; games are kept as text, and
 * the one that is chosen becomes a tree.
 */

import { cutText, failure, type Result, success, unwrap } from '../../base/util/index.js';
import {
  nameGame,
  type PgnGame,
  type PgnText,
  readGameTexts,
  readPgnGame,
  spellMoves,
  splitPgn,
} from '../../chess/pgn/index.js';
import { formatFen, formatSan, formatUciMove, type Move, NO_MOVE, parseFen } from '../../chess/rules/index.js';
import { describeTags, getTag, NAMED_PLIES, nameOpening, type OpeningNames, readTags } from './game-names.js';
import { GameReview } from './game-review.js';
import { type Judgement, restoreJudgements } from './move-tree.js';
import { parseTree } from './move-tree-reader.js';

export interface ImportedGame {
  /** `C54 Italian Game: Classical Variation`; absent = not known. */
  readonly opening?: string;
  /** `Tal – Fischer  1-0  Bled 1961`, or its first moves. */
  readonly title: string;
  /** PGN of this game alone. */
  readonly text: string;
  /** Half moves of its main line; absent = not known. */
  readonly plies?: number;
  /** What was dropped from the line of a position, which `text` does not show any more; absent = nothing. */
  readonly notes?: readonly string[];
}

/** The file's games in order; the error says what cannot be read, in one sentence. @param names of openings */
export async function* importGames(
  pieces: AsyncIterable<string>,
  names: OpeningNames = new Map(),
): AsyncGenerator<Result<ImportedGame>, void, void> {
  for await (const source of readGameTexts(pieces)) {
    if (source.ok) yield* importGame(source.value, names);
    else yield source;
  }
}

function* importGame(source: PgnText, names: OpeningNames): Generator<Result<ImportedGame>> {
  const game = readPgnGame(source);
  if (!game.ok) {
    yield failure(`${nameGame(source)} cannot be read: ${game.error}`);
    return;
  }
  const { text, notes = [] } = source;
  const opening = describeOpening(game.value, names);
  yield success({
    title: describeGame(game.value),
    text,
    plies: game.value.moves.length,
    ...(opening && { opening }),
    ...(notes.length > 0 && { notes }),
  });
  if (game.value.openEnd !== null) yield failure(`${nameGame(source)}: ${game.value.openEnd}`);
}

const LISTED_PLIES = 8;

function describeGame(game: PgnGame): string {
  const { players, about } = describeTags(game.tags);
  const line = spellMoves({ ...game, moves: game.moves.slice(0, LISTED_PLIES) }).map(({ san }) => san);
  if (players === '' && line.length === 0 && getTag(game.tags, 'FEN') !== '') {
    return cutText([getTag(game.tags, 'Event'), game.startFen].filter((text) => text !== '').join('  '), 200);
  }
  return cutText([players || line.join(' '), about].filter((text) => text !== '').join('  ') || 'No moves', 200);
}

/** As the game's own tags have it, else by its moves. */
function describeOpening({ tags, startFen, moves }: PgnGame, names: OpeningNames): string {
  const own = ['ECO', 'Opening', 'Variation'].map((name) => getTag(tags, name)).filter((text) => text !== '');
  if (own.length > 1 || names.size === 0) return own.join(' ');
  const position = unwrap(parseFen(startFen));
  const fens = moves.slice(0, NAMED_PLIES).map((move) => {
    position.makeMove(move);
    return formatFen(position);
  });
  return [...own, nameOpening(names, fens)].join(' ').trim();
}

const LETTERS: Readonly<Record<string, string>> = {
  ø: 'o',
  ł: 'l',
  đ: 'd',
  ð: 'd',
  þ: 'th',
  æ: 'ae',
  œ: 'oe',
  ß: 'ss',
  ı: 'i',
};
const RESULT = /^(?:1-0|0-1|1\/2-1\/2)$/;
const folded = new WeakMap<object, string>();
const tagsOf = new WeakMap<object, ReadonlyMap<string, string>>();

/** Small letters without accents, and one kind of dash. */
function fold(text: string): string {
  return text
    .toLowerCase()
    .normalize('NFD')
    .replace(/\p{M}/gu, '')
    .replace(/[øłđðþæœßı]/g, (letter) => LETTERS[letter])
    .replace(/½/g, '1/2')
    .replace(/[–—−]/g, '-');
}

/** Games that have all words, in any order and with or without accents, in players, result, date, event, ECO or opening. */
export function createSearch(wanted: string): (game: ImportedGame) => boolean {
  const words = fold(wanted).split(/\s+/);
  return (game) => {
    const facts = (['Event', 'Date', 'Result', 'ECO', 'Opening'] as const).map((column) => GAME_COLUMNS[column](game));
    const known = folded.get(game) ?? fold(`${game.title} ${game.opening ?? ''} ${facts.join(' ')} `);
    folded.set(game, known);
    return words.every((word) => known.includes(RESULT.test(word) ? ` ${word} ` : word));
  };
}

/** Those at its start; a game's text is looked through once. */
function readTag(game: ImportedGame, name: string): string {
  const tags = tagsOf.get(game) ?? readTags(game.text);
  tagsOf.set(game, tags);
  return getTag(tags, name);
}

/** A game, and what a review has found out about it. */
type ReviewedGame = ImportedGame & { readonly judgements?: readonly Judgement[] };

const accuracies = new WeakMap<object, string>();

/** "93 – 87": White's and Black's percent; '' before a review. */
function describeAccuracy({ text, judgements = [] }: ReviewedGame): string {
  const known = judgements.length === 0 ? '' : accuracies.get(judgements);
  if (known !== undefined) return known;
  const game = parseTree(text);
  if (!game.ok) return '';
  restoreJudgements(game.value.tree, judgements);
  const review = new GameReview(game.value.tree);
  const players = (['white', 'black'] as const).map((side) => review.summarise(side).accuracy);
  const words = players.every((share) => share === null)
    ? ''
    : players.map((share) => share?.toFixed(0) ?? '?').join(' – ');
  accuracies.set(judgements, words);
  return words;
}

/** Columns of a table of games: what a game has there; '' = nothing is known. */
export const GAME_COLUMNS = {
  White: (game) => readTag(game, 'White'),
  WhiteElo: (game) => Number.parseInt(readTag(game, 'WhiteElo'), 10) || '',
  Black: (game) => readTag(game, 'Black'),
  BlackElo: (game) => Number.parseInt(readTag(game, 'BlackElo'), 10) || '',
  Result: (game) => readTag(game, 'Result'),
  Date: (game) => readTag(game, 'Date').replace(/\.\?.*/, ''),
  Event: (game) => readTag(game, 'Event'),
  ECO: (game) => readTag(game, 'ECO') || (/^[A-E]\d\d\b/.exec(game.opening ?? '')?.[0] ?? ''),
  Opening: (game) => game.opening?.replace(/^(?:[A-E]\d\d\S*\s*)+/, '') || readTag(game, 'Opening'),
  Moves: ({ plies }) => (plies === undefined ? '' : Math.ceil(plies / 2)),
  Accuracy: describeAccuracy,
} as const satisfies Readonly<Record<string, (game: ReviewedGame) => string | number>>;

export type GameColumn = keyof typeof GAME_COLUMNS;

const { compare } = new Intl.Collator(undefined, { numeric: true });

/** For sorting; games that have nothing in the column come last. @param order 1 = upwards, -1 = downwards */
export function compareGames(column: GameColumn, order: 1 | -1): (a: ReviewedGame, b: ReviewedGame) => number {
  const read: (game: ReviewedGame) => string | number = GAME_COLUMNS[column];
  return (a, b) => {
    const [first, second] = [read(a), read(b)];
    if (first === '' || second === '') return Number(first === '') - Number(second === '');
    return order * (typeof first === 'number' ? first - Number(second) : compare(first, String(second)));
  };
}

/** Games by their result. */
export interface ResultCount {
  white: number;
  draws: number;
  black: number;
  /** Without a result too. */
  games: number;
}

export interface ExploredMove extends ResultCount {
  readonly uci: string;
  readonly san: string;
}

export interface Explored {
  /** Most played first. */
  readonly moves: readonly ExploredMove[];
  /** Of all games that had the position. */
  readonly total: ResultCount;
  /** Some of these games, by number, the last ones first. */
  readonly games: readonly number[];
}

/** Openings and middle games: what comes later is hardly ever seen twice. */
const MOST_PLIES = 80;
const MOST_LISTED = 50;
const FIRST_ROWS = 1 << 14;

/**
 * One row a ply, in columns: key of the position, move, game. A look-up reads all rows, a million in a few milliseconds; so nothing
 * is sorted, and transpositions are found.
 */
export class GameIndex {
  private rows = 0;
  private columns = createColumns(FIRST_ROWS);
  private readonly results: string[] = [];

  /** The next game, which may be one that cannot be read. */
  add(text: string): void {
    const [source] = splitPgn(text);
    const game = source === undefined ? null : readPgnGame(source, { maxPlies: MOST_PLIES });
    this.results.push(game?.ok === true ? game.value.result : '*');
    if (game?.ok !== true) return;
    const position = unwrap(parseFen(game.value.startFen));
    for (const move of [...game.value.moves, NO_MOVE]) {
      if (this.rows === this.columns.moves.length) this.grow();
      const { keyLow, keyHigh, moves, games } = this.columns;
      keyLow[this.rows] = position.keyLow;
      keyHigh[this.rows] = position.keyHigh;
      moves[this.rows] = move;
      games[this.rows++] = this.results.length - 1;
      if (move !== NO_MOVE) position.makeMove(move);
    }
  }

  /** @param fen a valid one */
  find(fen: string): Explored {
    const position = unwrap(parseFen(fen));
    const { keyLow, keyHigh, moves, games } = this.columns;
    const total = createCount();
    const found: number[] = [];
    const byMove = new Map<number, ResultCount & { last: number }>();
    for (let row = 0; row < this.rows; row++) {
      if (keyLow[row] !== position.keyLow || keyHigh[row] !== position.keyHigh) continue;
      const game = games[row];
      // A game that repeats the position counts once.
      if (found.at(-1) !== game) {
        found.push(game);
        count(total, this.results[game]);
      }
      if (moves[row] === NO_MOVE) continue;
      const known = byMove.get(moves[row]) ?? { ...createCount(), last: -1 };
      byMove.set(moves[row], known);
      if (known.last !== game) count(known, this.results[game]);
      known.last = game;
    }
    const explored = [...byMove].map(([move, { last: _, ...counts }]) => ({
      uci: formatUciMove(move as Move, true),
      san: formatSan(position, move as Move),
      ...counts,
    }));
    explored.sort((a, b) => b.games - a.games);
    return { moves: explored, total, games: found.slice(-MOST_LISTED).reverse() };
  }

  private grow(): void {
    const larger = createColumns(2 * this.columns.moves.length);
    for (const [name, column] of Object.entries(this.columns)) larger[name as keyof typeof larger].set(column);
    this.columns = larger;
  }
}

function createColumns(rows: number) {
  return {
    keyLow: new Int32Array(rows),
    keyHigh: new Int32Array(rows),
    moves: new Uint16Array(rows),
    games: new Uint32Array(rows),
  };
}

function createCount(): ResultCount {
  return { white: 0, draws: 0, black: 0, games: 0 };
}

function count(counts: ResultCount, result: string): void {
  counts.games++;
  if (result === '1-0') counts.white++;
  if (result === '1/2-1/2') counts.draws++;
  if (result === '0-1') counts.black++;
}
