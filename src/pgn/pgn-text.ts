/**
 * Cuts PGN files into the texts of their games, from bytes in memory or from a stream of any length; memory holds one
 * chunk and one game. A tag line after moves starts the next game, and so does a blank line after a result, so games without
 * tags are separated too. This file does not read moves.
 *
 * Lines are UTF-8; a line that is not valid UTF-8 is read as ISO 8859-1, which the PGN standard asks for.
 */
import { startsWithTag } from './pgn-tags.js';

export interface PgnText {
  /** All lines of the game, joined by `\n`; cut off at the limit when the game is too long. */
  readonly text: string;
  /** Number of the game in its file, from 1. */
  readonly number: number;
  /** Line of the file on which the text begins, from 1. */
  readonly line: number;
  /** Whether `text` was cut off at the limit, so that a file that is not PGN cannot fill the memory as one endless game. */
  readonly isTooLong: boolean;
}

/** Characters of one game, and bytes of one line. */
export const LONGEST_GAME_TEXT = 1 << 20;

const RESULT_AT_END = /(?:1-0|0-1|1\/2-1\/2|\*)\s*$/;
const NEWLINE = 10;

/** @param source text, or the bytes of a file */
export function splitPgn(source: string | Uint8Array): PgnText[] {
  const splitter = new PgnSplitter();
  const lines = typeof source === 'string' ? source.split('\n') : decodeLines(source);
  const games = lines.map((line) => splitter.push(line));
  return [...games, splitter.end()].filter((game) => game !== null);
}

/** @param chunks the bytes of a file, in order. An error of theirs is thrown after the games before it. */
export async function* readPgn(
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): AsyncGenerator<PgnText, void, void> {
  const splitter = new PgnSplitter();
  let rest = new Uint8Array(0);
  for await (const chunk of chunks) {
    const end = chunk.lastIndexOf(NEWLINE);
    if (end < 0) {
      if (rest.length <= LONGEST_GAME_TEXT) rest = concatenate(rest, chunk);
      continue;
    }
    for (const line of decodeLines(concatenate(rest, chunk.subarray(0, end)))) {
      const game = splitter.push(line);
      if (game !== null) yield game;
    }
    rest = chunk.slice(end + 1);
  }
  for (const game of [splitter.push(decodeLine(rest)), splitter.end()]) if (game !== null) yield game;
}

/** Takes lines one by one and hands back each game when it is complete. */
export class PgnSplitter {
  private lines: string[] = [];
  private firstLine = 0;
  private characters = 0;
  private hasMoves = false;
  private endsWithResult = false;
  /** Kept as lines come, so that the work grows with the file and not with its square. */
  private isInComment = false;
  private linesSeen = 0;
  private gamesSeen = 0;

  /** @returns the game that this line ended, or null */
  push(rawLine: string): PgnText | null {
    const line = rawLine.replace(/^\ufeff|\r$/g, '');
    const isTag = startsWithTag(line);
    const isBlank = !isTag && line.trim() === '';
    const startsNext = (isTag && this.hasMoves) || (isBlank && this.endsWithResult && !this.isInComment);
    const ended = startsNext ? this.end() : null;
    this.linesSeen++;
    // A line after `%` (PGN standard, 6) is no part of a game, but among moves it may belong to a comment.
    const isEscape = line.startsWith('%') && !this.hasMoves;
    if (this.lines.length > 0 || !(isBlank || isEscape)) this.add(line, !(isTag || isBlank || isEscape));
    return ended;
  }

  /** The last game of the file, once all lines were pushed; null when there is none. */
  end(): PgnText | null {
    const isTooLong = this.characters > LONGEST_GAME_TEXT;
    const isGame = this.hasMoves || isTooLong;
    const text = this.lines.join('\n').slice(0, LONGEST_GAME_TEXT);
    const game = isGame ? { text, number: ++this.gamesSeen, line: this.firstLine, isTooLong } : null;
    this.lines = [];
    this.characters = 0;
    this.hasMoves = false;
    this.endsWithResult = false;
    this.isInComment = false;
    return game;
  }

  private add(line: string, isMoves: boolean): void {
    if (this.lines.length === 0) this.firstLine = this.linesSeen;
    if (this.characters <= LONGEST_GAME_TEXT) this.lines.push(line);
    this.characters += line.length + 1;
    const opens = line.lastIndexOf('{');
    const closes = line.lastIndexOf('}');
    if (opens !== closes) this.isInComment = opens > closes;
    if (!isMoves) return;
    this.hasMoves = true;
    this.endsWithResult = RESULT_AT_END.test(line);
  }
}

function concatenate(first: Uint8Array, second: Uint8Array): Uint8Array<ArrayBuffer> {
  const both = new Uint8Array(first.length + second.length);
  both.set(first);
  both.set(second, first.length);
  return both;
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Decodes all lines at once if they are valid UTF-8, else line by line. */
function decodeLines(bytes: Uint8Array): string[] {
  try {
    return utf8.decode(bytes).split('\n');
  } catch {
    const lines: string[] = [];
    let start = 0;
    for (let end = bytes.indexOf(NEWLINE); end >= 0; end = bytes.indexOf(NEWLINE, start)) {
      lines.push(decodeLine(bytes.subarray(start, end)));
      start = end + 1;
    }
    return [...lines, decodeLine(bytes.subarray(start))];
  }
}

function decodeLine(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes);
  } catch {
    return Array.from(bytes, (byte) => String.fromCharCode(byte)).join('');
  }
}
