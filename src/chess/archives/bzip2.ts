/**
 * Unpacks bzip2, one block of at most 900 kB at a time, in pieces of 256 KiB: a block of runs grows to 46 MB. Streams may follow
 * each other, as parallel packers write them.
 * Written here because unbzip2-stream holds a whole block as a list of numbers (1.7 GB for 242 bytes), and does not end on hostile runs.
 * Source: the bzip2 1.0.8 sources' manual; J. Tsai, "BZIP2: Format Specification", 2016.
 */
import { BrokenInput } from '../../base/util/index.js';
import type { PackedBytes } from './packed-bytes.js';
import type { UnpackLimit } from './unpack-limit.js';

const PIECE_BYTES = 1 << 18;
const UNIT_BYTES = 100_000;
const MOST_UNITS = 9;
const BLOCK_MARK = 0x314159265359;
const END_MARK = 0x177245385090;
const GROUP_SYMBOLS = 50;
const MOST_CODE_BITS = 20;
const SHORT_BITS = 10;
const MOST_SELECTORS = 18_002;
/** No block needs more bytes than this. */
const MOST_PACKED_BLOCK = 1 << 22;

const CRC_TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte << 24;
  for (let bit = 0; bit < 8; bit++) crc = crc & 0x80000000 ? (crc << 1) ^ 0x04c11db7 : crc << 1;
  return crc;
});

/** "BZh" and the size of a block, in units of 100,000 bytes. */
export function isBzip2(head: Uint8Array): boolean {
  return head[0] === 0x42 && head[1] === 0x5a && head[2] === 0x68 && head[3] >= 0x31 && head[3] <= 0x39;
}

class Damaged extends BrokenInput {
  constructor() {
    super('its bzip2 data are damaged');
  }
}

export async function* unpackBzip2(source: PackedBytes, limit: UnpackLimit): AsyncGenerator<Uint8Array, void, void> {
  const block = new BlockDecoder();
  for (;;) {
    const head = await source.takeSome(4, 4);
    if (head.length === 0) return;
    if (!isBzip2(head)) throw new BrokenInput('what follows the end of its bzip2 data is not bzip2');
    limit.countPart();
    block.mostBytes = (head[3] - 0x30) * UNIT_BYTES;
    let usedBits = 0;
    let streamCrc = 0;
    for (;;) {
      const bytes = await source.takeSome(MOST_PACKED_BLOCK, MOST_PACKED_BLOCK);
      const bits = new ForwardBits(bytes, usedBits, source);
      const mark = bits.read(24) * 2 ** 24 + bits.read(24);
      if (mark === BLOCK_MARK) {
        limit.countPart();
        const crc = bits.read(16) * 65536 + bits.read(16);
        yield* block.decode(bits, crc);
        streamCrc = (((streamCrc << 1) | (streamCrc >>> 31)) ^ crc) >>> 0;
        source.giveBack(bytes.subarray(bits.at >> 3));
        usedBits = bits.at & 7;
        continue;
      }
      if (mark !== END_MARK || bits.read(16) * 65536 + bits.read(16) !== streamCrc) throw new Damaged();
      source.giveBack(bytes.subarray((bits.at + 7) >> 3));
      break;
    }
  }
}

/** Highest bit of a byte first. */
class ForwardBits {
  private readonly end: number;

  /** @param at number of bits that were read */
  constructor(
    private readonly bytes: Uint8Array,
    public at: number,
    private readonly source: PackedBytes,
  ) {
    this.end = 8 * bytes.length;
  }

  /** @param count at most 24 */
  read(count: number): number {
    const bits = this.peek(count);
    this.skip(count);
    return bits;
  }

  /** Zeros follow the last bit. */
  peek(count: number): number {
    const { bytes } = this;
    const byte = this.at >> 3;
    const word = (bytes[byte] << 24) | (bytes[byte + 1] << 16) | (bytes[byte + 2] << 8) | bytes[byte + 3];
    return count === 0 ? 0 : (word << (this.at & 7)) >>> (32 - count);
  }

  skip(count: number): void {
    this.at += count;
    if (this.at > this.end) throw this.source.findEnd();
  }
}

/** Canonical codes: those of one length follow each other. */
class CodeTable {
  /** By length: the first code that is longer, shifted to the longest length; and what leads from a code to its symbol. */
  private readonly limits = new Int32Array(MOST_CODE_BITS + 2);
  private readonly shifts = new Int32Array(MOST_CODE_BITS + 2);
  private readonly symbols: number[] = [];
  /** By the next bits: a short code's length and symbol; 0 for a long one. */
  private readonly short = new Uint16Array(1 << SHORT_BITS);

  constructor(lengths: Uint8Array) {
    let code = 0;
    for (let length = 1; length <= MOST_CODE_BITS; length++) {
      this.shifts[length] = this.symbols.length - code;
      for (let symbol = 0; symbol < lengths.length; symbol++) {
        if (lengths[symbol] !== length) continue;
        this.symbols.push(symbol);
        if (length <= SHORT_BITS) {
          const from = code << (SHORT_BITS - length);
          this.short.fill((length << 9) | symbol, from, from + (1 << (SHORT_BITS - length)));
        }
        code++;
      }
      this.limits[length] = code << (MOST_CODE_BITS - length);
      if (this.limits[length] > 1 << MOST_CODE_BITS) throw new Damaged();
      code <<= 1;
    }
  }

