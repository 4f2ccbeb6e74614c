/**
 * The UCI conversation: lines in, engine calls, lines out. A command is executed when it arrives, also during a search; only
 * `isready` while the network loads, `wait`, `eval` and `bench` hold back the lines after them. A wrong line gets one `error` line and
 * changes nothing; what the engine reports by itself, failures too, is an `info string`.
 */

import { createLogger } from '#platform/log-file.js';
import { repeatEvery, runNextTurn } from '#platform/threads.js';
import type { OptionStore } from '../../base/options/index.js';
import { cutText, failure, getErrorMessage, isTooLong, showControls } from '../../base/util/index.js';
import { formatUciMove, type Move, parseUciMove } from '../../chess/rules/index.js';
import type { ScoreType } from '../../search/index.js';
import {
  Engine,
  type EngineListener,
  type EnginePorts,
  type GoRequest,
  isUnlimited,
  PerftClient,
  POSITION_REFUSED,
} from '../core/index.js';
import { formatBestMove, formatInfo } from './info-text.js';
import { formatMoveStats, type MoveStatsFormat } from './move-stats-text.js';
import { formatIdentity } from './options.js';
import { COMMAND_HELP, type GoCommand, parseCommand, type UciCommand } from './parse-command.js';
import { formatBoard, formatEvalAnswer } from './terminal-text.js';

/** Rejects when the signal ends it. */
type Bench = (words: readonly string[], writeLine: (line: string) => void, signal: AbortSignal) => Promise<void>;

export interface SessionSettings {
  readonly version: string;
  readonly showHidden: boolean;
  readonly options: OptionStore;
  readonly ports: EnginePorts;
  writeLine(line: string): void;
  /** The `bench` command; null if this session has none. */
  readonly bench: Bench | null;
  /** Called with what a line or a report threw, a fault of ours. The conversation goes on with the next line. */
  onFault(error: unknown): void;
  /**
   * Called when the conversation is over. `isStuck`: a thread is still busy in a device or with loading. Do not wait for it;
   * terminating it there could crash.
   */
  onEnd(isStuck: boolean): void;
}

/** GUIs send their options right after `uciok`. Loading starts this long after the last of them. */
const LOAD_DELAY_MS = 25;
const PROOF_MS = 5000;
/** A batch of a large network takes seconds. */
const QUIT_TIMEOUT_MS = 2000;

type CommandHandlers = {
  readonly [Type in UciCommand['type']]: (command: Extract<UciCommand, { readonly type: Type }>) => void;
};

export class UciSession {
  private readonly engine: Engine;
  private readonly held: string[] = [];
  /** Number of commands whose end the lines after them wait for. */
  private holds = 0;
  /** Whether such a command is `isready`. */
  private isLoading = false;
  private isInputOver = false;
  private isEnding = false;
  private isDebugging = false;
  private logger = createLogger('');
  private perft: PerftClient | null = null;
  private perftEnd: Promise<void> = Promise.resolve();
  /** Ends the running `bench`. */
  private benchStop: AbortController | null = null;
  /** Whether the lines received now arrived together with `bench`. */
  private isBenchNew = false;
  private benchEnd: Promise<void> = Promise.resolve();
  private endProof: (() => void) | null = null;
  private loadTimer: ReturnType<typeof setTimeout> | undefined;

  /** What each command does. */
  private readonly handlers: CommandHandlers = {
    uci: () => this.identify(),
    isready: () => this.answerWhenReady(),
    setoption: ({ option, value }) => this.setOption(option, value),
    ucinewgame: () => {
      this.perft?.stop();
      this.engine.newGame();
    },
    position: ({ fen, moves }) => this.setPosition(fen, moves),
    go: ({ go, ignored }) => this.go(go, ignored),
    stop: () => {
      this.perft?.stop();
      this.benchStop?.abort();
      this.engine.stop();
    },
    ponderhit: () => {
      const result = this.engine.ponderHit();
      if (!result.ok) this.writeError(result.error);
    },
    wait: () => this.hold(this.engine.whenIdle().then(() => this.perftEnd)),
    d: () => this.showBoard(),
    eval: () => this.hold(this.evaluate()),
    bench: ({ words }) => this.bench(words),
    debug: ({ on }) => {
      this.isDebugging = on;
    },
    help: () => {
      for (const line of Object.values(COMMAND_HELP).join('\n').split('\n')) this.write(line);
    },
    xyzzy: () => this.write('Nothing happens.'),
    register: () => undefined,
    quit: () => this.end(),
  };

  constructor(private readonly settings: SessionSettings) {
    this.openLog();
    settings.options.connect({ log: () => this.openLog() });
    this.engine = new Engine(settings.options, settings.ports, this.createListener());
    this.scheduleLoad(2 * LOAD_DELAY_MS);
  }

  receive(line: string): void {
    if (this.isEnding) return;
    if (this.isHolding && !this.mayPass(line)) {
      this.held.push(line);
      return;
    }
    // A `stop` also applies to held-back commands before it.
    if (this.isHolding && this.held.length > 0 && /^\s*stop\b/.test(line)) this.held.push(line);
    try {
      this.follow(line);
    } catch (error) {
      this.settings.onFault(error);
    }
  }

