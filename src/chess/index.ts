/** The door of chess/: rules of standard chess and Chess960. What is not exported here is private to the room. */
export { popCount64 } from './bits.js';
export { hasChess960Castling } from './castling.js';
export { parseEpdLine } from './epd.js';
export { type FenStyle, formatFen, MAX_MOVES, parseFen, START_FEN } from './fen.js';
export { listLegalMoves } from './legal-moves.js';
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
export { getPieceAttacks } from './piece-attacks.js';
export { KNIGHT_JUMPS, QUEEN_DIRECTIONS } from './piece-steps.js';
export { Position } from './position.js';
export { formatSan, formatSanLine, parseSan } from './san.js';
export { formatSquare, NO_SQUARE, type Square } from './square.js';
export { formatUciMove, parseUciMove } from './uci-move.js';
