/**
 * Chooses how lc0's canonical formats turn the board, so that symmetrical positions look the same: the own king comes to files e
 * to h and, without pawns, also to ranks 1 to 4 and to or below the a8-h1 diagonal. A position with castling rights is never
 * turned, because they are not symmetrical. Source: lc0, neural/encoder.cc (ChooseTransform).
 */

import { BISHOP, BLACK, KING, KNIGHT, PAWN, type Position, QUEEN, ROOK } from '../../chess/rules/index.js';
import { FLIP_FILES, MIRROR_RANKS, SQUARE_TRANSFORMS, TRANSPOSE } from './planes.js';

type PieceTest = (piece: number, mover: number) => boolean;
/** If the king is on the diagonal, the first of these sets of pieces that its reflection changes decides. */
const TIE_BREAKS: readonly PieceTest[] = [
  () => true,
  (piece, mover) => piece >> 3 === mover,
  ...[KING, QUEEN, ROOK, KNIGHT, BISHOP].map((type): PieceTest => {
    return (piece) => (piece & 7) === type;
  }),
];

/**
 * Compares a set of pieces, turned by `transform`, with its reflection about the diagonal, both read as 64-bit numbers.
 * Above 0 if the set is larger, below 0 if its reflection is, 0 if they are equal.
 */
function compareReflection(position: Position, transform: number, isMember: PieceTest): number {
  const flip = position.sideToMove === BLACK ? 56 : 0;
  // The highest square that only one of the two sets has decides.
  const has = new Uint8Array(64);
  const reflected = new Uint8Array(64);
  for (let square = 0; square < 64; square++) {
    const piece = position.board[square];
    if (piece === 0 || !isMember(piece, position.sideToMove)) continue;
    const turned = SQUARE_TRANSFORMS[transform * 64 + (square ^ flip)];
    has[turned] = 1;
    reflected[SQUARE_TRANSFORMS[TRANSPOSE * 64 + turned]] = 1;
  }
  for (let square = 63; square >= 0; square--) {
    if (has[square] !== reflected[square]) return has[square] - reflected[square];
  }
  return 0;
}

/** The transform flags for this position (see planes.ts), 0 for none. */
export function chooseTransform(position: Position): number {
  for (let i = 0; i < 4; i++) if (position.castlingRooks[i] >= 0) return 0;
  const mover = position.sideToMove;
  const king = position.kingSquare(mover) ^ (mover === BLACK ? 56 : 0);
  let rank = king >> 3;
  let file = king & 7;
  let transform = 0;
  if (file < 4) {
    transform |= FLIP_FILES;
    file = 7 - file;
  }
  if (position.board.some((piece) => (piece & 7) === PAWN)) return transform;
  if (rank > 3) {
    transform |= MIRROR_RANKS;
    rank = 7 - rank;
  }
  if (rank + file > 7) return transform | TRANSPOSE;
  if (rank + file < 7) return transform;
  for (const isMember of TIE_BREAKS) {
    const order = compareReflection(position, transform, isMember);
    if (order !== 0) return order < 0 ? transform : transform | TRANSPOSE;
  }
  return transform;
}
