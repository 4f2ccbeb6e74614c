/**
 * The door of rules/: the rules of standard chess and Chess960. Everything not exported here is private to the room.
 */

export { getAttacksFrom, getPieceAttacks, KNIGHT_JUMPS, QUEEN_DIRECTIONS } from './attacks.js';
export {
  BISHOP,
  BLACK,
  type Color,
  formatPiece,
  formatSquare,
  hasChess960Castling,
  KING,
  KNIGHT,
  NO_SQUARE,
  PAWN,
  parsePiece,
  popCount64,
  QUEEN,
  ROOK,
  type Square,
  WHITE,
} from './board.js';
export { formatFen, formatPlacement, looksLikeFen, parseEpdLine, parseFen, START_FEN } from './fen.js';
export { listLegalMoves, MAX_MOVES } from './generate.js';
export { countMateMoves, findMate, type MateAnswer, type MateQuestion } from './mate-search.js';
export {
  createMove,
  isCastling,
  type Move,
  moveFrom,
  movePromotion,
  moveTo,
  NO_MOVE,
} from './move.js';
export { formatSan, formatSanLine, formatUciMove, isNullMove, parseSan, parseUciMove, passTurn } from './notation.js';
export { computeOutcome, type Outcome } from './outcome.js';
export { perft, perftDivide } from './perft.js';
export { Position } from './position.js';
