/**
 * Finds the positions of a game's training records, for encodings other than the records' own. If the file holds the game's moves,
 * they give every position its whole history. Else a position goes on from the record before, by the move played or by the boards
 * that the record holds; and if it does not follow from there, its history is the boards of the record.
 *
 * Converts between lc0's 112 input planes and the compact form in a training record: 104 history planes unchanged, the eight
 * others as bytes. Source: lc0, trainingdata/trainingdata.cc and reader.cc.
 */

import { failure, type Result, success, unwrap } from '../../base/util/index.js';
import {
  BLACK,
  type Color,
  formatFen,
  formatPlacement,
  type Move,
  NO_MOVE,
  PAWN,
  type Position,
  parseFen,
  parseUciMove,
  WHITE,
} from '../../chess/rules/index.js';
import {
  getInputEncoding,
  getPolicyEncoding,
  type HistoryFill,
  invertTransform,
  type Lc0Format,
  type PolicyIndex,
  transformSquare,
} from '../../networks/encoding/index.js';
import type { GameLine } from './game-line.js';
import { V6_BLACK_TO_MOVE, type V6Record } from './v6-record.js';

/** The only transform there is while pawns are on the board. */
const FLIP_FILES = 1;
const BOARDS = 8;
const PLANES_A_BOARD = 13;

/** The policy encoding of all records. */
export const v6Policy = unwrap(getPolicyEncoding('lc0-1858'));
const legalMoves = new Uint16Array(256);

function hasBit(masks: Uint32Array, plane: number, square: number): boolean {
  return ((masks[2 * plane + (square >> 5)] >>> (square & 31)) & 1) === 1;
}

/** The FEN's first field of the board `slot` plies before the record's; '' if the record does not know that board. */
function formatBoard(record: V6Record, format: Lc0Format, slot = 0): string {
  const board = new Int8Array(64);
  const back = invertTransform(getTransform(record, format));
  const mover = getMover(record, format);
  for (let plane = 0; plane < 12; plane++) {
    const color = plane < 6 ? mover : mover ^ 1;
    for (let seen = 0; seen < 64; seen++) {
      if (!hasBit(record.masks, slot * PLANES_A_BOARD + plane, seen)) continue;
      const square = transformSquare(seen, back);
      board[mover === BLACK ? square ^ 56 : square] = (PAWN + (plane % 6)) | (color << 3);
    }
  }
  return board.every((piece) => piece === 0) ? '' : formatPlacement(board);
}

/** `KQkq` in the classical format, which does not say where the rooks are; else Shredder letters. */
function formatCastling(record: V6Record, format: Lc0Format): string {
  const mover = getMover(record, format);
  let field = '';
  for (const i of [1, 0, 3, 2]) {
    const rook = record.castling[i];
    if (rook === 0) continue;
    const letter = format.castlingRooks ? 'ABCDEFGH'[31 - Math.clz32(rook)] : i % 2 === 1 ? 'K' : 'Q';
    field += i < 2 === (mover === WHITE) ? letter : letter.toLowerCase();
  }
  // White's rights come first in a FEN.
  return [...field].sort().join('') || '-';
}

/** The file on which the opponent's pawn has just moved two squares, or -1. */
function findEnPassantFile(record: V6Record, format: Lc0Format): number {
  if (format.canonical) {
    const file = record.sideOrEnPassant === 0 ? -1 : 31 - Math.clz32(record.sideOrEnPassant);
    return file < 0 ? -1 : transformSquare(file, getTransform(record, format) & FLIP_FILES);
  }
  const theirPawns = 6;
  const theirPawnsBefore = 13 + 6;
  for (let file = 0; file < 8; file++) {
    const wasHome = hasBit(record.masks, theirPawnsBefore, 48 + file) && !hasBit(record.masks, theirPawns, 48 + file);
    const isThere = hasBit(record.masks, theirPawns, 32 + file) && !hasBit(record.masks, theirPawnsBefore, 32 + file);
    if (wasHome && isThere) return file;
  }
  return -1;
}

function getMover(record: V6Record, format: Lc0Format): Color {
  const isBlack = format.canonical ? (record.invariance & V6_BLACK_TO_MOVE) !== 0 : record.sideOrEnPassant !== 0;
  return isBlack ? BLACK : WHITE;
}

/** The board transform with which a record's planes and policy indices are written. */
function getTransform(record: V6Record, format: Lc0Format): number {
  return format.canonical ? record.invariance & 7 : 0;
}

