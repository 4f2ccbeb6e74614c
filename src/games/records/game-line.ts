/**
 * The moves of a recorded game. They stand in the header of its gzip file (the extra field of RFC 1952, subfield "SX"), which other
 * readers of lc0's records skip. Records alone tell neither the move number nor the boards before the eighth nor how often a
 * position occurred, and with a playout cap most plies have no record.
 */
import { closeSync, openSync, readSync } from 'node:fs';
import { isGzip } from '../../base/util/index.js';

export interface GameLine {
  readonly fen: string;
  /** UCI moves from there; castling is written as king takes rook. */
  readonly moves: readonly string[];
  /** The ply of each record: the number of moves before it. Surprising positions have several records. */
  readonly plies: readonly number[];
}

const HEAD_BYTES = 10;
const HAS_EXTRA = 4;
const SUBFIELD = 'SX';
const LARGEST_EXTRA_BYTES = 0xffff;

/** A gzip file with the line in its header; unchanged if the line is too long for it. */
export function attachGameLine(packed: Buffer, line: GameLine): Buffer {
  const text = Buffer.from(JSON.stringify({ ...line, moves: line.moves.join(' ') }));
  if (text.length + 4 > LARGEST_EXTRA_BYTES) return packed;
  const sizes = Buffer.alloc(6);
  sizes.writeUInt16LE(text.length + 4, 0);
  sizes.write(SUBFIELD, 2, 'latin1');
  sizes.writeUInt16LE(text.length, 4);
  const head = Buffer.from(packed.subarray(0, HEAD_BYTES));
  head[3] |= HAS_EXTRA;
  return Buffer.concat([head, sizes, text, packed.subarray(HEAD_BYTES)]);
}

/** The line in a gzip file's header, of which `head` is the beginning; null if there is none. */
export function readGameLine(head: Buffer): GameLine | null {
  if (!isGzip(head) || head.length < HEAD_BYTES + 2 || (head[3] & HAS_EXTRA) === 0) return null;
  const end = HEAD_BYTES + 2 + head.readUInt16LE(HEAD_BYTES);
  for (let at = HEAD_BYTES + 2; at + 4 <= Math.min(end, head.length); ) {
    const from = at + 4;
    const to = from + head.readUInt16LE(at + 2);
    if (head.toString('latin1', at, at + 2) === SUBFIELD) return parseGameLine(head.toString('utf8', from, to));
    at = to;
  }
  return null;
}

export function readGameLineOf(path: string): GameLine | null {
  const head = Buffer.alloc(HEAD_BYTES + 2 + LARGEST_EXTRA_BYTES);
  const file = openSync(path, 'r');
  try {
    return readGameLine(head.subarray(0, readSync(file, head)));
  } finally {
    closeSync(file);
  }
}

function parseGameLine(text: string): GameLine | null {
  try {
    const { fen, moves, plies } = JSON.parse(text) as Record<string, unknown>;
    if (typeof fen !== 'string' || typeof moves !== 'string' || !Array.isArray(plies)) return null;
    const listed = moves === '' ? [] : moves.split(' ');
    const isOrdered = plies.every((ply, i) => Number.isInteger(ply) && ply >= (plies[i - 1] ?? 0));
    return isOrdered && (plies.at(-1) ?? 0) <= listed.length ? { fen, moves: listed, plies } : null;
  } catch {
    return null;
  }
}
