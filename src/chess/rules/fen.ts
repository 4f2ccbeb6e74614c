/**
 * FEN, X-FEN, Shredder-FEN and EPD ↔ Position. GUIs leave out fields from the right; those take their usual values.
 * The parser refuses positions in which the rules make no sense: a missing or second king, pawns on the first or last
 * rank, more pieces than a side can have, the side not to move in check. It drops, with a note, what changes no rule of the
 * position: castling rights without king and rook in place, an impossible en passant square, a counter that is no number or beyond any game.
 * It reads past what people and programs put around a FEN: quotation marks, `FEN:`, a semicolon, underscores for blanks. A FEN alone and
 * one in a list are read alike.
 * Source: FEN in the PGN standard 16.1; chessprogramming wiki, "Forsyth-Edwards Notation", X-FEN and Shredder-FEN.
 */
import { countOf, cutText, failure, type Result, success } from '../../base/util/index.js';
import {
  BLACK,
  type Color,
  colorName,
  formatPiece,
  formatSquare,
  KING,
  NO_SQUARE,
  PAWN,
  parsePiece,
  parseSquare,
  QUEEN,
  WHITE,
} from './board.js';
import { type FenStyle, formatCastlingField, parseCastlingField } from './castling-field.js';
import { Position } from './position.js';

export const START_FEN = 'rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1';

/**
 * The position of a FEN, or of the word startpos; else one sentence that says what is wrong with the text.
 * @param notes receives a sentence for everything that was dropped
 */
export function parseFen(text: string, notes: string[] = []): Result<Position> {
  const { fields, behind } = splitFen(text);
  if (/^moves\b/i.test(behind) || UCI_MOVES.test(behind))
    return failure('Moves stand behind the FEN, where it must end');
  const position = readFields(addCounters(fields, parseOperations(behind)), notes);
  const unread = behind.replace(/(?:^|\s|;)(?:hmvc|fmvn)\s+\d+/gi, '').replace(/^[\s;]+/, '');
  if (position.ok && unread !== '') noteUnread(unread, notes);
  return position;
}

/** Operations of EPD give the counters that have no fields. */
function addCounters(fields: readonly string[], operations: EpdLine['operations']): string[] {
  const [halfMoves, fullMoves] = [operations.get('hmvc')?.[0], operations.get('fmvn')?.[0]];
  if (fields.length === 0 || (halfMoves ?? fullMoves) === undefined) return [...fields];
  return [...fields, ...['', 'w', '-', '-', halfMoves ?? '-', fullMoves ?? '-'].slice(fields.length)];
}

function noteUnread(behind: string, notes: string[]): void {
  notes.push(`What stands behind the FEN was not read: ${cutText(behind)}`);
}

/** @param fields the first one at least; those that are missing take their usual values */
function readFields(fields: readonly string[], notes: string[]): Result<Position> {
  if (fields.length === 0) return failure('The FEN is empty');
  const [placement, side = 'w', castling = '-', enPassant = '-', halfMoves = '-', fullMoves = '-'] = fields;

  if (!placement.includes('/')) {
    const shape = `one begins with eight ranks and a / between them, as in ${START_FEN}`;
    return failure(`"${cutText(fields.join(' '))}" is not a FEN: ${shape}`);
  }
  const board = parsePlacement(placement);
  if (!board.ok) return board;
  const wrongPieces = findWrongPieces(board.value);
  if (wrongPieces !== '') return failure(wrongPieces);

  if (!/^(?:[wb]|white|black)$/i.test(side))
    return failure(`The side to move must be w or b, not "${side.slice(0, 40)}"`);
  const sideToMove: Color = /^w/i.test(side) ? WHITE : BLACK;
  const castlingRooks = parseCastlingField(castling, board.value, notes);
  if (!castlingRooks.ok) return castlingRooks;
  const enPassantSquare = parseEnPassant(enPassant, board.value, sideToMove, notes);
  if (!enPassantSquare.ok) return enPassantSquare;
  const rule50 = parseCounter('half-move clock', halfMoves, 0, notes);
  const moveNumber = parseCounter('move number', fullMoves, 1, notes);

  const position = new Position();
  position.setUp({
    board: board.value,
    sideToMove,
    castlingRooks: castlingRooks.value,
    enPassantSquare: enPassantSquare.value,
    rule50,
    gamePly: 2 * Math.max(0, moveNumber - 1) + sideToMove,
  });
  const opponent = sideToMove === WHITE ? BLACK : WHITE;
  if (position.isKingAttacked(opponent))
    return failure(`${colorName(opponent)} is in check although it is ${colorName(sideToMove)}'s turn to move`);
  return success(position);
}

/** A FEN that `parseFen` reads back. Counters above its limit are written as the limit. */
export function formatFen(position: Position, style: FenStyle = 'x-fen'): string {
  const enPassant = position.enPassantSquare;
  return [
    formatPlacement(position.board),
    position.sideToMove === WHITE ? 'w' : 'b',
    formatCastlingField(position, style),
    enPassant === NO_SQUARE ? '-' : formatSquare(enPassant),
    Math.min(position.rule50, LARGEST_COUNTER),
    Math.min((position.gamePly >> 1) + 1, LARGEST_COUNTER),
  ].join(' ');
}

