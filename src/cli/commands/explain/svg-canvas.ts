/** A canvas that becomes an SVG file. */
import type { Canvas, Colour } from './canvas.js';

/** Font size of a sans-serif whose capitals are 1 high. */
const FONT_SIZE = 1.4;

export class SvgCanvas implements Canvas {
  private readonly parts: string[] = [];

  constructor(
    private readonly width: number,
    private readonly height: number,
  ) {}

  fillRectangle(x: number, y: number, width: number, height: number, colour: Colour): void {
    this.parts.push(`<rect x="${x}" y="${y}" width="${width}" height="${height}" fill="rgb(${colour.join()})"/>`);
  }

  drawText(text: string, x: number, y: number, size: number, colour: Colour): void {
    const escaped = text.replace(/[<&>]/g, (sign) => `&#${sign.charCodeAt(0)};`);
    this.parts.push(
      `<text x="${x}" y="${y + size / 2}" font-size="${FONT_SIZE * size}" fill="rgb(${colour.join()})">${escaped}</text>`,
    );
  }

  encode(): Uint8Array {
    const { width, height } = this;
    const open = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}"`;
    const style = 'font-family="sans-serif" text-anchor="middle"';
    return new TextEncoder().encode(`${[`${open} ${style}>`, ...this.parts, '</svg>'].join('\n')}\n`);
  }
}
