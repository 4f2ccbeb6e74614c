/**
 * Two attack maps and the eight semantic planes of NeuralMate2, as masks with the mover's side at the bottom. Its
 * document gives only names; this is how we read them:
 *
 * | plane | content |
 * |---|---|
 * | 0, 1 | squares attacked by the mover, by the opponent |
 * | 2 | own pieces that attack the enemy king or a square beside it |
 * | 3 | own pieces that guard a square beside their king |
 * | 4, 5 | squares that own knights, own bishops can go to |
 * | 6, 7 | passed, isolated pawns of both sides |
 * | 8 | squares of the own half that no own piece guards |
 * | 9 | d4, e4, d5, e5 where the mover stands or attacks |
 */

import { BISHOP, BLACK, type Color, getPieceAttacks, KNIGHT, PAWN, type Position } from '../../chess/rules/index.js';
import { isPassedPawn } from './attack-planes.js';
import { mirrorMasks, setSquare } from './planes.js';

const SEMANTIC_PLANES = 10;
const CENTRE_LOW = (1 << 27) | (1 << 28);
const CENTRE_HIGH = (1 << 3) | (1 << 4);

/** Scratch, two words each: squares that White and Black attack, and the squares around a king. */
const attacks = [new Int32Array(2), new Int32Array(2)];
const ring = new Int32Array(2);

function clearPair(pair: Int32Array): void {
  pair[0] = 0;
  pair[1] = 0;
}

/** Sets `ring` to the squares beside the king of `color`, and its own square if `withKing`. */
function writeRing(position: Position, color: Color, withKing: boolean): void {
  const king = position.kingSquare(color);
  ring[0] = getPieceAttacks(position, king, 0);
  ring[1] = getPieceAttacks(position, king, 1);
  if (withKing) ring[king >> 5] |= 1 << (king & 31);
}

/** Marks the mover's pieces, except its king, that attack a square of `ring`. */
function markAttackersOfRing(position: Position, mover: Color, masks: Uint32Array, index: number): void {
  const king = position.kingSquare(mover);
  for (let square = 0; square < 64; square++) {
    const piece = position.board[square];
    if (piece === 0 || piece >> 3 !== mover || square === king) continue;
    const low = getPieceAttacks(position, square, 0) & ring[0];
    const high = getPieceAttacks(position, square, 1) & ring[1];
    if ((low | high) !== 0) setSquare(masks, index, square);
  }
}

function hasPawn(position: Position, file: number, color: Color, fromRank: number, toRank: number): boolean {
  if (file < 0 || file > 7) return false;
  const pawn = PAWN | (color << 3);
  for (let rank = fromRank; rank <= toRank; rank++) if (position.board[rank * 8 + file] === pawn) return true;
  return false;
}

function isIsolated(position: Position, square: number, color: Color): boolean {
  return ![-1, 1].some((step) => hasPawn(position, (square & 7) + step, color, 0, 7));
}

/** Writes the ten planes from word `offset` on. They must be empty before. */
export function writeSemanticPlanes(position: Position, masks: Uint32Array, offset: number): void {
  const mover = position.sideToMove;
  const enemy = (1 - mover) as Color;
  attacks.forEach(clearPair);
  for (let square = 0; square < 64; square++) {
    const piece = position.board[square];
    if (piece === 0) continue;
    const color = (piece >> 3) as Color;
    const low = getPieceAttacks(position, square, 0);
    const high = getPieceAttacks(position, square, 1);
    attacks[color][0] |= low;
    attacks[color][1] |= high;
    const type = piece & 7;
    if (color === mover && (type === KNIGHT || type === BISHOP)) {
      const index = offset + (type === KNIGHT ? 8 : 10);
      masks[index] |= low & ~position.masks[16 * mover];
      masks[index + 1] |= high & ~position.masks[16 * mover + 1];
    }
    if (type !== PAWN) continue;
    if (isPassedPawn(position, square, color)) setSquare(masks, offset + 12, square);
    if (isIsolated(position, square, color)) setSquare(masks, offset + 14, square);
  }
  const own = attacks[mover];
  masks[offset] = own[0];
  masks[offset + 1] = own[1];
  masks[offset + 2] = attacks[enemy][0];
  masks[offset + 3] = attacks[enemy][1];
  writeRing(position, enemy, true);
  markAttackersOfRing(position, mover, masks, offset + 4);
  writeRing(position, mover, false);
  markAttackersOfRing(position, mover, masks, offset + 6);
  const half = mover === BLACK ? 1 : 0;
  masks[offset + 16 + half] = ~own[half];
  masks[offset + 18] = CENTRE_LOW & (own[0] | position.masks[16 * mover]);
  masks[offset + 19] = CENTRE_HIGH & (own[1] | position.masks[16 * mover + 1]);
  if (mover === BLACK) mirrorMasks(masks, offset, SEMANTIC_PLANES);
}
