/** One `go`: its infos, all of them kept so that a caller may iterate at any time, and its best move. */
import { formatUciMove, type Move, NO_MOVE } from '../chess/index.js';
import type { BestMove, SearchReport } from '../engine/index.js';
import type { BestMoveAnswer, Info, Search } from './chess-engine.js';

export class RunningSearch implements Search {
  readonly bestMove: Promise<BestMoveAnswer>;
  private readonly infos: Info[] = [];
  private answer: (best: BestMoveAnswer) => void = () => undefined;
  private isOver = false;
  private waiting: (() => void)[] = [];

  /** @param chess960 how moves are written */
  constructor(
    private readonly chess960: boolean,
    readonly stop: () => void,
  ) {
    this.bestMove = new Promise((resolve) => {
      this.answer = resolve;
    });
  }

  add(report: SearchReport): void {
    this.infos.push(createInfo(report, this.chess960));
    this.wake();
  }

  end({ move, ponder }: BestMove): void {
    this.isOver = true;
    this.answer({ move: this.formatMove(move), ponder: this.formatMove(ponder) });
    this.wake();
  }

  private formatMove(move: Move): string | null {
    return move === NO_MOVE ? null : formatUciMove(move, this.chess960);
  }

  private wake(): void {
    for (const resume of this.waiting.splice(0)) resume();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Info> {
    try {
      for (let next = 0; ; next++) {
        while (next >= this.infos.length && !this.isOver) {
          await new Promise<void>((resolve) => this.waiting.push(resolve));
        }
        if (next >= this.infos.length) return;
        yield this.infos[next];
      }
    } finally {
      this.stop();
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
    lines: report.lines.map((line) => ({ ...line, pv: line.pv.map((move) => formatUciMove(move, chess960)) })),
  };
}
