/**
 * Arrows for the engine's moves. Width shows how much the search (or the network, for the policy) likes a move; colour shows
 * what the move is worth next to the best: green as good, yellow worse, red bad.
 */
import type { Line, MoveRow } from '../protocol/replies.js';

export type ArrowMode = 'visits' | 'policy';

export interface MoveArrow {
  readonly move: string;
  /** 0 to 1. */
  readonly share: number;
  /** In pixels of a board of 512; one of WIDTHS. */
  readonly width: number;
  /** Loss of value against the best move, in steps 0 (none) to ARROW_SHADES - 1. */
  readonly shade: number;
}

export const ARROW_SHADES = 6;
/**
 * The board keeps an arrowhead for each pair of colour and width that it has ever drawn, so that there must be few of them: with
 * a width of its own for each share it grows without end.
 */
const WIDTHS = [3, 5, 7, 9, 11, 14];
/** Loss of Q at which the last shade is reached: a fifth of a won game. */
const LARGEST_LOSS = 0.4;
const MOST_ARROWS = 6;
const LEAST_SHARE = 0.04;

/** @param rows most visits first */
export function createArrows(rows: readonly MoveRow[], lines: readonly Line[], mode: ArrowMode): MoveArrow[] {
  if (rows.length === 0) {
    const [best] = lines;
    return best?.pv[0] === undefined ? [] : [{ move: best.pv[0], share: 1, width: getWidth(1), shade: 0 }];
  }
  const visits = rows.reduce((sum, { n }) => sum + n, 0);
  const getShare = ({ n, p }: MoveRow): number => (mode === 'policy' ? p : n / Math.max(1, visits));
  const bestMove = lines[0]?.pv[0];
  const bestQ = (rows.find(({ move }) => move === bestMove) ?? rows[0]).q;
  return rows
    .map((row) => ({ row, share: getShare(row) }))
    .sort((a, b) => b.share - a.share)
    .filter(({ share, row }, index) => index === 0 || share >= LEAST_SHARE || row.move === bestMove)
    .slice(0, MOST_ARROWS)
    .map(({ row, share }) => ({ move: row.move, share, width: getWidth(share), shade: getShade(bestQ - row.q) }));
}

function getShade(loss: number): number {
  const step = Math.round((Math.max(0, loss) / LARGEST_LOSS) * (ARROW_SHADES - 1));
  return Math.min(ARROW_SHADES - 1, step);
}

function getWidth(share: number): number {
  return WIDTHS[Math.min(WIDTHS.length - 1, Math.floor(Math.sqrt(share) * WIDTHS.length))];
}
