/**
 * Judges the moves of a game by an engine's evaluation of each position: glyphs and words for bad moves, and accuracy.
 *
 * Legend: W = expected points of a player in percent, before and after the player's own move.
 * Accuracy of a move: 103.1668 · exp(−0.04354 · (W before − W after)) − 3.1669, between 0 and 100.
 * Accuracy of a game: mean of the harmonic mean and of the mean that weighs each move by how much W moved around it.
 * Source: lichess.org/page/accuracy.
 */

interface JudgedScore {
  readonly kind: 'cp' | 'mate';
  readonly value: number;
}

/** A position of a game as an engine sees it, from the view of the side to move. */
export interface JudgedPosition {
  readonly fen: string;
  /** The move that the game went on with, UCI; null at its end. */
  readonly played: string | null;
  /** Null when the game is over. */
  readonly best: string | null;
  readonly bestSan: string | null;
  readonly score: JudgedScore;
  /** Per mille. */
  readonly wdl: { readonly win: number; readonly draw: number; readonly loss: number };
  /** Best first. */
  readonly lines: readonly { readonly pvSan: readonly string[] }[];
}

/** Loss of expected points from which a move is judged: with the annotation glyph and lichess's word. */
const JUDGEMENTS: readonly (readonly [loss: number, nag: number, word: string])[] = [
  [0.3, 4, 'Blunder'],
  [0.2, 2, 'Mistake'],
  [0.1, 6, 'Inaccuracy'],
];

/** Plies of a better line that are shown. */
const BETTER_LINE_PLIES = 8;

/** Remarks on each move: the evaluation after it (White's view, in lichess's form) and, after a bad move, the better one. */
export function createRemarks(positions: readonly JudgedPosition[]): Remark[] {
  return positions.slice(0, -1).map((position, index) => {
    const next = positions[index + 1];
    const evaluation = formatEvaluation(next.score, isBlackToMove(next));
    const loss = getExpectedPoints(position) - (1 - getExpectedPoints(next));
    const judgement = JUDGEMENTS.find(([least]) => loss >= least);
    if (judgement === undefined || position.best === position.played) {
      return { evaluation, nag: 0, text: '', betterLine: [] };
    }
    const [, nag, word] = judgement;
    const betterLine = position.lines[0]?.pvSan.slice(0, BETTER_LINE_PLIES) ?? [];
    return { evaluation, nag, text: `${word}. ${position.bestSan} was best.`, betterLine };
  });
}

/** Pawns with two decimals, or `#n`; `#-0` for the side that has been mated. */
export function formatEvaluation({ kind, value }: JudgedScore, flip: boolean): string {
  if (kind === 'cp') return ((flip ? -value : value) / 100).toFixed(2);
  const isLost = value <= 0 !== flip;
  return `#${isLost ? '-' : ''}${Math.abs(value)}`;
}

/** Percent; null for a player who has not moved. */
export interface GameAccuracy {
  readonly white: number | null;
  readonly black: number | null;
}

/** @param positions of a whole game, the last one included */
export function computeAccuracy(positions: readonly JudgedPosition[]): GameAccuracy {
  const whites = positions.map((position) => 100 * getWhitePoints(position));
  const moves = positions.slice(0, -1).map((position, index) => {
    const isBlack = isBlackToMove(position);
    const loss = isBlack ? whites[index + 1] - whites[index] : whites[index] - whites[index + 1];
    return { isBlack, accuracy: computeMoveAccuracy(loss), weight: computeWeight(whites, index) };
  });
  const [white, black] = [false, true].map((isBlack) => average(moves.filter((move) => move.isBlack === isBlack)));
  return { white, black };
}

/** @param loss of expected points, in percent */
export function computeMoveAccuracy(loss: number): number {
  return Math.min(100, Math.max(0, 103.1668 * Math.exp(-0.04354 * Math.max(0, loss)) - 3.1669));
}

const SMALLEST_WINDOW = 2;
const LARGEST_WINDOW = 8;
const LEAST_WEIGHT = 0.5;
const MOST_WEIGHT = 12;

/** How much the value moves around a position: the standard deviation in a window of a tenth of the game. */
function computeWeight(whites: readonly number[], index: number): number {
  const size = Math.min(LARGEST_WINDOW, Math.max(SMALLEST_WINDOW, Math.round(whites.length / 10)));
  const start = Math.max(0, Math.min(whites.length - size, index - (size >> 1)));
  const window = whites.slice(start, start + size);
  const mean = window.reduce((sum, value) => sum + value, 0) / window.length;
  const variance = window.reduce((sum, value) => sum + (value - mean) ** 2, 0) / window.length;
  return Math.min(MOST_WEIGHT, Math.max(LEAST_WEIGHT, Math.sqrt(variance)));
}

function average(moves: readonly { readonly accuracy: number; readonly weight: number }[]): number | null {
  if (moves.length === 0) return null;
  const weights = moves.reduce((sum, { weight }) => sum + weight, 0);
  const weighted = moves.reduce((sum, { accuracy, weight }) => sum + accuracy * weight, 0) / weights;
  const harmonic = moves.length / moves.reduce((sum, { accuracy }) => sum + 1 / Math.max(1, accuracy), 0);
  return (weighted + harmonic) / 2;
}

function getExpectedPoints({ wdl: { win, draw } }: JudgedPosition): number {
  return (win + draw / 2) / 1000;
}

function getWhitePoints(position: JudgedPosition): number {
  const points = getExpectedPoints(position);
  return isBlackToMove(position) ? 1 - points : points;
}

function isBlackToMove({ fen }: JudgedPosition): boolean {
  return fen.split(' ')[1] === 'b';
}

export interface Remark {
  /** As in `[%eval …]`: pawns from White's view, or `#n` for mate in n. */
  readonly evaluation: string;
  /** Numeric annotation glyph (PGN standard 8.2.4), 0 = none. */
  readonly nag: number;
  /** Comment on the move; may be empty. */
  readonly text: string;
  /** The better line in SAN; may be empty. */
  readonly betterLine: readonly string[];
}

/** A comment without its `[%eval …]`. */
export function removeEvaluation(comment: string): string {
  const rest = comment.replace(/\[%eval\s[^\][]*\] ?/g, '');
  return rest === comment ? comment : rest.trim();
}

/** The command `[%eval 0.24]` inside a comment. */
const EVAL = /\[%eval\s+(#?)([-+]?(?:\d+(?:\.\d*)?|\.\d+))/;
const MAX_CENTIPAWNS = 20_000;
/** Larger than any centipawn score: a mate in n is ±(MATE_BASE − 2n), so that scores compare as numbers. */
export const MATE_BASE = 32_000;
/** In moves. A longer mate counts as one of these. */
const LONGEST_MATE = 999;

/** The score of the side that mates. @param moves to mate; their sign does not count */
export function encodeMate(moves: number): number {
  return MATE_BASE - 2 * Math.min(Math.abs(moves), LONGEST_MATE);
}

/**
 * The score in a comment as lichess writes it: pawns from White's view, or `#n` for mate in n.
 * @returns centipawns from White's view, at most ±20000; ±(32000 − 2n) for mate in n; NaN when there is none
 */
export function parseEvalComment(comment: string): number {
  const match = EVAL.exec(comment);
  if (match === null) return Number.NaN;
  const number = Number(match[2]);
  if (match[1] === '#') return match[2].startsWith('-') ? -encodeMate(number) : encodeMate(number);
  return Math.max(-MAX_CENTIPAWNS, Math.min(MAX_CENTIPAWNS, Math.round(number * 100)));
}
