/**
 * Unpacks zstd (RFC 8878) block by block: no piece is larger than 128 KiB, and memory holds one window. Frames may follow each
 * other, and skippable ones, which parallel packers write first, are skipped.
 * Written here because neither browsers nor Node 20 have zstd (`zlib` has it from 22.15 on), and the libraries do not end on hostile
 * blocks (fzstd: tables whose states read no bits, matches beyond the block; it also ignores checksums and takes ten times as long
 * with long windows), hold what a whole push unpacks to, or are several times slower (zstd itself in WebAssembly). A thread around
 * them would not limit their memory: `resourceLimits` leave out ArrayBuffers (40 of 64 MB each were allocated under a limit of 60
 * MB).
 */
import { BrokenInput } from '../../base/util/index.js';
import { type PackedBytes, readNumber } from './packed-bytes.js';
import type { UnpackLimit } from './unpack-limit.js';
import { Xxh64 } from './xxh64.js';

const MAGIC = 0xfd2fb528;
const SKIPPABLE = 0x184d2a50;
const BLOCK_BYTES = 1 << 17;
/** What `zstd -d` accepts without `--long`. A larger window is read as far as its matches reach no further back. */
const MOST_WINDOW = 1 << 27;
const FIRST_BUFFER = 1 << 20;
const SKIP_BYTES = 1 << 16;
/** Up to this many bytes a loop is faster than a call. */
const SHORT_COPY = 32;

export function isZstd(head: Uint8Array): boolean {
  const magic = readNumber(head.subarray(0, 4));
  return magic === MAGIC || isSkippable(magic);
}

function isSkippable(magic: number): boolean {
  return (magic & ~15) >>> 0 === SKIPPABLE;
}

class Damaged extends BrokenInput {
  constructor() {
    super('its zstd data are damaged');
  }
}

export async function* unpackZstd(source: PackedBytes, limit: UnpackLimit): AsyncGenerator<Uint8Array, void, void> {
  for (;;) {
    const head = await source.takeSome(4, 4);
    if (head.length === 0) return;
    limit.countPart();
    const magic = readNumber(head);
    if (magic === MAGIC) yield* unpackFrame(source, limit);
    else if (isSkippable(magic)) {
      let left = await source.takeNumber(4);
      while (left > 0) left -= (await source.take(Math.min(left, SKIP_BYTES))).length;
    } else throw new BrokenInput('what follows the end of its zstd data is not zstd');
  }
}

async function* unpackFrame(source: PackedBytes, limit: UnpackLimit): AsyncGenerator<Uint8Array, void, void> {
  const { windowBytes, hasChecksum } = await readFrameHeader(source);
  const frame = new FrameDecoder(windowBytes);
  const hash = hasChecksum ? new Xxh64() : null;
  for (let isLast = false; !isLast; ) {
    const head = await source.takeNumber(3);
    limit.countPart();
    isLast = (head & 1) === 1;
    const type = (head >> 1) & 3;
    const size = head >> 3;
    if (type === 3 || size > BLOCK_BYTES) throw new Damaged();
    const body = await source.take(type === 1 ? 1 : size);
    const unpacked = frame.decodeBlock(type, body, size);
    hash?.update(unpacked);
    if (unpacked.length > 0) yield unpacked;
  }
  if (hash === null) return;
  if ((await source.takeNumber(4)) !== hash.computeLowHalf())
    throw new BrokenInput('its content does not match its checksum');
}

async function readFrameHeader(source: PackedBytes): Promise<{ windowBytes: number; hasChecksum: boolean }> {
  const [flags] = await source.take(1);
  if ((flags & 8) !== 0) throw new Damaged();
  const isSingleSegment = (flags & 32) !== 0;
  let windowBytes = 0;
  if (!isSingleSegment) {
    const [descriptor] = await source.take(1);
    const base = 2 ** (10 + (descriptor >> 3));
    windowBytes = base + (base / 8) * (descriptor & 7);
  }
  const dictionaryBytes = [0, 1, 2, 4][flags & 3];
  if (dictionaryBytes > 0 && (await source.take(dictionaryBytes)).some((byte) => byte !== 0)) {
    throw new BrokenInput('it needs a zstd dictionary, which it does not hold');
  }
  const sizeBytes = [isSingleSegment ? 1 : 0, 2, 4, 8][flags >> 6];
  const field = sizeBytes === 0 ? null : await source.take(sizeBytes);
  if (field !== null && isSingleSegment) {
    windowBytes = readNumber(field) + (sizeBytes === 2 ? 256 : 0);
  }
  return { windowBytes, hasChecksum: (flags & 4) !== 0 };
}

