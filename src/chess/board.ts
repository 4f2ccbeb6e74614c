/** What move generation reads of a Position; a type of its own so that the generators do not import the class. */
import type { Color } from './piece.js';

export interface Board {
  readonly masks: Int32Array;
  readonly sideToMove: Color;
  readonly enPassantSquare: number;
  readonly castlingRooks: Int8Array;
  kingSquare(color: Color): number;
}
