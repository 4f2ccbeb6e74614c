/**
 * Priors of edges as 16-bit floats: 5 exponent and 11 mantissa bits, with the exponent shifted so that 1.0 has the largest
 * code. This is lc0's format (Edge::SetP): values below about 2^-31 become 0, all others keep 12 significant bits. Codes have
 * the same order as priors, so edges can be sorted by code.
 */
import {
  isCastling,
  KING,
  MAX_MOVES,
  moveFrom,
  movePromotion,
  moveTo,
  PAWN,
  type Position,
  QUEEN,
} from '../../chess/rules/index.js';

const bits = new Int32Array(1);
const float = new Float32Array(bits.buffer);

const EXPONENT_BASE = 0x30000000;
const ROUNDING = 1 << 11;

/** The nearest code; ties go up. @param prior a probability in [0, 1] */
export function encodePrior(prior: number): number {
  float[0] = prior;
  const rebased = bits[0] + ROUNDING - EXPONENT_BASE;
  return rebased < 0 ? 0 : rebased >> 12;
}

/** The probability of a code. As in lc0, code 0 gives 2^-31, not 0. */
export function decodePrior(code: number): number {
  bits[0] = (code << 12) | EXPONENT_BASE;
  return float[0];
}

const BUCKET_BITS = 5;

const keys = new Int32Array(MAX_MOVES);
const sorted = new Int32Array(MAX_MOVES);
const unsortedMoves = new Uint16Array(MAX_MOVES);
/** Position of the next key of each bucket. */
const places = new Int32Array(2 ** (BUCKET_BITS + 1) + 2);

/**
 * Sorts the edges of a leaf by prior, descending. Equal priors stay in move-generation order, so every thread gives the same
 * list. Code and index of an edge form one integer. The integers are distributed over up to 64 buckets of equal width, then
 * sorted by insertion, which finds them almost in order (32 edges: 0.4 µs; plain insertion 0.6, shell sort 1.0).
 * @param moves, priors `count` of each from `offset` on; sorted in place
 */
export function sortEdges(moves: Uint16Array, priors: Uint16Array, offset: number, count: number): void {
  let min = 0x7fffffff;
  let max = 0;
  for (let i = 0; i < count; i++) {
    const key = (priors[offset + i] << 8) | (255 - i);
    keys[i] = key;
    unsortedMoves[i] = moves[offset + i];
    if (key < min) min = key;
    if (key > max) max = key;
  }
  // max − min has at most BUCKET_BITS + 1 bits after the shift.
  const shift = Math.max(0, 31 - BUCKET_BITS - Math.clz32(max - min));
  const buckets = ((max - min) >> shift) + 1;
  for (let bucket = 0; bucket <= buckets; bucket++) places[bucket] = 0;
  for (let i = 0; i < count; i++) places[((max - keys[i]) >> shift) + 1]++;
  for (let bucket = 1; bucket < buckets; bucket++) places[bucket] += places[bucket - 1];
  for (let i = 0; i < count; i++) {
    const key = keys[i];
    sorted[places[(max - key) >> shift]++] = key;
  }
  for (let i = 1; i < count; i++) {
    const key = sorted[i];
    let j = i;
    for (; j > 0 && sorted[j - 1] < key; j--) sorted[j] = sorted[j - 1];
    sorted[j] = key;
  }
  for (let i = 0; i < count; i++) {
    const key = sorted[i];
    priors[offset + i] = key >> 8;
    moves[offset + i] = unsortedMoves[255 - (key & 255)];
  }
}

// The order of a leaf's edges as lc0 has it, ties included. It lists moves by the square they start from, seen from the mover, and
// sorts them by prior with C++'s std::sort, which leaves equal priors where its exchanges have put them. Priors have eleven bits, so
// ties are common, and which of two moves is searched first changes visits. Only a search that is to make lc0's visits needs it.

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
  const edges = Array.from({ length: count }, (_, i) => ({ move: moves[offset + i], prior: priors[offset + i] }));
  const ranks = new Map(edges.map(({ move }) => [move, computeRank(position, move)]));
  edges.sort((a, b) => (ranks.get(a.move) ?? 0) - (ranks.get(b.move) ?? 0));
  sortPart(edges, 0, count);
  insert(edges, 0, count);
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

function insert(edges: Edge[], first: number, end: number): void {
  for (let i = first + 1; i < end; i++) {
    const edge = edges[i];
    let at = i;
    for (; at > first && edges[at - 1].prior < edge.prior; at--) edges[at] = edges[at - 1];
    edges[at] = edge;
  }
}
