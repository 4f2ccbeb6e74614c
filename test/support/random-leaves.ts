/** Leaves of seeded random games: a start for many tests of evaluators and encodings. */
import { formatUciMove, type Move, Position } from '#sardonyx/chess/index.js';
import { createPrng } from '#sardonyx/util/index.js';
import type { TestLeaf } from './leaf-driver.js';

/** Paths from the start position that are not over, 1 to 80 plies long. */
export function createRandomLeaves(seed: number, count: number): TestLeaf[] {
  const prng = createPrng(seed);
  const moves = new Uint16Array(256);
  const leaves: TestLeaf[] = [];
  while (leaves.length < count) {
    const position = new Position();
    const path: string[] = [];
    for (let plies = 1 + prng.nextBelow(80); plies > 0; plies--) {
      const moveCount = position.generateLegalMoves(moves);
      if (moveCount === 0) break;
      const move = moves[prng.nextBelow(moveCount)] as Move;
      path.push(formatUciMove(move, false));
      position.makeMove(move);
    }
    leaves.push({ path: path.join(' ') });
  }
  return leaves;
}