/** What files, mails and other programs' commands put before a position: its number in a list, quotation marks, `FEN:`. */
const BEFORE_FEN =
  /^\s{0,99}(?:\d{1,9}(?:[.):,]\s{0,9}|\s{1,9})(?=["'`[]{0,3}(?:position\s|fen\b|startpos\b|[^\s/]{1,16}\/)))?["'`[\s]{0,9}(?:position\s{1,9})?(?:fen\b[\s:="'`]{0,9})?/i;
/** Seven slashes in a word. */
const BOARD = /^(?:[^\s/"']{1,16}\/){7}[^\s/]{1,16}(?:[\s_]|$)/;
const TAG = /^\s{0,99}\[\s{0,9}[a-z]/i;

/** Whether a line of a file is meant as a position, with whatever stands around it; PGN's tag FEN is not. */
export function looksLikeFen(line: string): boolean {
  const [before] = BEFORE_FEN.exec(line) ?? [''];
  const text = line.slice(before.length);
  return !TAG.test(line) && (/fen\b/i.test(before) || /^startpos\b/i.test(text) || BOARD.test(text));
}

/** The FEN, and what follows it on its line, without what stands around them. */
function cleanFenText(text: string): string {
  const [before] = BEFORE_FEN.exec(text) ?? [''];
  const behind = /["'`[]/.test(before) ? '"\'`;,]' : ';,';
  let end = text.length;
  while (end > before.length && (behind.includes(text[end - 1]) || text[end - 1].trim() === '')) end--;
  const cleaned = text.slice(before.length, end).replace(/^startpos\b/i, START_FEN);
  return (/\s/.test(cleaned) ? cleaned : cleaned.replace(/_/g, ' ')).trim();
}

/** A FEN's words, six at most, and the operations or other text behind them. */
function splitFen(line: string): { fields: string[]; behind: string } {
  // Programs that write C strings leave zeros at the ends of lines.
  const text = cleanFenText(line.replace(/\p{Cc}/gu, ' '));
  const fields: string[] = [];
  let at = 0;
  for (const [field, word] of text.matchAll(/([^\s;]+)\s*/gy)) {
    const isEnPassant = fields.length === 3 && /^c\d$/i.test(word) && text[at + field.length] !== '"';
    if (fields.length === 4 || (fields.length > 1 && EPD_OPCODE.test(word) && !isEnPassant)) break;
    fields.push(word);
    at += field.length;
  }
  if (fields.length < 4) return { fields, behind: text.slice(at) };
  const rest = text.slice(at);
  const mayBeWords = /^[a-z]\S*(?:\s+\S+)?$|^\S+\s+[a-z]\S*$/i.test(rest) && !/[;"]/.test(rest);
  for (const [counter, word] of rest.matchAll(/([^\s;,|"]+)[\s;,|"]*/gy)) {
    const isCounter = /^[^a-z#%/]/i.test(word) || (mayBeWords && /^[a-z]/i.test(word) && !EPD_OPCODE.test(word));
    if (fields.length === 6 || !isCounter || UCI_MOVES.test(word)) break;
    fields.push(word);
    at += counter.length;
    if (/[;|"]/.test(counter)) break;
  }
  return { fields, behind: text.slice(at) };
}

/** A line of an EPD or FEN list. */
export interface EpdLine {
  readonly fen: string;
  /** Operands by opcode in small letters (`bm`, `id`, …); an operation that stands several times has the operands of all. */
  readonly operations: ReadonlyMap<string, readonly string[]>;
}

/**
 * EPD has four fields and then operations, of which `hmvc` and `fmvn` set the counters. Many opening books mix both forms, so words
 * for a FEN's counters may stand before the operations.
 * @param notes as of parseFen
 */
export function parseEpdLine(line: string, notes: string[] = []): Result<EpdLine> {
  const { fields, behind } = splitFen(line);
  const operations = parseOperations(behind);
  const position = readFields(addCounters(fields, operations), notes);
  if (!position.ok) return position;
  // Moves of a table's next column, for one.
  if (/^[a-h][1-8][a-h][1-8]/.test(behind)) noteUnread(behind, notes);
  return success({ fen: formatFen(position.value), operations });
}

/** Nothing but moves: whoever forgets the word `moves` must not get an answer for another position. */
const UCI_MOVES = /^(?:[a-h][1-8][a-h][1-8][nbrq]?(?:\s+|$))+$/i;

/** Operations that stand behind a position without castling rights or en passant square. */
const EPD_OPCODE = /^(?:[abdps]m|id|ce|pv|[cv]\d|acd|acn|acs|eco|hmvc|fmvn|moves):?$/i;

/** Whether an operation begins where the semicolon before it was forgotten; `c4` is a move, unless a text follows. */
function beginsOperation(token: string, text: string, at: number): boolean {
  return (
    EPD_OPCODE.test(token) &&
    (!/^[cv]\d/i.test(token) || /^\s*"/.test(text.slice(at + token.length, at + token.length + 9)))
  );
}

/** `opcode operand …;`: an operand in quotation marks may hold blanks and semicolons, and a backslash before its marks. */
function parseOperations(text: string): Map<string, string[]> {
  const operations = new Map<string, string[]>();
  let operands: string[] | null = null;
  /** Words of a remark without quotation marks are no opcodes. */
  let isInText = false;
  for (const { 0: token, 1: quoted, index } of text.matchAll(/"((?:[^"\\]|\\.)*)"?|;|[^\s;]+/g)) {
    const isForgotten = operands !== null && operands.length > 0 && !isInText && beginsOperation(token, text, index);
    if (token === ';') operands = null;
    else if (operands !== null && !isForgotten)
      operands.push(quoted === undefined ? token : quoted.replace(/\\(.)/g, '$1'));
    else {
      const opcode = token.toLowerCase().replace(/:$/, '');
      isInText = /^[cv]\d$/.test(opcode) && text[index + token.length + 1] !== '"';
      operands = operations.get(opcode) ?? [];
      operations.set(opcode, operands);
    }
  }
  return operations;
}

function parsePlacement(text: string): Result<Int8Array> {
  const board = new Int8Array(64);
  // Crazyhouse marks promoted pieces with ~.
  const ranks = text.replaceAll('~', '').split('/');
  if (ranks.length !== 8) return failure(`The board of the FEN has ${ranks.length} ranks instead of 8`);
  for (let i = 0; i < 8; i++) {
    const rank = 7 - i;
    let file = 0;
    for (const letter of ranks[i]) {
      if (letter >= '1' && letter <= '8') {
        file += Number(letter);
        continue;
      }
      const code = parsePiece(letter);
      if (code === 0)
        return failure(`"${letter}" on rank ${rank + 1} of the FEN is neither a piece nor a number from 1 to 8`);
      if (file < 8) board[rank * 8 + file] = code;
      file++;
    }
    if (file !== 8) return failure(`Rank ${rank + 1} of the FEN has ${countOf(file, 'square')} instead of 8`);
  }
  return success(board);
}

/** The first field of a FEN. @param board piece codes by square */
export function formatPlacement(board: Int8Array): string {
  let text = '';
  for (let rank = 7; rank >= 0; rank--) {
    for (let file = 0; file < 8; file++) {
      text += formatPiece(board[rank * 8 + file]);
    }
    if (rank > 0) text += '/';
  }
  return text.replace(/ +/g, (empty) => String(empty.length));
}

/** Says why no game can have this board; '' if one can. The limits on pieces keep legal moves below MAX_MOVES. */
function findWrongPieces(board: Int8Array): string {
  const count = (code: number): number => board.reduce((sum, on) => sum + (on === code ? 1 : 0), 0);
  for (const color of [WHITE, BLACK] as const) {
    const name = colorName(color);
    const own = color << 3;
    const kings = count(KING | own);
    if (kings === 0) return `${name} has no king`;
    if (kings > 1) return `${name} has ${kings} kings`;
    const pawns = count(PAWN | own);
    if (pawns > 8) return `${name} has ${pawns} pawns, more than 8`;
    const queens = count(QUEEN | own);
    if (queens > 9) return `${name} has ${queens} queens, more than 9`;
    const pieces = board.reduce((sum, on) => sum + (on !== 0 && on >> 3 === color ? 1 : 0), 0);
    if (pieces > 16) return `${name} has ${pieces} pieces, more than 16`;
  }
  for (let file = 0; file < 8; file++) {
    for (const square of [file, 56 + file]) {
      if ((board[square] & 7) === PAWN) return `A pawn stands on ${formatSquare(square)}, which no pawn can reach`;
    }
  }
  return '';
}

function parseEnPassant(text: string, board: Int8Array, sideToMove: Color, notes: string[]): Result<number> {
  if (text === '-') return success(NO_SQUARE);
  const square = parseSquare(text.toLowerCase());
  if (square === NO_SQUARE) return failure(`The en passant field must be - or a square, not "${text}"`);
  const [rank, step] = sideToMove === WHITE ? [5, 8] : [2, -8];
  const victim = PAWN | ((sideToMove ^ 1) << 3);
  const isPossible =
    square >> 3 === rank && board[square - step] === victim && board[square] === 0 && board[square + step] === 0;
  if (isPossible) return success(square);
  notes.push(`The en passant square ${text} was dropped: no pawn can have just passed over it`);
  return success(NO_SQUARE);
}

/** Four digits are enough for any game, but an endless one can exceed them. */
const LARGEST_COUNTER = 9999;

/** @param missing the value of a field that is `-`, left out or no number */
function parseCounter(name: string, text: string, missing: number, notes: string[]): number {
  if (text === '-') return missing;
  const counter = /^\d+(?:\.\d*)?$/.test(text) ? Math.min(Math.floor(Number(text)), LARGEST_COUNTER) : missing;
  if (!/^\d+$/.test(text) || counter < Number(text)) notes.push(`The ${name} ${cutText(text)} was read as ${counter}`);
  return counter;
}
