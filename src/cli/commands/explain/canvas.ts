/** What a picture of boards needs: filled rectangles and short texts. The origin is top left, units are pixels. */
export type Colour = readonly [red: number, green: number, blue: number];

export interface Canvas {
  fillRectangle(x: number, y: number, width: number, height: number, colour: Colour): void;
  /** @param size height of a capital letter; the text is centred on (x, y) */
  drawText(text: string, x: number, y: number, size: number, colour: Colour): void;
  /** The file's content. */
  encode(): Uint8Array;
}
