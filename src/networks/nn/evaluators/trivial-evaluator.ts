/**
 * An evaluator that counts material and prefers pieces near the centre; all moves have equal priors. It needs no network and
 * captures hanging pieces, which is enough of an opponent for tests of whole games. lc0 has one of the same name.
 */

import type { Position } from '../../../chess/rules/index.js';
import type { Evaluator } from './evaluator.js';

/** Centipawns by piece type: none, P N B R Q K. */
const PIECE_VALUE = [0, 100, 310, 330, 500, 920, 0];
/** Centipawns for each step towards the centre, by piece type. */
const CENTRE_VALUE = [0, 4, 8, 4, 1, 1, -4];
/** W − L = tanh(centipawns / this). */
const WINNING_SCALE = 500;

export class TrivialEvaluator implements Evaluator {
  readonly backend = 'trivial';
  readonly isInstant = true;
  valueWl = new Float32Array(0);
  valueD = new Float32Array(0);
  movesLeft = new Float32Array(0);

  reserve(rows: number): void {
    this.valueWl = new Float32Array(rows);
    this.valueD = new Float32Array(rows);
    this.movesLeft = new Float32Array(rows);
  }

  setRow(row: number, position: Position): void {
    const wl = Math.tanh(computeCentipawns(position) / WINNING_SCALE);
    this.valueWl[row] = wl;
    this.valueD[row] = (1 - Math.abs(wl)) * 0.5;
  }

  run(): undefined {
    return undefined;
  }

  writePriorsInto(out: Float32Array, _row: number, count: number): void {
    out.fill(1 / count, 0, count);
  }

  async dispose(): Promise<void> {}
}

/** From the view of the player to move. */
function computeCentipawns(position: Position): number {
  const { board, sideToMove } = position;
  let score = 0;
  for (let square = 0; square < 64; square++) {
    const code = board[square];
    if (code === 0) continue;
    const file = square & 7;
    const rank = square >> 3;
    const steps = Math.min(file, 7 - file) + Math.min(rank, 7 - rank);
    const worth = PIECE_VALUE[code & 7] + CENTRE_VALUE[code & 7] * steps;
    score += code >> 3 === sideToMove ? worth : -worth;
  }
  return score;
}
