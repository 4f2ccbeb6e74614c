/** The hash of a game: FNV-1a over what identifies it. It decides the split, and is the name of the game in shards. */

export const EMPTY_GAME_HASH = 0x811c9dc5;

/** FNV-1a over the low bytes of the text, continued from `hash`; an unsigned 32-bit integer. */
export function hashText(hash: number, text: string): number {
  return hashBytes(hash, Buffer.from(text, 'latin1'));
}

/** The same over bytes. */
export function hashBytes(hash: number, bytes: Uint8Array): number {
  let h = hash | 0;
  for (let i = 0; i < bytes.length; i++) h = Math.imul(h ^ bytes[i], 0x01000193);
  return h >>> 0;
}

/** The same over 16-bit moves. */
export function hashMoves(hash: number, moves: readonly number[]): number {
  let h = hash | 0;
  for (const move of moves) h = Math.imul(Math.imul(h ^ (move & 0xff), 0x01000193) ^ (move >> 8), 0x01000193);
  return h >>> 0;
}
