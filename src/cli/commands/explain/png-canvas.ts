/** A canvas of pixels that becomes a PNG file (ISO/IEC 15948): 8-bit RGB, one IDAT chunk, no filter. */
import { crc32, deflateSync } from 'node:zlib';
import type { Canvas, Colour } from './canvas.js';
import { FONT_HEIGHT, FONT_WIDTH, getGlyph } from './pixel-font.js';

const SIGNATURE = Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a);
const RGB8 = [8, 2, 0, 0, 0];

export class PngCanvas implements Canvas {
  /** Rows of a filter byte (0, none) and 3 bytes a pixel. */
  private readonly rows: Uint8Array;
  private readonly stride: number;

  constructor(
    private readonly width: number,
    private readonly height: number,
  ) {
    this.stride = 1 + 3 * width;
    this.rows = new Uint8Array(this.stride * height);
  }

  fillRectangle(x: number, y: number, width: number, height: number, colour: Colour): void {
    for (let row = Math.max(0, y); row < Math.min(this.height, y + height); row++) {
      for (let column = Math.max(0, x); column < Math.min(this.width, x + width); column++) {
        this.rows.set(colour, row * this.stride + 1 + 3 * column);
      }
    }
  }

  drawText(text: string, x: number, y: number, size: number, colour: Colour): void {
    const scale = Math.max(1, Math.round(size / FONT_HEIGHT));
    const advance = (FONT_WIDTH + 1) * scale;
    let left = Math.round(x - (text.length * advance - scale) / 2);
    const top = Math.round(y - (FONT_HEIGHT * scale) / 2);
    for (const letter of text) {
      for (const [row, bits] of getGlyph(letter).entries()) {
        for (let column = 0; column < FONT_WIDTH; column++) {
          if (((bits >> (FONT_WIDTH - 1 - column)) & 1) === 0) continue;
          this.fillRectangle(left + column * scale, top + row * scale, scale, scale, colour);
        }
      }
      left += advance;
    }
  }

  encode(): Uint8Array {
    const header = new Uint8Array(13);
    const view = new DataView(header.buffer);
    view.setUint32(0, this.width);
    view.setUint32(4, this.height);
    header.set(RGB8, 8);
    return Buffer.concat([
      SIGNATURE,
      createChunk('IHDR', header),
      createChunk('IDAT', deflateSync(this.rows)),
      createChunk('IEND', new Uint8Array(0)),
    ]);
  }
}

/** Length, type, data, and the checksum of type and data. */
function createChunk(type: string, data: Uint8Array): Uint8Array {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const chunk = Buffer.alloc(8 + body.length);
  chunk.writeUInt32BE(data.length, 0);
  body.copy(chunk, 4);
  chunk.writeUInt32BE(crc32(body), 4 + body.length);
  return chunk;
}
