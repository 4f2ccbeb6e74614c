/**
 * The values of one part of a table: an array of small numbers, compressed in two steps. First, recursive pairing
 * replaces two neighbouring values by one symbol, again and again, so a symbol can stand for many values. Then a
 * canonical Huffman code writes the symbols into blocks of equal size.
 *
 * To find a value, the reader looks up the sparse index: for the middle of each span of positions it holds the block
 * and the number of values before it in that block. From there the reader adds or subtracts the lengths of the blocks
 * until it reaches the one that holds the position. Source: R. de Man's compressor as described on the chessprogramming
 * wiki, "Syzygy Bases".
 *
 *   header  flags | log2 block size | log2 span | spare blocks | blocks (4) | longest code | shortest code |
 *           first symbol of each code length (2 each) | number of symbols (2) | symbols as pairs of 12 bits (3 each) |
 *           padding to an even length
 *   later   6 bytes a span: block (4), values before the middle (2) | 2 bytes a block: its values − 1 | the blocks
 */
import { DamagedTable, type FileBytes } from './file-bytes.js';
import type { HeaderReader } from './header-reader.js';

export const FLAG_SIDE = 1;
export const FLAG_MAPPED = 2;
export const FLAG_WIN_PLIES = 4;
export const FLAG_LOSS_PLIES = 8;
export const FLAG_WIDE = 16;
const FLAG_SINGLE_VALUE = 128;

/** A symbol with this right half is no pair; its left half is a value. */
const NO_PAIR = 0xfff;
const MOST_SYMBOLS = 4096;
const LONGEST_CODE = 32;
const SPAN_ENTRY_BYTES = 6;
const ALIGNMENT = 64;

export class CompressedValues {
  readonly flags: number;
  private readonly singleValue: number = 0;
  private readonly blockBytes: number = 0;
  private readonly span: number = 1;
  private readonly spans: number = 0;
  private readonly blocks: number = 0;
  private readonly lengthsCount: number = 0;
  private readonly shortestCode: number = 0;
  /** By code length from the shortest on: the lowest code, shifted to the top of 32 bits, and its symbol. */
  private readonly lowestCodes: Float64Array = new Float64Array(0);
  private readonly firstSymbols: Uint16Array = new Uint16Array(0);
  private readonly left: Uint16Array = new Uint16Array(0);
  private readonly right: Uint16Array = new Uint16Array(0);
  /** Number of values that each symbol stands for. */
  private readonly lengths: Int32Array = new Int32Array(0);
  private spansAt = 0;
  private lengthsAt = 0;
  private blocksAt = 0;

  /**
   * Reads the header, at whose first byte `header` must stand.
   * @param size number of positions
   */
  constructor(
    header: HeaderReader,
    private readonly size: number,
  ) {
    this.flags = header.readByte();
    if ((this.flags & FLAG_SINGLE_VALUE) !== 0) {
      this.singleValue = header.readByte();
      return;
    }
    this.blockBytes = 2 ** header.readByte();
    this.span = 2 ** header.readByte();
    const spareBlocks = header.readByte();
    this.blocks = header.readUint32();
    this.lengthsCount = this.blocks + spareBlocks;
    this.spans = Math.ceil(size / this.span);
    const longest = header.readByte();
    this.shortestCode = header.readByte();
    if (this.shortestCode < 1 || longest < this.shortestCode || longest > LONGEST_CODE || this.blockBytes > 65536) {
      throw new DamagedTable('its code is impossible');
    }
    this.firstSymbols = Uint16Array.from({ length: longest - this.shortestCode + 1 }, () => header.readUint16());
    this.lowestCodes = computeLowestCodes(this.firstSymbols, this.shortestCode);
    const symbols = header.readUint16();
    if (symbols > MOST_SYMBOLS) throw new DamagedTable('it has too many symbols');
    this.left = new Uint16Array(symbols);
    this.right = new Uint16Array(symbols);
    for (let symbol = 0; symbol < symbols; symbol++) {
      const low = header.readByte();
      const middle = header.readByte();
      this.left[symbol] = low | ((middle & 15) << 8);
      this.right[symbol] = (header.readByte() << 4) | (middle >> 4);
    }
    if ((symbols & 1) !== 0) header.readByte();
    this.lengths = measureSymbols(this.left, this.right);
  }

  private get isSingle(): boolean {
    return (this.flags & FLAG_SINGLE_VALUE) !== 0;
  }

  /** Says that the sparse index begins at `offset` of the file. Returns the offset of its end. */
  placeSpans(offset: number): number {
    this.spansAt = offset;
    return offset + SPAN_ENTRY_BYTES * this.spans;
  }

  /** Likewise for the lengths of the blocks. */
  placeLengths(offset: number): number {
    this.lengthsAt = offset;
    return offset + 2 * this.lengthsCount;
  }

  /** Likewise for the blocks, which begin at the next multiple of 64 bytes. */
  placeBlocks(offset: number): number {
    if (this.isSingle) return offset;
    this.blocksAt = Math.ceil(offset / ALIGNMENT) * ALIGNMENT;
    return this.blocksAt + this.blocks * this.blockBytes;
  }

