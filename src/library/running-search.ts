/** One `go`: its infos, all of them kept so that a caller may iterate at any time, and its best move. */
import { formatUciMove, type Move, NO_MOVE } from '../chess/index.js';
import { type BestMove, getMovesLeft, type RootStats, type SearchReport } from '../engine/index.js';
import type { BestMoveAnswer, Info, MoveStatistics, Search, SearchEnd } from './chess-engine.js';

/** What a caller may do to the search. */
export interface SearchControl {
  readonly chess960: boolean;
  stop(): void;
  ponderHit(): void;
}

export class RunningSearch implements Search {
  readonly bestMove: Promise<BestMoveAnswer>;
  private readonly infos: Info[] = [];
  private resolve: (best: BestMoveAnswer) => void = () => undefined;
  private reject: (error: unknown) => void = () => undefined;
  private moves: readonly MoveStatistics[] = [];
  private state: 'running' | 'over' | 'rejected' = 'running';
  private error: unknown;
  private waiting: (() => void)[] = [];

  constructor(private readonly control: SearchControl) {
    this.bestMove = new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
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

  addMoves({ moves, hasMovesLeft, node }: RootStats): void {
    this.moves = moves
      .map((row) => ({
        move: formatUciMove(row.move as Move, this.control.chess960),
        visits: row.visits,
        prior: row.prior,
        value: row.visits === 0 ? null : row.wl,
        draw: row.visits === 0 ? null : row.d,
        movesLeft: row.visits === 0 ? null : getMovesLeft({ node: row, moves, hasMovesLeft }),
      }))
      .sort((a, b) => b.visits - a.visits || b.prior - a.prior)
      .filter(() => node.edgeCount > 0);
  }

  end({ move, ponder }: BestMove, end: SearchEnd): void {
    if (this.state !== 'running') return;
    this.state = 'over';
    const { moves } = this;
    this.resolve({ move: this.formatMove(move), ponder: this.formatMove(ponder), end, moves });
    this.wake();
  }

  fail(error: unknown): void {
    if (this.state !== 'running') return;
    this.state = 'rejected';
    this.error = error;
    this.reject(error);
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

function createInfo(report: SearchReport, chess960: boolean): Info {
  return {
    depth: report.depth,
    seldepth: report.seldepth,
    timeMs: report.timeMs,
    nodes: report.nodes,
    nodesPerSecond: report.nps,
    hashFull: report.hashFull,
    tablebaseHits: report.tbHits,
    lines: report.lines.map((line) => ({ ...line, pv: line.pv.map((move) => formatUciMove(move, chess960)) })),
  };
}
