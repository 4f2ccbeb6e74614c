/**
 * Converts between lc0's 112 input planes and the compact form in a training record: 104 history planes unchanged, the eight
 * others as bytes. Source: lc0, trainingdata/trainingdata.cc and reader.cc.
 */
import type { Position } from '../chess/index.js';
import { getInputEncoding, type HistoryFill, type Lc0Format } from '../encoding/index.js';
import { unwrap } from '../util/index.js';
import { V6_BLACK_TO_MOVE, type V6Record } from './v6-record.js';

const HISTORY_WORDS = 208;
const PLANES = 112;
const CASTLING_WORD = 2 * 104;
const SIDE_WORD = 2 * 108;
const RULE50_PLANE = 109;
const ARMAGEDDON_WORD = 2 * 110;

const masks = new Uint32Array(2 * PLANES);
const planeValues = new Float32Array(PLANES);

/** Records planes, side, castling and rule 50 of a position; returns the transform for the policy encoding. */
export function setV6Position(
  record: V6Record,
  format: Lc0Format,
  position: Position,
  historyFill: HistoryFill,
): number {
  const encoding = unwrap(getInputEncoding(format.name));
  const transform = encoding.writePacked(position, historyFill, masks, 0, planeValues, 0);
  record.inputFormat = format.id;
  record.masks.set(masks.subarray(0, HISTORY_WORDS));
  const isBlack = position.sideToMove === 1;
  for (let i = 0; i < 4; i++) {
    if (!format.castlingRooks) record.castling[i] = masks[CASTLING_WORD + 2 * i] & 1;
    else record.castling[i] = i < 2 ? masks[CASTLING_WORD + 2 * i] & 0xff : masks[CASTLING_WORD + 2 * i - 3] >>> 24;
  }
  record.sideOrEnPassant = format.canonical ? masks[SIDE_WORD + 1] >>> 24 : Number(isBlack);
  record.rule50 = position.rule50;
  record.invariance = format.canonical ? transform | (isBlack ? V6_BLACK_TO_MOVE : 0) : 0;
  return transform;
}

/** Expands a record to the packed planes of its own format. */
export function writeV6Planes(record: V6Record, format: Lc0Format, into: Uint32Array, values: Float32Array): void {
  into.fill(0);
  values.fill(1);
  into.set(record.masks);
  const setFull = (word: number): void => {
    into[word] = 0xffffffff;
    into[word + 1] = 0xffffffff;
  };
  const { castling } = record;
  if (format.castlingRooks) {
    for (let i = 0; i < 2; i++) {
      into[CASTLING_WORD + 2 * i] = castling[i];
      into[CASTLING_WORD + 2 * i + 1] = castling[2 + i] << 24;
    }
  } else {
    for (let i = 0; i < 4; i++) if (castling[i] !== 0) setFull(CASTLING_WORD + 2 * i);
  }
  if (format.canonical) into[SIDE_WORD + 1] = record.sideOrEnPassant << 24;
  else if (record.sideOrEnPassant !== 0) setFull(SIDE_WORD);
  setFull(2 * RULE50_PLANE);
  values[RULE50_PLANE] = format.hectoplies ? record.rule50 / 100 : record.rule50;
  if (format.armageddon && record.invariance & V6_BLACK_TO_MOVE) setFull(ARMAGEDDON_WORD);
  setFull(2 * (PLANES - 1));
}
