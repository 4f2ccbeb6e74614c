/**
 * The engine without text: position, options, network and search behind the commands of UCI. It guarantees one search at a
 * time and exactly one legal answer to every `go`. The search thread does the searching.
 *
 * `go` → `begin` (waits for the network) → `run` (search-host.ts makes the message) → search thread → `receive` (info…;
 * bestMove → `receiveMove`) → `finish` (waits for a last look for a mate) → `answer`. A second `go` stops the first and waits for
 * its answer. Nothing here blocks or throws. Mistakes of the user are returned as a Result; later failures go to the listener,
 * and `go` is still answered.
 */

import type { OptionStore } from '../../base/options/index.js';
import { failure, type Result, success, unwrap } from '../../base/util/index.js';
import { type Move, NO_MOVE } from '../../chess/rules/index.js';
import type { ScoreType, SearchInfo, TreeDump, TreeDumpLimits } from '../../search/index.js';
import { EndgameTables, type TablebaseResult } from './endgame-tables.js';
import { createGamePosition, type GamePosition, POSITION_REFUSED, PositionReader } from './game-position.js';
import type { GoRequest } from './go-request.js';
import { MateThread } from './mate-thread.js';
import { listMopUpMoves } from './mop-up.js';
import { NetworkLoader } from './network-loader.js';
import { stepForward } from './ponder-step.js';
import type { BestMove, EngineListener, EnginePorts, NetworkPort } from './ports.js';
import type { RequestedSearch } from './requested-search.js';
import { createRootStats, type RootStats } from './root-stats.js';
import { createSearchOrder, type FromRunningSearch, SearchHost } from './search-host.js';
import { SearchQueue, StopWatchdog } from './search-queue.js';
import { createBlindReport, createFinishedReport, createSearchReport, type SearchReport } from './search-report.js';
import { readStrength } from './strength.js';
import { WarmUp } from './warm-up.js';

export class Engine {
  private game: GamePosition = unwrap(createGamePosition(null, []));
  private readonly positions = new PositionReader();
  private readonly searches = new SearchQueue();
  private readonly loader: NetworkLoader;
  private readonly host: SearchHost;
  private readonly tables: EndgameTables;
  private readonly stopWatchdog = new StopWatchdog();
  private readonly disconnect: () => void;
  private isDisposed = false;
  /** A new game began during the search, which adds evaluations to the cache until it has ended. */
  private clearsCacheAtAnswer = false;
  private readonly warmUp = new WarmUp();
  private readonly mateThread: MateThread;
  /** Warnings shown since the last change of an option. Evaluators and engine may warn of the same table; it is shown once. */
  private readonly warned = new Set<string>();

  constructor(
    readonly options: OptionStore,
    ports: EnginePorts,
    private readonly listener: EngineListener,
  ) {
    const warning = (text: string): void => this.warnOnce(text);
    const messages = {
      warning,
      note: (text: string) => listener.note(text),
      error: (text: string) => listener.error(text),
      progress: (text: string) => (listener.progress === undefined ? warning(text) : listener.progress(text)),
    };
    this.tables = new EndgameTables(options, messages);
    this.loader = new NetworkLoader(options, ports, messages);
    this.host = new SearchHost(ports, {
      onMessage: (message) => this.receive(message),
      onFailure: (error) => this.recover(`The search thread has failed: ${error.message}`),
    });
    const isActive = (search: RequestedSearch): boolean => this.searches.active === search;
    this.mateThread = new MateThread(
      options,
      ports,
      (search, report) => isActive(search) && this.reportProgress(search, report),
      (search) => isActive(search) && !search.waitsForStop && this.stopFirst(0),
    );
    this.disconnect = options.connect({
      pool: () => this.loader.onPoolChange(),
      strength: () => this.loader.onPoolChange(),
      evaluator: () => {
        this.loader.onEvaluatorChange();
        this.host.thread?.post({ type: 'clearTree' });
      },
      tables: () => this.onTablesChange(),
      forgetTree: () => this.host.thread?.post({ type: 'clearTree' }),
      forgetAll: () => this.forget(),
      note: (sentence) => listener.warning(sentence),
    });
  }

  get isSearching(): boolean {
    const { active } = this.searches;
    return active !== null && active.purpose !== 'warm-up';
  }