  private follow(line: string): void {
    const isLong = isTooLong(line);
    this.log(`>> ${isLong ? cutText(line) : line}`);
    const command = isLong ? failure(`The line is too long: ${cutText(line)}`) : parseCommand(line);
    if (command === null) return;
    if (command.ok) {
      const handle = this.handlers[command.value.type] as (command: UciCommand) => void;
      handle(command.value);
      return;
    }
    this.writeError(command.error);
    const [word] = line.trimStart().split(/\s/, 1);
    if (word === 'position' || (isLong && word === '')) this.engine.refusePosition();
    // Every go gets its bestmove, and the limits of this one are not known.
    if (isLong && word === 'go') this.engine.go({ nodes: 1 });
  }

  /** Finishes the searches that end by themselves, because a script that pipes its commands in wants their answers; then ends. */
  endOfInput(): void {
    this.isInputOver = true;
    if (this.engine.needsStop) this.engine.quit();
    this.proveReader();
    if (!this.isHolding) void Promise.all([this.engine.whenIdle(), this.perftEnd]).then(() => this.end());
  }

  /** Only a line that cannot be written shows that the client is gone, and perft and bench may write none for hours. */
  private proveReader(): void {
    this.endProof ??= repeatEvery(PROOF_MS, () => {
      if (this.perft !== null || this.benchStop !== null) this.write('info string The input has ended; still counting');
    });
  }

  /**
   * Lines that are not held back. `quit` ends loading, an unlimited search or a bench at once, but not behind a `wait`, nor if it
   * arrived together with `bench`: then a script sent both and wants the result.
   */
  private mayPass(line: string): boolean {
    if (/^\s*isready\b/.test(line)) return !this.isLoading;
    const isAwaited = this.held.some((earlier) => /^\s*wait\b/.test(earlier));
    const endsNow =
      (this.isLoading && !isAwaited) || this.engine.needsStop || (this.benchStop !== null && !this.isBenchNew);
    return /^\s*stop\b/.test(line) || (/^\s*quit\b/.test(line) && endsNow);
  }

  /** Stops everything, writes the last `bestmove` if its search has looked at any move, and calls `onEnd`. */
  end(): void {
    if (this.isEnding) return;
    this.isEnding = true;
    clearTimeout(this.loadTimer);
    this.endProof?.();
    this.perft?.stop();
    this.benchStop?.abort();
    this.engine.quit();
    // While a network is being loaded, there is no answer to wait for.
    const timeout = setTimeout(() => this.settings.onEnd(true), this.isLoading ? 0 : QUIT_TIMEOUT_MS);
    void this.engine
      .whenIdle()
      .then(() => this.engine.dispose())
      .then(() => this.benchEnd)
      .finally(() => {
        clearTimeout(timeout);
        this.settings.onEnd(false);
      });
  }

  private showBoard(): void {
    const { position } = this.engine.position;
    for (const line of formatBoard(position, this.isChess960, this.engine.probeTables())) this.write(line);
  }

  private identify(): void {
    const { options, showHidden, version } = this.settings;
    for (const line of formatIdentity(version, options.announce(), showHidden)) this.write(line);
    this.scheduleLoad(LOAD_DELAY_MS);
  }

  private scheduleLoad(delayMs: number): void {
    clearTimeout(this.loadTimer);
    this.loadTimer = setTimeout(() => void this.engine.prepare(), delayMs);
  }

  private answerWhenReady(): void {
    // During a search the answer must not wait, not even for a network that new options ask for.
    if (this.engine.isSearching || this.engine.network !== null) {
      this.write('readyok');
      return;
    }
    clearTimeout(this.loadTimer);
    this.isLoading = !this.isHolding;
    this.hold(
      this.engine.prepare().then(() => {
        if (!this.isEnding) this.write('readyok');
      }),
    );
  }

  private setOption(name: string, value: string): void {
    const result = this.engine.setOption(name, value);
    if (!result.ok) this.writeError(result.error);
    else if (!this.engine.isSearching) this.scheduleLoad(LOAD_DELAY_MS);
  }

  private setPosition(fen: string | null, moves: readonly string[]): void {
    const result = this.engine.setPosition(fen, moves);
    if (result.ok) {
      for (const note of result.value) this.write(`info string ${note}`);
      return;
    }
    this.engine.refusePosition();
    this.writeError(result.error);
  }