  /** The value of the position at `index`. Throws DamagedTable if the data contradicts itself. */
  read(file: FileBytes, index: number): number {
    if (this.isSingle) return this.singleValue;
    if (!(index >= 0 && index < this.size)) throw new DamagedTable('a position lies outside of it');
    const span = Math.floor(index / this.span);
    let start = file.seek(this.spansAt + SPAN_ENTRY_BYTES * span, SPAN_ENTRY_BYTES);
    const { bytes } = file;
    let block = (bytes[start] | (bytes[start + 1] << 8) | (bytes[start + 2] << 16)) + bytes[start + 3] * 2 ** 24;
    const skipped = bytes[start + 4] | (bytes[start + 5] << 8);
    let rest = index - span * this.span - Math.floor(this.span / 2) + skipped;
    while (rest < 0) rest += this.readBlockLength(file, --block);
    for (let length = this.readBlockLength(file, block); rest >= length; length = this.readBlockLength(file, ++block)) {
      rest -= length;
    }
    if (block >= this.blocks) throw new DamagedTable('it points past its blocks');
    start = file.seek(this.blocksAt + block * this.blockBytes, this.blockBytes);
    return this.decode(file.bytes, start, rest);
  }

  private readBlockLength(file: FileBytes, block: number): number {
    if (block < 0 || block >= this.lengthsCount) throw new DamagedTable('it points past its blocks');
    const start = file.seek(this.lengthsAt + 2 * block, 2);
    return (file.bytes[start] | (file.bytes[start + 1] << 8)) + 1;
  }

  /** Decodes the block at `start` up to its value number `skip`. */
  private decode(bytes: Uint8Array, start: number, skip: number): number {
    const { lowestCodes, firstSymbols, lengths, shortestCode } = this;
    const end = start + this.blockBytes;
    let rest = skip;
    let bit = 0;
    for (;;) {
      const at = start + (bit >> 3);
      if (at >= end) throw new DamagedTable('a block is too short');
      const window = readWindow(bytes, at, end, bit & 7);
      let row = 0;
      while (window < lowestCodes[row]) row++;
      const codeLength = shortestCode + row;
      const symbol = firstSymbols[row] + ((window - lowestCodes[row]) >>> (LONGEST_CODE - codeLength));
      if (symbol >= lengths.length) throw new DamagedTable('a block holds an unknown symbol');
      if (rest < lengths[symbol]) return this.expand(symbol, rest);
      rest -= lengths[symbol];
      bit += codeLength;
    }
  }

  /** Value number `skip` of those that the symbol `from` stands for. */
  private expand(from: number, skip: number): number {
    const { left, right, lengths } = this;
    let symbol = from;
    let rest = skip;
    while (right[symbol] !== NO_PAIR) {
      const first = lengths[left[symbol]];
      if (rest < first) symbol = left[symbol];
      else {
        rest -= first;
        symbol = right[symbol];
      }
    }
    return left[symbol];
  }
}

/** The 32 bits from bit `shift` of `bytes[at]` on. Bytes from `end` on read as 0: they belong to another block. */
function readWindow(bytes: Uint8Array, at: number, end: number, shift: number): number {
  const high =
    (bytes[at] << 24) |
    (at + 1 < end ? bytes[at + 1] << 16 : 0) |
    (at + 2 < end ? bytes[at + 2] << 8 : 0) |
    (at + 3 < end ? bytes[at + 3] : 0);
  if (shift === 0) return high >>> 0;
  const low = at + 4 < end ? bytes[at + 4] : 0;
  return ((high << shift) | (low >> (8 - shift))) >>> 0;
}

/**
 * The lowest code of each length, shifted to the top of 32 bits. Longer codes are lower: the longest begin at 0, and
 * each length continues where the next longer one ends.
 */
function computeLowestCodes(firstSymbols: Uint16Array, shortest: number): Float64Array {
  const codes = new Float64Array(firstSymbols.length);
  for (let row = codes.length - 2; row >= 0; row--) {
    codes[row] = Math.floor((codes[row + 1] + firstSymbols[row] - firstSymbols[row + 1]) / 2);
  }
  for (let row = 0; row < codes.length; row++) {
    const length = shortest + row;
    if (codes[row] < 0 || codes[row] >= 2 ** length) throw new DamagedTable('its code is impossible');
    codes[row] *= 2 ** (LONGEST_CODE - length);
  }
  return codes;
}

/** Number of values that each symbol stands for. Throws DamagedTable if a symbol contains itself. */
function measureSymbols(left: Uint16Array, right: Uint16Array): Int32Array {
  const lengths = new Int32Array(left.length);
  const underWay = new Uint8Array(left.length);
  const measure = (symbol: number): number => {
    if (symbol >= left.length || underWay[symbol] === 1) throw new DamagedTable('its symbols are impossible');
    if (lengths[symbol] > 0) return lengths[symbol];
    underWay[symbol] = 1;
    lengths[symbol] = right[symbol] === NO_PAIR ? 1 : measure(left[symbol]) + measure(right[symbol]);
    if (lengths[symbol] > 65536) throw new DamagedTable('its symbols are impossible');
    underWay[symbol] = 0;
    return lengths[symbol];
  };
  for (let symbol = 0; symbol < left.length; symbol++) measure(symbol);
  return lengths;
}
