/**
 * Reads the position of a training record, for encodings other than the record's own. The record has no moves, so the position
 * has no history.
 */
import { BLACK, type Color, type Position, parseFen, WHITE } from '../chess/index.js';
import { invertTransform, type Lc0Format, transformSquare } from '../encoding/index.js';
import { type Result, success } from '../util/index.js';
import { V6_BLACK_TO_MOVE, type V6Record } from './v6-record.js';

/** The only transform there is while pawns are on the board. */
const FLIP_FILES = 1;
const PIECE_LETTERS = 'PNBRQKpnbrqk';
function hasBit(masks: Uint32Array, plane: number, square: number): boolean {
  return ((masks[2 * plane + (square >> 5)] >>> (square & 31)) & 1) === 1;
}

function swapCase(letter: string): string {
  return letter < 'a' ? letter.toLowerCase() : letter.toUpperCase();
}

function formatBoard(record: V6Record, transform: number, mover: Color): string {
  const letters = new Array<string>(64).fill('');
  const back = invertTransform(transform);
  for (let plane = 0; plane < 12; plane++) {
    for (let seen = 0; seen < 64; seen++) {
      if (!hasBit(record.masks, plane, seen)) continue;
      const square = transformSquare(seen, back);
      if (mover === BLACK) letters[square ^ 56] = swapCase(PIECE_LETTERS[plane]);
      else letters[square] = PIECE_LETTERS[plane];
    }
  }
  const ranks: string[] = [];
  for (let rank = 7; rank >= 0; rank--) {
    const row = letters.slice(rank * 8, rank * 8 + 8).map((letter) => letter || '.');
    ranks.push(row.join('').replace(/\.+/g, (empty) => String(empty.length)));
  }
  return ranks.join('/');
}

/** `KQkq` in the classical format, which does not say where the rooks are; else Shredder letters. */
function formatCastling(record: V6Record, format: Lc0Format, mover: Color): string {
  let field = '';
  for (const i of [1, 0, 3, 2]) {
    const rook = record.castling[i];
    if (rook === 0) continue;
    const letter = format.castlingRooks ? 'ABCDEFGH'[31 - Math.clz32(rook)] : i % 2 === 1 ? 'K' : 'Q';
    field += i < 2 === (mover === WHITE) ? letter : letter.toLowerCase();
  }
  // White's rights come first in a FEN.
  return [...field].sort().join('') || '-';
}

/** The file on which the opponent's pawn has just moved two squares, or -1. */
function findEnPassantFile(record: V6Record, format: Lc0Format, transform: number): number {
  if (format.canonical) {
    const file = record.sideOrEnPassant === 0 ? -1 : 31 - Math.clz32(record.sideOrEnPassant);
    return file < 0 ? -1 : transformSquare(file, transform & FLIP_FILES);
  }
  const theirPawns = 6;
  const theirPawnsBefore = 13 + 6;
  for (let file = 0; file < 8; file++) {
    const wasHome = hasBit(record.masks, theirPawnsBefore, 48 + file) && !hasBit(record.masks, theirPawns, 48 + file);
    const isThere = hasBit(record.masks, theirPawns, 32 + file) && !hasBit(record.masks, theirPawnsBefore, 32 + file);
    if (wasHome && isThere) return file;
  }
  return -1;
}

export function getMover(record: V6Record, format: Lc0Format): Color {
  const isBlack = format.canonical ? (record.invariance & V6_BLACK_TO_MOVE) !== 0 : record.sideOrEnPassant !== 0;
  return isBlack ? BLACK : WHITE;
}

/** The position of a record: `expected`, which has a history, if it is that one. */
export function findPosition(expected: Position | null, record: V6Record, format: Lc0Format): Result<Position> {
  const rebuilt = rebuildPosition(record, format);
  if (!rebuilt.ok || expected === null) return rebuilt;
  const isExpected = rebuilt.value.keyLow === expected.keyLow && rebuilt.value.keyHigh === expected.keyHigh;
  return isExpected ? success(expected) : rebuilt;
}

export function rebuildPosition(record: V6Record, format: Lc0Format): Result<Position> {
  const transform = format.canonical ? record.invariance & 7 : 0;
  const mover = getMover(record, format);
  const file = findEnPassantFile(record, format, transform);
  const enPassant = file < 0 ? '-' : 'abcdefgh'[file] + (mover === WHITE ? '6' : '3');
  const board = formatBoard(record, transform, mover);
  const castling = formatCastling(record, format, mover);
  return parseFen(`${board} ${mover === WHITE ? 'w' : 'b'} ${castling} ${enPassant} ${record.rule50} 1`);
}
