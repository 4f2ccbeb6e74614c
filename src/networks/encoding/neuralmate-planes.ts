/**
 * `neuralmate-68`: the planes of NeuralMate2: four positions, the state of the game, attack maps and eight semantic
 * planes. All values lie in [0, 1], and the mover's side is at the bottom. NeuralMate2's document only names the
 * semantic planes; how we read the names stands below.
 *
 * | planes | content |
 * |---|---|
 * | 12·k + 0..11, k = 0..3 (newest first) | own P N B R Q K, theirs |
 * | 48 | ones if White is to move |
 * | 49 | move number, min(n, 200) / 200 |
 * | 50..53 | castling rights: own king side, own queen side, theirs |
 * | 54 | rule 50 in plies / 100 |
 * | 55 | en-passant square |
 * | 56, 57 | ones if the position occurred before once, twice |
 * | 58, 59 | squares attacked by the mover, by the opponent |
 * | 60..67 | semantic planes |
 */
import {
  BISHOP,
  BLACK,
  type Color,
  getPieceAttacks,
  KNIGHT,
  type Move,
  PAWN,
  type Position,
  WHITE,
} from '../../chess/rules/index.js';
import { isPassedPawn } from './attack-planes.js';
import { type HistoryFill, type InputEncoding, isStartPosition } from './encoding.js';
import { mirrorMasks, PIECE_PLANES, setFullMask, setSquare, writeCastlingPlanes, writePieceMasks } from './planes.js';

// Two attack maps and the eight semantic planes of NeuralMate2, as masks with the mover's side at the bottom. Its
// document gives only names; this is how we read them:
//
// | plane | content |
// |---|---|
// | 0, 1 | squares attacked by the mover, by the opponent |
// | 2 | own pieces that attack the enemy king or a square beside it |
// | 3 | own pieces that guard a square beside their king |
// | 4, 5 | squares that own knights, own bishops can go to |
// | 6, 7 | passed, isolated pawns of both sides |
// | 8 | squares of the own half that no own piece guards |
// | 9 | d4, e4, d5, e5 where the mover stands or attacks |

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

const PLANES = 68;
const HISTORY = 4;
const TURN_PLANE = 48;
const MOVE_NUMBER_PLANE = 49;
const CASTLING_PLANE = 50;
const RULE50_PLANE = 54;
const EN_PASSANT_PLANE = 55;
const REPETITION_PLANE = 56;
const ATTACKS_PLANE = 58;

const walkedMoves = new Uint16Array(HISTORY);

/** Writes planes 0 to 47. */
function writeHistory(position: Position, historyFill: HistoryFill, masks: Uint32Array, maskOffset: number): void {
  const viewer = position.sideToMove;
  const slotWords = 2 * PIECE_PLANES;
  let walked = 0;
  let slot = 0;
  for (;;) {
    writePieceMasks(position.masks, viewer, masks, maskOffset + slot * slotWords);
    slot++;
    if (slot === HISTORY || position.historyLength === 0) break;
    walkedMoves[walked++] = position.lastMove();
    position.unmakeMove();
  }
  if (historyFill === 'always' || (historyFill === 'fen_only' && !isStartPosition(position))) {
    for (; slot < HISTORY; slot++) {
      const start = maskOffset + slot * slotWords;
      masks.copyWithin(start, start - slotWords, start);
    }
  }
  while (walked > 0) position.makeMove(walkedMoves[--walked] as Move);
}

export const neuralmateEncoding: InputEncoding = {
  name: 'neuralmate-68',
  planes: PLANES,
  historyLength: HISTORY,
  valuePlanes: [MOVE_NUMBER_PLANE, RULE50_PLANE],
  writePacked(position, historyFill, masks, maskOffset, values, valueOffset) {
    masks.fill(0, maskOffset, maskOffset + 2 * PLANES);
    values.fill(1, valueOffset, valueOffset + PLANES);
    const plane = (index: number): number => maskOffset + 2 * index;
    const mover = position.sideToMove;
    writeHistory(position, historyFill, masks, maskOffset);
    if (mover === WHITE) setFullMask(masks, plane(TURN_PLANE));
    setFullMask(masks, plane(MOVE_NUMBER_PLANE));
    values[valueOffset + MOVE_NUMBER_PLANE] = Math.min((position.gamePly >> 1) + 1, 200) / 200;
    writeCastlingPlanes(position, masks, plane(CASTLING_PLANE));
    setFullMask(masks, plane(RULE50_PLANE));
    values[valueOffset + RULE50_PLANE] = Math.min(position.rule50, 100) / 100;
    const square = position.enPassantSquare;
    if (square >= 0) setSquare(masks, plane(EN_PASSANT_PLANE), mover === WHITE ? square : square ^ 56);
    const repetitions = position.repetitions();
    for (let i = 0; i < Math.min(repetitions, 2); i++) setFullMask(masks, plane(REPETITION_PLANE + i));
    writeSemanticPlanes(position, masks, plane(ATTACKS_PLANE));
    return 0;
  },
};
