/**
 * Writes small Syzygy tables, so that the reader can be tested without real ones. A part is either one value for all
 * positions, or a value for each index, paired where a value repeats and written with a Huffman code of two lengths.
 */
const MAGIC = { wdl: [0x71, 0xe8, 0x23, 0x5d], dtz: [0xd7, 0x66, 0x0c, 0xa5] };
const NO_PAIR = 0xfff;
const LOG_BLOCK_BYTES = 6;
const BLOCK_BYTES = 2 ** LOG_BLOCK_BYTES;
const LOG_SPAN = 5;
const SPAN = 2 ** LOG_SPAN;
const MOST_DOUBLINGS = 6;
const CHECKSUM_BYTES = 16;

export interface PartSpec {
  /** Codes in the order of the table. */
  readonly pieces: readonly number[];
  /** Half bytes; 0 and 15 when left out. */
  readonly leaderPlace?: number;
  readonly secondPlace?: number;
  readonly values: number | ArrayLike<number>;
  /** DTZ: side stored, mapped, wide, plies. */
  readonly flags?: number;
  /** DTZ: lists of values for wins, losses, cursed wins, blessed losses. */
  readonly lists?: readonly (readonly number[])[];
}

export interface TableSpec {
  readonly kind: 'wdl' | 'dtz';
  readonly isSymmetric?: boolean;
  /** For each file of the leading pawn the sides that are stored. Two numbers of places are written with pawns on both sides. */
  readonly parts: readonly (readonly PartSpec[])[];
  readonly pawns?: 'none' | 'one side' | 'both sides';
}

interface Compressed {
  readonly head: number[];
  readonly spans: number[];
  readonly lengths: number[];
  readonly blocks: number[];
}

export function createTableFile({ kind, isSymmetric = false, parts, pawns = 'none' }: TableSpec): Buffer {
  const bytes: number[] = [...MAGIC[kind], (isSymmetric ? 0 : 1) | (pawns === 'none' ? 0 : 2)];
  const align = (unit: number): void => {
    while (bytes.length % unit !== 0) bytes.push(0);
  };
  for (const sides of parts) {
    const [white, black = white] = sides;
    bytes.push((white.leaderPlace ?? 0) | ((black.leaderPlace ?? 0) << 4));
    if (pawns === 'both sides') bytes.push((white.secondPlace ?? 1) | ((black.secondPlace ?? 1) << 4));
    white.pieces.forEach((code, i) => {
      bytes.push(code | (black.pieces[i] << 4));
    });
  }
  align(2);
  const all = parts.flat();
  const compressed = all.map(compress);
  for (const { head } of compressed) bytes.push(...head);
  for (const { lists, flags = 0 } of all) {
    if (lists === undefined) continue;
    const isWide = (flags & 16) !== 0;
    if (isWide) align(2);
    for (const list of lists) {
      for (const number of [list.length, ...list]) bytes.push(...(isWide ? toBytes(number, 2) : [number]));
    }
  }
  align(2);
  for (const { spans } of compressed) bytes.push(...spans);
  for (const { lengths } of compressed) bytes.push(...lengths);
  for (const { blocks } of compressed) {
    if (blocks.length > 0) align(64);
    for (const byte of blocks) bytes.push(byte);
  }
  align(64);
  return Buffer.from([...bytes, ...new Array<number>(CHECKSUM_BYTES).fill(0)]);
}

function compress({ values, flags = 0 }: PartSpec): Compressed {
  if (typeof values === 'number') return { head: [flags | 128, values], spans: [], lengths: [], blocks: [] };
  const { pairs, tokens } = pairRuns(values);
  const longBits = Math.max(2, Math.ceil(Math.log2(pairs.length)) + 1);
  const longCount = 2 * Math.floor(pairs.length / 4);
  const toCode = (symbol: number): { code: number; bits: number } =>
    symbol < longCount
      ? { code: symbol, bits: longBits }
      : { code: longCount / 2 + symbol - longCount, bits: longBits - 1 };

  const blocks: number[][] = [];
  const starts: number[] = [];
  let block: string = '';
  let done = 0;
  for (const { symbol, length } of tokens) {
    const { code, bits } = toCode(symbol);
    if (starts.length === 0 || block.length + bits > 8 * BLOCK_BYTES) {
      if (starts.length > 0) blocks.push(toBlock(block));
      starts.push(done);
      block = '';
    }
    block += code.toString(2).padStart(bits, '0');
    done += length;
  }
  blocks.push(toBlock(block));

  const head = [flags, LOG_BLOCK_BYTES, LOG_SPAN, 1, ...toBytes(blocks.length, 4), longBits, longBits - 1];
  head.push(...toBytes(longCount, 2), ...toBytes(0, 2), ...toBytes(pairs.length, 2));
  for (const [left, right] of pairs) head.push(left & 255, (left >> 8) | ((right & 15) << 4), right >> 4);
  if (pairs.length % 2 === 1) head.push(0);

  const spans: number[] = [];
  for (let middle = SPAN / 2; middle < values.length + SPAN / 2; middle += SPAN) {
    let index = 0;
    while (index + 1 < starts.length && starts[index + 1] <= middle) index++;
    spans.push(...toBytes(index, 4), ...toBytes(middle - starts[index], 2));
  }
  const lengths = starts.flatMap((start, i) => toBytes((starts[i + 1] ?? values.length) - start - 1, 2));
  return { head, spans, lengths: [...lengths, 0, 0], blocks: blocks.flat() };
}

/** Symbols: for each value one for itself and for its doublings, as pairs of halves. */
function pairRuns(values: ArrayLike<number>): {
  pairs: [number, number][];
  tokens: { symbol: number; length: number }[];
} {
  const pairs: [number, number][] = [];
  const firstSymbol = new Map<number, number>();
  for (const value of new Set(Array.from(values))) {
    firstSymbol.set(value, pairs.length);
    pairs.push([value, NO_PAIR]);
    for (let i = 0; i < MOST_DOUBLINGS; i++) pairs.push([pairs.length - 1, pairs.length - 1]);
  }
  const tokens: { symbol: number; length: number }[] = [];
  for (let i = 0; i < values.length; ) {
    let run = 1;
    while (i + run < values.length && values[i + run] === values[i] && run < 2 ** MOST_DOUBLINGS) run++;
    const doublings = Math.floor(Math.log2(run));
    tokens.push({ symbol: (firstSymbol.get(values[i]) ?? 0) + doublings, length: 2 ** doublings });
    i += 2 ** doublings;
  }
  return { pairs, tokens };
}

function toBlock(bits: string): number[] {
  const padded = bits.padEnd(8 * BLOCK_BYTES, '0');
  return Array.from({ length: BLOCK_BYTES }, (_, i) => Number.parseInt(padded.slice(8 * i, 8 * i + 8), 2));
}

function toBytes(value: number, count: number): number[] {
  return Array.from({ length: count }, (_, i) => Math.floor(value / 256 ** i) % 256);
}
