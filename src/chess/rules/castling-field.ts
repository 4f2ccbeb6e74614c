/**
 * The castling field of FEN, X-FEN and Shredder-FEN ↔ the squares of the rooks that may castle. K and Q mean the outermost rook
 * on that side of the king (X-FEN); A to H name the rook's file (Shredder-FEN). One field may mix both kinds.
 */

import { failure, type Result, success } from '../../base/util/index.js';
import { BLACK, type Color, colorName, formatSquare, KING, NO_SQUARE, ROOK, WHITE } from './board.js';
import type { Position } from './position.js';

/**
 * How to write castling rights. `x-fen` writes KQkq for an outermost rook and a file letter for any other, so for standard
 * chess it is plain FEN; `shredder` always writes file letters.
 */
export type FenStyle = 'x-fen' | 'shredder';

/**
 * Returns the rook squares in the order of Board.castlingRooks. A right that the board does not allow is dropped.
 * @param board 64 piece codes, a1 first
 * @param notes receives a sentence for each right that was dropped
 */
export function parseCastlingField(text: string, board: Int8Array, notes: string[]): Result<Int8Array> {
  const rooks = new Int8Array(4).fill(NO_SQUARE);
  if (/^-+$/.test(text)) return success(rooks);
  for (const letter of text) {
    const upper = letter.toUpperCase();
    if (!/^[KQA-H]$/.test(upper)) {
      return failure(
        `The castling field "${text.slice(0, 40)}" contains "${letter}"; allowed are K, Q and A to H in either case, or a single -`,
      );
    }
    const color: Color = letter === upper ? WHITE : BLACK;
    const firstRank = color * 56;
    const king = board.indexOf(KING | (color << 3));
    const drop = (why: string): number =>
      notes.push(`The castling right ${letter} was dropped: ${colorName(color)}${why}`);
    if (king >> 3 !== firstRank >> 3) {
      drop("'s king is not on its first rank");
      continue;
    }
    const rook = findRook(board, color, king, upper);
    if (rook === NO_SQUARE) {
      const isSide = upper === 'K' || upper === 'Q';
      const side = `on the ${upper === 'K' ? 'h' : 'a'}-side of the king on ${formatSquare(king)}`;
      drop(` has no rook ${isSide ? side : `on ${formatSquare(firstRank + upper.charCodeAt(0) - 65)}`}`);
      continue;
    }
    const index = 2 * color + (rook > king ? 0 : 1);
    if (rooks[index] !== NO_SQUARE && rooks[index] !== rook) {
      drop(' has another rook on that side of the king that may castle');
      continue;
    }
    rooks[index] = rook;
  }
  return success(rooks);
}

/** `-` if nobody may castle. */
export function formatCastlingField(position: Position, style: FenStyle): string {
  let text = '';
  for (let index = 0; index < 4; index++) {
    const rook = position.castlingRooks[index];
    if (rook === NO_SQUARE) continue;
    const color: Color = index < 2 ? WHITE : BLACK;
    const side = index % 2 === 0 ? 'K' : 'Q';
    const isOutermost = findRook(position.board, color, position.kingSquare(color), side) === rook;
    const letter = style === 'x-fen' && isOutermost ? side : 'ABCDEFGH'[rook & 7];
    text += color === WHITE ? letter : letter.toLowerCase();
  }
  return text === '' ? '-' : text;
}

/** Square of the rook that an upper-case letter of the field means, or NO_SQUARE if no rook stands there. */
function findRook(board: Int8Array, color: Color, king: number, letter: string): number {
  const rook = ROOK | (color << 3);
  const firstRank = color * 56;
  if (letter !== 'K' && letter !== 'Q') {
    const square = firstRank + letter.charCodeAt(0) - 65;
    return board[square] === rook ? square : NO_SQUARE;
  }
  const step = letter === 'K' ? -1 : 1;
  for (let square = letter === 'K' ? firstRank + 7 : firstRank; square !== king; square += step) {
    if (board[square] === rook) return square;
  }
  return NO_SQUARE;
}
