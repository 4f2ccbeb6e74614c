/**
 * The door of chess/: the rules of standard chess and Chess960. Everything not exported here is private to the room.
 */
export { hasChess960Castling } from './castling.js';
export type { FenStyle } from './castling-field.js';
export { type EpdLine, formatFen, parseEpdLine, parseFen, START_FEN } from './fen.js';
export { listLegalMoves, MAX_MOVES } from './generate.js';
export { KNIGHT_JUMPS, QUEEN_DIRECTIONS } from './leapers.js';
export { findMate, type MateAnswer, type MateQuestion } from './mate-search.js';
export {
  createMove,
  isCastling,
  type Move,
  moveFrom,
  movePromotion,
  moveTo,
  NO_MOVE,
} from './move.js';
export { computeOutcome, type Outcome } from './outcome.js';
export { perft, perftDivide } from './perft.js';
export { BISHOP, BLACK, type Color, KING, KNIGHT, PAWN, QUEEN, ROOK, WHITE } from './piece.js';
export { getAttacksFrom, getPieceAttacks } from './piece-attacks.js';
export { Position } from './position.js';
export { formatSan, formatSanLine, isNullMove, parseSan, passTurn } from './san.js';
export { formatSquare, NO_SQUARE, popCount64, type Square } from './square.js';
export { formatUciMove, parseUciMove } from './uci-move.js';
