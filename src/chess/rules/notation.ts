/**
 * Moves as text: in UCI notation, and as PGN writes them (standard algebraic notation, PGN standard 8.2.3). Reading SAN is more generous than writing: UCI moves,
 * castling with zeros, figurines, a missing `x` or `=`, superfluous squares, hyphens, check marks and `!?` are all understood.
 * Pieces in other languages are not: Sf3 would be a guess.
 */
import { cutText, failure, type Result, success } from '../../base/util/index.js';
import { canReach } from './attacks.js';
import { castledKing, colorName, formatSquare, KING, PAWN, PIECE_LETTERS, parseSquare, pieceName } from './board.js';
import { formatFen, parseFen } from './fen.js';
import { listLegalMoves, MAX_MOVES } from './generate.js';
import { isCastling, type Move, moveFrom, movePromotion, moveTo, NO_MOVE } from './move.js';
import type { Position } from './position.js';

const SAN = /^([NBRQKPnrqk]?)([a-h]?)([1-8]?)[-–x×:]?([a-h])([1-8])(?:[=/]?\(?([NBRQnbrq])\)?)?$/;
const CASTLING = /^[O0o][-–—]?[O0o](?:[-–—]?([O0o]))?$/;
/** A capture by the file of a pawn or the letters of the pieces alone: exd, ed, NxB. */
const SHORT_CAPTURE = /^(?:([a-hNBRQK])[x×:]([a-hNBRQP])|([a-h])([a-h]))(?:=?([NBRQ]))?$/;
/** A move that passes the turn, as programs write it in analyses. No game has one. */
const NULL_MOVE = /^(?:---?|Z0|0000|@@@@|<>|null|pass)$/i;
const FIGURINES = '♔♕♖♗♘♙♚♛♜♝♞♟';
/** No move is longer, with all that authors put behind it. */
const LONGEST_MOVE = 24;

const legal = new Uint16Array(MAX_MOVES);

export function isNullMove(text: string): boolean {
  return '-Zz0@<nNpP'.includes(text[0]) && NULL_MOVE.test(text);
}

/** The position after a null move, without history. In check nobody can pass. */
export function passTurn(position: Position): Result<Position> {
  const [board, side, castling, , rule50, number] = formatFen(position).split(' ');
  const next = side === 'w' ? `b ${castling} - ${rule50} ${number}` : `w ${castling} - ${rule50} ${Number(number) + 1}`;
  return parseFen(`${board} ${next}`);
}

/** Finds the one legal move that the text means. */
export function parseSan(position: Position, text: string): Result<Move> {
  if (isNullMove(text)) return failure(`${text} is a null move, which passes the turn: no game can have one`);
  const bare = text.length > LONGEST_MOVE ? '' : spellPlainly(text);
  const match = SAN.exec(bare);
  const other = match === null ? (CASTLING.exec(bare) ?? SHORT_CAPTURE.exec(bare)) : null;
  if (match === null && other === null) return failure(`"${cutText(text)}" is not a move such as Nf3 or exd8=Q`);
  const count = position.generateLegalMoves(legal);
  const found =
    match !== null ? findMove(position, count, match) : findOther(position, count, other as RegExpExecArray);
  if (found === AMBIGUOUS) return failure(`${text} is ambiguous in ${formatFen(position)}`);
  if (found !== ILLEGAL) return success(found as Move);
  const promoted = match === null ? ILLEGAL : findMove(position, count, match.with(6, 'Q') as RegExpExecArray);
  if (promoted >= 0) return failure(`${text} needs a piece: ${formatSan(position, promoted as Move)}`);
  return failure(`${text} is illegal in ${formatFen(position)}`);
}

const ILLEGAL = -1;
const AMBIGUOUS = -2;

