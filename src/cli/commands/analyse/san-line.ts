/** Lines in SAN for people: by chess.js, and by our own rules where it cannot follow: Chess960, positions it refuses. */
import { Chess } from 'chess.js';
import { formatFen, formatSanLine, formatUciMove, type Move, type Position } from '../../../chess/index.js';

/** @param moves legal one after the other from `position`, which is left as it was */
export function describeSanLine(position: Position, moves: readonly Move[], isChess960: boolean): string[] {
  if (isChess960) return formatSanLine(position, moves);
  try {
    const chess = new Chess(formatFen(position));
    return moves.map((move) => chess.move(formatUciMove(move, false)).san);
  } catch {
    return formatSanLine(position, moves);
  }
}
