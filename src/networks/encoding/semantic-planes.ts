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

const FILE_A = 0x01010101;

/** Scratch, two words a mask: squares that White attacks, then Black; and the squares around a king. */
const attacks = new Int32Array(4);
const ring = new Int32Array(2);

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

/** Whether no pawn of `color` stands on a file beside that of a square. */
function isIsolated({ masks }: Position, square: number, color: Color): boolean {
  const file = square & 7;
  const beside = (file > 0 ? FILE_A << (file - 1) : 0) | (file < 7 ? FILE_A << (file + 1) : 0);
  const pawns = 16 * color + 2 * PAWN;
  return ((masks[pawns] | masks[pawns + 1]) & beside) === 0;
}

/** Writes the ten planes from word `offset` on. They must be empty before. */
export function writeSemanticPlanes(position: Position, masks: Uint32Array, offset: number): void {
  const mover = position.sideToMove;
  const enemy = (1 - mover) as Color;
  attacks.fill(0);
  for (let square = 0; square < 64; square++) {
    const piece = position.board[square];
    if (piece === 0) continue;
    const color = (piece >> 3) as Color;
    const low = getPieceAttacks(position, square, 0);
    const high = getPieceAttacks(position, square, 1);
    attacks[2 * color] |= low;
    attacks[2 * color + 1] |= high;
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
  const ownLow = attacks[2 * mover];
  const ownHigh = attacks[2 * mover + 1];
  masks[offset] = ownLow;
  masks[offset + 1] = ownHigh;
  masks[offset + 2] = attacks[2 * enemy];
  masks[offset + 3] = attacks[2 * enemy + 1];
  writeRing(position, enemy, true);
  markAttackersOfRing(position, mover, masks, offset + 4);
  writeRing(position, mover, false);
  markAttackersOfRing(position, mover, masks, offset + 6);
  const half = mover === BLACK ? 1 : 0;
  masks[offset + 16 + half] = ~attacks[2 * mover + half];
  masks[offset + 18] = CENTRE_LOW & (ownLow | position.masks[16 * mover]);
  masks[offset + 19] = CENTRE_HIGH & (ownHigh | position.masks[16 * mover + 1]);
  if (mover === BLACK) mirrorMasks(masks, offset, SEMANTIC_PLANES);
}
