/**
 * Lines of PGN → the texts of its games, without blank lines. A tag line behind moves starts the next game, and so does a
 * blank line behind a result: games without tags are told apart too. It knows no moves.
 */
import { isTagLine } from './pgn-tokens.js';

/** A file that is no PGN must not be gathered into one endless game. */
const MAX_GAME_CHARACTERS = 1 << 20;

/** UTF-8's, read as latin1; Windows programs write it. */
const BYTE_ORDER_MARK = '\xef\xbb\xbf';

const RESULT_AT_END = /(?:1-0|0-1|1\/2-1\/2|\*)\s*$/;

export class PgnSplitter {
  private lines: string[] = [];
  private characters = 0;
  private hasMoves = false;
  private endsWithResult = false;

  /** Takes the next line. @returns the game that it ended, or null */
  push(rawLine: string): string | null {
    const line = rawLine.startsWith(BYTE_ORDER_MARK) ? rawLine.slice(BYTE_ORDER_MARK.length) : rawLine;
    const isTag = isTagLine(line);
    const isBlank = !isTag && line.trim() === '';
    const startsNext =
      (isTag && this.hasMoves) || (isBlank && this.endsWithResult) || this.characters > MAX_GAME_CHARACTERS;
    const ended = startsNext ? this.end() : null;
    // An escaped line (PGN standard, 6) among moves is left to the tokens: it may stand in a comment.
    const isEscape = line.startsWith('%') && !this.hasMoves;
    if (!isBlank && !isEscape) this.add(line, isTag);
    return ended;
  }

  /** The game that is left at the end of the file; null when there is none. */
  end(): string | null {
    const game = this.hasMoves ? this.lines.join('\n') : null;
    this.lines = [];
    this.characters = 0;
    this.hasMoves = false;
    this.endsWithResult = false;
    return game;
  }

  private add(line: string, isTag: boolean): void {
    this.lines.push(line);
    this.characters += line.length;
    if (isTag) return;
    this.hasMoves = true;
    this.endsWithResult = RESULT_AT_END.test(line);
  }
}

/** @param text read as latin1 */
export function splitPgnText(text: string): string[] {
  const splitter = new PgnSplitter();
  const games = text.split('\n').map((line) => splitter.push(line));
  return [...games, splitter.end()].filter((game) => game !== null);
}
