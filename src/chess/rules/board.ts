/**
 * Squares and sets of squares. A square is a small integer: a1 = 0, b1 = 1 … h8 = 63.
 *
 * A set of squares is a pair of int32 words: `low` holds squares 0..31 (ranks 1 to 4), `high` squares 32..63, one bit
 * each. A BigInt would hold both words but allocates and is a hundred times slower; a double has no bit operations.
 * Loops over a set take the highest bit first, because `Math.clz32` is one machine instruction and finding the lowest
 * bit takes three.
 */
export type Square = number & { readonly __square: unique symbol };

export const NO_SQUARE = -1;

export function createSquare(file: number, rank: number): Square {
  return ((rank << 3) | file) as Square;
}

/** "e4" → 28; NO_SQUARE if the text does not name a square. */
export function parseSquare(text: string): Square | typeof NO_SQUARE {
  if (!/^[a-h][1-8]$/.test(text)) return NO_SQUARE;
  return createSquare(text.charCodeAt(0) - 97, text.charCodeAt(1) - 49);
}

/** 28 → "e4". */
export function formatSquare(square: number): string {
  return 'abcdefgh'[square & 7] + String((square >> 3) + 1);
}

/**
 * Number of squares in a set. Source: chessprogramming wiki, "Population Count" (SWAR); the two words share the last
 * steps.
 */
export function popCount64(low: number, high: number): number {
  let a = low - ((low >>> 1) & 0x55555555);
  let b = high - ((high >>> 1) & 0x55555555);
  a = (a & 0x33333333) + ((a >>> 2) & 0x33333333);
  b = (b & 0x33333333) + ((b >>> 2) & 0x33333333);
  a += b;
  a = (a & 0x0f0f0f0f) + ((a >>> 4) & 0x0f0f0f0f);
  return Math.imul(a, 0x01010101) >>> 24;
}

/**
 * Colours, piece types and piece codes, and their names and FEN letters. A code is `type | color << 3`: white pieces
 * have 1..6, black pieces 9..14, and an empty square has 0.
 */
export type Color = 0 | 1;

export const WHITE = 0;
export const BLACK = 1;

export const PAWN = 1;
export const KNIGHT = 2;
export const BISHOP = 3;
export const ROOK = 4;
export const QUEEN = 5;
export const KING = 6;

/** Lower-case letter of each piece type, as in UCI promotions and FEN's black pieces; index 0 is unused. */
export const PIECE_LETTERS = ' pnbrqk';

const COLOR_NAMES = ['White', 'Black'] as const;
const PIECE_NAMES = ['', 'pawn', 'knight', 'bishop', 'rook', 'queen', 'king'] as const;

export function colorName(color: Color): string {
  return COLOR_NAMES[color];
}

/** "knight" for either colour's knight; '' for an empty square. */
export function pieceName(code: number): string {
  return PIECE_NAMES[code & 7] ?? '';
}

/** FEN letter → piece code; 0 if the letter names no piece. */
export function parsePiece(letter: string): number {
  const type = PIECE_LETTERS.indexOf(letter.toLowerCase());
  if (type <= 0) return 0;
  return letter === letter.toLowerCase() ? type | (BLACK << 3) : type;
}

/** Piece code → FEN letter: upper case for White; a blank for an empty square. */
export function formatPiece(code: number): string {
  const letter = PIECE_LETTERS[code & 7] ?? '';
  return code >> 3 === WHITE ? letter.toUpperCase() : letter;
}

export interface Board {
  /**
   * Set of squares of each piece code, two words each: low word (squares 0..31) at `2 * code`, high word after it.
   * Code 0 holds all white pieces, code 8 all black pieces.
   */
  readonly masks: Int32Array;
  /** Piece code of each square, a1 first. */
  readonly board: Int8Array;
  readonly sideToMove: Color;
  /** NO_SQUARE unless a legal en passant capture exists. */
  readonly enPassantSquare: number;
  /** [white h-side, white a-side, black h-side, black a-side]: square of the rook that may castle, or NO_SQUARE. */
  readonly castlingRooks: Int8Array;
  kingSquare(color: Color): number;
}

/** The content of a FEN as plain values. `Position.setUp` takes them; parsers and tests make them. */
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

// Where king and rook end up after castling is the same in standard chess and Chess960: castling to the h-side puts the king on the
// g-file and the rook on the f-file, castling to the a-side on the c- and d-files. The side is that of the rook, seen from the king.

/** Squares of rooks and kings in standard chess, in the order of Board.castlingRooks. */
const STANDARD_ROOKS = [7, 0, 63, 56];
const STANDARD_KINGS = [4, 4, 60, 60];

/** The king's square after castling with the rook on `rookFrom`. */
export function castledKing(kingFrom: number, rookFrom: number): number {
  return (kingFrom & 56) | (rookFrom > kingFrom ? 6 : 2);
}

/** The rook's square after castling. */
export function castledRook(kingFrom: number, rookFrom: number): number {
  return (kingFrom & 56) | (rookFrom > kingFrom ? 5 : 3);
}

/** Whether a king or rook that may still castle stands on another square than in standard chess. */
export function hasChess960Castling(board: Board): boolean {
  return board.castlingRooks.some(
    (rook, index) =>
      rook !== NO_SQUARE &&
      (rook !== STANDARD_ROOKS[index] || board.kingSquare(index < 2 ? WHITE : BLACK) !== STANDARD_KINGS[index]),
  );
}
