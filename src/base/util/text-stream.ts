/**
 * Bytes of text files → text in pieces of bounded size, and its lines. Text is UTF-8, or UTF-16 or UTF-32 with a byte order mark. A line that
 * is not valid UTF-8 is read as Windows-1252, which holds the printable part of ISO 8859-1, the PGN standard's own encoding. Line
 * ends of any kind become `\n`. The work is linear in the bytes, whatever they are.
 */

import { concatBytes } from './gzip-limits.js';

export type TextSource = AsyncIterable<Uint8Array> | Iterable<Uint8Array>;

/**
 * What a file holds cannot be read further: it is damaged, cut off, or beyond a limit. Everything before that place was handed on.
 * The message has no subject; the caller puts the file's name before it.
 */
export class BrokenInput extends Error {}

/** The file was made to cost time and memory: a command refuses all of it instead of working long on the part that was read. */
export class RefusedInput extends BrokenInput {}

/** Bytes of a line that are held before it is handed on in parts. */
const LONGEST_PART_BYTES = 1 << 20;
/** In characters; a labelled game with the scores of all moves has a hundredth of this. */
const LONGEST_LINE = 1 << 24;

const NEWLINE = 10;
const RETURN = 13;

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const latin1 = new TextDecoder('latin1');
/** What Windows-1252 has from 0x80 on; Node's decoder leaves control characters there. */
const WINDOWS_1252 = '€\x81‚ƒ„…†‡ˆ‰Š‹Œ\x8dŽ\x8f\x90‘’“”•–—˜™š›œ\x9džŸ';

/**
 * Every piece ends with a line end, except the last one and parts of lines over a megabyte. An error of the source is thrown
 * after the text before it.
 */
export async function* decodeText(source: TextSource): AsyncGenerator<string, void, void> {
  let held: Uint8Array[] = [];
  let heldBytes = 0;
  /** Hands on all bytes up to `end` of the last chunk and holds the rest. */
  const take = (last: Uint8Array, end: number): string => {
    const taken = last.subarray(0, end);
    const bytes = held.length === 0 ? taken : concatBytes([...held, taken]);
    held = end === last.length ? [] : [last.subarray(end)];
    heldBytes = last.length - end;
    return decode(bytes);
  };
  const breaks: Error[] = [];
  for await (const chunk of readUntilBreak(toUtf8(source), (error) => breaks.push(error))) {
    const end = 1 + Math.max(chunk.lastIndexOf(NEWLINE), chunk.subarray(0, -1).lastIndexOf(RETURN));
    if (end > 0) yield take(chunk, end);
    else if (chunk.length > 0) {
      held.push(chunk);
      heldBytes += chunk.length;
    }
    if (heldBytes <= LONGEST_PART_BYTES) continue;
    const part = concatBytes(held);
    held = [];
    heldBytes = 0;
    yield take(part, findCut(part));
  }
  if (heldBytes > 0) yield take(new Uint8Array(0), 0);
  if (breaks.length > 0) throw breaks[0];
}

/** What a stream gives until it breaks; then calls `onBreak`. Errors of the code that uses it pass through. */
export async function* readUntilBreak<Item>(
  stream: AsyncIterable<Item> | Iterable<Item>,
  onBreak: (error: Error) => unknown,
): AsyncGenerator<Item, void, void> {
  try {
    yield* stream;
  } catch (error) {
    onBreak(error as Error);
  }
}

export interface TextLine {
  readonly text: string;
  /** From 1. */
  readonly number: number;
}

/** The lines that are not blank. Throws BrokenInput at a line that no file of games or positions has. */
export async function* readLines(pieces: AsyncIterable<string>): AsyncGenerator<TextLine, void, void> {
  let rest = '';
  let number = 0;
  for await (const piece of pieces) {
    let start = 0;
    for (let end = piece.indexOf('\n'); end >= 0; end = piece.indexOf('\n', start)) {
      number++;
      const text = end === start ? rest : rest + piece.slice(start, end);
      rest = '';
      start = end + 1;
      if (text !== '' && text.trim() !== '') yield { text, number };
    }
    rest += piece.slice(start);
    if (rest.length > LONGEST_LINE) throw new BrokenInput(`line ${number + 1} is longer than any line of such files`);
  }
  if (rest.trim() !== '') yield { text: rest, number: number + 1 };
}

/** UTF-16 and UTF-32 become UTF-8; other bytes stay as they are. Without a mark, one of the first two bytes of UTF-16 is zero. */
export async function* toUtf8(source: TextSource): AsyncGenerator<Uint8Array, void, void> {
  let recode: ((bytes: Uint8Array) => string) | null = null;
  /** The first bytes, until there are four; null after them. */
  let first: Uint8Array | null = new Uint8Array(0);
  for await (const next of source) {
    let chunk = next;
    if (first !== null) {
      chunk = concatBytes([first, next]);
      first = chunk.length < 4 ? chunk : null;
      if (first !== null) continue;
      recode = findRecoding(chunk);
    }
    yield recode === null ? chunk : new TextEncoder().encode(recode(chunk));
  }
  if (first === null) return;
  recode = findRecoding(first);
  yield recode === null ? first : new TextEncoder().encode(recode(first));
}

