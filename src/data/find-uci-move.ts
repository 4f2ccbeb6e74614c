/** UCI texts against moves that are generated already; chess/ explains errors, this is for millions of correct ones. */
import type { Move, Position } from '../chess/index.js';

/** The move among `legalMoves` that the text means, in either castling spelling; undefined when none. */
export function findUciMove(
  position: Position,
  legalMoves: Uint16Array,
  legalCount: number,
  text: string,
): Move | undefined {
  const from = text.charCodeAt(0) - 97 + 8 * (text.charCodeAt(1) - 49);
  const to = text.charCodeAt(2) - 97 + 8 * (text.charCodeAt(3) - 49);
  if (!(from >= 0 && from < 64 && to >= 0 && to < 64)) return undefined;
  const promotion = text.length === 5 ? '  nbrq'.indexOf(text[4]) : 0;
  const wanted = from | (to << 6) | (promotion << 12);
  for (let i = 0; i < legalCount; i++) if ((legalMoves[i] & 0x7fff) === wanted) return legalMoves[i] as Move;
  if (position.kingSquare(position.sideToMove) !== from || Math.abs(to - from) !== 2) return undefined;
  for (let i = 0; i < legalCount; i++) {
    const move = legalMoves[i];
    if (move & 0x8000 && ((move >> 6) & 63) > from === to > from) return move as Move;
  }
  return undefined;
}
