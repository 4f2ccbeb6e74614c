/** Commands inside PGN comments, such as `[%eval 0.24]`, and the engine scores in them. */

const EVAL = /\[%eval\s+(#?)([-+]?\d+(?:\.\d+)?)/;
const MAX_CENTIPAWNS = 20_000;
/** A mate in n is ±(32000 − 2n), so that scores compare as numbers. */
const MATE_BASE = 32_000;

/**
 * The score in a comment as lichess writes it: pawns from White's view, or `#n` for mate in n.
 * @returns centipawns from White's view, at most ±20000; ±(32000 − 2n) for mate in n; NaN when there is none
 */
export function parseEvalComment(comment: string): number {
  const match = EVAL.exec(comment);
  if (match === null) return Number.NaN;
  const number = Number(match[2]);
  if (match[1] === '#') return match[2].startsWith('-') ? -MATE_BASE - 2 * number : MATE_BASE - 2 * number;
  return Math.max(-MAX_CENTIPAWNS, Math.min(MAX_CENTIPAWNS, Math.round(number * 100)));
}
