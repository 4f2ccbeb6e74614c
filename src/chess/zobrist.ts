/**
 * Random words for incremental 64-bit position keys (Zobrist 1970), as pairs of int32. The seed is fixed, so every
 * thread and every run gives a position the same key. Castling rights are keyed by the square of the rook that may
 * castle, which tells Chess960 rights apart; en passant by file, only when a legal capture exists.
 */
import { createPrng } from '../util/index.js';

const SEED = 0x5a4d0217;

/** Two words each: index `2 * square + 128 * code`. */
export const PIECE_KEYS = new Int32Array(16 * 64 * 2);
/** Two words each, by square of the castling rook. */
export const CASTLING_KEYS = new Int32Array(64 * 2);
/** Two words each, by file of the en passant square. */
export const EN_PASSANT_KEYS = new Int32Array(8 * 2);
/** Part of the key while Black is to move. */
export const SIDE_KEY = new Int32Array(2);

const prng = createPrng(SEED);
for (const table of [PIECE_KEYS, CASTLING_KEYS, EN_PASSANT_KEYS, SIDE_KEY]) {
  for (let i = 0; i < table.length; i++) table[i] = prng.next32();
}
