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

/** Piece code → FEN letter: upper case for White. */
export function formatPiece(code: number): string {
  const letter = PIECE_LETTERS[code & 7] ?? '';
  return code >> 3 === WHITE ? letter.toUpperCase() : letter;
}
