/** An explanation as a picture: two boards side by side, the move's left, the value's right; White below. */
import type { Canvas, Colour } from './canvas.js';
import type { Explanation, SquareWeight } from './explanation.js';

const CELL = 56;
const MARGIN = 28;
const TITLE = 40;
const BOARD = 8 * CELL;
const WIDTH = 2 * BOARD + 4 * MARGIN;
const HEIGHT = TITLE + BOARD + MARGIN;

const PAPER: Colour = [255, 255, 255];
const INK: Colour = [40, 40, 40];
const LIGHT: Colour = [236, 236, 232];
const DARK: Colour = [214, 214, 208];
/** Speaks for, against. */
const FOR: Colour = [33, 102, 172];
const AGAINST: Colour = [178, 24, 43];
const WHITE_PIECE: Colour = [255, 255, 255];
const BLACK_PIECE: Colour = [0, 0, 0];
const PLAQUE: Colour = [120, 120, 120];

export function drawExplanation(
  { move, probability, value, squares }: Explanation,
  createCanvas: (width: number, height: number) => Canvas,
): Uint8Array {
  const canvas = createCanvas(WIDTH, HEIGHT);
  canvas.fillRectangle(0, 0, WIDTH, HEIGHT, PAPER);
  const points = `${(100 * probability).toFixed(1)}%`;
  drawBoard(canvas, MARGIN, `${move} ${points}`, squares, ({ policy }) => policy);
  const left = BOARD + 3 * MARGIN;
  drawBoard(
    canvas,
    left,
    `W−L ${value < 0 ? '−' : '+'}${Math.abs(value).toFixed(2)}`,
    squares,
    (square) => square.value,
  );
  return canvas.encode();
}

function drawBoard(
  canvas: Canvas,
  left: number,
  title: string,
  squares: readonly SquareWeight[],
  getWeight: (square: SquareWeight) => number,
): void {
  const largest = Math.max(...squares.map((square) => Math.abs(getWeight(square))), Number.MIN_VALUE);
  canvas.drawText(title, left + BOARD / 2, TITLE / 2, 14, INK);
  for (const [index, square] of squares.entries()) {
    const file = index % 8;
    const rank = index >> 3;
    const x = left + file * CELL;
    const y = TITLE + (7 - rank) * CELL;
    const weight = getWeight(square);
    const plain = (file + rank) % 2 === 0 ? DARK : LIGHT;
    canvas.fillRectangle(x, y, CELL, CELL, mix(plain, weight > 0 ? FOR : AGAINST, Math.abs(weight) / largest));
    if (square.piece !== '') drawPiece(canvas, x, y, square.piece);
    const hundredths = Math.round(100 * weight);
    const number = `${hundredths > 0 ? '+' : '−'}${Math.abs(hundredths)}`;
    if (hundredths !== 0) canvas.drawText(number, x + CELL / 2, y + CELL - 9, 7, INK);
  }
  for (let i = 0; i < 8; i++) {
    canvas.drawText('abcdefgh'[i], left + (i + 0.5) * CELL, TITLE + BOARD + MARGIN / 2, 7, INK);
    canvas.drawText(String(8 - i), left - MARGIN / 2, TITLE + (i + 0.5) * CELL, 7, INK);
  }
}

/** A letter on a grey plaque, so that both colours can be told on every square. */
function drawPiece(canvas: Canvas, x: number, y: number, piece: string): void {
  const isWhite = piece === piece.toUpperCase();
  canvas.fillRectangle(x + 14, y + 6, CELL - 28, CELL - 24, PLAQUE);
  canvas.drawText(piece.toUpperCase(), x + CELL / 2, y + 22, 21, isWhite ? WHITE_PIECE : BLACK_PIECE);
}

function mix(from: Colour, to: Colour, share: number): Colour {
  const blend = (i: number): number => Math.round(from[i] + (to[i] - from[i]) * share);
  return [blend(0), blend(1), blend(2)];
}