export function rebuildPosition(record: V6Record, format: Lc0Format, moveNumber = 1): Result<Position> {
  const mover = getMover(record, format);
  const file = findEnPassantFile(record, format);
  const enPassant = file < 0 ? '-' : 'abcdefgh'[file] + (mover === WHITE ? '6' : '3');
  const board = formatBoard(record, format);
  const castling = formatCastling(record, format);
  const side = mover === WHITE ? 'w' : 'b';
  return parseFen(`${board} ${side} ${castling} ${enPassant} ${record.rule50} ${moveNumber}`);
}

/** Goes through the records of one game in their order. */
export class PositionFinder {
  /** Plies since the game's first position, as far as the records tell. */
  ply = 0;
  /** The board transform of the last position's record, for the policy encoding. */
  transform = 0;
  private number = 0;
  /** Moves of the line. */
  private made = 0;
  private position: Position | null = null;
  private pliesLeft = 0;
  private played: PolicyIndex = 0 as PolicyIndex;

  /** @param line null: the file does not hold the game's moves */
  constructor(private readonly line: GameLine | null) {}

  /** Takes the record's ply alone, where its position is not needed. */
  skip(record: V6Record): void {
    this.ply = this.line?.plies[this.number] ?? (this.number === 0 ? 0 : this.ply + this.countPliesSince(record));
    this.number++;
    this.pliesLeft = record.pliesLeft;
  }

  /** The position of the record, which stays the finder's own and changes with the next call. */
  next(record: V6Record, format: Lc0Format): Result<Position> {
    const passed = this.countPliesSince(record);
    const found = this.line === null ? this.follow(record, format, passed) : this.replay(this.line, record, format);
    if (!found.ok) return found;
    this.skip(record);
    this.position = found.value;
    this.played = record.playedIndex as PolicyIndex;
    this.transform = getTransform(record, format);
    return found;
  }

  /** By the plies left, which rescored games may raise. */
  private countPliesSince(record: V6Record): number {
    const passed = this.pliesLeft - record.pliesLeft;
    return passed >= 1 ? Math.round(passed) : 1;
  }

  private replay(line: GameLine, record: V6Record, format: Lc0Format): Result<Position> {
    const start: Result<Position> = this.position === null ? parseFen(line.fen) : success(this.position);
    if (!start.ok) return start;
    const position = start.value;
    for (; this.made < line.plies[this.number]; this.made++) {
      const move = parseUciMove(position, line.moves[this.made]);
      if (!move.ok) return move;
      position.makeMove(move.value);
    }
    const isSide = getMover(record, format) === position.sideToMove;
    const isSame = isSide && formatBoard(record, format) === formatPlacement(position.board);
    return isSame ? success(position) : failure('A record does not fit the moves of its game');
  }

  private follow(record: V6Record, format: Lc0Format, passed: number): Result<Position> {
    const before = this.position;
    const boards = listBoards(record, format);
    const ply = before === null ? boards.length - 1 : before.gamePly + passed;
    const rebuilt = rebuildPosition(record, format, (ply >> 1) + 1);
    if (!rebuilt.ok) return rebuilt;
    const wanted = rebuilt.value;
    if (before !== null) {
      if (isSamePosition(before, wanted)) return success(before); // a surprising position has several records
      const move = v6Policy.indexToMove(before, this.played, this.transform);
      if (move !== NO_MOVE) {
        before.makeMove(move);
        if (isSamePosition(before, wanted)) return success(before);
        before.unmakeMove();
      }
      const board = formatPlacement(before.board);
      for (let steps = 1; steps <= boards.length; steps++) {
        if (steps < boards.length && boards[steps] !== board) continue;
        if (walk(before, boards.slice(0, steps), wanted)) return success(before);
      }
    }
    const starts = listStarts(boards, wanted);
    return success(starts.find((start) => walk(start, boards.slice(0, -1), wanted)) ?? wanted);
  }
}

function isSamePosition(one: Position, other: Position): boolean {
  return one.keyLow === other.keyLow && one.keyHigh === other.keyHigh && one.rule50 === other.rule50;
}

/** The boards that follow each other in the record, newest first; copies that fill an unknown history are left out. */
function listBoards(record: V6Record, format: Lc0Format): string[] {
  const count = format.repeatsOnly ? 1 : BOARDS;
  const boards = Array.from({ length: count }, (_, slot) => formatBoard(record, format, slot));
  while (boards.length > 1 && (boards.at(-1) === '' || boards.at(-1) === boards.at(-2))) boards.pop();
  return boards;
}