function findMove(position: Position, count: number, match: RegExpExecArray): number {
  const file = match[2] === '' ? -1 : match[2].charCodeAt(0) - 97;
  const rank = match[3] === '' ? -1 : match[3].charCodeAt(0) - 49;
  const to = match[4].charCodeAt(0) - 97 + 8 * (match[5].charCodeAt(0) - 49);
  const promotion = match[6] === undefined ? 0 : PIECE_LETTERS.indexOf(match[6].toLowerCase());
  const hasOrigin = file >= 0 && rank >= 0;
  const type = match[1] === '' ? (hasOrigin ? 0 : PAWN) : PIECE_LETTERS.indexOf(match[1].toLowerCase());
  let found = ILLEGAL;
  for (let i = 0; i < count; i++) {
    const move = legal[i];
    const from = move & 63;
    if (((move >> 6) & 63) !== to || (type !== 0 && (position.board[from] & 7) !== type) || isCastling(move)) continue;
    if (movePromotion(move) !== promotion) continue;
    if ((file >= 0 && (from & 7) !== file) || (rank >= 0 && from >> 3 !== rank)) continue;
    if (found >= 0) return AMBIGUOUS;
    found = move;
  }
  if (found >= 0 || !hasOrigin || (type !== 0 && type !== KING)) return found;
  // UCI writes castling by the king's squares, in Chess960 as king takes rook.
  const origin = file + 8 * rank;
  const castling = legal.subarray(0, count).find((move) => {
    if (!isCastling(move) || moveFrom(move) !== origin) return false;
    return moveTo(move) === to || castledKing(origin, moveTo(move)) === to;
  });
  return castling ?? ILLEGAL;
}

/** @param match of CASTLING or SHORT_CAPTURE */
function findOther(position: Position, count: number, match: RegExpExecArray): number {
  const moves = legal.subarray(0, count) as unknown as Move[];
  if (match.length === 2) {
    const isLong = match[1] !== undefined;
    return moves.find((move) => isCastling(move) && moveTo(move) < moveFrom(move) === isLong) ?? ILLEGAL;
  }
  const [, by = match[3], taken = match[4]] = match;
  const promotion = match[5] === undefined ? 0 : PIECE_LETTERS.indexOf(match[5].toLowerCase());
  const type = FILES.includes(by) ? PAWN : PIECE_LETTERS.indexOf(by.toLowerCase());
  const victim = FILES.includes(taken) ? 0 : PIECE_LETTERS.indexOf(taken.toLowerCase());
  let found = ILLEGAL;
  for (const move of moves) {
    const [from, to] = [moveFrom(move), moveTo(move)];
    if ((position.board[from] & 7) !== type || isCastling(move) || movePromotion(move) !== promotion) continue;
    if (type === PAWN && ((from & 7) === (to & 7) || FILES[from & 7] !== by)) continue;
    const isCapture = type === PAWN || position.board[to] !== 0;
    if (!isCapture || (victim === 0 ? FILES[to & 7] !== taken : (position.board[to] & 7) !== victim)) continue;
    if (found >= 0) return AMBIGUOUS;
    found = move;
  }
  return found;
}

const FILES = 'abcdefgh';

/** Without check marks, glyphs and "e.p.", and with letters for figurines. */
function spellPlainly(text: string): string {
  let end = text.length;
  while (end > 0 && '+#!?'.includes(text[end - 1])) end--;
  let bare = text.slice(0, end).replace(/e\.?p\.?$/, '');
  const figurine = FIGURINES.indexOf(bare[0]);
  if (figurine >= 0) bare = 'KQRBNP'[figurine % 6] + bare.slice(1);
  return bare;
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

/** Returns the legal move that a text in UCI notation means, castling spelt as e1g1 (the king's new square) or e1h1 (king takes rook), or one sentence that says why it is not legal. */
export function parseUciMove(position: Position, text: string): Result<Move> {
  const trimmed = text.trim();
  const match = /^([a-h][1-8])([a-h][1-8])([a-z]?)$/.exec(trimmed.toLowerCase());
  if (match === null) return failure(`"${cutText(trimmed)}" is not a move such as e2e4 or e7e8q`);
  const from = parseSquare(match[1]);
  const to = parseSquare(match[2]);
  const promotion = match[3] === '' ? 0 : PIECE_LETTERS.indexOf(match[3]);

  const moves = listLegalMoves(position).filter((move) => moveFrom(move) === from && movePromotion(move) === promotion);
  // In Chess960 the king's new square can also be the target of a plain move, which wins.
  const meant =
    moves.find((move) => moveTo(move) === to) ??
    moves.find((move) => isCastling(move) && castledKing(from, moveTo(move)) === to);
  if (meant !== undefined) return success(meant);
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