  read(bits: ForwardBits): number {
    const word = bits.peek(MOST_CODE_BITS);
    const short = this.short[word >> (MOST_CODE_BITS - SHORT_BITS)];
    if (short !== 0) {
      bits.skip(short >> 9);
      return short & 511;
    }
    for (let length = SHORT_BITS + 1; length <= MOST_CODE_BITS; length++) {
      if (word >= this.limits[length]) continue;
      bits.skip(length);
      return this.symbols[(word >> (MOST_CODE_BITS - length)) + this.shifts[length]];
    }
    throw new Damaged();
  }
}

class BlockDecoder {
  /** A byte, and above it the place of the byte that follows. */
  private readonly links = new Uint32Array(MOST_UNITS * UNIT_BYTES);
  /** Size of a block of this stream. */
  mostBytes = 0;

  /** Throws after the last piece when the block does not have the checksum. */
  *decode(bits: ForwardBits, expectedCrc: number): Generator<Uint8Array, void, void> {
    // Bit 1: blocks of versions before 1.0, which shuffled repetitive ones.
    if (bits.read(1) === 1) throw new Damaged();
    const first = bits.read(24);
    const count = this.readSymbols(bits);
    if (first >= count) throw new Damaged();
    this.linkBytes(count);
    let piece = new Uint8Array(PIECE_BYTES);
    let filled = 0;
    let crc = 0xffffffff;
    let link = this.links[first];
    let last = -1;
    let repeats = 0;
    for (let left = count; left > 0; left--) {
      link = this.links[link >>> 8];
      const byte = link & 0xff;
      // After four equal bytes, a byte says how many more follow.
      const copies = repeats === 4 ? byte : 1;
      const written = repeats === 4 ? last : byte;
      repeats = repeats === 4 ? 0 : byte === last ? repeats + 1 : 1;
      last = repeats === 0 ? -1 : byte;
      if (filled + copies > PIECE_BYTES) {
        yield piece.subarray(0, filled);
        piece = new Uint8Array(PIECE_BYTES);
        filled = 0;
      }
      for (let i = 0; i < copies; i++) {
        piece[filled++] = written;
        crc = (crc << 8) ^ CRC_TABLE[(crc >>> 24) ^ written];
      }
    }
    if (filled > 0) yield piece.subarray(0, filled);
    if (~crc >>> 0 !== expectedCrc) throw new BrokenInput('its content does not match its checksum');
  }

  /** Huffman codes, runs and the list of recent bytes. @returns number of bytes in `links` */
  private readSymbols(bits: ForwardBits): number {
    const { links, mostBytes } = this;
    const recent = readUsedBytes(bits);
    const endOfBlock = recent.length + 1;
    const { tables, selectors } = readTables(bits, recent.length + 2);
    let count = 0;
    let run = 0;
    let runUnit = 1;
    for (let group = 0; group < selectors.length; group++) {
      const table = tables[selectors[group]];
      for (let i = 0; i < GROUP_SYMBOLS; i++) {
        const symbol = table.read(bits);
        if (symbol < 2) {
          run += runUnit << symbol;
          runUnit <<= 1;
          if (count + run > mostBytes) throw new Damaged();
          continue;
        }
        if (run > 0) {
          links.fill(recent[0], count, count + run);
          count += run;
          run = 0;
          runUnit = 1;
        }
        if (symbol === endOfBlock) return count;
        if (count === mostBytes) throw new Damaged();
        const byte = recent[symbol - 1];
        for (let place = symbol - 1; place > 0; place--) recent[place] = recent[place - 1];
        recent[0] = byte;
        links[count++] = byte;
      }
    }
    throw new Damaged();
  }

  /** Inverts the Burrows-Wheeler transform. */
  private linkBytes(count: number): void {
    const { links } = this;
    const next = new Uint32Array(257);
    for (let i = 0; i < count; i++) next[links[i] + 1]++;
    for (let byte = 0; byte < 256; byte++) next[byte + 1] += next[byte];
    for (let i = 0; i < count; i++) links[next[links[i] & 0xff]++] |= i << 8;
  }
}

function readUsedBytes(bits: ForwardBits): Uint8Array {
  const used: number[] = [];
  const ranges = bits.read(16);
  for (let range = 0; range < 16; range++) {
    if ((ranges & (0x8000 >> range)) === 0) continue;
    const bytes = bits.read(16);
    for (let byte = 0; byte < 16; byte++) if ((bytes & (0x8000 >> byte)) !== 0) used.push(16 * range + byte);
  }
  if (used.length === 0) throw new Damaged();
  return Uint8Array.from(used);
}

function readTables(bits: ForwardBits, symbolCount: number): { tables: CodeTable[]; selectors: Uint8Array } {
  const tableCount = bits.read(3);
  const selectorCount = bits.read(15);
  if (tableCount < 2 || tableCount > 6 || selectorCount === 0) throw new Damaged();
  const recent = [...Array(tableCount).keys()];
  const selectors = new Uint8Array(Math.min(selectorCount, MOST_SELECTORS));
  for (let i = 0; i < selectorCount; i++) {
    let place = 0;
    while (bits.read(1) === 1) if (++place >= tableCount) throw new Damaged();
    recent.unshift(...recent.splice(place, 1));
    // Some packers write more selectors than a block can need.
    if (i < selectors.length) selectors[i] = recent[0];
  }
  const tables: CodeTable[] = [];
  const lengths = new Uint8Array(symbolCount);
  for (let table = 0; table < tableCount; table++) {
    let length = bits.read(5);
    for (let symbol = 0; symbol < symbolCount; symbol++) {
      for (;;) {
        if (length < 1 || length > MOST_CODE_BITS) throw new Damaged();
        if (bits.read(1) === 0) break;
        length += bits.read(1) === 0 ? 1 : -1;
      }
      lengths[symbol] = length;
    }
    tables.push(new CodeTable(lengths));
  }
  return { tables, selectors };
}
