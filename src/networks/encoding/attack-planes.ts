/**
 * `attacks-50`: one position with what its pieces attack, for small networks, which cannot find that out by themselves.
 * All planes but four are plain masks, and history is left out, so that it costs about as much as one move generation.
 * "Own" is the mover, whose side is at the bottom; attacks ignore pins.
 *
 * | planes | content |
 * |---|---|
 * | 0..5, 6..11 | own P N B R Q K, theirs |
 * | 12..17, 18..23 | squares attacked by own P N B R Q K, by theirs |
 * | 24, 25 | squares attacked at least twice by own pieces, by theirs |
 * | 26, 27, 28, 29 | squares behind one piece that own bishops and queens, own rooks and queens look at; theirs |
 * | 30..33, 34..37 | squares from which an own P N B R would check their king; a piece of theirs ours |
 * | 38, 39 | own passed pawns, theirs |
 * | 40..43 | castling rights: own king side, own queen side, theirs |
 * | 44 | en-passant square |
 * | 45 | ones if the position occurred before |
 * | 46 | rule 50 in plies / 100 |
 * | 47, 48 | the own lead in material, theirs, in pawns / 8, at most 1 |
 * | 49 | pieces of both sides without pawns, in pawns / 62, at most 1 |
 */
import {
  BISHOP,
  BLACK,
  type Color,
  getAttacksFrom,
  KNIGHT,
  PAWN,
  type Position,
  popCount64,
  QUEEN,
  ROOK,
} from '../../chess/rules/index.js';
import type { InputEncoding } from './encoding.js';
import { mirrorMasks, PIECE_PLANES, setFullMask, setSquare, writeCastlingPlanes, writePieceMasks } from './planes.js';

const PLANES = 50;
const ATTACKED_PLANE = PIECE_PLANES;
const TWICE_PLANE = 24;
const BEHIND_PLANE = 26;
const CHECK_PLANE = 30;
const PASSED_PLANE = 38;
const CASTLING_PLANE = 40;
const EN_PASSANT_PLANE = 44;
const REPETITION_PLANE = 45;
const RULE50_PLANE = 46;
const LEAD_PLANE = 47;
const PIECES_PLANE = 49;

const CHECKING_TYPES = [PAWN, KNIGHT, BISHOP, ROOK];
/** In pawns, by piece type. */
const PIECE_VALUES = [0, 1, 3, 3, 5, 9, 0];
const LARGEST_LEAD = 8;
const ALL_PIECES = 62;

/** Two words a square, White's pawns first: where enemy pawns stop a pawn from being passed. */
const FRONT_SPANS = new Int32Array(256);
for (let pawn = 0; pawn < 64; pawn++) {
  for (let other = 0; other < 64; other++) {
    if (Math.abs((pawn & 7) - (other & 7)) > 1 || pawn >> 3 === other >> 3) continue;
    FRONT_SPANS[(other > pawn ? 0 : 128) + 2 * pawn + (other >> 5)] |= 1 << (other & 31);
  }
}

/** Whether no enemy pawn stands ahead of a pawn on its own or a neighbouring file. */
export function isPassedPawn({ masks }: Position, square: number, color: Color): boolean {
  const pawns = 16 * (1 - color) + 2 * PAWN;
  const span = 128 * color + 2 * square;
  return ((masks[pawns] & FRONT_SPANS[span]) | (masks[pawns + 1] & FRONT_SPANS[span + 1])) === 0;
}

