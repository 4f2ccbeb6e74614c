/** What a program holds of one `go`: its infos, all of them kept so that a caller may iterate at any time, and its best move. */
import { createDeferred } from '../../base/util/index.js';
import { formatUciMove, type Move, NO_MOVE } from '../../chess/rules/index.js';
import { type BestMove, createInfo, createMoveStatistics, type RootStats, type SearchReport } from '../core/index.js';
import type { BestMoveAnswer, Info, MoveStatistics, Search, SearchEnd } from './chess-engine.js';

/** What a caller may do to the search. */
export interface SearchControl {
  readonly chess960: boolean;
  stop(): void;
  ponderHit(): void;
}

export class RunningSearch implements Search {
  private readonly answer = createDeferred<BestMoveAnswer>();
  readonly bestMove = this.answer.promise;
  private readonly infos: Info[] = [];
  private moves: readonly MoveStatistics[] = [];
  private state: 'running' | 'over' | 'rejected' = 'running';
  private error: unknown;
  private waiting: (() => void)[] = [];

  constructor(private readonly control: SearchControl) {
    // A program that only reads the infos must not die of a rejection that it did not ask for.
    this.bestMove.catch(() => undefined);
  }

  stop(): void {
    this.control.stop();
  }

  ponderHit(): void {
    this.control.ponderHit();
  }

  add(report: SearchReport): void {
    this.infos.push(createInfo(report, this.control.chess960));
    this.wake();
  }

  addMoves(stats: RootStats): void {
    this.moves = createMoveStatistics(stats, this.control.chess960).map(({ row: _, ...known }) => known);
  }

  end({ move, ponder }: BestMove, end: SearchEnd): void {
    if (this.state !== 'running') return;
    this.state = 'over';
    const { moves } = this;
    this.answer.resolve({ move: this.formatMove(move), ponder: this.formatMove(ponder), end, moves });
    this.wake();
  }

  fail(error: unknown): void {
    if (this.state !== 'running') return;
    this.state = 'rejected';
    this.error = error;
    this.answer.reject(error);
    this.wake();
  }

  private formatMove(move: Move): string | null {
    return move === NO_MOVE ? null : formatUciMove(move, this.control.chess960);
  }

  private wake(): void {
    for (const resume of this.waiting.splice(0)) resume();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Info> {
    try {
      for (let next = 0; ; next++) {
        while (next >= this.infos.length && this.state === 'running') {
          await new Promise<void>((resolve) => this.waiting.push(resolve));
        }
        if (this.state === 'rejected') throw this.error;
        if (next >= this.infos.length) return;
        yield this.infos[next];
      }
    } finally {
      if (this.state === 'running') this.stop();
    }
  }
}
