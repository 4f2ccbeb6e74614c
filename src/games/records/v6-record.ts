/**
 * lc0's training record V6: 8356 bytes, little-endian, packed; one position each. V7 appends 40 bytes. lc0 itself writes V6;
 * its training code makes V7 of it. Sources: lc0, trainingdata/trainingdata_v6.h and trainingdata_v7.h; lczero-training,
 * csrc/loader/stages/chunk_rescorer.cc (V6ToV7).
 *
 * | offset | field |
 * |---|---|
 * | 0, 4 | version, input format (u32) |
 * | 8 | probabilities: 1858 f32, −1 for illegal moves |
 * | 7440 | planes: 104 u64, the bits of each byte reversed |
 * | 8272 | castling: own a-side, own h-side, theirs a-side, h-side (u8 each) |
 * | 8276..8279 | side to move or en passant, rule 50, invariance, dummy (u8 each) |
 * | 8280 | 15 f32: see NUMBERS |
 * | 8340 | visits (u32); played index, best index (u16) |
 * | 8348, 8352 | policy KL divergence, short-term value (f32) |
 * | 8356 | V7: draw probability that goes with the short-term value (f32) |
 * | 8360, 8362 | V7: index of the next move, of the opponent, and of the one after it (u16); 65535 at the end of the game |
 * | 8364 | V7: eight f32, reserved |
 */

import { failure, type Result, success } from '../../base/util/index.js';

export const V6_BYTES = 8356;
const V7_BYTES = 8396;
export const V6_MOVES = 1858;
const HISTORY_PLANES = 104;

const PROBABILITIES_AT = 8;
const PLANES_AT = 7440;
const CASTLING_AT = 8272;
const RESERVED_AT = 8364;

/** `invariance` bits above the board transform (bits 0 to 2). */
export const V6_PROVEN_BEST = 1 << 3;
export const V6_TOO_LONG = 1 << 4;
export const V6_ADJUDICATED = 1 << 5;
export const V6_DELETED = 1 << 6;
export const V6_BLACK_TO_MOVE = 1 << 7;

/** The numbers of more than a byte that stand alone. All values are the mover's: q = W − L, d = draw probability, m = plies left. */
const NUMBERS = [
  // lc0's number.
  ['inputFormat', 4, 'Uint32'],
  ['rootQ', 8280, 'Float32'],
  ['bestQ', 8284, 'Float32'],
  ['rootD', 8288, 'Float32'],
  ['bestD', 8292, 'Float32'],
  ['rootM', 8296, 'Float32'],
  ['bestM', 8300, 'Float32'],
  ['pliesLeft', 8304, 'Float32'],
  ['resultQ', 8308, 'Float32'],
  ['resultD', 8312, 'Float32'],
  ['playedQ', 8316, 'Float32'],
  ['playedD', 8320, 'Float32'],
  ['playedM', 8324, 'Float32'],
  ['origQ', 8328, 'Float32'],
  ['origD', 8332, 'Float32'],
  ['origM', 8336, 'Float32'],
  ['visits', 8340, 'Uint32'],
  ['playedIndex', 8344, 'Uint16'],
  ['bestIndex', 8346, 'Uint16'],
  ['policyKld', 8348, 'Float32'],
  ['shortTermQ', 8352, 'Float32'],
] as const;
type NumberField = (typeof NUMBERS)[number][0];
/** The names of a DataView's methods are put together once: for each record that takes a quarter of the time of its reading and writing. */
const METHODS = NUMBERS.map(([name, at, type]) => ({ name, at, get: `get${type}`, set: `set${type}` }) as const);

/** What V7 adds. Values are averages over the positions to come, in the mover's view; later positions count less. */
export interface V7Fields {
  shortTermD: number;
  /** 65535 where the game ends before that move. */
  opponentIndex: number;
  nextIndex: number;
  readonly reserved: Uint8Array;
}

export interface V6Record extends Record<NumberField, number> {
  readonly probabilities: Float32Array;
  /** Two words a plane, bit s = square s, as the encodings write them. */
  readonly masks: Uint32Array;
  /** Own a-side, own h-side, theirs a-side, theirs h-side: 1, or from format 2 on the rook's file as a bit. */
  readonly castling: Uint8Array;
  /** 1 for black; in canonical formats the en-passant file as a bit. */
  sideOrEnPassant: number;
  rule50: number;
  invariance: number;
  /** Null in records of V6. */
  v7: V7Fields | null;
}

