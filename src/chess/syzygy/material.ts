/**
 * The pieces of a position without their squares: as a key, by which a table is found, and as the name of a table file.
 * The key counts all pieces but the kings:
 *
 *   bits 0..14 White, bits 15..29 Black; for each colour three bits a piece type, from pawns (lowest) to queens
 */
import { KING, PAWN, parsePiece } from '../rules/index.js';

/** Men of the largest tables that exist, kings included. */
export const MOST_MEN = 7;
const COLOUR_BITS = 15;
const COLOUR_MASK = (1 << COLOUR_BITS) - 1;
const BLACK_CODE = 8;
const TABLE_NAME = /^(K[QRBNP]*)v(K[QRBNP]*)$/;

/** What a piece adds to the key, by piece code; 0 for kings and codes without a piece. */
export const MATERIAL_UNITS = Int32Array.from({ length: 16 }, (_, code) => {
  const type = code & 7;
  return type < PAWN || type >= KING ? 0 : 1 << (3 * (type - 1) + (code >= BLACK_CODE ? COLOUR_BITS : 0));
});

export interface Material {
  /** As in file names, "KRPvKR". The side before the `v` is White in the table. */
  readonly name: string;
  /** Piece codes, kings included, in no particular order. */
  readonly codes: readonly number[];
  readonly key: number;
  /** The key with colours swapped. */
  readonly mirroredKey: number;
  /** Whether both sides have the same pieces. Such a table stores only positions with White to move. */
  readonly isSymmetric: boolean;
  readonly hasPawns: boolean;
  /** Number of pawns of the side whose pawns come first in the encoding, and of the other side. */
  readonly leadingPawns: number;
  readonly otherPawns: number;
  /** Whether some piece other than the kings is the only one of its type and colour. */
  readonly hasUniquePiece: boolean;
}

/** Null if the text does not name a table of 3 to 7 men. */
export function parseTableName(name: string): Material | null {
  const sides = TABLE_NAME.exec(name);
  if (sides === null) return null;
  const codes = [
    ...Array.from(sides[1], (letter) => parsePiece(letter)),
    ...Array.from(sides[2].toLowerCase(), (letter) => parsePiece(letter)),
  ];
  if (codes.length < 3 || codes.length > MOST_MEN) return null;
  const key = codes.reduce((sum, code) => sum + MATERIAL_UNITS[code], 0);
  const mirroredKey = ((key & COLOUR_MASK) << COLOUR_BITS) | (key >>> COLOUR_BITS);
  const count = (wanted: number): number => codes.filter((code) => code === wanted).length;
  const pawns = [count(PAWN), count(PAWN | BLACK_CODE)];
  // The pawns of the side with fewer pawns come first, if it has any.
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
