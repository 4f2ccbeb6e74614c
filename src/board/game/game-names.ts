/** What games and openings are called: by a game's tags, and by the positions of a line. */

/** Position without clocks → opening. */
export type OpeningNames = ReadonlyMap<string, string>;

/** Longest line that has a name. */
export const NAMED_PLIES = 40;

/** The last name on a line; '' = none. @param fens of its positions, in order */
export function nameOpening(names: OpeningNames, fens: readonly string[]): string {
  const place = fens
    .slice(0, NAMED_PLIES)
    .map((fen) => fen.split(' ', 4).join(' '))
    .findLast((place) => names.has(place));
  return place === undefined ? '' : (names.get(place) ?? '');
}

/** Characters of a game's text that hold its tags. */
const TAG_TEXT = 2000;

/** The tags at the start of a game that this page or its reader has written. */
export function readTags(text: string): ReadonlyMap<string, string> {
  const found = text.slice(0, TAG_TEXT).matchAll(/^\[(\w+) "(.*)"\]/gm);
  return new Map([...found].map(([, name, value]) => [name, value.replace(/\\(["\\])/g, '$1')]));
}

/** The value of a PGN tag; '' where it says nothing ("?", "????.??.??", "*"). */
export function getTag(tags: ReadonlyMap<string, string>, name: string): string {
  return (tags.get(name) ?? '').replace(/^[?.*]*$/, '');
}

/** `players`: "Anna – Ben", '' without names. `about`: "1-0 Event 2026.01.01", as far as it is known. */
export function describeTags(tags: ReadonlyMap<string, string>): { readonly players: string; readonly about: string } {
  const names = [getTag(tags, 'White'), getTag(tags, 'Black')];
  const isNamed = names.some((name) => name !== '');
  const about = ['Result', 'Event', 'Date'].map((name) => getTag(tags, name));
  return {
    players: isNamed ? names.map((name) => name || '?').join(' – ') : '',
    about: about.filter((text) => text !== '').join(' '),
  };
}
