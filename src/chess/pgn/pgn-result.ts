/** Results of games as words: PGN's own four, other spellings of them, and games that were not played. */

export type PgnResult = '1-0' | '0-1' | '1/2-1/2' | '*';

/** What people, fonts and typesetting programs write for a hyphen. */
export const DASHES = '-‐‑‒–—―−⁃─➖﹘﹣－';
const DRAW = '(?:1/2|½)';
const RESULT = new RegExp(
  `^(?:1[${DASHES}:]0|0[${DASHES}:]1|${DRAW}|${DRAW}[${DASHES}:]${DRAW}|0[.,]5[${DASHES}:]0[.,]5|\\*)$`,
);
const SPACED_RESULT = new RegExp(
  `(?:1 {1,3}[${DASHES}:] {1,3}0|0 {1,3}[${DASHES}:] {1,3}1|${DRAW} {1,3}[${DASHES}:] {1,3}${DRAW})(?![^\\s{(;])`,
  'y',
);

/** The result that a word means; null when it is none. */
export function readResult(word: string): PgnResult | null {
  if (word.length > 7 || !'0125½*'.includes(word.at(-1) ?? '.') || !RESULT.test(word)) return null;
  if (word === '*') return '*';
  if (/[½/5]/.test(word)) return '1/2-1/2';
  return word.startsWith('1') ? '1-0' : '0-1';
}

/** Results without a game, and the loss of both; PGN has no words for them. */
const FORFEITS: readonly (readonly [pattern: RegExp, result: PgnResult, termination: string])[] = [
  [new RegExp(`^(?:0[${DASHES}:]0|[${DASHES}][/:][${DASHES}])$`), '*', 'double forfeit'],
  [new RegExp(`^\\+[/:][${DASHES}]$`), '1-0', 'forfeit'],
  [new RegExp(`^[${DASHES}][/:]\\+$`), '0-1', 'forfeit'],
];

const FIRST_OF_FORFEIT = `${DASHES}0+`;

export interface Forfeit {
  readonly result: PgnResult;
  /** A value for the tag Termination. */
  readonly termination: string;
}

/** What such a word says; null when it is none. */
export function readForfeit(word: string): Forfeit | null {
  if (word.length !== 3 || !FIRST_OF_FORFEIT.includes(word[0])) return null;
  const [, result, termination] = FORFEITS.find(([pattern]) => pattern.test(word)) ?? [];
  return result === undefined || termination === undefined ? null : { result, termination };
}

/** Where a result of several words ends (`1 - 0`), which begins here; -1 when none does. */
export function findSpacedResultEnd(text: string, start: number): number {
  // Not so: nearly all move numbers.
  if (text[start] !== '½' && !' /'.includes(text[start + 1] ?? '.')) return -1;
  SPACED_RESULT.lastIndex = start;
  return SPACED_RESULT.test(text) ? SPACED_RESULT.lastIndex : -1;
}

/** Behind a move, without a blank. */
export const GLUED_RESULT = new RegExp(`(?:1[${DASHES}]0|0[${DASHES}]1|1/2[${DASHES}]1/2|½(?:[${DASHES}]½)?|\\*)$`);
