/**
 * Which pieces stand on the board, as one number that finds a table, and as the name of a table file says it. Kings are
 * not counted: each side has one.
 *
 *   bits 0-14 White, 15-29 Black; of each colour three bits a piece type: pawns lowest, then knights … queens
 */
import { BISHOP, KING, KNIGHT, PAWN, QUEEN, ROOK } from '../chess/index.js';

export const MOST_MEN = 7;
const COLOUR_BITS = 15;
const COLOUR_MASK = (1 << COLOUR_BITS) - 1;
const BLACK_CODE = 8;
const LETTERS: Readonly<Record<string, number>> = { P: PAWN, N: KNIGHT, B: BISHOP, R: ROOK, Q: QUEEN, K: KING };
const TABLE_NAME = /^(K[QRBNP]*)v(K[QRBNP]*)$/;

/** Summand of each piece code (type | color << 3) in the key; 0 for kings and codes that are no piece. */
export const MATERIAL_UNITS = Int32Array.from({ length: 16 }, (_, code) => {
  const type = code & 7;
  return type < PAWN || type >= KING ? 0 : 1 << (3 * (type - 1) + (code >= BLACK_CODE ? COLOUR_BITS : 0));
});

export interface Material {
  /** As in file names; the side before the `v` is White in the table. */
  readonly name: string;
  /** Piece codes, kings included, in no particular order. */
  readonly codes: readonly number[];
  readonly key: number;
  /** The key with the colours exchanged. */
  readonly mirroredKey: number;
  /** Whether both sides have the same: then only positions with White to move are stored. */
  readonly isSymmetric: boolean;
  readonly hasPawns: boolean;
  /** Pawns of the side whose pawns lead the encoding, and of the other. */
  readonly leadingPawns: number;
  readonly otherPawns: number;
  /** Whether some piece beside the kings is the only one of its kind and colour. */
  readonly hasUniquePiece: boolean;
}

export function mirrorMaterial(key: number): number {
  return ((key & COLOUR_MASK) << COLOUR_BITS) | (key >>> COLOUR_BITS);
}

/** @returns null when the text does not name a table of 3 to 7 men */
export function parseTableName(name: string): Material | null {
  const sides = TABLE_NAME.exec(name);
  if (sides === null) return null;
  const codes = [
    ...Array.from(sides[1], (letter) => LETTERS[letter]),
    ...Array.from(sides[2], (letter) => LETTERS[letter] | BLACK_CODE),
  ];
  if (codes.length < 3 || codes.length > MOST_MEN) return null;
  const key = codes.reduce((sum, code) => sum + MATERIAL_UNITS[code], 0);
  const mirroredKey = mirrorMaterial(key);
  const count = (wanted: number): number => codes.filter((code) => code === wanted).length;
  const pawns = [count(PAWN), count(PAWN | BLACK_CODE)];
  // The side with fewer pawns leads, if it has any.
  const leader = pawns[1] > 0 && (pawns[0] === 0 || pawns[1] < pawns[0]) ? 1 : 0;
  return {
    name,
    codes,
    key,
    mirroredKey,
    isSymmetric: key === mirroredKey,
    hasPawns: pawns[leader] > 0,
    leadingPawns: pawns[leader],
    otherPawns: pawns[1 - leader],
    hasUniquePiece: codes.some((code) => (code & 7) !== KING && count(code) === 1),
  };
}
