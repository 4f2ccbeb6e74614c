/**
 * Dead positions by material, as lc0 counts them (ChessBoard::HasMatingMaterial): a pawn, rook or queen can mate; of
 * the rest bare kings, one minor piece, and any number of bishops all on squares of one colour cannot. Two knights can.
 */
import { popCount64 } from './bits.js';
import { BISHOP, KNIGHT, PAWN, QUEEN, ROOK } from './piece.js';

/** Squares of one colour have the same pattern in both words, since a word holds four whole ranks. */
const LIGHT_SQUARES = 0x55aa55aa;

/** `masks` as in Position: two words a piece code. */
export function hasInsufficientMaterial(masks: Int32Array): boolean {
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
