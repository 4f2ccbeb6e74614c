/**
 * Perft: the number of move sequences of a given length, the usual test of move generation. It counts the moves of the
 * last ply without making them ("bulk counting").
 */
import { listLegalMoves, MAX_MOVES } from './generate.js';
import type { Move } from './move.js';
import type { Position } from './position.js';

/** @param depth plies; 0 or less gives 1 */
export function perft(position: Position, depth: number): number {
  if (depth <= 0) return 1;
  return countLeaves(position, depth, new Uint16Array(depth * MAX_MOVES), 0);
}

/** Perft of the position after each legal move, one move after the other in the order of generation; depth 1 gives 1 for each. */
export function* perftDivide(position: Position, depth: number): Generator<{ move: Move; nodes: number }> {
  for (const move of listLegalMoves(position)) {
    position.makeMove(move);
    const nodes = perft(position, depth - 1);
    position.unmakeMove();
    yield { move, nodes };
  }
}

function countLeaves(position: Position, depth: number, moves: Uint16Array, offset: number): number {
  if (depth === 1) return position.countLegalMoves();
  const end = offset + position.generateLegalMoves(moves, offset);
  let nodes = 0;
  for (let i = offset; i < end; i++) {
    position.makeMove(moves[i] as Move);
    nodes += countLeaves(position, depth - 1, moves, end);
    position.unmakeMove();
  }
  return nodes;
}
