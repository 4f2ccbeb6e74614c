/** Legal moves as a list, for code that is not in a hurry. */
import { MAX_MOVES } from './fen.js';
import type { Move } from './move.js';
import type { Position } from './position.js';

export function listLegalMoves(position: Position): Move[] {
  const moves = new Uint16Array(MAX_MOVES);
  const count = position.generateLegalMoves(moves);
  return Array.from(moves.subarray(0, count), (move) => move as Move);
}