  /** Whether the search ends only by `stop`. */
  get needsStop(): boolean {
    return this.searches.last?.waitsForStop ?? false;
  }

  /** The position of the next `go`. */
  get position(): GamePosition {
    return this.game;
  }

  /** The network for the current options; null until it is loaded. */
  get network(): NetworkPort | null {
    return this.loader.current;
  }

  /**
   * Loads the network, and resolves when a `go` would not have to wait for it. It resolves after a failure too, which it reports
   * to the listener. During a search it loads nothing, and the result is null if the options ask for another network.
   */
  async prepare(): Promise<NetworkPort | null> {
    const { searches } = this;
    this.followTables();
    while (this.loader.current === null && searches.active?.isRunning === true) {
      if (searches.active.purpose !== 'warm-up') return null;
      this.stopFirst(0);
      await this.warmUp.end;
    }
    const network = await this.load();
    if (this.isDisposed) return null;
    const search = network !== null && searches.active === null ? this.warmUp.createSearch(network, searches) : null;
    if (search !== null) this.begin(search);
    await this.warmUp.end;
    // The device may have failed in the warm-up.
    return network?.hasLostDevice === true && this.loader.current === null ? this.prepare() : network;
  }

  setOption(name: string, text: string): Result<unknown> {
    this.warned.clear();
    return this.options.set(name, text);
  }

  /** The position's tablebase result; null if no table holds it. */
  probeTables(): TablebaseResult | null {
    this.followTables();
    return this.tables.probe(this.game.position);
  }

  /** @returns what the FEN's position does not allow and was dropped, a sentence each */
  setPosition(fen: string | null, moves: readonly string[]): Result<readonly string[]> {
    const game = this.positions.read(fen, moves);
    if (!game.ok) return game;
    this.game = game.value;
    return success(game.value.notes);
  }

  /** Call it when the client set a position that was refused: until the next one every `go` is answered without a move. */
  refusePosition(): void {
    this.game = { ...this.game, isRefused: true };
  }

  newGame(): void {
    this.stop();
    this.forget();
    this.clearsCacheAtAnswer = this.searches.active !== null;
    this.game = unwrap(createGamePosition(null, []));
  }

  /**
   * The network's evaluation of the position, with priors. It forgets the tree, so that no search is mixed in. Null if the game
   * is over, no network is loaded, a search is running, or the engine is being disposed.
   */
  async evaluate(): Promise<RootStats | null> {
    if (this.isSearching) return null;
    const search = this.searches.create({ nodes: 1 }, this.game, 'evaluation');
    await this.prepare();
    if (this.searches.active !== null || this.isDisposed) return null;
    this.host.thread?.post({ type: 'clearTree' });
    this.begin(search);
    await this.whenIdle();
    return search.lastStats;
  }

  /** Calls the listener's bestMove exactly once. */
  go(request: GoRequest): void {
    const { searches } = this;
    const search = searches.create(request, this.game);
    if (searches.active === null) {
      this.begin(search);
      return;
    }
    const earlier = searches.length;
    searches.add(search);
    this.stopFirst(earlier);
  }

  /** Ends all requested searches. Does nothing if there are none. */
  stop(): void {
    this.stopFirst(this.searches.length);
  }

  /** Like `stop`, before `dispose`: a search that has not looked at any move gives no answer. */
  quit(): void {
    this.searches.discardUnsearched();
    this.stop();
  }

  /** Ends the active search. The first `waiting` of the waiting searches answer as soon as they begin. */
  private stopFirst(waiting: number): void {
    const { active } = this.searches;
    this.searches.stopWaiting(waiting);
    if (active === null || active.stopRequested) return;
    if (active.isRunning && active.startsEarlier && active.reportedMove === null && !active.isDiscarded) {
      // Too early for the expected reply to have been searched: the position after it needs a search of its own.
      this.endPondering(active, true);
    } else {
      active.stopRequested = true;
      this.end(active);
    }
  }

  /** The opponent played the expected move: continue, now with the clock of the `go ponder`. */
  ponderHit(): Result<true> {
    const { active, last } = this.searches;
    if (last === null || !last.request.ponder || last.stopRequested)
      return failure('ponderhit without a ponder search');
    if (last === active) this.endPondering(active, false);
    else this.searches.endPonderingOfLast();
    return success(true);
  }

