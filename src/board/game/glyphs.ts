/** Numeric annotation glyphs: the 139 of the PGN standard (section 10), those that programs have added, their signs and words. */

interface Glyph {
  /** As it stands behind a move; `$46` where no sign is usual. */
  readonly sign: string;
  readonly word: string;
}

/** What a person may give a move; keys 1 to 6 in this order. */
export const MOVE_GLYPHS: readonly (Glyph & { readonly nag: number })[] = [
  { nag: 1, sign: '!', word: 'Good move' },
  { nag: 2, sign: '?', word: 'Mistake' },
  { nag: 3, sign: '!!', word: 'Brilliant move' },
  { nag: 4, sign: '??', word: 'Blunder' },
  { nag: 5, sign: '!?', word: 'Interesting move' },
  { nag: 6, sign: '?!', word: 'Dubious move' },
];

const SINGLE: Readonly<Record<number, readonly [sign: string, word: string]>> = {
  7: ['□', 'Forced move'],
  8: ['□', 'Singular move'],
  9: ['', 'Worst move'],
  10: ['=', 'Drawish position'],
  11: ['=', 'Equal chances, quiet position'],
  12: ['=', 'Equal chances, active position'],
  13: ['∞', 'Unclear position'],
  140: ['∆', 'With the idea'],
  141: ['∇', 'Aimed against'],
  142: ['⌓', 'Better is'],
  143: ['≤', 'Worse is'],
  145: ['RR', 'Editorial comment'],
  146: ['N', 'Novelty'],
};

/** From $14 on each glyph is said of White, the next one of Black; `a|b` gives the sign of each. */
const PAIRS: readonly (readonly [sign: string, ...words: string[]])[] = [
  ['⩲|⩱', 'has a slight advantage'],
  ['±|∓', 'has a moderate advantage'],
  ['+−|−+', 'has a decisive advantage', 'has a crushing advantage'],
  ['⨀', 'is in zugzwang'],
  ['○', ...degree('space advantage')],
  ['⟳', ...degree('lead in development')],
  ['↑', 'has the initiative', 'has a lasting initiative'],
  ['→', 'has the attack'],
  ['', 'has too little compensation for material'],
  ['=/∞', 'has sufficient compensation for material'],
  ['', 'has more than adequate compensation for material'],
  ['', ...degree('control of the centre'), ...degree('control of the kingside'), ...degree('control of the queenside')],
  ['', 'has a vulnerable first rank', 'has a well protected first rank'],
  [
    '',
    'has a poorly protected king',
    'has a well protected king',
    'has a poorly placed king',
    'has a well placed king',
  ],
  [
    '',
    ...['very weak', 'moderately weak', 'moderately strong', 'very strong'].map((how) => `has a ${how} pawn structure`),
  ],
  [
    '',
    ...['knight', 'bishop', 'rook', 'queen'].flatMap((piece) => [
      `has a poorly placed ${piece}`,
      `has a well placed ${piece}`,
    ]),
  ],
  ['', 'has poor piece coordination', 'has good piece coordination'],
  [
    '',
    ...['opening', 'middlegame', 'ending'].flatMap((phase) =>
      ['very poorly', 'poorly', 'well', 'very well'].map((how) => `has played the ${phase} ${how}`),
    ),
  ],
  ['⇆', ...degree('counterplay')],
  ['⊕', 'is in moderate time pressure', 'is in severe time pressure'],
];

function degree(what: string): string[] {
  return ['slight', 'moderate', 'decisive'].map((how) => `has ${how} ${what}`);
}

const GLYPHS: ReadonlyMap<number, Glyph> = new Map([
  ...MOVE_GLYPHS.map((glyph) => [glyph.nag, glyph] as const),
  ...Object.entries(SINGLE).map(([nag, [sign, word]]) => [Number(nag), { sign: sign || `$${nag}`, word }] as const),
  ...PAIRS.flatMap(([sign, ...words]) => words.map((word) => ({ sign, word }))).flatMap(({ sign, word }, index) =>
    ['White', 'Black'].map((player, side) => {
      const nag = 14 + 2 * index + side;
      return [nag, { sign: sign.split('|').at(side) ?? sign, word: `${player} ${word}` }] as const;
    }),
  ),
]);

/** Every glyph has a sign; one that nobody has defined is shown as its number. */
export function describeGlyph(nag: number): Glyph {
  const { sign = '', word = `Glyph ${nag}` } = GLYPHS.get(nag) ?? {};
  return { sign: sign || `$${nag}`, word };
}

/** What is said of the move comes before what is said of the position. */
export function sortGlyphs(nags: readonly number[]): number[] {
  return nags.filter((nag) => nag > 0).sort((a, b) => a - b);
}

/** "!? ±": signs of the position stand behind a blank. */
export function formatGlyphs(nags: readonly number[]): string {
  return sortGlyphs(nags)
    .map((nag) => `${nag > 6 ? ' ' : ''}${describeGlyph(nag).sign}`)
    .join('');
}
