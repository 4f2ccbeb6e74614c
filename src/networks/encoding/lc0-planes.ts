/**
 * lc0's 112 input planes, all seen from the side of the current mover.
 *
 * | planes | content |
 * |---|---|
 * | 13·k + 0..12, k = 0..7 (newest first) | own P N B R Q K, theirs, ones if the position is repeated |
 * | 104..107 | castling: own a-side, own h-side, theirs; or the castling rooks (see Lc0Format) |
 * | 108 | ones if Black is to move; in canonical formats the en passant square |
 * | 109 | rule 50 |
 * | 110 | zeros; in armageddon formats ones if Black is to move |
 * | 111 | ones |
 *
 * `history-216` has 16 boards in place of eight, planes 0 to 207, and then the same eight planes.
 *
 * Source: lc0, neural/encoder.cc (EncodePositionForNN). One known difference: lc0 keeps a FEN's en passant square even
 * if no pawn can capture there; our positions drop it.
 */
import { BLACK, type Move, moveFrom, moveTo, PAWN, type Position } from '../../chess/rules/index.js';
import { chooseTransform } from './board-transform.js';
import { type HistoryFill, type InputEncoding, isStartPosition } from './encoding.js';
import { PIECE_PLANES, setFullMask, setSquare, transformMasks, writePieceMasks } from './planes.js';

/**
 * lc0's input formats by lc0's own enum names (`lc0-112` is its classical one). All have 112 planes, and each is the
 * classical format with some of five changes. Source: lc0, proto/net.proto and neural/encoder.cc.
 */
export interface Lc0Format {
  readonly name: string;
  /** lc0's number for it in network files and training records. */
  readonly id: number;
  /** True: planes 104 and 105 mark the rooks that may castle. False: planes 104 to 107 are full or empty. */
  readonly castlingRooks: boolean;
  /** The board is turned, history stops at irreversible moves, and plane 108 marks en passant. */
  readonly canonical: boolean;
  /** The rule-50 plane holds plies / 100 instead of plies. */
  readonly hectoplies: boolean;
  /** History holds only positions that occurred before. */
  readonly repeatsOnly: boolean;
  /** Plane 110 is full if Black is to move, which a turned board no longer shows. */
  readonly armageddon: boolean;
}

const CLASSICAL = {
  castlingRooks: false,
  canonical: false,
  hectoplies: false,
  repeatsOnly: false,
  armageddon: false,
};
const CANONICAL = { ...CLASSICAL, castlingRooks: true, canonical: true };
const HECTOPLIES = { ...CANONICAL, hectoplies: true };
const V2 = { ...HECTOPLIES, repeatsOnly: true };

export const LC0_FORMATS: readonly Lc0Format[] = [
  { ...CLASSICAL, name: 'lc0-112', id: 1 },
  { ...CLASSICAL, castlingRooks: true, name: 'INPUT_112_WITH_CASTLING_PLANE', id: 2 },
  { ...CANONICAL, name: 'INPUT_112_WITH_CANONICALIZATION', id: 3 },
  { ...HECTOPLIES, name: 'INPUT_112_WITH_CANONICALIZATION_HECTOPLIES', id: 4 },
  { ...HECTOPLIES, armageddon: true, name: 'INPUT_112_WITH_CANONICALIZATION_HECTOPLIES_ARMAGEDDON', id: 132 },
  { ...V2, name: 'INPUT_112_WITH_CANONICALIZATION_V2', id: 5 },
  { ...V2, armageddon: true, name: 'INPUT_112_WITH_CANONICALIZATION_V2_ARMAGEDDON', id: 133 },
];

const SLOT_PLANES = PIECE_PLANES + 1;
const SLOT_WORDS = 2 * SLOT_PLANES;
/** Planes behind those of the boards: castling from the first one on. */
const SIDE = 4;
const RULE50 = 5;
const ARMAGEDDON = 6;
const ONES = 7;
const AUXILIARY_PLANES = 8;

/** An lc0 format, and how many positions it encodes, the current one included. */
interface Layout extends Lc0Format {
  readonly boards: number;
}

/** Moves taken back while reading the history. Only V2 formats, which skip positions, can need more than one a board. */
const walkedMoves = new Uint16Array(4096);

function getCastlingRights(position: Position): number {
  const rooks = position.castlingRooks;
  return (rooks[0] >= 0 ? 1 : 0) | (rooks[1] >= 0 ? 2 : 0) | (rooks[2] >= 0 ? 4 : 0) | (rooks[3] >= 0 ? 8 : 0);
}

/**
 * The file on which the side to move might capture en passant, or -1. lc0's test is weaker than ours: an own pawn
 * beside the pawn that moved two squares is enough, even if the capture would leave the king in check.
 */
function getEnPassantFile(position: Position): number {
  if (position.enPassantSquare >= 0) return position.enPassantSquare & 7;
  if (position.historyLength === 0) return -1;
  const move = position.lastMove();
  const to = moveTo(move);
  const board = position.board;
  if (Math.abs(to - moveFrom(move)) !== 16 || (board[to] & 7) !== PAWN) return -1;
  const capturer = PAWN | (position.sideToMove << 3);
  const file = to & 7;
  const isBeside = (file > 0 && board[to - 1] === capturer) || (file < 7 && board[to + 1] === capturer);
  return isBeside ? file : -1;
}

