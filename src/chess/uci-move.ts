/**
 * Moves in UCI notation. The parser always understands both spellings of castling (e1g1: the king's new square; e1h1:
 * king takes rook). The formatter writes the one that the caller asks for.
 */
import { cutText, failure, type Result, success } from '../util/index.js';
import { colorName, formatSquare, PAWN, PIECE_LETTERS, parseSquare, pieceName } from './board.js';
import { castledKing } from './castling.js';
import { formatFen } from './fen.js';
import { MAX_MOVES } from './generate.js';
import { isCastling, type Move, moveFrom, movePromotion, moveTo, NO_MOVE } from './move.js';
import { canReach } from './piece-attacks.js';
import type { Position } from './position.js';

/** Returns the legal move that the text means, or one sentence that says why it is not legal. */
export function parseUciMove(position: Position, text: string): Result<Move> {
  const trimmed = text.trim();
  const match = /^([a-h][1-8])([a-h][1-8])([a-z]?)$/.exec(trimmed.toLowerCase());
  if (match === null) return failure(`"${cutText(trimmed)}" is not a move such as e2e4 or e7e8q`);
  const from = parseSquare(match[1]);
  const to = parseSquare(match[2]);
  const promotion = match[3] === '' ? 0 : PIECE_LETTERS.indexOf(match[3]);

  const legal = new Uint16Array(MAX_MOVES);
  const count = position.generateLegalMoves(legal);
  for (let i = 0; i < count; i++) {
    const move = legal[i] as Move;
    if (moveFrom(move) === from && moveTo(move) === to && movePromotion(move) === promotion) return success(move);
  }
  // In Chess960 the king's new square can also be the target of a plain move; those are matched above and win.
  for (let i = 0; i < count; i++) {
    const move = legal[i] as Move;
    if (isCastling(move) && moveFrom(move) === from && castledKing(from, moveTo(move)) === to && promotion === 0) {
      return success(move);
    }
  }
  return failure(`${trimmed} is illegal in ${formatFen(position)}: ${explainIllegal(position, from, to, promotion)}`);
}

/**
 * @param chess960 write every castling as king takes rook (e1h1). Otherwise it is written with the king's new square (e1g1) where
 *   that is standard chess, from the e-file with a rook in the corner. Elsewhere the king may reach that square by a plain move.
 * @returns "0000" for NO_MOVE
 */
export function formatUciMove(move: Move, chess960: boolean): string {
  if (move === NO_MOVE) return '0000';
  const from = moveFrom(move);
  const rookOrTo = moveTo(move);
  const isStandard = isCastling(move) && (from & 7) === 4 && ((rookOrTo & 7) === 0 || (rookOrTo & 7) === 7);
  const to = isStandard && !chess960 ? castledKing(from, rookOrTo) : rookOrTo;
  return formatSquare(from) + formatSquare(to) + PIECE_LETTERS[movePromotion(move)].trim();
}

function explainIllegal(position: Position, from: number, to: number, promotion: number): string {
  const piece = position.board[from];
  const mover = colorName(position.sideToMove);
  if (piece === 0) return `there is no piece on ${formatSquare(from)}`;
  if (piece >> 3 !== position.sideToMove) return `it is ${mover}'s turn to move`;
  const name = pieceName(piece);
  const promotes = (piece & 7) === PAWN && (to >> 3 === 0 || to >> 3 === 7);
  const reaches = canReach(position, from, to);
  if (reaches && promotes && promotion === 0) return 'the promotion piece is missing';
  if (reaches && promotes && (promotion < 2 || promotion > 5)) return 'a pawn promotes to q, r, b or n';
  if (reaches && !promotes && promotion !== 0) return 'this move does not promote';
  if (reaches) return `it would leave ${mover}'s king in check`;
  return `the ${name} on ${formatSquare(from)} cannot go to ${formatSquare(to)}`;
}
