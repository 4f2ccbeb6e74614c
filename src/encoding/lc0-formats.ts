/**
 * lc0's input formats by lc0's own enum names (`lc0-112` is its classical one). All have 112 planes, and each is the
 * classical format with some of five changes. Source: lc0, proto/net.proto and neural/encoder.cc.
 */
export interface Lc0Format {
  readonly name: string;
  /** lc0's number for it in network files and training records. */
  readonly id: number;
  /** True: planes 104 and 105 mark the rooks that may castle. False: planes 104 to 107 are full or empty. */
  readonly castlingRooks: boolean;
  /** The board is turned (canonical.ts), history stops at irreversible moves, and plane 108 marks en passant. */
  readonly canonical: boolean;
  /** The rule-50 plane holds plies / 100 instead of plies. */
  readonly hectoplies: boolean;
  /** History holds only positions that occurred before. */
  readonly repeatsOnly: boolean;
  /** Plane 110 is full if Black is to move, which a turned board no longer shows. */
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
