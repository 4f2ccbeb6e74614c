/**
 * The pieces on a board, without the game that led there: what move generation and castling read of a Position. The
 * interface lets them do so without importing the class, which imports them.
 */
import { BISHOP, type Color, KNIGHT, PAWN, QUEEN, ROOK } from './piece.js';
import { popCount64 } from './square.js';

export interface Board {
  /**
   * Set of squares of each piece code, two words each: low word (squares 0..31) at `2 * code`, high word after it.
   * Code 0 holds all white pieces, code 8 all black pieces.
   */
  readonly masks: Int32Array;
  readonly sideToMove: Color;
  /** NO_SQUARE unless a legal en passant capture exists. */
  readonly enPassantSquare: number;
  /** [white h-side, white a-side, black h-side, black a-side]: square of the rook that may castle, or NO_SQUARE. */
  readonly castlingRooks: Int8Array;
  kingSquare(color: Color): number;
}

/** Squares of one colour. Both words have the same pattern, since a word holds four whole ranks. */
const LIGHT_SQUARES = 0x55aa55aa;

/**
 * Whether no sequence of moves can mate, as lc0 judges it (ChessBoard::HasMatingMaterial): a pawn, rook or queen can
 * mate, and so can two knights. Bare kings, a single minor piece, and any number of bishops on squares of one colour
 * cannot.
 */
export function hasInsufficientMaterial({ masks }: Board): boolean {
  for (let word = 0; word < 2; word++) {
    const white = masks[2 * PAWN + word] | masks[2 * ROOK + word] | masks[2 * QUEEN + word];
    const black = masks[16 + 2 * PAWN + word] | masks[16 + 2 * ROOK + word] | masks[16 + 2 * QUEEN + word];
    if (white | black) return false;
  }
  if (popCount64(masks[0] | masks[16], masks[1] | masks[17]) < 4) return true;
  if (masks[2 * KNIGHT] | masks[2 * KNIGHT + 1] | masks[16 + 2 * KNIGHT] | masks[17 + 2 * KNIGHT]) return false;
  const low = masks[2 * BISHOP] | masks[16 + 2 * BISHOP];
  const high = masks[2 * BISHOP + 1] | masks[17 + 2 * BISHOP];
  const light = (low | high) & LIGHT_SQUARES;
  const dark = (low | high) & ~LIGHT_SQUARES;
  return light === 0 || dark === 0;
}
