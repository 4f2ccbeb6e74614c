/**
 * Cuts game text into its games, from memory or from a stream of any length; memory holds one piece and one game, and the
 * work grows with the text alone. It looks at tags, braces, brackets and results, and does not read moves.
 *
 * A game ends where the next one begins: at a tag behind moves, at a tag name that the game has already (a game without
 * moves), at move 1 behind a result or at the start of a line, and at a move on a new line behind a result. Text between a result's
 * blank line and the next game belongs to that one. A comment that never closes ends at the next game's Event tag.
 */
import { readUntilBreak } from '../../base/util/index.js';
import { DASHES, findSpacedResultEnd, readForfeit, readResult } from './pgn-result.js';
import { readTag } from './pgn-words.js';

export interface PgnText {
  /** All lines of the game, joined by `\n`; cut off at the limit when the game is too long. */
  readonly text: string;
  /** Number of the game in its file, from 1. */
  readonly number: number;
  /** Line of the file on which the text begins, from 1. */
  readonly line: number;
  /** Whether `text` was cut off at the limit, so that a file that is not PGN cannot fill the memory as one endless game. */
  readonly isTooLong: boolean;
  /** Of a list of positions, without moves. */
  readonly isPosition: boolean;
  /** What its position did not allow and was dropped, a sentence each; of lists of positions. */
  readonly notes?: readonly string[];
  /** A sentence about what never ends in the text, because it was cut off; absent = nothing. */
  readonly openEnd?: string;
  /** The whole text ends with this game, behind moves and without the result that its tags promise: it is cut off, unless the game is over. */
  readonly lacksResult?: boolean;
}

/** Characters of one game; the longest repertoires have a tenth. */
export const LONGEST_GAME_TEXT = 32 << 20;

export function splitPgn(text: string): PgnText[] {
  const splitter = new PgnSplitter();
  splitter.push(text.replace(/^\ufeff|\r\n?/g, (mark) => (mark[0] === '\r' ? '\n' : '')));
  splitter.end();
  return splitter.takeGames();
}

/** @param pieces of the text, in order, with `\n` at the ends of lines. An error of theirs is thrown after the games before it. */
export async function* readPgn(pieces: AsyncIterable<string> | Iterable<string>): AsyncGenerator<PgnText, void, void> {
  const splitter = new PgnSplitter();
  const breaks: Error[] = [];
  for await (const piece of readUntilBreak(pieces, (error) => breaks.push(error))) {
    splitter.push(piece);
    yield* splitter.takeGames();
  }
  splitter.end(breaks.length > 0);
  yield* splitter.takeGames();
  if (breaks.length > 0) throw breaks[0];
}

