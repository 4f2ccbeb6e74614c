/**
 * Reads a PGN game. The moves of the main line are checked by our own rules, which include Chess960; the tree keeps those of
 * variations as written. A game with an illegal move is read up to that move.
 *
 * Errors name line and move: `line 12, move 7.Sf3: "Sf3" is not …`. The caller adds the names of game and file.
 */

import { cutText, failure, type Result, success, unwrap } from '../../base/util/index.js';
import {
  computeOutcome,
  formatFen,
  formatSanLine,
  formatUciMove,
  hasChess960Castling,
  isNullMove,
  type Move,
  NO_MOVE,
  type Outcome,
  type Position,
  parseFen,
  parseSan,
  passTurn,
  START_FEN,
} from '../rules/index.js';
import { PgnMoveNode, type PgnNode, type PgnTree } from './pgn-node.js';
import { DASHES, type PgnResult, readResult } from './pgn-result.js';
import type { PgnText } from './pgn-text.js';
import { parsePgn, parsePgnTags, type StrayWords, writeForfeit } from './pgn-tree.js';
import { LONGEST_TAG } from './pgn-words.js';
import { readVariant } from './variant.js';

export interface PgnGame {
  /** The seven tags that PGN requires come first and always exist; the others follow in the order of the file. */
  readonly tags: ReadonlyMap<string, string>;
  /** As every program reads it, whatever the tag has. */
  readonly startFen: string;
  /** Castling in UCI moves is written as king takes rook. */
  readonly isChess960: boolean;
  /** What the position of the FEN does not allow and was dropped, what was damaged, and where the text was cut off, a sentence each. */
  readonly notes: readonly string[];
  /** The last of the notes, if the text was cut off; else null. */
  readonly openEnd: string | null;
  /** The main line, as far as it is legal. */
  readonly moves: readonly Move[];
  /** Why the main line ends before the text does: one sentence; null when all of its moves are legal. */
  readonly problem: string | null;
  readonly result: PgnResult;
  readonly tree: PgnTree;
  /** After the last of `moves`, with its history. */
  readonly end: Position;
}

/** `position` has no history, and the caller may make moves on it. */
type PgnStart = Pick<PgnGame, 'startFen' | 'isChess960' | 'notes'> & { readonly position: Position };

export interface PgnReading {
  /** Read the game as Chess960 even if neither tag nor FEN says so. */
  readonly asksForChess960?: boolean;
  /** Largest number of moves of the main line to read. */
  readonly maxPlies?: number;
}

export interface PgnMove {
  readonly uci: string;
  readonly san: string;
}

/**
 * Fails for a game of an unknown variant, a tag longer than any, with an illegal FEN or first move, or with nothing in it. A null move
 * ends the main line: it and what follows become a variation.
 */
export function readPgnGame(source: PgnText, { asksForChess960, maxPlies }: PgnReading = {}): Result<PgnGame> {
  const { text, line, isTooLong, notes = [], lacksResult = false } = source;
  if (isTooLong) return failure(`line ${line}: no game is that long`);
  const { tags, tree, offsets, strays, notes: read, isEmpty, isTooRich } = parsePgn(text, source.openEnd !== undefined);
  if (isTooRich) return failure(`line ${line}: no game has so many moves and comments`);
  for (const [name, value] of tags) {
    if (name.length + value.length > LONGEST_TAG) return failure(`line ${line}: no tag is as long as ${cutText(name)}`);
  }
  if (isEmpty && tags.size === 0) return failure(`line ${line}: there are no tags, no moves and no result`);
  const start = createPgnStart(tags, asksForChess960);
  if (!start.ok) return failure(`line ${line}: ${start.error}`);
  const { position, startFen, isChess960, notes: dropped } = start.value;
  const moves: Move[] = [];
  const forfeited: string[] = [];
  let problem: string | null = null;
  const nameLine = (offset: number): string => `line ${line + text.slice(0, offset).split('\n').length - 1}`;
  let before: PgnNode | null = null;
  let last: PgnNode = tree.moves;
  while (last.children.length > 0 && moves.length < (maxPlies ?? Number.POSITIVE_INFINITY)) {
    const node: PgnMoveNode = last.children[0];
    const { san } = node.data;
    const move = parseSan(position, san);
    if (!move.ok) {
      const offset = offsets[moves.length];
      if (last instanceof PgnMoveNode && isLostGame(node, last, tree, text.slice(offset, offset + 20))) {
        last.data.comments = [...(last.data.comments ?? []), ...(node.data.comments ?? [])];
        last.children = [];
        forfeited.push(...writeForfeit(tree.headers, '0-0'));
        break;
      }
      const place = `${(position.gamePly >> 1) + 1}${position.sideToMove === 0 ? '.' : '...'}${san}`;
      const stray = strays.find(({ ply }) => ply === moves.length);
      const cause = stray === undefined ? '' : `; before it stands ${quoteWords(stray)}, which is no move`;
      problem = `${nameLine(offset)}, move ${place}: ${move.error}${cause}`;
      if (isNullMove(san)) leaveMainLine(before, last);
      else if (moves.length === 0) return failure(problem);
      break;
    }
    moves.push(move.value);
    position.makeMove(move.value);
    before = last;
    last = node;
  }
  const isOver = lacksResult && problem === null && ENDS.includes(computeOutcome(position));
  const openEnd = source.openEnd ?? (lacksResult && !isOver ? MISSING_RESULT : null);
  const stray =
    problem === null && maxPlies === undefined ? strays.find(({ ply }) => ply > 0 || moves.length === 0) : undefined;
  const kept = stray && `${nameLine(stray.offset)}: ${quoteWords(stray)} is no move, and is kept as a comment`;
  const game = {
    tags: tree.headers,
    startFen,
    isChess960,
    notes: [...notes, ...read, ...dropped, ...forfeited, ...[kept, openEnd].filter((note) => note != null)],
    openEnd,
  };
  const result = readResult(tree.headers.get('Result') ?? '*') ?? '*';
  return success({ ...game, moves, problem, result, tree, end: position });
}

