/** The policy encodings: lc0's `lc0-1858`, AlphaZero's `alphazero-4672`, and `from-to-4096`. */
import {
  BISHOP,
  BLACK,
  KNIGHT,
  KNIGHT_JUMPS,
  type Move,
  type Position,
  QUEEN,
  QUEEN_DIRECTIONS,
  ROOK,
} from '../../chess/rules/index.js';
import { findMoveOfIndex, NO_POLICY_INDEX, type PolicyEncoding, type PolicyIndex } from './encoding.js';
import { SQUARE_TRANSFORMS, transformSquare } from './planes.js';

// `lc0-1858`: first every move of a queen or knight over an empty board, ordered by from and to square, then the 66
// promotions to queen, rook and bishop from the seventh rank. A promotion to a knight is the plain pawn move.
// Source: lc0, neural/encoder.cc (kMoveStrs); the loops below produce its list.

export const LC0_POLICY_SIZE = 1858;

/** lc0's order of promotions, groups 1 to 3; group 0 holds plain moves and promotions to a knight. */
const PROMOTION_PIECES = [QUEEN, ROOK, BISHOP];
const PROMOTION_LETTERS = 'qrb';

/** Policy index by path, `group * 4096 + from * 64 + to`; INDEX_PATHS holds the path by index. */
const PATH_INDICES = new Uint16Array(4 * 4096).fill(NO_POLICY_INDEX);
const INDEX_PATHS = new Uint16Array(LC0_POLICY_SIZE);
/** Group by promotion piece type. */
const PROMOTION_GROUP = new Uint8Array(8);

/** Whether a queen or a knight travels so over an empty board. */
export function isQueenOrKnightPath(from: number, to: number): boolean {
  const ranks = Math.abs((from >> 3) - (to >> 3));
  const files = Math.abs((from & 7) - (to & 7));
  if (ranks === 0 && files === 0) return false;
  return ranks === 0 || files === 0 || ranks === files || (ranks * files === 2 && ranks + files === 3);
}

function numberPaths(): void {
  let index = 0;
  const push = (path: number): void => {
    PATH_INDICES[path] = index;
    INDEX_PATHS[index] = path;
    index++;
  };
  for (let from = 0; from < 64; from++) {
    for (let to = 0; to < 64; to++) {
      if (isQueenOrKnightPath(from, to)) push(from * 64 + to);
    }
  }
  for (let fromFile = 0; fromFile < 8; fromFile++) {
    for (let toFile = Math.max(0, fromFile - 1); toFile <= Math.min(7, fromFile + 1); toFile++) {
      for (let group = 1; group <= 3; group++) push(group * 4096 + (48 + fromFile) * 64 + 56 + toFile);
    }
  }
  PROMOTION_PIECES.forEach((piece, i) => {
    PROMOTION_GROUP[piece] = i + 1;
  });
}
numberPaths();

function findLc0Index(position: Position, move: Move, transform: number): PolicyIndex {
  const flip = position.sideToMove === BLACK ? 56 : 0;
  let from = (move & 63) ^ flip;
  let to = ((move >> 6) & 63) ^ flip;
  if (transform !== 0) {
    from = SQUARE_TRANSFORMS[transform * 64 + from];
    to = SQUARE_TRANSFORMS[transform * 64 + to];
  }
  return PATH_INDICES[PROMOTION_GROUP[(move >> 12) & 7] * 4096 + from * 64 + to] as PolicyIndex;
}

function squareName(square: number): string {
  return 'abcdefgh'[square & 7] + String((square >> 3) + 1);
}

/** The move of an index as lc0 lists it, seen from the mover's side: `e2e4`, `a7b8q`, `e1h1` for castling. */
export function formatLc0PolicyIndex(index: PolicyIndex): string {
  const path = INDEX_PATHS[index];
  const group = path >> 12;
  return squareName((path >> 6) & 63) + squareName(path & 63) + (group === 0 ? '' : PROMOTION_LETTERS[group - 1]);
}

