/** A position in words, for those who cannot see the board. */
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