/** A decoding table of finite state entropy, by state. */
interface StateTable {
  readonly accuracy: number;
  readonly symbols: Uint8Array;
  readonly bits: Uint8Array;
  readonly bases: Uint16Array;
}

interface HuffmanTable {
  readonly maxBits: number;
  readonly symbols: Uint8Array;
  readonly bits: Uint8Array;
}

function readDistribution(text: string): StateTable {
  const counts = text.split(' ').map(Number);
  return buildStateTable(counts, Math.log2(counts.reduce((sum, count) => sum + Math.abs(count), 0)));
}

/** What a code stands for: the sum of all earlier codes' ranges. */
function createBases(bits: readonly number[], first: number): Int32Array {
  const bases = new Int32Array(bits.length);
  let base = first;
  for (let code = 0; code < bits.length; code++) {
    bases[code] = base;
    base += 2 ** bits[code];
  }
  return bases;
}

const zeros = (count: number): number[] => new Array<number>(count).fill(0);
const LITERAL_BITS = [...zeros(16), 1, 1, 1, 1, 2, 2, 3, 3, 4, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16];
const MATCH_BITS = [...zeros(32), 1, 1, 1, 1, 2, 2, 3, 3, 4, 4, 5, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16];
const LITERAL_BASES = createBases(LITERAL_BITS, 0);
const MATCH_BASES = createBases(MATCH_BITS, 3);
const MOST_OFFSET_CODE = 31;

/** Literal lengths, offsets, match lengths: in the order of their modes in a block. */
const KINDS = [
  {
    mostAccuracy: 9,
    mostSymbol: LITERAL_BITS.length - 1,
    usual: readDistribution('4 3 2 2 2 2 2 2 2 2 2 2 2 1 1 1 2 2 2 2 2 2 2 2 2 3 2 1 1 1 1 1 -1 -1 -1 -1'),
  },
  {
    mostAccuracy: 8,
    mostSymbol: MOST_OFFSET_CODE,
    usual: readDistribution('1 1 1 1 1 1 2 2 2 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 -1 -1 -1 -1 -1'),
  },
  {
    mostAccuracy: 9,
    mostSymbol: MATCH_BITS.length - 1,
    usual: readDistribution(
      '1 4 3 2 2 2 2 2 2 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 -1 -1 -1 -1 -1 -1 -1',
    ),
  },
];

/** @param counts how many states a symbol has; −1 = one, at the end (RFC 8878, 4.1.1) */
function buildStateTable(counts: readonly number[], accuracy: number): StateTable {
  const size = 1 << accuracy;
  const symbols = new Uint8Array(size);
  const bits = new Uint8Array(size);
  const bases = new Uint16Array(size);
  const next = counts.map((count) => Math.abs(count));
  let high = size - 1;
  for (let symbol = 0; symbol < counts.length; symbol++) if (counts[symbol] === -1) symbols[high--] = symbol;
  const step = (size >> 1) + (size >> 3) + 3;
  let at = 0;
  for (let symbol = 0; symbol < counts.length; symbol++) {
    for (let i = 0; i < counts[symbol]; i++) {
      symbols[at] = symbol;
      do at = (at + step) & (size - 1);
      while (at > high);
    }
  }
  for (let state = 0; state < size; state++) {
    const place = next[symbols[state]]++;
    bits[state] = accuracy - (31 - Math.clz32(place));
    bases[state] = (place << bits[state]) - size;
  }
  return { accuracy, symbols, bits, bases };
}

/** Bits are read from the end of the bytes to their beginning; the highest bit that is set marks the end (RFC 8878, 4.1). */
class BackwardBits {
  /** Number of bits left. */
  left = 0;
  private bytes: Uint8Array = new Uint8Array(0);
  private from = 0;

  /** @param bytes with a few readable bytes behind `to` */
  open(bytes: Uint8Array, from: number, to: number): void {
    const last = to > from ? bytes[to - 1] : 0;
    if (last === 0) throw new Damaged();
    this.bytes = bytes;
    this.from = from;
    this.left = 8 * (to - 1 - from) + 31 - Math.clz32(last);
  }

  read(count: number): number {
    if (count > 24) return this.read(count - 16) * 65536 + this.read(16);
    this.left -= count;
    if (this.left < 0) throw new Damaged();
    const { bytes } = this;
    const at = this.from + (this.left >> 3);
    const word = bytes[at] | (bytes[at + 1] << 8) | (bytes[at + 2] << 16) | (bytes[at + 3] << 24);
    return (word >>> (this.left & 7)) & ((1 << count) - 1);
  }
}