const MOVE_WORD =
  /^(?:\d+\.*)?(?:[NBRQKP♔-♟]?[a-h]?[1-8]?[-–x×:]?[a-h][1-8]|[NBRQK]?[A-H]?[1-8]?[-X]?[A-H][1-8](?![^\s+#=NBRQ])|[OoОо0][-–—−][OoОо0])/;
/** Move 1 of White: 1... goes on with a game. */
const FIRST_MOVE = /1(?:\.[ \t]*(?![ \t.…])|[ \t]+(?=[a-hNBRQKO]))/y;
const NEXT_GAME_TAG = /[ \t\ufeff]*\[[ \t]*[A-Za-z0-9][\w+#=:-]*[ \t]+["“”]|[ \t\ufeff]*\[Event\b/y;
const EVENT_TAG = /\[Event[ \t]+"/y;
/** Glued to a move, or in another way that only the reader of moves knows. */
const RESULT_AT_END = new RegExp(
  `(?:[${DASHES}:]\\s*[01]|/2|½|\\*|0[.,]5|[${DASHES}+][/:][${DASHES}+])\\s?\\)?[\\s\\0-\\x20]*$`,
);
const CUT_OFF = 'The game is cut off in the middle of a line, where the next one begins';
/** Which ends its line, alone or with other tags. */
const EVENT_AT_END = /\[Event[ \t]+"(?:[^"\\]|\\.)*"[ \t]*\](?:[ \t]*\[\w+[ \t]+"(?:[^"\\]|\\.)*"[ \t]*\])*[ \t]*$/;
const TAG_START = /[ \t\ufeff]*(?=\[[ \t]*[A-Za-z0-9])/y;

/** Takes text piece by piece and keeps each game when it is complete. */
class PgnSplitter {
  private readonly games: PgnText[] = [];
  private gamesSeen = 0;
  private lineNumber = 0;
  /** A line that goes on in the next piece. */
  private parts: string[] = [];
  private partCharacters = 0;

  private lines: string[] = [];
  private firstLine = 0;
  private characters = 0;
  private tagNames = new Set<string>();
  private firstTag = '';
  /** Whether blank lines or other text followed the last tag. */
  private isBehindTags = false;
  private hasMoves = false;
  private isInComment = false;
  /** Number of variations around the place that is read. */
  private depth = 0;
  private isBehindResult = false;
  /** The index in `lines` of the first line behind a blank one, with no move since; -1 when there is none. */
  private gap = -1;
  /** Characters of the line that is taken next that stand before its game's first move and have been read. */
  private readAhead = 0;
  /** The index in `lines` of an Event tag inside a comment, at which the game ends if the comment never closes; -1 = none. */
  private doubtful = -1;
  /** Where the tag begins in this line. */
  private doubtfulColumn = 0;

  takeGames(): PgnText[] {
    return this.games.splice(0);
  }

  push(piece: string): void {
    const lines = piece.split('\n');
    const last = lines.pop() ?? '';
    for (const line of lines) {
      this.lineNumber++;
      this.take(this.parts.length === 0 ? line : this.takeParts() + line);
    }
    // A line beyond the limit makes its game too long with the first parts already.
    if (this.partCharacters <= LONGEST_GAME_TEXT && last !== '') this.parts.push(last);
    this.partCharacters += last.length;
  }

  /** @param isBroken the text breaks off with an error, which says more than its last game can */
  end(isBroken = false): void {
    this.lineNumber++;
    if (this.parts.length > 0) this.take(this.takeParts());
    if (this.doubtful >= 0) this.reopen();
    if (isBroken) this.finish(this.lines.length);
    else {
      const place = this.findOpenPlace();
      const openEnd = place === null ? undefined : `The text ends ${place}: the rest of it is missing`;
      this.finish(this.lines.length, openEnd, this.lacksResult());
    }
  }

  /** A game that has its tags has its result behind the moves. */
  private lacksResult(): boolean {
    const last = this.lines.findLast((line) => !isBlankLine(line)) ?? '';
    return this.hasMoves && !this.isBehindResult && this.tagNames.has('Result') && !RESULT_AT_END.test(last.slice(-20));
  }

  /** Where the last game of a text was cut off. */
  private findOpenPlace(): string | null {
    if (this.isInComment) return 'inside a comment';
    if (this.depth > 0) return 'inside a variation';
    const last = this.lines.findLast((line) => !isBlankLine(line)) ?? '';
    return !this.hasMoves && this.tagNames.size > 0 && /^\s{0,99}\[[^\]]{0,9999}$/.test(last) ? 'inside a tag' : null;
  }

  private takeParts(): string {
    const line = this.parts.join('');
    this.parts = [];
    this.partCharacters = 0;
    return line;
  }

  /** A loop, because one line may hold any number of games. */
  private take(line: string): void {
    for (let rest: string | null = line; rest !== null; ) rest = this.takeGame(rest);
  }

  /** @returns the rest of the line, with which the next game begins; null when the line has been taken */
  private takeGame(line: string): string | null {
    let at = this.readAhead;
    this.readAhead = 0;
    if (at > 0) {
      // A comment in front of the game.
    } else if (this.isInComment) {
      at = this.findCommentEnd(line);
      if (at < 0) return null;
    } else if (isBlankLine(line)) {
      this.isBehindTags = this.tagNames.size > 0;
      if (this.lines.length === 0) return null;
      if (this.gap < 0 && this.hasMoves) this.gap = this.lines.length + 1;
      this.add(line);
      return null;
    } else if (line.startsWith('%')) {
      // A line for other programs (PGN standard, 6).
      if (this.lines.length > 0) this.add(line);
      return null;
    } else if ((this.hasMoves || this.characters > LONGEST_GAME_TEXT) && matchesAt(NEXT_GAME_TAG, line, 0)) {
      this.finish(this.isBehindResult && this.gap >= 0 ? this.gap : this.lines.length);
    }
    if (!this.hasMoves) {
      const tags = this.takeTags(line, at);
      if (tags.isNextGame) return this.cut(line, tags.end);
      at = tags.end;
    }
    const next = this.takeMoves(line, at);
    return next < 0 ? null : this.cut(line, next);
  }

  /** @returns where the line goes on behind the game's tags, and whether with a tag of the next game */
  private takeTags(line: string, start: number): { end: number; isNextGame: boolean } {
    let at = start;
    for (;;) {
      TAG_START.lastIndex = at;
      if (!TAG_START.test(line)) return { end: at, isNextGame: false };
      const tag = readTag(line, TAG_START.lastIndex);
      if (tag === null) return { end: at, isNextGame: false };
      // A tag that was cut off.
      const event = tag.damage === undefined ? -1 : findEvent(line, at + 1);
      if (event > at && event < tag.end) return { end: event, isNextGame: true };
      if (tag.name === this.firstTag || (this.isBehindTags && this.tagNames.has(tag.name))) {
        return { end: at, isNextGame: true };
      }
      if (this.tagNames.size === 0) this.firstTag = tag.name;
      this.tagNames.add(tag.name);
      this.isBehindTags = false;
      at = tag.end;
    }
  }

  /** @returns where the next game begins; -1 when the line has been taken */
  private takeMoves(line: string, start: number): number {
    let isFirstWord = start === 0;
    for (let at = start; at < line.length; ) {
      const code = line.charCodeAt(at);
      if (code <= 32) {
        at++;
        continue;
      }
      this.isBehindTags = this.tagNames.size > 0;
      if (code === 123) {
        const close = line.indexOf('}', at);
        if (close < 0) {
          this.isInComment = true;
          const event = findEvent(line, at);
          if (event > 0) this.doubt(line, event);
          break;
        }
        at = close + 1;
        continue;
      }
      if (code === 59) break;
      if (code === 40) this.depth++;
      else if (code === 41) this.depth = Math.max(0, this.depth - 1);
      if (code === 40 || code === 41 || code === 125) {
        at++;
        continue;
      }
      if (this.depth === 0 && this.startsNextGame(line, at, isFirstWord)) return at;
      const mayBeEvent = code === 91 && at > 0 && (this.hasMoves || this.tagNames.size > 0 || /\w/.test(line[at - 1]));
      if (mayBeEvent && matchesAt(EVENT_TAG, line, at)) return at;
      at = this.takeWord(line, at);
      isFirstWord = false;
    }
    this.add(line);
    return -1;
  }

  private startsNextGame(line: string, at: number, isFirstWord: boolean): boolean {
    if (this.isBehindResult) {
      if (line[at] === '[' && matchesAt(NEXT_GAME_TAG, line, at)) return true;
      if (matchesAt(FIRST_MOVE, line, at)) return true;
      return isFirstWord && MOVE_WORD.test(line.slice(at, at + 12));
    }
    return this.hasMoves && (this.gap >= 0 || isFirstWord) && matchesAt(FIRST_MOVE, line, at);
  }

  /** @returns where it ends */
  private takeWord(line: string, start: number): number {
    let end = start + 1;
    for (; end < line.length; end++) {
      const code = line.charCodeAt(end);
      if (code > 59 && code !== 91 && code !== 123) continue;
      if (code <= 32 || code === 123 || code === 40 || code === 41 || code === 59) break;
      if (code === 91 && matchesAt(EVENT_TAG, line, end)) break;
    }
    const isSettled = this.hasMoves && this.gap < 0 && !this.isBehindResult;
    const first = line.charCodeAt(start);
    const maybeResult = first === 42 || first === 48 || first === 0xbd || (first === 49 && line[start + 1] !== '.');
    if (isSettled && !maybeResult) return end;
    const word = line.slice(start, Math.min(end, start + 16));
    const isForfeit = !this.hasMoves && this.tagNames.size > 0 && readForfeit(word) !== null;
    const resultEnd = maybeResult ? findSpacedResultEnd(line, start) : -1;
    if (resultEnd >= 0) end = resultEnd;
    if (this.depth === 0 && (isForfeit || (maybeResult && (resultEnd >= 0 || readResult(word) !== null)))) {
      this.hasMoves = true;
      this.isBehindResult = true;
      this.gap = -1;
    } else if (MOVE_WORD.test(word)) {
      this.hasMoves = true;
      // A variation in front of a game's first move.
      if (this.depth > 0 && this.isBehindResult) return end;
      this.isBehindResult = false;
      this.gap = -1;
    }
    return end;
  }

  /** @returns where the line goes on behind the comment, -1 when all of the line has been taken */
  private findCommentEnd(line: string): number {
    const isNextEvent = matchesAt(EVENT_TAG, line, 0);
    const close = line.indexOf('}');
    const event = close < 0 ? findEvent(line, 1) : -1;
    if (this.doubtful >= 0) {
      const opens = line.indexOf('{');
      if (isNextEvent || (opens >= 0 && (close < 0 || opens < close))) {
        this.reopen();
        this.take(line);
        return -1;
      }
    } else if (isNextEvent) this.doubt(line, 0);
    else if (event > 0) this.doubt(line, event);
    if (close < 0) {
      this.add(line);
      return -1;
    }
    this.isInComment = false;
    this.doubtful = -1;
    return close + 1;
  }

  /** A tag of the next game in a comment: at the start of the line, or at its end. */
  private doubt(line: string, column: number): void {
    if (this.characters > LONGEST_GAME_TEXT || (column > 0 && !EVENT_AT_END.test(line.slice(column, column + 10_000))))
      return;
    this.doubtful = this.lines.length;
    this.doubtfulColumn = column;
  }

  /** The comment never closed: the game ended at the doubtful tag, and what followed is read again. */
  private reopen(): void {
    const { lineNumber, doubtful, doubtfulColumn } = this;
    const rest = this.lines.slice(doubtful);
    const first = this.firstLine + doubtful;
    if (doubtfulColumn > 0) this.lines[doubtful] = rest[0].slice(0, doubtfulColumn);
    rest[0] = rest[0].slice(doubtfulColumn);
    this.finish(doubtful + Number(doubtfulColumn > 0), 'A comment of the game never ends');
    this.lines = [];
    this.characters = 0;
    for (const [index, line] of rest.entries()) {
      this.lineNumber = first + index;
      this.take(line);
    }
    this.lineNumber = lineNumber;
  }

  /** Ends the game before a place of the line. @returns what of the line is the next game's */
  private cut(line: string, at: number): string {
    const isBehindGap = this.isBehindResult && this.gap >= 0;
    const head = line.slice(0, at);
    const isWhole = head.trim() === '';
    const isCutOff = !this.isBehindResult && !isWhole && matchesAt(EVENT_TAG, line, at);
    // What is left of the word is no move.
    const word = isCutOff ? (/[^\s\]})]+$/.exec(head)?.[0] ?? '') : '';
    const isPart = this.hasMoves && word !== '' && !MOVE_WORD.test(word);
    if (!isBehindGap && !isWhole) this.add(isPart ? `${head.slice(0, -word.length)}{${word}}` : head);
    this.finish(isBehindGap ? this.gap : this.lines.length, isCutOff ? CUT_OFF : undefined);
    if (!isBehindGap || isWhole) return line.slice(at);
    this.readAhead = at;
    return line;
  }

  private add(line: string): void {
    if (this.lines.length === 0) this.firstLine = this.lineNumber;
    if (this.characters <= LONGEST_GAME_TEXT) this.lines.push(line);
    this.characters += line.length + 1;
  }

  /** Keeps the first lines as a game, if there is anything in them, and begins the next game with the others. */
  private finish(end: number, openEnd?: string, lacksResult = false): void {
    const isTooLong = this.characters > LONGEST_GAME_TEXT;
    const own = isTooLong ? this.lines : this.lines.slice(0, end);
    const next = isTooLong ? [] : this.lines.slice(end);
    while (own.length > 0 && isBlankLine(own[own.length - 1])) own.pop();
    if (own.length > 0) {
      const text = own.join('\n').slice(0, LONGEST_GAME_TEXT);
      const number = ++this.gamesSeen;
      const game = { text, number, line: this.firstLine, isTooLong, isPosition: false };
      this.games.push({ ...game, ...(openEnd !== undefined && { openEnd }), ...(lacksResult && { lacksResult }) });
    }
    this.firstLine += end;
    this.lines = next;
    this.characters = next.reduce((sum, line) => sum + line.length + 1, 0);
    this.tagNames = new Set();
    this.firstTag = '';
    this.isBehindTags = false;
    this.hasMoves = false;
    this.isInComment = false;
    this.depth = 0;
    this.isBehindResult = false;
    this.gap = -1;
    this.doubtful = -1;
  }
}

/** The index of the next Event tag: in the middle of a line, the file was cut off, and another one follows. */
function findEvent(line: string, from: number): number {
  for (let at = from; ; at++) {
    at = line.indexOf('[Event', at);
    if (at < 0 || matchesAt(EVENT_TAG, line, at)) return at;
  }
}

/** Control characters count as blanks: old files end with Ctrl-Z. */
function isBlankLine(line: string): boolean {
  for (let at = 0; at < line.length; at++) if (line.charCodeAt(at) > 32) return false;
  return true;
}

function matchesAt(pattern: RegExp, text: string, at: number): boolean {
  pattern.lastIndex = at;
  return pattern.test(text);
}
