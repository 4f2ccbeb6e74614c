/**
 * lc0's input formats, all 112 planes, by lc0's own enum names. Each is the classical one with some of five changes.
 * Source: lc0, proto/net.proto and neural/encoder.cc.
 */
export interface Lc0Format {
  readonly name: string;
  /** The number in network files and training records. */
  readonly id: number;
  /** Planes 104 and 105 mark the rooks that may castle; otherwise 104 to 107 are filled planes. */
  readonly castlingRooks: boolean;
  /** The board is turned to a standard orientation, history stops at irreversible moves, plane 108 is en passant. */
  readonly canonical: boolean;
  /** Rule 50 counts from 0 to 1 instead of in plies. */
  readonly hectoplies: boolean;
  /** History holds only positions that had occurred before. */
  readonly repeatsOnly: boolean;
  /** Plane 110 tells who is black, which a canonical board hides. */
  readonly armageddon: boolean;
}

const CLASSICAL = {
  castlingRooks: false,
  canonical: false,
  hectoplies: false,
  repeatsOnly: false,
  armageddon: false,
};
const CANONICAL = { ...CLASSICAL, castlingRooks: true, canonical: true };
const HECTOPLIES = { ...CANONICAL, hectoplies: true };
const V2 = { ...HECTOPLIES, repeatsOnly: true };

export const LC0_FORMATS: readonly Lc0Format[] = [
  { ...CLASSICAL, name: 'lc0-112', id: 1 },
  { ...CLASSICAL, castlingRooks: true, name: 'INPUT_112_WITH_CASTLING_PLANE', id: 2 },
  { ...CANONICAL, name: 'INPUT_112_WITH_CANONICALIZATION', id: 3 },
  { ...HECTOPLIES, name: 'INPUT_112_WITH_CANONICALIZATION_HECTOPLIES', id: 4 },
  { ...HECTOPLIES, armageddon: true, name: 'INPUT_112_WITH_CANONICALIZATION_HECTOPLIES_ARMAGEDDON', id: 132 },
  { ...V2, name: 'INPUT_112_WITH_CANONICALIZATION_V2', id: 5 },
  { ...V2, armageddon: true, name: 'INPUT_112_WITH_CANONICALIZATION_V2_ARMAGEDDON', id: 133 },
];
