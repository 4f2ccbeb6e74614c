/**
 * Random positions of few pieces, because labelled games from books rarely reach endgames. It chooses the material at random
 * and places it until the position is legal, without check and not over.
 */
import { computeOutcome, parseFen } from '../../chess/index.js';
import type { Prng } from '../../util/index.js';

const PIECES = 'qrrbbnn';
const MOST_PIECES = 2;
const MOST_PAWNS = 4;

export function createRandomEndgame(prng: Prng): string {
  for (;;) {
    const fen = placeRandomPieces(prng);
    const position = parseFen(fen);
    if (position.ok && !position.value.inCheck() && computeOutcome(position.value) === 'ongoing') return fen;
  }
}

function placeRandomPieces(prng: Prng): string {
  const board: string[] = new Array(64).fill('');
  const place = (letter: string, ranks: readonly [from: number, to: number]): void => {
    for (;;) {
      const square = 8 * (ranks[0] + prng.nextBelow(ranks[1] - ranks[0] + 1)) + prng.nextBelow(8);
      if (board[square] !== '') continue;
      board[square] = letter;
      return;
    }
  };
  const isWhite = [true, false];
  const pawns = prng.nextBelow(MOST_PAWNS + 1);
  for (const white of isWhite) {
    const paint = (letter: string): string => (white ? letter.toUpperCase() : letter);
    place(paint('k'), [0, 7]);
    for (let i = prng.nextBelow(MOST_PIECES + 1); i > 0; i--)
      place(paint(PIECES[prng.nextBelow(PIECES.length)]), [0, 7]);
    // Nearly equal numbers of pawns: far from it, the result would only be material.
    for (let i = Math.max(0, pawns + prng.nextBelow(3) - 1); i > 0; i--) place(paint('p'), [1, 6]);
  }
  const ranks = [7, 6, 5, 4, 3, 2, 1, 0].map((rank) =>
    board
      .slice(8 * rank, 8 * rank + 8)
      .map((letter) => letter || '1')
      .join('')
      .replace(/1+/g, (run) => String(run.length)),
  );
  return `${ranks.join('/')} ${prng.nextBelow(2) === 0 ? 'w' : 'b'} - - 0 1`;
}
