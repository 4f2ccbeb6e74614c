/**
 * An engine for commands and servers that analyse one position after the other: each call returns a promise of the result.
 * A conversation with interruptions needs the Engine itself.
 */

import type { OptionStore } from '../../base/options/index.js';
import { NO_MOVE } from '../../chess/rules/index.js';
import { Engine } from './engine.js';
import type { GoRequest } from './go-request.js';
import type { BestMove, EnginePorts, NetworkPort } from './ports.js';
import type { RootStats } from './root-stats.js';
import type { SearchReport } from './search-report.js';

export interface Answer {
  readonly best: BestMove;
  readonly report: SearchReport;
  /** With VerboseMoveStats. */
  readonly stats: RootStats | null;
}

export class Analyst {
  /** To stop a search, whose answer is then that of the nodes so far; for the tree of the last one; to begin as in a new process. */
  readonly engine: Engine;
  private report: SearchReport | null = null;
  private stats: RootStats | null = null;
  private best: BestMove = { move: NO_MOVE, ponder: NO_MOVE };
  private errors: string[] = [];

  constructor(
    options: OptionStore,
    ports: EnginePorts,
    onWarning: (text: string) => void = () => undefined,
    onReport: (report: SearchReport) => void = () => undefined,
  ) {
    this.engine = new Engine(options, ports, {
      report: (report) => {
        this.report = report;
        onReport(report);
      },
      moveStats: (stats) => {
        this.stats = stats;
      },
      bestMove: (best) => {
        this.best = best;
      },
      warning: onWarning,
      note: () => undefined,
      debug: () => undefined,
      error: (text) => this.errors.push(text),
    });
  }

  /** Rejects with one sentence for the user if no network can be loaded. */
  async load(): Promise<NetworkPort> {
    const network = await this.engine.prepare();
    this.throwErrors();
    if (network === null) throw new Error('No network is loaded');
    return network;
  }

  /** Rejects if the FEN or a move is wrong, or the search fails. */
  async search(fen: string | null, moves: readonly string[], request: GoRequest): Promise<Answer> {
    this.setPosition(fen, moves);
    this.report = null;
    this.stats = null;
    this.engine.go(request);
    await this.engine.whenIdle();
    this.throwErrors();
    const { report, stats, best } = this;
    if (report === null) throw new Error('The search made no report');
    return { report, stats, best };
  }

  /** The network's evaluation without search; null if the game is over. */
  async evaluate(fen: string | null, moves: readonly string[]): Promise<RootStats | null> {
    this.setPosition(fen, moves);
    const stats = await this.engine.evaluate();
    this.throwErrors();
    return stats;
  }

  private setPosition(fen: string | null, moves: readonly string[]): void {
    const result = this.engine.setPosition(fen, moves);
    if (!result.ok) throw new Error(result.error);
  }

  private throwErrors(): void {
    const [first] = this.errors;
    this.errors = [];
    if (first !== undefined) throw new Error(first);
  }
}