class FrameDecoder {
  /** The window, and what was unpacked since it was last moved to the front. */
  private buffer: Uint8Array = new Uint8Array(FIRST_BUFFER);
  private end = 0;
  private readonly kept: number;
  private huffman: HuffmanTable | null = null;
  private readonly tables: (StateTable | null)[] = [null, null, null];
  private readonly repeated = [1, 4, 8];
  /** A block and the few bytes behind it that readers of words may touch. */
  private readonly block = new Uint8Array(BLOCK_BYTES + 8);
  private blockEnd = 0;
  private readonly literals = new Uint8Array(BLOCK_BYTES);
  private literalCount = 0;
  private readonly bits = new BackwardBits();

  constructor(private readonly windowBytes: number) {
    this.kept = Math.min(windowBytes, MOST_WINDOW);
  }

  decodeBlock(type: number, body: Uint8Array, size: number): Uint8Array {
    this.makeRoom();
    const start = this.end;
    if (type === 0) this.buffer.set(body, start);
    if (type === 1) this.buffer.fill(body[0], start, start + size);
    if (type < 2) this.end += size;
    else {
      this.block.set(body);
      this.block.fill(0, size, size + 8);
      this.blockEnd = size;
      this.decodeSequences(this.decodeLiterals());
    }
    return this.buffer.slice(start, this.end);
  }

  private makeRoom(): void {
    if (this.end + BLOCK_BYTES <= this.buffer.length) return;
    const most = this.kept + Math.max(FIRST_BUFFER, this.kept >> 1);
    if (this.buffer.length < most) {
      const grown = new Uint8Array(Math.min(2 * this.buffer.length, most));
      grown.set(this.buffer.subarray(0, this.end));
      this.buffer = grown;
    } else {
      this.buffer.copyWithin(0, this.end - this.kept, this.end);
      this.end = this.kept;
    }
  }

  /** @returns where the sequences begin (RFC 8878, 3.1.1.3.1) */
  private decodeLiterals(): number {
    const { block } = this;
    const type = block[0] & 3;
    const format = (block[0] >> 2) & 3;
    if (type < 2) {
      const headBytes = format === 3 ? 3 : format === 1 ? 2 : 1;
      const count = [
        block[0] >> 3,
        (block[0] >> 4) | (block[1] << 4),
        (block[0] >> 4) | (block[1] << 4) | (block[2] << 12),
      ][headBytes - 1];
      const end = headBytes + (type === 0 ? count : 1);
      this.setLiterals(count, end);
      if (type === 0) this.literals.set(block.subarray(headBytes, end));
      else this.literals.fill(block[headBytes], 0, count);
      return end;
    }
    const headBytes = [3, 3, 4, 5][format];
    const head = block[0] | (block[1] << 8) | (block[2] << 16);
    const width = [10, 10, 14, 18][format];
    const count = (head >> 4) & ((1 << width) - 1);
    const packed = Math.floor((head + block[3] * 2 ** 24 + block[4] * 2 ** 32) / 2 ** (4 + width)) % 2 ** width;
    const end = headBytes + packed;
    this.setLiterals(count, end);
    let at = headBytes;
    if (type === 2) at = this.readHuffmanTable(at, end);
    if (format === 0) {
      this.decodeHuffman(at, end, 0, count);
      return end;
    }
    const share = (count + 3) >> 2;
    let from = at + 6;
    for (let stream = 0; stream < 4; stream++) {
      const to = stream === 3 ? end : from + (block[at + 2 * stream] | (block[at + 2 * stream + 1] << 8));
      if (to > end) throw new Damaged();
      this.decodeHuffman(from, to, stream * share, stream === 3 ? count : (stream + 1) * share);
      from = to;
    }
    return end;
  }

  private setLiterals(count: number, end: number): void {
    if (count > BLOCK_BYTES || end > this.blockEnd) throw new Damaged();
    this.literalCount = count;
  }

  private decodeHuffman(from: number, to: number, firstLiteral: number, endLiteral: number): void {
    if (this.huffman === null || firstLiteral > endLiteral) throw new Damaged();
    const { maxBits, symbols, bits } = this.huffman;
    const { block, literals } = this;
    this.bits.open(block, from, to);
    let { left } = this.bits;
    const mask = (1 << maxBits) - 1;
    for (let i = firstLiteral; i < endLiteral; i++) {
      const low = left - maxBits;
      const at = from + (low >> 3);
      const code =
        low >= 0
          ? ((block[at] | (block[at + 1] << 8) | (block[at + 2] << 16)) >>> (low & 7)) & mask
          : ((block[from] | (block[from + 1] << 8)) << -low) & mask;
      literals[i] = symbols[code];
      left -= bits[code];
      if (left < 0) throw new Damaged();
    }
    if (left !== 0) throw new Damaged();
  }

