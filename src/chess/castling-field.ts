/**
 * The castling field of FEN, X-FEN and Shredder-FEN ↔ the squares of the rooks that may castle. K and Q mean the
 * outermost rook on that side of the king (X-FEN); A to H name the rook's file (Shredder-FEN). All may be mixed.
 */
import { failure, type Result, success } from '../util/index.js';
import type { FenStyle } from './fen.js';
import { BLACK, type Color, colorName, KING, ROOK, WHITE } from './piece.js';
import type { Position } from './position.js';
import { formatSquare, NO_SQUARE } from './square.js';

/** Rook squares in the order of Position.castlingRooks. */
export function parseCastlingField(text: string, board: Int8Array): Result<Int8Array> {
  const rooks = new Int8Array(4).fill(NO_SQUARE);
  if (text === '-') return success(rooks);
  for (const letter of text) {
    const upper = letter.toUpperCase();
    if (!/^[KQA-H]$/.test(upper))
      return failure(`The castling field "${text}" contains "${letter}", which means nothing there`);
    const color: Color = letter === upper ? WHITE : BLACK;
    const firstRank = color * 56;
    const king = board.indexOf(KING | (color << 3));
    if (king >> 3 !== firstRank >> 3) {
      return failure(`Castling right ${letter} is impossible: ${colorName(color)}'s king is not on its first rank`);
    }
    const rook = findRook(board, color, king, upper);
    if (rook === NO_SQUARE) {
      const place =
        upper === 'K' || upper === 'Q'
          ? `on the ${upper === 'K' ? 'h' : 'a'}-side of the king on ${formatSquare(king)}`
          : `on ${formatSquare(firstRank + upper.charCodeAt(0) - 65)}`;
      return failure(`Castling right ${letter} is impossible: ${colorName(color)} has no rook ${place}`);
    }
    const index = 2 * color + (rook > king ? 0 : 1);
    if (rooks[index] !== NO_SQUARE && rooks[index] !== rook) {
      return failure(`The castling field "${text}" names two rooks on one side of ${colorName(color)}'s king`);
    }
    rooks[index] = rook;
  }
  return success(rooks);
}

export function formatCastlingField(position: Position, style: FenStyle): string {
  let text = '';
  for (let index = 0; index < 4; index++) {
    const rook = position.castlingRooks[index];
    if (rook === NO_SQUARE) continue;
    const color: Color = index < 2 ? WHITE : BLACK;
    const side = index % 2 === 0 ? 'K' : 'Q';
    const isOutermost = findRook(position.board, color, position.kingSquare(color), side) === rook;
    const plain = style === 'fen' || (style === 'x-fen' && isOutermost);
    const letter = plain ? side : 'ABCDEFGH'[rook & 7];
    text += color === WHITE ? letter : letter.toLowerCase();
  }
  return text === '' ? '-' : text;
}

/** The rook meant by a letter (upper case) of the castling field, NO_SQUARE when it is not there. */
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
