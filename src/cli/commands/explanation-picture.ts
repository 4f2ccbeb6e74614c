/**
 * An explanation as an SVG picture: two boards side by side, the move's on the left, the value's on the right, White at
 * the bottom. SVG is text that browsers, editors and GitHub show, so no package that draws pixels is needed.
 */

import { type ExplainedSquare, type Explanation, formatHundredths } from './explanation.js';

type Colour = readonly [red: number, green: number, blue: number];

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
/** Squares that speak for and against the move, or for and against the mover. */
const FOR: Colour = [33, 102, 172];
const AGAINST: Colour = [178, 24, 43];
const WHITE_PIECE: Colour = [255, 255, 255];
const BLACK_PIECE: Colour = [0, 0, 0];
const PLAQUE: Colour = [120, 120, 120];

/** Font size of a sans-serif whose capitals are 1 high. */
const FONT_SIZE = 1.4;

/** @returns the content of an .svg file */
export function drawExplanation({ move, probability, value, squares }: Explanation): string {
  const points = `${(100 * probability).toFixed(1)}%`;
  const valueTitle = `W−L ${value < 0 ? '−' : '+'}${Math.abs(value).toFixed(2)}`;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" width="${WIDTH}" height="${HEIGHT}" font-family="sans-serif" text-anchor="middle">`,
    drawRectangle(0, 0, WIDTH, HEIGHT, PAPER),
    ...drawBoard(MARGIN, `${move} ${points}`, squares, ({ policy }) => policy),
    ...drawBoard(BOARD + 3 * MARGIN, valueTitle, squares, (square) => square.value),
    '</svg>',
    '',
  ].join('\n');
}

function drawBoard(
  left: number,
  title: string,
  squares: readonly ExplainedSquare[],
  getWeight: (square: ExplainedSquare) => number,
): string[] {
  const largest = Math.max(...squares.map((square) => Math.abs(getWeight(square))), Number.MIN_VALUE);
  const parts = [drawText(title, left + BOARD / 2, TITLE / 2, 14, INK)];
  for (const [index, square] of squares.entries()) {
    const file = index % 8;
    const rank = index >> 3;
    const x = left + file * CELL;
    const y = TITLE + (7 - rank) * CELL;
    const weight = getWeight(square);
    const plain = (file + rank) % 2 === 0 ? DARK : LIGHT;
    parts.push(drawRectangle(x, y, CELL, CELL, mix(plain, weight > 0 ? FOR : AGAINST, Math.abs(weight) / largest)));
    if (square.piece !== '') parts.push(...drawPiece(x, y, square.piece));
    const number = formatHundredths(weight);
    if (number !== '') parts.push(drawText(number, x + CELL / 2, y + CELL - 9, 7, INK));
  }
  for (let i = 0; i < 8; i++) {
    parts.push(drawText('abcdefgh'[i], left + (i + 0.5) * CELL, TITLE + BOARD + MARGIN / 2, 7, INK));
    parts.push(drawText(String(8 - i), left - MARGIN / 2, TITLE + (i + 0.5) * CELL, 7, INK));
  }
  return parts;
}

/** A letter on a grey plaque, so that both colours stand out on every square. */
function drawPiece(x: number, y: number, piece: string): string[] {
  const isWhite = piece === piece.toUpperCase();
  return [
    drawRectangle(x + 14, y + 6, CELL - 28, CELL - 24, PLAQUE),
    drawText(piece.toUpperCase(), x + CELL / 2, y + 22, 21, isWhite ? WHITE_PIECE : BLACK_PIECE),
  ];
}

function drawRectangle(x: number, y: number, width: number, height: number, colour: Colour): string {
  return `<rect x="${x}" y="${y}" width="${width}" height="${height}" fill="rgb(${colour.join()})"/>`;
}

/** @param size height of a capital letter; the text is centred on (x, y) */
function drawText(text: string, x: number, y: number, size: number, colour: Colour): string {
  return `<text x="${x}" y="${y + size / 2}" font-size="${FONT_SIZE * size}" fill="rgb(${colour.join()})">${text}</text>`;
}

function mix(from: Colour, to: Colour, share: number): Colour {
  const blend = (i: number): number => Math.round(from[i] + (to[i] - from[i]) * share);
  return [blend(0), blend(1), blend(2)];
}