/** Whether the game was cut at its longest length, and nothing has said since who would have won. */
export function isCut(record: V6Record): boolean {
  return (record.invariance & V6_TOO_LONG) !== 0 && record.resultQ === 0;
}

export function createV6Record(): V6Record {
  const numbers = Object.fromEntries(NUMBERS.map(([name]) => [name, 0])) as Record<NumberField, number>;
  return {
    ...numbers,
    inputFormat: 1,
    probabilities: new Float32Array(V6_MOVES).fill(-1),
    masks: new Uint32Array(2 * HISTORY_PLANES),
    castling: new Uint8Array(4),
    sideOrEnPassant: 0,
    rule50: 0,
    invariance: 0,
    v7: null,
  };
}

/**
 * Whether the network predicted how many plies would follow. If it does not, lc0 starts from 0 and counts the plies of the
 * search.
 */
export function knowsMovesLeft({ bestM, origM }: V6Record): boolean {
  return bestM > 0 && origM !== 0;
}

const REVERSED_BYTES = Uint8Array.from({ length: 256 }, (_, byte) => {
  let reversed = 0;
  for (let bit = 0; bit < 8; bit++) if (byte & (1 << bit)) reversed |= 128 >> bit;
  return reversed;
});

/** Bytes of a record by its version; undefined for versions that are not read. */
export function getRecordBytes(version: number): number | undefined {
  return version === 6 ? V6_BYTES : version === 7 ? V7_BYTES : undefined;
}

/** Masks are words in the machine's order; all machines that Node runs on are little-endian. */
export function readV6Record(bytes: Uint8Array, offset: number, record: V6Record): Result<null> {
  const view = new DataView(bytes.buffer, bytes.byteOffset + offset);
  const version = view.getUint32(0, true);
  if (getRecordBytes(version) === undefined) return failure(`Training records of version ${version} are not read`);
  for (const { name, at, get } of METHODS) record[name] = view[get](at, true);
  for (let i = 0; i < V6_MOVES; i++) record.probabilities[i] = view.getFloat32(PROBABILITIES_AT + 4 * i, true);
  const maskBytes = new Uint8Array(record.masks.buffer);
  for (let i = 0; i < maskBytes.length; i++) maskBytes[i] = REVERSED_BYTES[bytes[offset + PLANES_AT + i]];
  for (let i = 0; i < 4; i++) record.castling[i] = view.getUint8(CASTLING_AT + i);
  record.sideOrEnPassant = view.getUint8(8276);
  record.rule50 = view.getUint8(8277);
  record.invariance = view.getUint8(8278);
  record.v7 = version < 7 ? null : readV7Fields(view, bytes.subarray(offset + RESERVED_AT, offset + V7_BYTES));
  return success(null);
}

function readV7Fields(view: DataView, reserved: Uint8Array): V7Fields {
  return {
    shortTermD: view.getFloat32(V6_BYTES, true),
    opponentIndex: view.getUint16(V6_BYTES + 4, true),
    nextIndex: view.getUint16(V6_BYTES + 6, true),
    reserved: Uint8Array.from(reserved),
  };
}

/** Writes 8356 bytes, or for a record of V7 8396. */
export function writeV6Record(record: V6Record, bytes: Uint8Array, offset: number): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset + offset);
  view.setUint32(0, record.v7 === null ? 6 : 7, true);
  for (const { name, at, set } of METHODS) view[set](at, record[name], true);
  for (let i = 0; i < V6_MOVES; i++) view.setFloat32(PROBABILITIES_AT + 4 * i, record.probabilities[i], true);
  const maskBytes = new Uint8Array(record.masks.buffer);
  for (let i = 0; i < maskBytes.length; i++) bytes[offset + PLANES_AT + i] = REVERSED_BYTES[maskBytes[i]];
  for (let i = 0; i < 4; i++) view.setUint8(CASTLING_AT + i, record.castling[i]);
  view.setUint8(8276, record.sideOrEnPassant);
  view.setUint8(8277, Math.min(record.rule50, 255));
  view.setUint8(8278, record.invariance);
  view.setUint8(8279, 0);
  if (record.v7 === null) return;
  view.setFloat32(V6_BYTES, record.v7.shortTermD, true);
  view.setUint16(V6_BYTES + 4, record.v7.opponentIndex, true);
  view.setUint16(V6_BYTES + 6, record.v7.nextIndex, true);
  bytes.set(record.v7.reserved, offset + RESERVED_AT);
}
