/**
 * One `go` of a program, from its place in the queue to its best move. All its infos are kept, so that a caller may iterate at
 * any time.
 */
import { createDeferred } from '../../base/util/index.js';
import { formatUciMove, type Move, NO_MOVE } from '../../chess/rules/index.js';
import {
  type BestMove,
  createInfo,
  createMoveStatistics,
  isUnlimited,
  type RootStats,
  type SearchReport,
} from '../core/index.js';
import type { BestMoveAnswer, Info, MoveStatistics, Search, SearchEnd } from './chess-engine.js';
import type { EngineHost, HostTask } from './engine-host.js';

export class SearchRequest implements Search {
  private readonly answer = createDeferred<BestMoveAnswer>();
  readonly bestMove = this.answer.promise;
  private readonly infos: Info[] = [];
  private moves: readonly MoveStatistics[] = [];
  /** `open` until it is answered. */
  private state: 'open' | 'answered' | 'rejected' = 'open';
  private error: unknown;
  /** Loops over the infos that wait for the next one. */
  private waiting: (() => void)[] = [];
  /** Null before its turn. */
  private host: EngineHost | null = null;
  private ended: SearchEnd = 'limit';
  private hasFailed = false;
  private isPondering: boolean;
  private finish: () => void = () => undefined;

  constructor(
    private readonly task: HostTask,
    private readonly chess960: boolean,
  ) {
    this.isPondering = task.request.ponder === true;
    // A program that only reads the infos must not die of a rejection that it did not ask for.
    this.bestMove.catch(() => undefined);
  }

  get isEndless(): boolean {
    return this.isPondering || isUnlimited(this.task.request);
  }

  run(host: EngineHost): Promise<void> {
    this.host = host;
    return new Promise((resolve) => {
      this.finish = resolve;
      host.go(this.task);
      if (this.ended !== 'limit') host.stop();
      else if (this.task.request.ponder === true && !this.isPondering) host.ponderHit();
    });
  }

  giveWay(): void {
    this.endEarly('replaced');
  }

  stop(): void {
    this.endEarly('stopped');
  }

  ponderHit(): void {
    if (!this.isPondering) throw new Error('ponderhit without a search that ponders');
    this.isPondering = false;
    this.host?.ponderHit();
  }

  add(report: SearchReport): void {
    this.infos.push(createInfo(report, this.chess960));
    this.wake();
  }

  addMoves(stats: RootStats): void {
    this.moves = createMoveStatistics(stats, this.chess960).map(({ row: _, ...known }) => known);
  }

  /** The engine could not evaluate; an answer follows. */
  noteFailure(): void {
    this.hasFailed = true;
  }

  end({ move, ponder }: BestMove): void {
    if (this.state === 'open') {
      this.state = 'answered';
      const end = move === NO_MOVE ? 'gameOver' : this.hasFailed ? 'failed' : this.ended;
      const { moves } = this;
      this.answer.resolve({ move: this.formatMove(move), ponder: this.formatMove(ponder), end, moves });
      this.wake();
    }
    this.finish();
  }

  fail(error: unknown): void {
    if (this.state === 'open') {
      this.state = 'rejected';
      this.error = error;
      this.answer.reject(error);
      this.wake();
    }
    this.endEarly('stopped');
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Info> {
    try {
      for (let next = 0; ; next++) {
        while (next >= this.infos.length && this.state === 'open') {
          await new Promise<void>((resolve) => this.waiting.push(resolve));
        }
        if (this.state === 'rejected') throw this.error;
        if (next >= this.infos.length) return;
        yield this.infos[next];
      }
    } finally {
      if (this.state === 'open') this.stop();
    }
  }

  private endEarly(end: SearchEnd): void {
    if (this.ended !== 'limit') return;
    this.ended = end;
    this.host?.stop();
  }

  private formatMove(move: Move): string | null {
    return move === NO_MOVE ? null : formatUciMove(move, this.chess960);
  }

  private wake(): void {
    for (const resume of this.waiting.splice(0)) resume();
  }
}
