/** A mate that the last answer leads to, and that the search itself may not see again in the next position. */
import type { Move } from '../chess/index.js';
import type { ActiveSearch } from './active-search.js';
import type { GamePosition } from './game-position.js';

export class MatePromise {
  private rootFen = '';
  private moves: readonly Move[] = [];
  private mateIn = 0;

  /** To be called with every search that has answered. */
  remember({ game, shorterMate, mates }: ActiveSearch): void {
    this.mateIn = shorterMate === null || mates === null ? 0 : mates.moves - 1;
    if (shorterMate === null) return;
    this.rootFen = game.rootFen;
    this.moves = [...game.moves, shorterMate.move];
  }

  /** Moves to the mate, when the game has gone on with the answer and a reply; else 0. */
  getMoves({ rootFen, moves }: GamePosition): number {
    const isNext = rootFen === this.rootFen && moves.length === this.moves.length + 1;
    return isNext && this.moves.every((move, i) => move === moves[i]) ? this.mateIn : 0;
  }
}
