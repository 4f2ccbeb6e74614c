/** Legal moves as a list, for code that is not in a hurry. */
import type { Move } from './move.js';
import type { Position } from './position.js';

export function listLegalMoves(position: Position): Move[] {
  const moves = new Uint16Array(256);
  const count = position.generateLegalMoves(moves);
  return Array.from(moves.subarray(0, count), (move) => move as Move);
}
