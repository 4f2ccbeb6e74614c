/** A position in words, for those who cannot see the board, the material of its players, and what the tags of a game say. */
const NAMES: Readonly<Record<string, string>> = {
  k: 'king',
  q: 'queen',
  r: 'rook',
  b: 'bishop',
  n: 'knight',
  p: 'pawn',
};
const ORDER = 'kqrbnp';

/** "White to move. White: king e1, … Black: king e8, …" @param fen a valid one */
export function describeBoard(fen: string): string {
  const [placement, turn] = fen.split(' ');
  const squares: Record<string, string[]> = {};
  for (const [row, text] of placement.split('/').entries()) {
    let file = 0;
    for (const letter of text) {
      if (/\d/.test(letter)) {
        file += Number(letter);
        continue;
      }
      squares[letter] = [...(squares[letter] ?? []), `${'abcdefgh'[file]}${8 - row}`];
      file++;
    }
  }
  const describeSide = (isWhite: boolean): string =>
    [...ORDER]
      .flatMap((letter) => {
        const own = squares[isWhite ? letter.toUpperCase() : letter];
        if (own === undefined) return [];
        return [`${NAMES[letter]}${own.length > 1 ? 's' : ''} ${own.join(' ')}`];
      })
      .join(', ');
  const mover = turn === 'b' ? 'Black' : 'White';
  return `${mover} to move. White: ${describeSide(true)}. Black: ${describeSide(false)}.`;
}

const PIECE_POINTS: Readonly<Record<string, number>> = { q: 9, r: 5, b: 3, n: 3, p: 1 };
const FIGURES: Readonly<Record<string, string>> = { q: '♛', r: '♜', b: '♝', n: '♞', p: '♟' };

/** What a player has more than the opponent: the pieces as figures, and all material together in pawns. @param fen a valid one */
export function countMaterial(fen: string, side: 'white' | 'black'): { readonly ahead: string; readonly lead: number } {
  const [placement] = fen.split(' ');
  const count = (letter: string): number => placement.split(letter).length - 1;
  let ahead = '';
  let lead = 0;
  for (const [letter, points] of Object.entries(PIECE_POINTS)) {
    const whites = count(letter.toUpperCase()) - count(letter);
    const more = side === 'white' ? whites : -whites;
    lead += points * more;
    ahead += FIGURES[letter].repeat(Math.max(0, more));
  }
  return { ahead, lead };
}

/** The value of a PGN tag; '' where it says nothing ("?", "????.??.??", "*"). */
export function readTag(tags: ReadonlyMap<string, string>, name: string): string {
  return (tags.get(name) ?? '').replace(/^[?.*]*$/, '');
}

/** `players`: "Anna – Ben", '' without names. `about`: "1-0 Event 2026.01.01", as far as it is known. */
export function describeTags(tags: ReadonlyMap<string, string>): { readonly players: string; readonly about: string } {
  const names = [readTag(tags, 'White'), readTag(tags, 'Black')];
  const isNamed = names.some((name) => name !== '');
  const about = ['Result', 'Event', 'Date'].map((name) => readTag(tags, name));
  return {
    players: isNamed ? names.map((name) => name || '?').join(' – ') : '',
    about: about.filter((text) => text !== '').join(' '),
  };
}