/** Writes the planes behind those of the boards. */
function writeAuxiliary(
  format: Layout,
  position: Position,
  masks: Uint32Array,
  maskOffset: number,
  values: Float32Array,
  valueOffset: number,
): void {
  const mover = position.sideToMove;
  const first = format.boards * SLOT_PLANES;
  const plane = (index: number): number => maskOffset + 2 * (first + index);
  for (let i = 0; i < 4; i++) {
    const color = i < 2 ? mover : 1 - mover;
    // castlingRooks holds the h-side first, lc0's planes the a-side.
    const square = position.castlingRooks[2 * color + 1 - (i & 1)];
    if (square < 0) continue;
    if (!format.castlingRooks) setFullMask(masks, plane(i));
    else setSquare(masks, plane(i & 1), mover === BLACK ? square ^ 56 : square);
  }
  if (!format.canonical) {
    if (mover === BLACK) setFullMask(masks, plane(SIDE));
  } else {
    const file = getEnPassantFile(position);
    if (file >= 0) setSquare(masks, plane(SIDE), 56 + file);
  }
  setFullMask(masks, plane(RULE50));
  values[valueOffset + first + RULE50] = format.hectoplies ? position.rule50 / 100 : position.rule50;
  if (format.armageddon && mover === BLACK) setFullMask(masks, plane(ARMAGEDDON));
  setFullMask(masks, plane(ONES));
}

/**
 * Fills the slots of history before the first known position with copies of it, as `historyFill` says.
 * @param position the first known position, which stands in the slot before `firstSlot`
 * @param viewer colour of the mover of the encoded position
 */
function fillSlots(
  format: Layout,
  position: Position,
  viewer: number,
  historyFill: HistoryFill,
  firstSlot: number,
  masks: Uint32Array,
  maskOffset: number,
): void {
  const file = getEnPassantFile(position);
  // Canonical history ends at an en passant right, and V2 history leaves out positions that did not occur before.
  if (format.repeatsOnly || (format.canonical && file >= 0)) return;
  let end = format.boards;
  // With an en passant right one more position is known: the one before the double step of the pawn.
  if (historyFill === 'no') end = file >= 0 ? Math.min(firstSlot + 1, format.boards) : firstSlot;
  else if (historyFill === 'fen_only' && isStartPosition(position)) end = firstSlot;
  for (let slot = firstSlot; slot < end; slot++) {
    const start = maskOffset + slot * SLOT_WORDS;
    masks.copyWithin(start, start - SLOT_WORDS, start - SLOT_WORDS + 2 * PIECE_PLANES);
    if (slot > firstSlot || file < 0) continue;
    // Take back the double step; the pawn belongs to the side that is not to move in `position`.
    const isTheirs = position.sideToMove === viewer;
    const pawns = start + (isTheirs ? 12 : 0);
    const pushedTo = isTheirs ? 32 + file : 24 + file;
    masks[pawns + (pushedTo >> 5)] &= ~(1 << (pushedTo & 31));
    setSquare(masks, pawns, isTheirs ? 48 + file : 8 + file);
  }
}

/** Writes the planes of the boards. */
function writeHistory(
  format: Layout,
  position: Position,
  historyFill: HistoryFill,
  masks: Uint32Array,
  maskOffset: number,
): void {
  const viewer = position.sideToMove;
  const { boards } = format;
  const rights = getCastlingRights(position);
  let walked = 0;
  let slot = 0;
  while (slot < boards) {
    const isCurrent = walked === 0;
    if (format.canonical && !isCurrent) {
      if (getCastlingRights(position) !== rights || getEnPassantFile(position) >= 0) break;
    }
    const isRepeated = position.repetitions() > 0;
    if (isCurrent || isRepeated || !format.repeatsOnly) {
      const start = maskOffset + slot * SLOT_WORDS;
      writePieceMasks(position.masks, viewer, masks, start);
      if (isRepeated) setFullMask(masks, start + 2 * PIECE_PLANES);
      slot++;
    }
    if (format.canonical && position.rule50 === 0) break;
    if (position.historyLength === 0) {
      fillSlots(format, position, viewer, historyFill, slot, masks, maskOffset);
      break;
    }
    if (slot === boards || walked === walkedMoves.length) break;
    walkedMoves[walked++] = position.lastMove();
    position.unmakeMove();
  }
  while (walked > 0) position.makeMove(walkedMoves[--walked] as Move);
}

function createLc0Encoding(format: Layout): InputEncoding {
  const boardPlanes = format.boards * SLOT_PLANES;
  const planes = boardPlanes + AUXILIARY_PLANES;
  return {
    name: format.name,
    planes,
    valuePlanes: [boardPlanes + RULE50],
    writePacked(position, historyFill, masks, maskOffset, values, valueOffset) {
      masks.fill(0, maskOffset, maskOffset + 2 * planes);
      values.fill(1, valueOffset, valueOffset + planes);
      const transform = format.canonical ? chooseTransform(position) : 0;
      writeAuxiliary(format, position, masks, maskOffset, values, valueOffset);
      writeHistory(format, position, historyFill, masks, maskOffset);
      if (transform !== 0) transformMasks(masks, maskOffset, boardPlanes + SIDE + 1, transform);
      return transform;
    },
  };
}

export const lc0Encodings: readonly InputEncoding[] = LC0_FORMATS.map((format) =>
  createLc0Encoding({ ...format, boards: 8 }),
);

/** The classical planes with 16 boards of history, as many as AZ-Go's networks see. */
export const longHistoryEncoding: InputEncoding = createLc0Encoding({
  ...LC0_FORMATS[0],
  name: 'history-216',
  boards: 16,
});