  /** Resolves when no search is running or waiting. */
  whenIdle(): Promise<void> {
    return this.searches.whenIdle();
  }

  async dispose(): Promise<void> {
    const { searches } = this;
    this.isDisposed = true;
    this.disconnect();
    searches.clear();
    if (searches.active !== null) {
      searches.active.isDiscarded = true;
      this.stop();
      await this.whenIdle();
    }
    await this.host.dispose();
    await this.mateThread.dispose();
    this.tables.close();
    await this.loader.dispose();
  }

  /** Replaces the pondering search by an ordinary one, which reuses its tree. If stopped, it answers at once. */
  private endPondering(active: RequestedSearch, isStopped: boolean): void {
    this.searches.replaceActive(active, isStopped);
    this.end(active);
  }

  private end(active: RequestedSearch): void {
    if (active.isRunning) this.stopHost();
    else this.answer(active.fallback);
  }

  private stopHost(): void {
    const knowsRoot = (): boolean => this.searches.active?.lastReport != null;
    this.stopWatchdog.begin(knowsRoot, () => this.recover('The search did not stop'));
    this.host.thread?.stop(); // After the watchdog has started: the answer ends it.
  }

  /** The tree of the last search; null if there is none. Do not call it during a search. */
  dumpTree(limits: TreeDumpLimits): Promise<TreeDump | null> {
    return this.host.dumpTree(limits);
  }

  private warnOnce(text: string): void {
    if (!this.warned.has(text)) this.listener.warning(text);
    this.warned.add(text);
  }

  private forget(): void {
    this.host.thread?.post({ type: 'newGame' });
    this.loader.current?.clearCache();
  }

  private onTablesChange(): void {
    this.tables.onOptionChange();
    this.loader.onTablesChange();
    this.followTables();
  }

  /** A tree must not hold results of other tables. */
  private followTables(): void {
    if (this.tables.follow()) this.host.thread?.post({ type: 'clearTree' });
  }

  private begin(search: RequestedSearch): void {
    this.searches.active = search;
    try {
      this.start(search);
    } catch (error) {
      this.recover('The search could not begin');
      throw error;
    }
  }

  private start(search: RequestedSearch): void {
    this.followTables();
    const isLimited = search.isPlay && !this.options.getBoolean('UCI_AnalyseMode');
    search.strength = isLimited ? readStrength(this.options) : null;
    // Limited strength plays without tablebases.
    if (search.strength === null && !search.isDiscarded && !search.hasSearchMoves)
      search.ranking = this.tables.rank(search.game.position);
    if (search.strength !== null && !search.hasSearchMoves) search.mopUpMoves = listMopUpMoves(search.game.position);
    if (search.game.isRefused && !search.isDiscarded) this.listener.warning(POSITION_REFUSED);
    if (search.candidates.length === 0) {
      if (!search.game.isRefused)
        this.report(search, createFinishedReport(search.game.position.inCheck(), this.scoreType));
      if (!search.waitsForStop) this.answer(search.fallback);
      return;
    }
    const network = this.loader.current;
    if (network !== null) this.run(search, network);
    else if (search.stopRequested) this.answer(search.fallback);
    else void this.runWhenLoaded(search);
  }

  /** Loads the network of the options, and starts the search thread beside it. */
  private load(): Promise<NetworkPort | null> {
    if (!this.isDisposed) this.host.start();
    return this.loader.ensure();
  }

  private async runWhenLoaded(search: RequestedSearch): Promise<void> {
    const network = await this.load();
    if (network !== null) await this.host.prepare(network);
    if (this.searches.active !== search) return;
    search.endWaiting();
    if (network !== null) this.run(search, network);
    else this.recover('No network is loaded: the engine plays any legal move');
  }

  private run(search: RequestedSearch, network: NetworkPort): void {
    const order = createSearchOrder(search, this.options);
    search.isRunning = true;
    this.loader.handOver(network);
    this.host.attach(network);
    // Limited strength must not use the tree of an earlier search.
    if (search.strength !== null) this.host.thread?.post({ type: 'clearTree' });
    this.mateThread.follow(search);
    this.host.thread?.post({ type: 'go', id: search.id, ...order });
    if (search.stopRequested) this.stopHost();
  }

