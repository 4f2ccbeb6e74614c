/** The 960 start positions by their numbers (Reinhard Scharnagl's scheme: 518 is the standard start). */
const KNIGHT_PLACES = [
  [0, 1],
  [0, 2],
  [0, 3],
  [0, 4],
  [1, 2],
  [1, 3],
  [1, 4],
  [2, 3],
  [2, 4],
  [3, 4],
];

/** @param number 0 to 959 */
export function createChess960Fen(number: number): string {
  const rank: string[] = Array.from({ length: 8 }, () => '');
  /** Puts a piece on the free square with this number. */
  const place = (piece: string, index: number): void => {
    const free = rank.flatMap((own, file) => (own === '' ? [file] : []));
    rank[free[index]] = piece;
  };
  rank[2 * (number % 4) + 1] = 'B';
  rank[2 * ((number >> 2) % 4)] = 'B';
  place('Q', (number >> 4) % 6);
  const [first, second] = KNIGHT_PLACES[Math.floor(number / 96)];
  place('N', first);
  // One free square less than before.
  place('N', second - 1);
  for (const piece of ['R', 'K', 'R']) place(piece, 0);
  const white = rank.join('');
  const files = rank.flatMap((piece, file) => (piece === 'R' ? ['ABCDEFGH'[file]] : [])).reverse();
  const castling = white === 'RNBQKBNR' ? 'KQ' : files.join('');
  return `${white.toLowerCase()}/pppppppp/8/8/8/8/PPPPPPPP/${white} w ${castling}${castling.toLowerCase()} - 0 1`;
}