/** Writes planes 12 to 39 with White's side at the bottom. */
function writeAttacks(position: Position, masks: Uint32Array, maskOffset: number): void {
  const { board, masks: men, sideToMove } = position;
  const low = men[0] | men[16];
  const high = men[1] | men[17];
  for (let square = 0; square < 64; square++) {
    const piece = board[square];
    if (piece === 0) continue;
    const color = (piece >> 3) as Color;
    const side = color ^ sideToMove;
    const type = piece & 7;
    const attacksLow = getAttacksFrom(piece, square, low, high, 0);
    const attacksHigh = getAttacksFrom(piece, square, low, high, 1);
    const twice = maskOffset + 2 * (TWICE_PLANE + side);
    for (let i = 0, plane = maskOffset + 2 * (ATTACKED_PLANE + 6 * side); i < 6; i++, plane += 2) {
      masks[twice] |= masks[plane] & attacksLow;
      masks[twice + 1] |= masks[plane + 1] & attacksHigh;
    }
    const attacked = maskOffset + 2 * (ATTACKED_PLANE + 6 * side + type - 1);
    masks[attacked] |= attacksLow;
    masks[attacked + 1] |= attacksHigh;
    if (type === PAWN) {
      if (isPassedPawn(position, square, color)) setSquare(masks, maskOffset + 2 * (PASSED_PLANE + side), square);
    } else if (type === BISHOP || type === ROOK || type === QUEEN) {
      const behind = maskOffset + 2 * (BEHIND_PLANE + 2 * side);
      if (type !== ROOK) writeBehind(BISHOP, square, low, high, masks, behind);
      if (type !== BISHOP) writeBehind(ROOK, square, low, high, masks, behind + 2);
    }
  }
  for (let side = 0; side < 2; side++) {
    const color = side ^ sideToMove;
    const king = position.kingSquare((1 - color) as Color);
    for (let i = 0; i < CHECKING_TYPES.length; i++) {
      // A piece checks from where a piece of the same kind would attack it if it stood on the king's square.
      const piece = CHECKING_TYPES[i] | ((1 - color) << 3);
      const index = maskOffset + 2 * (CHECK_PLANE + 4 * side + i);
      masks[index] = getAttacksFrom(piece, king, low, high, 0);
      masks[index + 1] = getAttacksFrom(piece, king, low, high, 1);
    }
  }
}

/** Adds the squares that a slider on `square` would attack if the first piece on each of its lines were not there. */
function writeBehind(type: number, square: number, low: number, high: number, masks: Uint32Array, index: number): void {
  const seenLow = getAttacksFrom(type, square, low, high, 0);
  const seenHigh = getAttacksFrom(type, square, low, high, 1);
  const thinnedLow = low & ~seenLow;
  const thinnedHigh = high & ~seenHigh;
  masks[index] |= getAttacksFrom(type, square, thinnedLow, thinnedHigh, 0) & ~seenLow;
  masks[index + 1] |= getAttacksFrom(type, square, thinnedLow, thinnedHigh, 1) & ~seenHigh;
}

/** Writes the values of planes 47 to 49. */
function writeMaterial(position: Position, values: Float32Array, valueOffset: number): void {
  const { masks, sideToMove } = position;
  let lead = 0;
  let pieces = 0;
  for (let type = PAWN; type <= QUEEN; type++) {
    const own = 16 * sideToMove + 2 * type;
    const theirs = 16 * (1 - sideToMove) + 2 * type;
    const ownCount = popCount64(masks[own], masks[own + 1]);
    const theirCount = popCount64(masks[theirs], masks[theirs + 1]);
    lead += PIECE_VALUES[type] * (ownCount - theirCount);
    if (type !== PAWN) pieces += PIECE_VALUES[type] * (ownCount + theirCount);
  }
  values[valueOffset + LEAD_PLANE] = Math.min(1, Math.max(0, lead / LARGEST_LEAD));
  values[valueOffset + LEAD_PLANE + 1] = Math.min(1, Math.max(0, -lead / LARGEST_LEAD));
  values[valueOffset + PIECES_PLANE] = Math.min(1, pieces / ALL_PIECES);
}

export const attacksEncoding: InputEncoding = {
  name: 'attacks-50',
  planes: PLANES,
  valuePlanes: [RULE50_PLANE, LEAD_PLANE, LEAD_PLANE + 1, PIECES_PLANE],
  writePacked(position, _historyFill, masks, maskOffset, values, valueOffset) {
    masks.fill(0, maskOffset, maskOffset + 2 * PLANES);
    values.fill(1, valueOffset, valueOffset + PLANES);
    const mover = position.sideToMove;
    writePieceMasks(position.masks, mover, masks, maskOffset);
    writeAttacks(position, masks, maskOffset);
    if (mover === BLACK) mirrorMasks(masks, maskOffset + 2 * ATTACKED_PLANE, CASTLING_PLANE - ATTACKED_PLANE);
    writeCastlingPlanes(position, masks, maskOffset + 2 * CASTLING_PLANE);
    const square = position.enPassantSquare;
    if (square >= 0) setSquare(masks, maskOffset + 2 * EN_PASSANT_PLANE, mover === BLACK ? square ^ 56 : square);
    if (position.repetitions() > 0) setFullMask(masks, maskOffset + 2 * REPETITION_PLANE);
    for (let plane = RULE50_PLANE; plane < PLANES; plane++) setFullMask(masks, maskOffset + 2 * plane);
    values[valueOffset + RULE50_PLANE] = Math.min(position.rule50, 100) / 100;
    writeMaterial(position, values, valueOffset);
    return 0;
  },
};