  private receive(message: FromRunningSearch): void {
    const { active } = this.searches;
    if (active === null || message.id !== active.id) return;
    switch (message.type) {
      case 'info':
        if (message.info.lines.length === 0) return;
        this.reportInfo(active, active.startsEarlier ? stepForward(message.info) : message.info);
        return;
      case 'stats':
        if (active.startsEarlier) return;
        active.lastStats = createRootStats(active.game.position, message, this.host.hasMovesLeft);
        if (!active.isDiscarded) this.listener.moveStats(active.lastStats);
        return;
      case 'budget':
        if (!active.isDiscarded) this.listener.debug(`Budget for this move: ${message.limitMs.toFixed(1)} ms`);
        return;
      case 'warning':
        // With limited strength a ponder search ends early; that is normal.
        if (!active.isDiscarded && active.strength === null) this.listener.warning(message.text);
        return;
      case 'error':
        this.recover(message.text);
        return;
      case 'bestMove':
        this.receiveMove(active, message.move as Move, message.ponder as Move);
    }
  }

  private receiveMove(active: RequestedSearch, move: Move, ponder: Move): void {
    if (active.waitsForStop) this.recover('The search ended before stop');
    else if (active.startsEarlier) this.answer(active.fallback);
    else if (active.isCandidate(move)) this.finish(active, { move, ponder });
    else if (active.shorterMate !== null) this.answer(active.shorterMate);
    else if (move === NO_MOVE) this.recover('The search found no move: no position could be evaluated');
    else this.recover('The search answered with an illegal move');
  }

  private get scoreType(): ScoreType {
    return this.options.getString('ScoreType') as ScoreType;
  }

  private reportInfo(search: RequestedSearch, info: SearchInfo): void {
    const result = search.ranking?.result ?? null;
    const report = createSearchReport(info, this.scoreType, this.host.cacheFill, result);
    search.mates?.note(report, search.stopRequested);
    this.reportProgress(search, search.mates?.improved ?? report);
  }

  private reportProgress(search: RequestedSearch, report: SearchReport): void {
    this.report(search, report);
    // Stop only this search: later requests wait for its end.
    if (search.hasWantedMate && !search.waitsForStop) this.stopFirst(0);
  }

  /** The search has ended with this move. Without a clock, and if no caller waits, the mate finder may still look for a mate. */
  private finish(search: RequestedSearch, best: BestMove): void {
    const answer = (): void => {
      const final = search.mates?.improved ?? null;
      // The answer must not depend on when the last report was made, which differs from run to run.
      if (final !== null && final.lines[0].pv !== search.lastReport?.lines[0].pv) this.report(search, final);
      this.answer(search.shorterMate ?? best);
    };
    const looking = search.stopRequested ? null : (search.mates?.finish() ?? null);
    search.isRunning = false;
    search.ownAnswer = best;
    if (looking === null) answer();
    else void looking.then(() => this.searches.active === search && answer());
  }

  private report(search: RequestedSearch, report: SearchReport): void {
    search.lastReport = report;
    if (!search.isDiscarded) this.listener.report(report);
  }

  /** After a failure: reports it, discards the search thread, and answers with a legal move. */
  private recover(sentence: string): void {
    const { active } = this.searches;
    if (active === null) return;
    if (active.purpose !== 'warm-up') this.listener.error(sentence);
    if (active.isRunning) this.host.restart();
    active.isRunning = false;
    if (!active.waitsForStop) this.answer(active.fallback);
  }

  private answer(best: BestMove): void {
    const { active } = this.searches;
    if (active === null) return;
    this.stopWatchdog.end();
    if (active.lastReport === null && best.move !== NO_MOVE)
      this.report(active, createBlindReport(best.move, active.elapsedMs, this.scoreType));
    this.searches.active = null;
    if (this.clearsCacheAtAnswer) this.loader.current?.clearCache();
    this.clearsCacheAtAnswer = false;
    active.ended.resolve();
    if (!active.isDiscarded) this.mateThread.remember(active);
    if (active.purpose === 'warm-up') {
      this.host.thread?.post({ type: 'clearTree' });
      this.mateThread.prepare();
    }
    if (!active.isDiscarded) this.listener.bestMove(best);
    const next = this.searches.takeNext();
    if (next !== null) this.begin(next);
  }
}
