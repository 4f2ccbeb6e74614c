/**
 * Attacks: whether a side attacks a square, what a single piece attacks, and which checks and pins limit the side to move. Input
 * encodings draw attack maps from it, and error messages use it to say why a move is illegal. Move generation has faster code
 * of its own (generate.ts).
 */
import * as tables from './attack-tables.js';
import { BISHOP, type Board, KING, KNIGHT, PAWN, popCount64, QUEEN, ROOK } from './board.js';

const { antidiagonalEntry, BETWEEN, BISHOP_RAYS, diagonalEntry, fileEntry, KING_ATTACKS, KNIGHT_ATTACKS } = tables;
const { LINE_ATTACKS, pairEntry, PAWN_ATTACKS, rankEntry, ROOK_RAYS } = tables;

/**
 * Whether a side attacks a square. The caller chooses the set of occupied squares, so it can test a king step, castling or an en
 * passant capture before it is made.
 * @param masks see Board.masks
 * @param occupiedLow,occupiedHigh the occupied squares; a piece that stands elsewhere neither attacks nor blocks
 */
export function isAttacked(
  masks: Int32Array,
  square: number,
  byColor: number,
  occupiedLow: number,
  occupiedHigh: number,
): boolean {
  const own = byColor << 4;
  const entry = square << 1;
  const pawns = entry + ((byColor ^ 1) << 7);
  if (
    ((KNIGHT_ATTACKS[entry] & masks[own + 2 * KNIGHT]) |
      (PAWN_ATTACKS[pawns] & masks[own + 2 * PAWN]) |
      (KING_ATTACKS[entry] & masks[own + 2 * KING])) &
      occupiedLow ||
    ((KNIGHT_ATTACKS[entry + 1] & masks[own + 2 * KNIGHT + 1]) |
      (PAWN_ATTACKS[pawns + 1] & masks[own + 2 * PAWN + 1]) |
      (KING_ATTACKS[entry + 1] & masks[own + 2 * KING + 1])) &
      occupiedHigh
  ) {
    return true;
  }
  // Most squares have no enemy slider on their lines; skip the table look-ups for them.
  const straightLow = (masks[own + 2 * ROOK] | masks[own + 2 * QUEEN]) & occupiedLow;
  const straightHigh = (masks[own + 2 * ROOK + 1] | masks[own + 2 * QUEEN + 1]) & occupiedHigh;
  if ((ROOK_RAYS[entry] & straightLow) | (ROOK_RAYS[entry + 1] & straightHigh)) {
    const rank = rankEntry(square, occupiedLow, occupiedHigh);
    const file = fileEntry(square, occupiedLow, occupiedHigh);
    const low = LINE_ATTACKS[rank] | LINE_ATTACKS[file];
    const high = LINE_ATTACKS[rank + 1] | LINE_ATTACKS[file + 1];
    if ((low & straightLow) | (high & straightHigh)) return true;
  }
  const diagonalLow = (masks[own + 2 * BISHOP] | masks[own + 2 * QUEEN]) & occupiedLow;
  const diagonalHigh = (masks[own + 2 * BISHOP + 1] | masks[own + 2 * QUEEN + 1]) & occupiedHigh;
  if ((BISHOP_RAYS[entry] & diagonalLow) | (BISHOP_RAYS[entry + 1] & diagonalHigh)) {
    const diagonal = diagonalEntry(square, occupiedLow, occupiedHigh);
    const antidiagonal = antidiagonalEntry(square, occupiedLow, occupiedHigh);
    const low = LINE_ATTACKS[diagonal] | LINE_ATTACKS[antidiagonal];
    const high = LINE_ATTACKS[diagonal + 1] | LINE_ATTACKS[antidiagonal + 1];
    if ((low & diagonalLow) | (high & diagonalHigh)) return true;
  }
  return false;
}

/**
 * The set of squares that the piece on `square` attacks, one word of it: 0 for squares 0..31, 1 for squares 32..63. It
 * includes squares of own pieces and ignores pins. An empty square attacks nothing.
 */
export function getPieceAttacks(position: Board, square: number, word: 0 | 1): number {
  const low = position.masks[0] | position.masks[16];
  const high = position.masks[1] | position.masks[17];
  return getAttacksFrom(position.board[square], square, low, high, word);
}

/**
 * One word of the squares that a piece would attack from `square`.
 * @param piece piece code with its colour
 * @param low,high the occupied squares, at which sliding pieces stop
 */
