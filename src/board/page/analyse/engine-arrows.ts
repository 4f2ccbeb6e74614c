/**
 * What the engine draws on the board, as one picture: arrows, and numbers in the corners of squares. chessground draws its own
 * arrows in the order in which they came, so that of two on one line the long one may hide the short one.
 */
import type { DrawShape } from '@lichess-org/chessground/draw';
import type { Side } from '../board/chess-board.js';

interface Arrow {
  /** Squares. */
  readonly from: string;
  readonly to: string;
  readonly color: string;
  /** In hundredths of a square. */
  readonly width: number;
  /** What the network thinks before any search. */
  readonly isDashed?: boolean;
}

interface Corner {
  readonly square: string;
  /** At the left and the right end of the square's upper edge. */
  readonly texts: readonly [left: string, right: string];
  readonly isBest: boolean;
}

/** From as good as the best move to bad. */
export const SHADES = ['#15781b', '#5b8c14', '#a08a00', '#c97000', '#c8500f', '#b3261e'];

/** @param side at the bottom of the board */
export function drawPicture(arrows: readonly Arrow[], corners: readonly Corner[], side: Side): DrawShape[] {
  // The shorter an arrow, the higher it lies.
  const sorted = arrows.toSorted((a, b) => measure(b) - measure(a));
  const html = [
    ...sorted.map((arrow) => drawArrow(arrow, side)),
    ...corners.map((corner) => drawCorner(corner, side)),
  ].join('');
  return html === '' ? [] : [{ orig: side === 'white' ? 'a8' : 'h1', customSvg: { html } }];
}

/** Middle of a square; a square has 100 units. */
function locate(square: string, side: Side): readonly [x: number, y: number] {
  const [file, rank] = [square.charCodeAt(0) - 97, Number(square[1]) - 1];
  return side === 'white' ? [100 * file + 50, 750 - 100 * rank] : [750 - 100 * file, 100 * rank + 50];
}

function measure({ from, to }: Arrow): number {
  const [[x1, y1], [x2, y2]] = [locate(from, 'white'), locate(to, 'white')];
  return Math.hypot(x2 - x1, y2 - y1);
}

function drawArrow(arrow: Arrow, side: Side): string {
  const { from, to, color, width, isDashed = false } = arrow;
  const [[x1, y1], [x2, y2]] = [locate(from, side), locate(to, side)];
  const angle = (Math.atan2(y2 - y1, x2 - x1) * 180) / Math.PI;
  const [tip, wing] = [measure(arrow) - 12, 9 + width];
  const neck = tip - 1.6 * wing;
  const drawShaft = (stroke: string, more: string): string => `<path d="M0 0H${neck}" stroke="${stroke}" ${more}/>`;
  // A light edge tells arrows apart that lie on each other.
  return `<g class="engine-arrow" transform="translate(${x1} ${y1}) rotate(${angle.toFixed(2)})" opacity="0.8">${
    isDashed ? '' : drawShaft('#fff', `stroke-width="${width + 5}"`)
  }<path d="M${neck} ${-wing}L${tip} 0L${neck} ${wing}Z" fill="${color}" stroke="#fff" stroke-width="2.5"/>${drawShaft(
    color,
    `stroke-width="${width}"${isDashed ? ' stroke-dasharray="20 11"' : ''}`,
  )}</g>`;
}

function drawCorner({ square, texts: [left, right], isBest }: Corner, side: Side): string {
  const [x, y] = locate(square, side);
  const kind = `${left === '' ? 'arrow-share' : 'square-numbers'}${isBest ? ' square-best' : ''}`;
  return `<g class="${kind}"><text x="${x - 47}" y="${y - 29}">${left}</text><text x="${x + 47}" y="${y - 29}" text-anchor="end">${right}</text></g>`;
}