function findRecoding(head: Uint8Array): ((bytes: Uint8Array) => string) | null {
  const mark = (head[0] << 8) | head[1];
  const isWide = head.length >= 4;
  if (isWide && mark === 0xfffe && head[2] === 0 && head[3] === 0) return createUtf32Decoder(true);
  if (isWide && mark === 0 && head[2] === 0xfe && head[3] === 0xff) return createUtf32Decoder(false);
  const isLittle = mark === 0xfffe || (mark > 0 && head[1] === 0);
  if (!isLittle && mark !== 0xfeff && !(mark > 0 && head[0] === 0)) return null;
  const decoder = new TextDecoder(isLittle ? 'utf-16le' : 'utf-16be');
  return (bytes) => decoder.decode(bytes, { stream: true });
}

/** TextDecoder does not know UTF-32. */
function createUtf32Decoder(isLittle: boolean): (bytes: Uint8Array) => string {
  let held = new Uint8Array(0);
  return (bytes) => {
    const all = concatBytes([held, bytes]);
    const view = new DataView(all.buffer, all.byteOffset);
    const codes = Array.from({ length: all.length >> 2 }, (_, index) => view.getUint32(4 * index, isLittle));
    held = all.slice(4 * codes.length);
    return codes.map((code) => String.fromCodePoint(code < 0x110000 ? code : 0xfffd)).join('');
  };
}

/** Where a long line may be cut: before a character that may go on, and before a return that a newline may follow. */
function findCut(bytes: Uint8Array): number {
  let cut = bytes.length;
  while (cut > bytes.length - 4 && (bytes[cut - 1] & 0xc0) === 0x80) cut--;
  return bytes[cut - 1] >= 0xc0 || bytes[cut - 1] === RETURN ? cut - 1 : cut;
}

function decode(raw: Uint8Array): string {
  const bytes = raw.includes(RETURN) ? replaceReturns(raw) : raw;
  let text: string;
  try {
    text = utf8.decode(bytes);
  } catch {
    text = decodeLines(bytes);
  }
  return text.includes('\ufeff') ? text.replace(/^\ufeff/gm, '') : text;
}

function replaceReturns(bytes: Uint8Array): Uint8Array {
  const replaced = new Uint8Array(bytes.length);
  let size = 0;
  for (let at = 0; at < bytes.length; at++) {
    if (bytes[at] === NEWLINE && bytes[at - 1] === RETURN) continue;
    replaced[size++] = bytes[at] === RETURN ? NEWLINE : bytes[at];
  }
  return replaced.subarray(0, size);
}

function decodeWindows1252(bytes: Uint8Array): string {
  return latin1.decode(bytes).replace(/[\x80-\x9f]/g, (letter) => WINDOWS_1252[letter.charCodeAt(0) - 0x80]);
}

/** Lines in a row of one encoding are decoded together; ASCII is of either. */
function decodeLines(bytes: Uint8Array): string {
  let text = '';
  let start = 0;
  let runKind: LineKind = 'ascii';
  for (let at = 0; at < bytes.length; ) {
    const { end, kind } = scanLine(bytes, at);
    if (kind !== 'ascii' && runKind !== 'ascii' && kind !== runKind) {
      text +=
        runKind === 'other' ? decodeWindows1252(bytes.subarray(start, at)) : utf8.decode(bytes.subarray(start, at));
      start = at;
    }
    if (kind !== 'ascii') runKind = kind;
    at = end;
  }
  const rest = bytes.subarray(start);
  return text + (runKind === 'other' ? decodeWindows1252(rest) : utf8.decode(rest));
}

type LineKind = 'ascii' | 'utf8' | 'other';

/** Where the line ends, its line end included, and whether it is valid UTF-8 (RFC 3629, 4). */
function scanLine(bytes: Uint8Array, from: number): { end: number; kind: LineKind } {
  let kind: LineKind = 'ascii';
  let at = from;
  while (at < bytes.length) {
    const byte = bytes[at++];
    if (byte === NEWLINE) break;
    if (byte < 0x80 || kind === 'other') continue;
    const following = byte >= 0xf0 ? 3 : byte >= 0xe0 ? 2 : 1;
    const second = bytes[at] ?? 0;
    const least = byte === 0xe0 ? 0xa0 : byte === 0xf0 ? 0x90 : 0x80;
    const most = byte === 0xed ? 0x9f : byte === 0xf4 ? 0x8f : 0xbf;
    let isValid = byte >= 0xc2 && byte <= 0xf4 && second >= least && second <= most;
    for (let i = 1; i < following; i++) isValid &&= ((bytes[at + i] ?? 0) & 0xc0) === 0x80;
    kind = isValid ? 'utf8' : 'other';
    if (isValid) at += following;
  }
  return { end: at, kind };
}