export const lc0Policy: PolicyEncoding = {
  name: 'lc0-1858',
  size: LC0_POLICY_SIZE,
  injective: true,
  moveToIndex: findLc0Index,
  indexToMove: (position, index, transform) => findMoveOfIndex(lc0Policy, position, index, transform),
};

// `alphazero-4672`: index = from square * 73 + kind, seen from the mover's side.
//
// | kind | move |
// |---|---|
// | 0..55 | as a queen: direction (clockwise from straight ahead) * 7 + distance − 1; promotion to a queen included |
// | 56..63 | as a knight: clockwise from two ahead, one right |
// | 64..72 | underpromotion: piece (knight, bishop, rook) * 3 + direction (capture left, ahead, capture right) |
//
// Sources: Silver et al. 2017 (AlphaZero); NeuralMate2's document.

const KINDS = 73;
const KNIGHT_KIND = 56;
const UNDERPROMOTION_KIND = 64;

/** Policy index by `from * 64 + to`; NO_POLICY_INDEX for pairs that no piece can travel. */
const ALPHAZERO_INDICES = new Uint16Array(4096).fill(NO_POLICY_INDEX);

function addPath(from: number, fileStep: number, rankStep: number, kind: number): void {
  const file = (from & 7) + fileStep;
  const rank = (from >> 3) + rankStep;
  if (file < 0 || file > 7 || rank < 0 || rank > 7) return;
  ALPHAZERO_INDICES[from * 64 + rank * 8 + file] = from * KINDS + kind;
}

for (let from = 0; from < 64; from++) {
  QUEEN_DIRECTIONS.forEach(([fileStep, rankStep], direction) => {
    for (let n = 1; n <= 7; n++) addPath(from, n * fileStep, n * rankStep, direction * 7 + n - 1);
  });
  KNIGHT_JUMPS.forEach(([fileStep, rankStep], i) => {
    addPath(from, fileStep, rankStep, KNIGHT_KIND + i);
  });
}

function findAlphazeroIndex(position: Position, move: Move, transform: number): PolicyIndex {
  const flip = position.sideToMove === BLACK ? 56 : 0;
  const from = transformSquare((move & 63) ^ flip, transform);
  const to = transformSquare(((move >> 6) & 63) ^ flip, transform);
  const promotion = (move >> 12) & 7;
  if (promotion === KNIGHT || promotion === BISHOP || promotion === ROOK) {
    const direction = (to & 7) - (from & 7) + 1;
    return (from * KINDS + UNDERPROMOTION_KIND + (promotion - KNIGHT) * 3 + direction) as PolicyIndex;
  }
  return ALPHAZERO_INDICES[from * 64 + to] as PolicyIndex;
}

export const alphazeroPolicy: PolicyEncoding = {
  name: 'alphazero-4672',
  size: 64 * KINDS,
  injective: true,
  moveToIndex: findAlphazeroIndex,
  indexToMove: (position, index, transform) => findMoveOfIndex(alphazeroPolicy, position, index, transform),
};

// `from-to-4096`: index = from square * 64 + to square, seen from the mover's side. It cannot say what a pawn becomes:
// the promotions of a pawn on one square share an index, which is read as the promotion to a queen.

function computeFromToIndex(position: Position, move: Move, transform: number): PolicyIndex {
  const flip = position.sideToMove === BLACK ? 56 : 0;
  const from = transformSquare((move & 63) ^ flip, transform);
  return ((from << 6) | transformSquare(((move >> 6) & 63) ^ flip, transform)) as PolicyIndex;
}

export const fromToPolicy: PolicyEncoding = {
  name: 'from-to-4096',
  size: 4096,
  injective: false,
  moveToIndex: computeFromToIndex,
  indexToMove: (position, index, transform) =>
    findMoveOfIndex({ moveToIndex: computeFromToIndex }, position, index, transform),
};
