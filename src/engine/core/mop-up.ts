/**
 * How a queen or rook mates a bare king, for limited strength: nearly every move keeps such a win, so a network that is asked for a few
 * positions, or drawn from, gets nowhere. A search of four plies drives the king to the edge and brings the own king near. It won
 * 1,000 of 1,000 games with a queen or rook inside the fifty-move rule; two bishops, or bishop and knight, need more than this.
 *
 * Source: mop-up evaluation of Chess 4.x (Slate and Atkin 1977; chessprogramming wiki, "Mop-up Evaluation"). Measured against best
 * defence by scripts/lab/strength/endings.mjs; docs/dev/strength-log.md has the figures.
 */
import {
  BISHOP,
  KNIGHT,
  listLegalMoves,
  type Move,
  PAWN,
  type Position,
  QUEEN,
  ROOK,
} from '../../chess/rules/index.js';

const PLIES = 4;
const MATE = 1e9;
/** Pieces and their worth; more than the rest of the evaluation, so that none is given away. */
const MEN = [
  [PAWN, 1000],
  [KNIGHT, 3000],
  [BISHOP, 3000],
  [ROOK, 5000],
  [QUEEN, 9000],
] as const;
/** Weights of the king's distance from the centre and of the kings' nearness, in tenths. */
const EDGE_WEIGHT = 47;
const NEARNESS_WEIGHT = 16;
const LONGEST_DISTANCE = 14;

/** @returns the best moves of a side with a queen or rook against a bare king; null in other positions */
export function listMopUpMoves(position: Position): readonly Move[] | null {
  const { sideToMove } = position;
  const isBare = position.countMen(sideToMove ^ 1) === 1;
  if (!isBare || position.countMen(sideToMove, QUEEN) + position.countMen(sideToMove, ROOK) === 0) return null;
  const board = position.clone();
  let best = Number.NEGATIVE_INFINITY;
  let moves: Move[] = [];
  for (const move of listLegalMoves(board)) {
    // Values are whole numbers: with this window a move that is as good as the best has its exact value.
    const value = searchMove(board, move, PLIES - 1, best - 1, Number.POSITIVE_INFINITY);
    if (value > best) moves = [];
    if (value >= best) moves.push(move);
    best = Math.max(best, value);
  }
  return moves;
}

/** @returns the value of the move for the player who makes it, or a bound outside of alpha … beta */
function searchMove(board: Position, move: Move, plies: number, alpha: number, beta: number): number {
  board.makeMove(move);
  const value = -search(board, plies, -beta, -alpha);
  board.unmakeMove();
  return value;
}

function search(board: Position, plies: number, alpha: number, beta: number): number {
  if (board.hasInsufficientMaterial() || board.repetitions() > 0) return 0;
  const moves = listLegalMoves(board);
  if (moves.length === 0) return board.inCheck() ? -MATE - plies : 0;
  if (plies === 0) return evaluate(board);
  let best = Number.NEGATIVE_INFINITY;
  for (const move of moves) {
    best = Math.max(best, searchMove(board, move, plies - 1, Math.max(alpha, best), beta));
    if (best >= beta) break;
  }
  return best;
}

/** For the side to move: positive for the one that has more than a king. */
function evaluate(board: Position): number {
  const { sideToMove } = board;
  const isBare = board.countMen(sideToMove) === 1;
  const winner = isBare ? sideToMove ^ 1 : sideToMove;
  const [bare, own] = [board.kingSquare((winner ^ 1) as 0 | 1), board.kingSquare(winner as 0 | 1)];
  const distance = Math.abs((bare & 7) - (own & 7)) + Math.abs((bare >> 3) - (own >> 3));
  const fromCentre = (line: number): number => Math.max(3 - line, line - 4);
  const place =
    EDGE_WEIGHT * (fromCentre(bare & 7) + fromCentre(bare >> 3)) + NEARNESS_WEIGHT * (LONGEST_DISTANCE - distance);
  const value = MEN.reduce((sum, [man, worth]) => sum + worth * board.countMen(winner, man), place);
  return isBare ? -value : value;
}