export function getAttacksFrom(piece: number, square: number, low: number, high: number, word: 0 | 1): number {
  const type = piece & 7;
  if (type === PAWN) return PAWN_ATTACKS[((piece >> 3) << 7) + 2 * square + word];
  if (type === KNIGHT) return KNIGHT_ATTACKS[2 * square + word];
  if (type === KING) return KING_ATTACKS[2 * square + word];
  let attacks = 0;
  if (type === ROOK || type === QUEEN) {
    attacks |= LINE_ATTACKS[rankEntry(square, low, high) + word] | LINE_ATTACKS[fileEntry(square, low, high) + word];
  }
  if (type === BISHOP || type === QUEEN) {
    attacks |= LINE_ATTACKS[diagonalEntry(square, low, high) + word];
    attacks |= LINE_ATTACKS[antidiagonalEntry(square, low, high) + word];
  }
  return attacks;
}

/** Whether the piece on `from` can move to `to` if checks and pins are ignored; castling does not count. */
export function canReach(position: Board, from: number, to: number): boolean {
  const { board } = position;
  const color = board[from] >> 3;
  const isCapture = board[to] !== 0;
  if (isCapture && board[to] >> 3 === color) return false;
  const isAttacked = ((getPieceAttacks(position, from, to < 32 ? 0 : 1) >> (to & 31)) & 1) === 1;
  if ((board[from] & 7) !== PAWN) return isAttacked;
  if (isAttacked) return isCapture || to === position.enPassantSquare;
  const step = color === 0 ? 8 : -8;
  const isFromSecond = from >> 3 === (color === 0 ? 1 : 6);
  return !isCapture && (to === from + step || (to === from + 2 * step && isFromSecond && board[from + step] === 0));
}

/**
 * Results of the last call of findConstraints, two words each. They live here because returning four numbers would
 * allocate an object.
 *
 *   TARGETS   squares to which a piece other than the king may move: all without an own piece or, in check, those that
 *             capture the checker or block it (meaningless in double check)
 *   PINNED    own pieces that may move only along the line through their king
 */
export const TARGETS = new Int32Array(2);
export const PINNED = new Int32Array(2);

/**
 * Fills TARGETS and PINNED and returns the number of pieces that give check. Generation does so once a position, looking outwards
 * from the king, and then produces legal moves only.
 * @param masks see Board.masks
 * @param king square of the king of `us`
 */
export function findConstraints(masks: Int32Array, us: number, king: number): number {
  const own = us << 4;
  const enemy = own ^ 16;
  const occupiedLow = masks[0] | masks[16];
  const occupiedHigh = masks[1] | masks[17];
  const pawns = (us << 7) + 2 * king;
  let checkersLow =
    (KNIGHT_ATTACKS[2 * king] & masks[enemy + 2 * KNIGHT]) | (PAWN_ATTACKS[pawns] & masks[enemy + 2 * PAWN]);
  let checkersHigh =
    (KNIGHT_ATTACKS[2 * king + 1] & masks[enemy + 2 * KNIGHT + 1]) |
    (PAWN_ATTACKS[pawns + 1] & masks[enemy + 2 * PAWN + 1]);
  let shieldLow = 0;
  let shieldHigh = 0;
  let pinnedLow = 0;
  let pinnedHigh = 0;
  for (let word = 0; word < 2; word++) {
    // Sliders that would attack the king on an empty board. With no piece between they give check; with one they pin
    // it if it is ours; with more they do nothing.
    const queens = masks[enemy + 2 * QUEEN + word];
    let snipers =
      (ROOK_RAYS[2 * king + word] & (masks[enemy + 2 * ROOK + word] | queens)) |
      (BISHOP_RAYS[2 * king + word] & (masks[enemy + 2 * BISHOP + word] | queens));
    while (snipers !== 0) {
      const bit = 31 - Math.clz32(snipers);
      snipers ^= 1 << bit;
      const pair = pairEntry(king, (word << 5) | bit);
      const low = BETWEEN[pair] & occupiedLow;
      const high = BETWEEN[pair + 1] & occupiedHigh;
      const blockers = popCount64(low, high);
      if (blockers === 0) {
        if (word === 0) checkersLow |= 1 << bit;
        else checkersHigh |= 1 << bit;
        shieldLow |= BETWEEN[pair];
        shieldHigh |= BETWEEN[pair + 1];
      } else if (blockers === 1) {
        pinnedLow |= low & masks[own];
        pinnedHigh |= high & masks[own + 1];
      }
    }
  }
  const isCheck = (checkersLow | checkersHigh) !== 0;
  TARGETS[0] = isCheck ? checkersLow | shieldLow : ~masks[own];
  TARGETS[1] = isCheck ? checkersHigh | shieldHigh : ~masks[own + 1];
  PINNED[0] = pinnedLow;
  PINNED[1] = pinnedHigh;
  return isCheck ? popCount64(checkersLow, checkersHigh) : 0;
}
