/**
 * The order of a leaf's edges as lc0 has it, ties included. It lists moves by the square they start from, seen from the mover,
 * and sorts them by prior with C++'s std::sort, which leaves equal priors where its exchanges have put them. Priors have eleven
 * bits, so ties are common, and which of two moves is searched first changes visits. Only a search that is to make lc0's visits
 * needs it.
 */

import {
  isCastling,
  KING,
  moveFrom,
  movePromotion,
  moveTo,
  PAWN,
  type Position,
  QUEEN,
} from '../../chess/rules/index.js';

/** std::sort leaves parts of this size to insertion. */
const SMALL_PART = 16;
const CASTLING = 256;

/** @param moves, priors `count` of each from `offset` on, in the order in which moves are generated; sorted in place */
export function sortEdgesAsLc0(
  position: Position,
  moves: Uint16Array,
  priors: Uint16Array,
  offset: number,
  count: number,
): void {
  const edges = Array.from({ length: count }, (_, i): Edge => {
    const move = moves[offset + i];
    return { move, prior: priors[offset + i], rank: computeRank(position, move) };
  });
  edges.sort((a, b) => a.rank - b.rank);
  sortPart(edges, 0, count);
  // std::sort ends with an insertion sort, which is stable as this is.
  edges.sort((a, b) => b.prior - a.prior);
  edges.forEach(({ move, prior }, i) => {
    moves[offset + i] = move;
    priors[offset + i] = prior;
  });
}

/** Where lc0 generates a move: pieces from a1 to h8 as the mover sees them, their targets likewise, a queen's straight lines first. */
function computeRank(position: Position, move: number): number {
  const flip = position.sideToMove === 0 ? 0 : 56;
  const from = moveFrom(move) ^ flip;
  const to = moveTo(move) ^ flip;
  const kind = position.board[moveFrom(move)] & 7;
  const fileStep = (to & 7) - (from & 7);
  let target = to;
  if (kind === KING && isCastling(move)) target = CASTLING + Number(fileStep > 0);
  else if (kind === QUEEN && fileStep !== 0 && to >> 3 !== from >> 3) target = 64 + to;
  else if (kind === PAWN) {
    const step = fileStep === 0 ? Number(to - from > 8) : fileStep < 0 ? 2 : 3;
    target = 8 * step + (QUEEN - movePromotion(move));
  }
  return from * 512 + target;
}

interface Edge {
  readonly move: number;
  readonly prior: number;
  readonly rank: number;
}

/** std::sort's quicksort, for [first, end): parts of up to SMALL_PART edges stay as they are. It never is so deep that heaps are used. */
function sortPart(edges: Edge[], first: number, end: number): void {
  let last = end;
  while (last - first > SMALL_PART) {
    const cut = partition(edges, first, last);
    sortPart(edges, cut, last);
    last = cut;
  }
}

function partition(edges: Edge[], first: number, end: number): number {
  swap(edges, first, findMedian(edges, first + 1, first + ((end - first) >> 1), end - 1));
  const pivot = edges[first].prior;
  let low = first + 1;
  let high = end;
  for (;;) {
    while (edges[low].prior > pivot) low++;
    high--;
    while (pivot > edges[high].prior) high--;
    if (low >= high) return low;
    swap(edges, low, high);
    low++;
  }
}

/** Index of the middle one of three edges, as std::sort chooses it among equal ones. */
function findMedian(edges: readonly Edge[], a: number, b: number, c: number): number {
  const isBefore = (x: number, y: number): boolean => edges[x].prior > edges[y].prior;
  if (isBefore(a, b)) return isBefore(b, c) ? b : isBefore(a, c) ? c : a;
  return isBefore(a, c) ? a : isBefore(b, c) ? c : b;
}

function swap(edges: Edge[], a: number, b: number): void {
  const edge = edges[a];
  edges[a] = edges[b];
  edges[b] = edge;
}