/** Makes the moves that lead through the boards, given newest first, to `wanted`. @returns false, with no move made, if none do */
function walk(position: Position, boards: readonly string[], wanted: Position): boolean {
  let made = 0;
  for (const board of [...boards].reverse()) {
    const count = position.generateLegalMoves(legalMoves);
    const move = legalMoves.subarray(0, count).find((candidate) => {
      position.makeMove(candidate as Move);
      const isNext = formatPlacement(position.board) === board;
      position.unmakeMove();
      return isNext;
    });
    if (move === undefined) break;
    position.makeMove(move as Move);
    made++;
  }
  if (made === boards.length && isSamePosition(position, wanted)) return true;
  for (; made > 0; made--) position.unmakeMove();
  return false;
}

/** Positions that the oldest board may be: with today's castling rights, or with all whose king and rook stand at home. */
function listStarts(boards: readonly string[], wanted: Position): Position[] {
  const plies = boards.length - 1;
  const side = (wanted.sideToMove + plies) % 2 === WHITE ? 'w' : 'b';
  const rule50 = Math.max(0, wanted.rule50 - plies);
  const moveNumber = (Math.max(0, wanted.gamePly - plies) >> 1) + 1;
  return [formatFen(wanted).split(' ')[2], 'KQkq'].flatMap((castling) => {
    const start = parseFen(`${boards.at(-1)} ${side} ${castling} - ${rule50} ${moveNumber}`);
    return start.ok ? [start.value] : [];
  });
}

const HISTORY_WORDS = 208;
const PLANES = 112;
const CASTLING_WORD = 2 * 104;
const SIDE_WORD = 2 * 108;
const RULE50_PLANE = 109;
const ARMAGEDDON_WORD = 2 * 110;

const masks = new Uint32Array(2 * PLANES);
const planeValues = new Float32Array(PLANES);

/** Records planes, side, castling and rule 50 of a position; returns the transform for the policy encoding. */
export function setV6Position(
  record: V6Record,
  format: Lc0Format,
  position: Position,
  historyFill: HistoryFill,
): number {
  const encoding = unwrap(getInputEncoding(format.name));
  const transform = encoding.writePacked(position, historyFill, masks, 0, planeValues, 0);
  record.inputFormat = format.id;
  record.masks.set(masks.subarray(0, HISTORY_WORDS));
  const isBlack = position.sideToMove === 1;
  for (let i = 0; i < 4; i++) {
    if (!format.castlingRooks) record.castling[i] = masks[CASTLING_WORD + 2 * i] & 1;
    else record.castling[i] = i < 2 ? masks[CASTLING_WORD + 2 * i] & 0xff : masks[CASTLING_WORD + 2 * i - 3] >>> 24;
  }
  record.sideOrEnPassant = format.canonical ? masks[SIDE_WORD + 1] >>> 24 : Number(isBlack);
  record.rule50 = position.rule50;
  record.invariance = format.canonical ? transform | (isBlack ? V6_BLACK_TO_MOVE : 0) : 0;
  return transform;
}

/** Expands a record to the packed planes of its own format. */
export function writeV6Planes(record: V6Record, format: Lc0Format, into: Uint32Array, values: Float32Array): void {
  into.fill(0);
  values.fill(1);
  into.set(record.masks);
  const setFull = (word: number): void => {
    into[word] = 0xffffffff;
    into[word + 1] = 0xffffffff;
  };
  const { castling } = record;
  if (format.castlingRooks) {
    for (let i = 0; i < 2; i++) {
      into[CASTLING_WORD + 2 * i] = castling[i];
      into[CASTLING_WORD + 2 * i + 1] = castling[2 + i] << 24;
    }
  } else {
    for (let i = 0; i < 4; i++) if (castling[i] !== 0) setFull(CASTLING_WORD + 2 * i);
  }
  if (format.canonical) into[SIDE_WORD + 1] = record.sideOrEnPassant << 24;
  else if (record.sideOrEnPassant !== 0) setFull(SIDE_WORD);
  setFull(2 * RULE50_PLANE);
  values[RULE50_PLANE] = format.hectoplies ? record.rule50 / 100 : record.rule50;
  if (format.armageddon && record.invariance & V6_BLACK_TO_MOVE) setFull(ARMAGEDDON_WORD);
  setFull(2 * (PLANES - 1));
}