  /** @returns where the packed literals begin (RFC 8878, 4.2.1) */
  private readHuffmanTable(from: number, end: number): number {
    const { block, bits } = this;
    const weights: number[] = [];
    const head = block[from];
    let at = from + 1;
    if (head >= 128) {
      for (let i = 0; i < head - 127; i++) weights.push((block[at + (i >> 1)] >> (i & 1 ? 0 : 4)) & 15);
      at += (head - 126) >> 1;
    } else {
      const to = at + head;
      if (to > end) throw new Damaged();
      const read = this.readStateTable(at, to, 6, 12);
      const { table } = read;
      bits.open(block, read.at, to);
      const states = [bits.read(table.accuracy), bits.read(table.accuracy)];
      for (let turn = 0; ; turn = 1 - turn) {
        const state = states[turn];
        weights.push(table.symbols[state]);
        if (weights.length > 254) throw new Damaged();
        if (bits.left < table.bits[state]) {
          weights.push(table.symbols[states[1 - turn]]);
          break;
        }
        states[turn] = table.bases[state] + bits.read(table.bits[state]);
      }
      at = to;
    }
    if (at > end) throw new Damaged();
    this.huffman = buildHuffmanTable(weights);
    return at;
  }

  private readStateTable(
    from: number,
    end: number,
    mostAccuracy: number,
    mostSymbol: number,
  ): { table: StateTable; at: number } {
    const { block } = this;
    let bitAt = 8 * from;
    const read = (count: number): number => {
      const at = bitAt >> 3;
      const word = block[at] | (block[at + 1] << 8) | (block[at + 2] << 16);
      return (word >>> (bitAt & 7)) & ((1 << count) - 1);
    };
    const accuracy = read(4) + 5;
    bitAt += 4;
    if (accuracy > mostAccuracy) throw new Damaged();
    const counts: number[] = [];
    let remaining = (1 << accuracy) + 1;
    while (remaining > 1) {
      const width = 32 - Math.clz32(remaining);
      const low = (1 << (width - 1)) - 1;
      const spare = (1 << width) - 1 - remaining;
      let value = read(width);
      if ((value & low) < spare) {
        value &= low;
        bitAt += width - 1;
      } else {
        if (value > low) value -= spare;
        bitAt += width;
      }
      counts.push(value - 1);
      remaining -= Math.abs(value - 1);
      for (let repeat = value === 1 ? 3 : 0; repeat === 3; ) {
        repeat = read(2);
        bitAt += 2;
        for (let i = 0; i < repeat; i++) counts.push(0);
        if (counts.length > mostSymbol + 1) throw new Damaged();
      }
      if (counts.length > mostSymbol + 1 || bitAt > 8 * end) throw new Damaged();
    }
    if (remaining !== 1) throw new Damaged();
    return { table: buildStateTable(counts, accuracy), at: (bitAt + 7) >> 3 };
  }

  /** The three tables of a block, in its order (RFC 8878, 3.1.1.3.2.1). @returns where the bits begin */
  private readTables(modes: number, from: number): number {
    let at = from;
    for (const [index, { mostAccuracy, mostSymbol, usual }] of KINDS.entries()) {
      const mode = (modes >> (6 - 2 * index)) & 3;
      if (mode === 0) this.tables[index] = usual;
      else if (mode === 1) {
        const symbol = this.block[at++];
        if (symbol > mostSymbol) throw new Damaged();
        this.tables[index] = {
          accuracy: 0,
          symbols: Uint8Array.of(symbol),
          bits: new Uint8Array(1),
          bases: new Uint16Array(1),
        };
      } else if (mode === 2) {
        const read = this.readStateTable(at, this.blockEnd, mostAccuracy, mostSymbol);
        this.tables[index] = read.table;
        at = read.at;
      }
    }
    return at;
  }