  /** @param skipped words that the parser left out; so are illegal moves here, since the GUI waits for a bestmove */
  private go({ perft, searchMoves: moveTexts = [], ...limits }: GoCommand, skipped: readonly string[]): void {
    const { position, isRefused } = this.engine.position;
    const searchMoves: Move[] = [];
    const ignored = [...skipped];
    for (const text of isRefused ? [] : moveTexts) {
      const move = parseUciMove(position, text);
      if (move.ok) searchMoves.push(move.value);
      else ignored.push(move.error);
    }
    if (ignored.length > 0) this.write(`info string Ignored in go: ${ignored.join('; ')}`);
    if (perft !== undefined) {
      this.startPerft(perft);
      return;
    }
    const request: GoRequest = searchMoves.length === 0 ? limits : { ...limits, searchMoves };
    this.perft?.stop();
    // Without a limit of those that were meant, the search would never end.
    const isLimitLost = ignored.length > 0 && request.infinite !== true && isUnlimited(request);
    this.engine.go(isLimitLost ? { ...request, nodes: 1 } : request);
  }

  private startPerft(depth: number): void {
    if (this.perft !== null || this.engine.isSearching) {
      this.writeError('A search is running: stop it before go perft');
      return;
    }
    if (this.engine.position.isRefused) {
      this.writeError(POSITION_REFUSED);
      return;
    }
    this.perftEnd = new Promise((resolve) => {
      this.perft = new PerftClient(this.engine.position, depth, {
        onMove: (move, nodes) => this.write(`${formatUciMove(move, this.isChess960)}: ${nodes}`),
        onEnd: (nodes, cut) => {
          this.perft = null;
          if (cut !== null) this.write(`info string perft ${cut}`);
          this.write(`Nodes searched: ${nodes}`);
          resolve();
        },
      });
    });
  }

  private async evaluate(): Promise<void> {
    if (this.engine.position.isRefused) {
      this.writeError(POSITION_REFUSED);
      return;
    }
    const stats = await this.engine.evaluate();
    if (this.isEnding) return;
    if (stats === null) {
      this.writeError('Cannot evaluate: the game is over, a search is running, or no network is loaded');
      return;
    }
    const scoreType = this.settings.options.getString('ScoreType') as ScoreType;
    for (const line of formatEvalAnswer(stats, scoreType, this.isChess960)) this.write(line);
  }

  private bench(words: readonly string[]): void {
    const { bench } = this.settings;
    if (bench === null || this.engine.isSearching || this.benchStop !== null) {
      this.writeError('bench is not possible during a search, or in this session');
      return;
    }
    const stop = new AbortController();
    const write = (line: string): void => {
      if (!stop.signal.aborted) this.write(line);
    };
    const running = bench(words, write, stop.signal)
      .catch((error: unknown) => {
        if (!stop.signal.aborted) throw error;
        if (!this.isEnding) this.write('info string bench stopped');
      })
      .finally(() => {
        this.benchStop = null;
      });
    this.benchStop = stop;
    this.isBenchNew = true;
    runNextTurn(() => {
      this.isBenchNew = false;
    });
    this.benchEnd = running.catch(() => undefined);
    this.hold(running);
  }

  private get isHolding(): boolean {
    return this.holds > 0;
  }

  /** Holds back all lines until the promise settles. */
  private hold(until: Promise<void>): void {
    this.holds++;
    void until
      .catch((error: unknown) => this.writeError(getErrorMessage(error)))
      .then(() => {
        if (--this.holds > 0) return;
        this.isLoading = false;
        while (!this.isHolding && this.held.length > 0) this.receive(this.held.shift() ?? '');
        if (this.isInputOver && !this.isHolding) this.endOfInput();
      });
  }

  private createListener(): EngineListener {
    return {
      report: (report) => {
        for (const line of report.lines) this.write(formatInfo(report, line, this.settings.options));
      },
      moveStats: (stats) => {
        const { options } = this.settings;
        const lines = formatMoveStats(stats, options.getString('VerboseMoveStatsFormat') as MoveStatsFormat);
        // As in lc0, live statistics without VerboseMoveStats go to the log.
        const isWanted = options.getBoolean('VerboseMoveStats');
        for (const line of lines) {
          if (isWanted) this.write(`info string ${line}`);
          else this.log(line);
        }
      },
      bestMove: ({ move, ponder }) => {
        this.write(formatBestMove(move, ponder, this.isChess960));
        // A search keeps its network. If options changed or a device failed meanwhile, load the new one now.
        if (!this.isEnding && this.engine.network === null) this.scheduleLoad(LOAD_DELAY_MS);
      },
      warning: (text) => this.write(`info string ${text}`),
      note: (text) => this.write(`info string ${text}`),
      debug: (text) => {
        if (this.isDebugging) this.write(`info string ${text}`);
        else this.log(text);
      },
      error: (text) => this.write(`info string ${text}`),
    };
  }

  private get isChess960(): boolean {
    return this.settings.options.getBoolean('UCI_Chess960');
  }

  private writeError(sentence: string): void {
    this.write(`error ${sentence}`);
  }

  private write(line: string): void {
    this.log(`<< ${line}`);
    this.settings.writeLine(line);
  }

  private openLog(): void {
    const target = this.settings.options.getString('LogFile');
    this.logger = createLogger(target, { onFailure: (text) => this.write(`info string ${text}`) });
  }

  private log(line: string): void {
    // A log is read in a terminal.
    this.logger.log(showControls(line.replaceAll('\n', ' ')));
  }
}
