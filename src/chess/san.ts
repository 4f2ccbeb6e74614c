/**
 * Moves as PGN writes them (standard algebraic notation, PGN standard 8.2.3). Reading is more generous than writing:
 * castling with zeros, a missing `x` or `=`, superfluous squares, hyphens, check marks and `!?` are all understood.
 */
import { failure, type Result, success } from '../util/index.js';
import { formatFen } from './fen.js';
import { MAX_MOVES } from './generate.js';
import { isCastling, type Move, moveFrom, movePromotion, moveTo } from './move.js';
import { KING, PAWN, PIECE_LETTERS } from './piece.js';
import type { Position } from './position.js';
import { formatSquare } from './square.js';

const SAN = /^([NBRQK]?)([a-h]?)([1-8]?)[-x:]?([a-h][1-8])(?:=?\(?([NBRQnbrq])\)?)?$/;
const CASTLING = /^[O0]-?[O0](-?[O0])?$/;

const legal = new Uint16Array(MAX_MOVES);

/** Finds the one legal move that the text means. */
export function parseSan(position: Position, text: string): Result<Move> {
  const bare = text.replace(/(?:e\.p\.)?[+#!?]*$/, '');
  const count = position.generateLegalMoves(legal);
  const castling = CASTLING.exec(bare);
  if (castling !== null) {
    const isLong = castling[1] !== undefined;
    for (let i = 0; i < count; i++) {
      if (isCastling(legal[i]) && moveTo(legal[i]) < moveFrom(legal[i]) === isLong) return success(legal[i] as Move);
    }
    return failure(`${text} is illegal in ${formatFen(position)}`);
  }
  const match = SAN.exec(bare);
  if (match === null) return failure(`"${text}" is not a move such as Nf3 or exd8=Q`);
  const type = match[1] === '' ? PAWN : PIECE_LETTERS.indexOf(match[1].toLowerCase());
  const file = match[2] === '' ? -1 : match[2].charCodeAt(0) - 97;
  const rank = match[3] === '' ? -1 : match[3].charCodeAt(0) - 49;
  const to = match[4].charCodeAt(0) - 97 + 8 * (match[4].charCodeAt(1) - 49);
  const promotion = match[5] === undefined ? 0 : PIECE_LETTERS.indexOf(match[5].toLowerCase());
  let found = -1;
  for (let i = 0; i < count; i++) {
    const move = legal[i];
    const from = move & 63;
    if (((move >> 6) & 63) !== to || (position.board[from] & 7) !== type || isCastling(move)) continue;
    if (movePromotion(move) !== promotion) continue;
    if ((file >= 0 && (from & 7) !== file) || (rank >= 0 && from >> 3 !== rank)) continue;
    if (found >= 0) return failure(`${text} is ambiguous in ${formatFen(position)}`);
    found = move;
  }
  return found >= 0 ? success(found as Move) : failure(`${text} is illegal in ${formatFen(position)}`);
}

/** @param move legal in `position`, which is left as it was */
export function formatSan(position: Position, move: Move): string {
  return formatWithoutCheck(position, move) + formatCheck(position, move);
}

/** @param moves legal one after the other from `position`, which is left as it was */
export function formatSanLine(position: Position, moves: readonly Move[]): string[] {
  const texts = moves.map((move) => {
    const text = formatSan(position, move);
    position.makeMove(move);
    return text;
  });
  for (const _ of moves) position.unmakeMove();
  return texts;
}

function formatWithoutCheck(position: Position, move: Move): string {
  const from = moveFrom(move);
  const to = moveTo(move);
  if (isCastling(move)) return to > from ? 'O-O' : 'O-O-O';
  const type = position.board[from] & 7;
  const isCapture = position.board[to] !== 0 || (type === PAWN && (from & 7) !== (to & 7));
  const target = (isCapture ? 'x' : '') + formatSquare(to);
  if (type !== PAWN) return PIECE_LETTERS[type].toUpperCase() + formatOrigin(position, move) + target;
  const promotion = movePromotion(move);
  const suffix = promotion === 0 ? '' : `=${PIECE_LETTERS[promotion].toUpperCase()}`;
  return (isCapture ? formatSquare(from)[0] : '') + target + suffix;
}

/** The file, else the rank, else the square that tells the mover from its like. */
function formatOrigin(position: Position, move: Move): string {
  const from = moveFrom(move);
  const piece = position.board[from];
  if ((piece & 7) === KING) return '';
  const count = position.generateLegalMoves(legal);
  let rivals = 0;
  let sharesFile = false;
  let sharesRank = false;
  for (let i = 0; i < count; i++) {
    const rival = moveFrom(legal[i]);
    if (moveTo(legal[i]) !== moveTo(move) || rival === from || position.board[rival] !== piece) continue;
    rivals++;
    sharesFile ||= (rival & 7) === (from & 7);
    sharesRank ||= rival >> 3 === from >> 3;
  }
  const square = formatSquare(from);
  if (rivals === 0) return '';
  if (!sharesFile) return square[0];
  return sharesRank ? square : square[1];
}

function formatCheck(position: Position, move: Move): string {
  position.makeMove(move);
  const mark = !position.inCheck() ? '' : position.countLegalMoves() === 0 ? '#' : '+';
  position.unmakeMove();
  return mark;
}