const MISSING_RESULT = 'The text ends before the result of its last game: the rest of it is missing';
/** A game that ends so needs no result behind it. */
const ENDS: readonly Outcome[] = ['checkmate', 'stalemate', 'insufficient-material'];
const ZEROS = new RegExp(`^(?:\\d{1,4}[.\\s]{1,9})?0[${DASHES}]0(?![\\w${DASHES}])`);

/** Castling that is not legal, with zeros, at the end of a game without another result: both lost. */
function isLostGame(node: PgnMoveNode, last: PgnNode, { headers }: PgnTree, text: string): boolean {
  const isAlone = node.children.length === 0 && last.children.length === 1;
  return isAlone && node.data.san === 'O-O' && headers.get('Result') === '*' && ZEROS.test(text);
}

/** What follows a main line's last move becomes a variation that begins with this move. @param before null = there is no such move */
function leaveMainLine(before: PgnNode | null, last: PgnNode): void {
  if (before === null || !(last instanceof PgnMoveNode)) return;
  before.add({ san: last.data.san }).children = last.children;
  last.children = [];
}

function quoteWords({ text }: StrayWords): string {
  return `"${cutText(text.replace(/\s+/g, ' '))}"`;
}

/** Name of the game in messages: `Game 3 (Tal - Fischer)`. */
export function nameGame({ text, number }: PgnText): string {
  const tags = parsePgnTags(text);
  const players = `${cutText(tags.get('White') ?? '?')} - ${cutText(tags.get('Black') ?? '?')}`;
  return players === '? - ?' ? `Game ${number}` : `Game ${number} (${players})`;
}

/** The moves that were read, in standard SAN. */
export function spellMoves({ startFen, moves, isChess960 }: PgnGame): PgnMove[] {
  const sans = formatSanLine(unwrap(parseFen(startFen)), moves);
  return sans.map((san, ply) => ({ uci: formatUciMove(moves[ply], isChess960), san }));
}

/**
 * Plays all lines of a tree, main lines first.
 * @param start is left as it was
 * @param visit gets what it returned for the parent, a node, its move, and the position before it; the move is NO_MOVE for a
 * null move, and null for an illegal one; below that, and where it returns null, nothing is visited
 */
export function walkLines<Owner>(
  moves: PgnNode,
  start: Position,
  root: Owner,
  visit: (parent: Owner, node: PgnMoveNode, move: Move | null, position: Position) => Owner | null,
): void {
  const stack = [{ node: moves, next: 0, isMade: false, owner: root, position: start }];
  for (let top = stack.at(-1); top !== undefined; top = stack.at(-1)) {
    const { owner, position } = top;
    if (top.next === top.node.children.length) {
      if (top.isMade) position.unmakeMove();
      stack.pop();
      continue;
    }
    const node = top.node.children[top.next++];
    const passed = isNullMove(node.data.san) ? passTurn(position) : null;
    const move = passed?.ok ? success(NO_MOVE) : parseSan(position, node.data.san);
    const child = visit(owner, node, move.ok ? move.value : null, position);
    if (child === null) continue;
    if (passed?.ok) stack.push({ node, next: 0, isMade: false, owner: child, position: passed.value });
    else if (move.ok) {
      position.makeMove(move.value);
      stack.push({ node, next: 0, isMade: true, owner: child, position });
    }
  }
}

/** Written as every program reads it. */
const PLAIN_FEN = /^\S+ [wb] (?:-|K?Q?k?q?) (?:-|[a-h][36]) \d{1,4} [1-9]\d{0,3}$/;

/**
 * The position before the first move. A variant with other rules is an error that names it.
 * @param asksForChess960 read the game as Chess960 even if neither tag nor FEN says so
 */
function createPgnStart(tags: ReadonlyMap<string, string>, asksForChess960 = false): Result<PgnStart> {
  const variant = readVariant(tags);
  if (!variant.ok) return variant;
  const written = tags.get('FEN') ?? '';
  const isStandard = /^[?*-]?$/.test(written);
  const notes: string[] = [];
  const position = parseFen(isStandard ? START_FEN : written, notes);
  if (!position.ok) return position;
  const isChess960 = asksForChess960 || variant.value || hasChess960Castling(position.value);
  const isPlain = notes.length === 0 && PLAIN_FEN.test(written);
  const startFen = isStandard ? START_FEN : isPlain ? written : formatFen(position.value);
  return success({ position: position.value, startFen, isChess960, notes });
}