  private decodeSequences(from: number): void {
    const { block, bits, literalCount } = this;
    let at = from;
    if (at >= this.blockEnd) throw new Damaged();
    let count = block[at++];
    if (count === 255) {
      count = (block[at] | (block[at + 1] << 8)) + 0x7f00;
      at += 2;
    } else if (count > 127) count = ((count - 128) << 8) | block[at++];
    const limit = this.end + BLOCK_BYTES;
    let literal = 0;
    if (count > 0) {
      const modes = block[at++];
      at = this.readTables(modes, at);
      const [lengths, offsets, matches] = this.tables;
      if ((modes & 3) !== 0 || lengths === null || offsets === null || matches === null) throw new Damaged();
      bits.open(block, at, this.blockEnd);
      let lengthState = bits.read(lengths.accuracy);
      let offsetState = bits.read(offsets.accuracy);
      let matchState = bits.read(matches.accuracy);
      for (let left = count; left > 0; left--) {
        const offsetCode = offsets.symbols[offsetState];
        const matchCode = matches.symbols[matchState];
        const lengthCode = lengths.symbols[lengthState];
        const offset = 2 ** offsetCode + bits.read(offsetCode);
        const matchBytes = MATCH_BASES[matchCode] + bits.read(MATCH_BITS[matchCode]);
        const literalBytes = LITERAL_BASES[lengthCode] + bits.read(LITERAL_BITS[lengthCode]);
        if (left > 1) {
          lengthState = lengths.bases[lengthState] + bits.read(lengths.bits[lengthState]);
          matchState = matches.bases[matchState] + bits.read(matches.bits[matchState]);
          offsetState = offsets.bases[offsetState] + bits.read(offsets.bits[offsetState]);
        }
        if (literal + literalBytes > literalCount || this.end + literalBytes + matchBytes > limit) throw new Damaged();
        this.copyLiterals(literal, literalBytes);
        literal += literalBytes;
        this.copyMatch(this.findDistance(offset, literalBytes === 0), matchBytes);
      }
      if (bits.left !== 0) throw new Damaged();
    }
    if (this.end + literalCount - literal > limit) throw new Damaged();
    this.copyLiterals(literal, literalCount - literal);
  }

  private copyLiterals(from: number, count: number): void {
    const { buffer, end, literals } = this;
    if (count > SHORT_COPY) buffer.set(literals.subarray(from, from + count), end);
    else for (let i = 0; i < count; i++) buffer[end + i] = literals[from + i];
    this.end += count;
  }

  /** A value up to 3 stands for one of the last three distances (RFC 8878, 3.1.1.5). */
  private findDistance(offset: number, hasNoLiterals: boolean): number {
    const { repeated } = this;
    let distance = offset - 3;
    let place = 2;
    if (offset <= 3) {
      const index = offset - 1 + (hasNoLiterals ? 1 : 0);
      distance = index === 3 ? repeated[0] - 1 : repeated[index];
      place = Math.min(index, 2);
    }
    for (let i = place; i > 0; i--) repeated[i] = repeated[i - 1];
    repeated[0] = distance;
    return distance;
  }

  private copyMatch(distance: number, sizeBytes: number): void {
    const { buffer, end } = this;
    if (distance > end && this.windowBytes > MOST_WINDOW) {
      const megabytes = Math.round(this.windowBytes / 2 ** 20);
      throw new BrokenInput(`it was packed with a window of ${megabytes} MB: unpack it with "zstd -d --long=31" first`);
    }
    if (distance <= 0 || distance > end) throw new Damaged();
    if (distance >= sizeBytes && sizeBytes > SHORT_COPY)
      buffer.copyWithin(end, end - distance, end - distance + sizeBytes);
    else for (let i = 0; i < sizeBytes; i++) buffer[end + i] = buffer[end + i - distance];
    this.end += sizeBytes;
  }
}

/** @param weights of all symbols but the last, whose weight follows from theirs (RFC 8878, 4.2.1) */
function buildHuffmanTable(weights: number[]): HuffmanTable {
  let sum = 0;
  for (const weight of weights) {
    if (weight > 11) throw new Damaged();
    if (weight > 0) sum += 1 << (weight - 1);
  }
  const maxBits = 32 - Math.clz32(sum);
  const rest = (1 << maxBits) - sum;
  if (sum === 0 || maxBits > 11 || (rest & (rest - 1)) !== 0) throw new Damaged();
  const all = [...weights, 32 - Math.clz32(rest)];
  const symbols = new Uint8Array(1 << maxBits);
  const bits = new Uint8Array(1 << maxBits);
  let at = 0;
  for (let weight = 1; weight <= maxBits; weight++) {
    for (let symbol = 0; symbol < all.length; symbol++) {
      if (all[symbol] !== weight) continue;
      symbols.fill(symbol, at, at + (1 << (weight - 1)));
      bits.fill(maxBits + 1 - weight, at, at + (1 << (weight - 1)));
      at += 1 << (weight - 1);
    }
  }
  return { maxBits, symbols, bits };
}
