/** A slow, simple, obviously right search for mates, to compare others with. */
import { listLegalMoves, type Move, type Position } from '#sardonyx/chess/rules/index.js';

/** Moves to the shortest mate of the side to move, at most `most`; null without one. */
export function solve(position: Position, most: number): number | null {
  for (let length = 1; length <= most; length++) {
    for (const move of listLegalMoves(position)) {
      position.makeMove(move);
      const isMate = isLost(position, length - 1);
      position.unmakeMove();
      if (isMate) return length;
    }
  }
  return null;
}

/** Whether the side to move is mated now or after `moves` more moves of its opponent. */
export function isLost(position: Position, moves: number): boolean {
  if (moves === 0 && !position.inCheck()) return false;
  const replies = listLegalMoves(position);
  if (replies.length === 0) return position.inCheck();
  return moves > 0 && replies.every((reply) => solveAfter(position, reply, moves) !== null);
}

export function solveAfter(position: Position, move: Move, most: number): number | null {
  position.makeMove(move);
  const length = solve(position, most);
  position.unmakeMove();
  return length;
}
