/** The content of a FEN as plain values. `Position.setUp` takes them; parsers and tests make them. */
import { BISHOP, BLACK, type Color, KING, KNIGHT, NO_SQUARE, PAWN, QUEEN, ROOK, WHITE } from './board.js';

export interface BoardSetup {
  /** 64 piece codes, a1 first. */
  readonly board: ArrayLike<number>;
  readonly sideToMove: Color;
  /** See Board.castlingRooks. */
  readonly castlingRooks: ArrayLike<number>;
  /** The square behind a pawn that has just moved two squares, or NO_SQUARE. Ignored if no capture is legal. */
  readonly enPassantSquare: number;
  /** Plies since the last capture or pawn move. */
  readonly rule50: number;
  /** Plies since the start of the game. */
  readonly gamePly: number;
}

const BACK_RANK = [ROOK, KNIGHT, BISHOP, QUEEN, KING, BISHOP, KNIGHT, ROOK];

/** The standard start position. */
export const START_SETUP: BoardSetup = {
  board: [
    ...BACK_RANK,
    ...Array<number>(8).fill(PAWN),
    ...Array<number>(32).fill(0),
    ...Array<number>(8).fill(PAWN | (BLACK << 3)),
    ...BACK_RANK.map((type) => type | (BLACK << 3)),
  ],
  sideToMove: WHITE,
  castlingRooks: [7, 0, 63, 56],
  enPassantSquare: NO_SQUARE,
  rule50: 0,
  gamePly: 0,
};
