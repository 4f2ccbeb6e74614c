/**
 * Random words for 64-bit position keys that a move updates instead of computing anew (Zobrist 1970). A key is the
 * exclusive or of one entry for each thing below that holds in the position; an entry is two int32 words. The seed is
 * fixed, so every thread and every run gives a position the same key.
 *
 *   PIECE_KEYS        a piece on a square
 *   CASTLING_KEYS     a right to castle, by the square of its rook, which tells Chess960 rights apart
 *   EN_PASSANT_KEYS   a legal en passant capture, by file
 *   SIDE_KEY          Black to move
 */

import { createPrng } from '../../base/util/index.js';

const SEED = 0x5a4d0217;

/** Index `2 * square + 128 * code`. */
export const PIECE_KEYS = new Int32Array(16 * 64 * 2);
/** Index `2 * square`. */
export const CASTLING_KEYS = new Int32Array(64 * 2);
/** Index `2 * file`. */
export const EN_PASSANT_KEYS = new Int32Array(8 * 2);
export const SIDE_KEY = new Int32Array(2);

const prng = createPrng(SEED);
for (const table of [PIECE_KEYS, CASTLING_KEYS, EN_PASSANT_KEYS, SIDE_KEY]) {
  for (let i = 0; i < table.length; i++) table[i] = prng.next32();
}
