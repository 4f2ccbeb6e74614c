/**
 * Owns the thread that looks for mates and gives a finder to each search that may use one. It remembers the mate that the
 * last answer leads to, because the search may not see it in the next position.
 */
import { runNextTurn } from '#platform/threads.js';
import type { OptionStore } from '../../base/options/index.js';
import type { Move } from '../../chess/rules/index.js';
import type { GamePosition } from './game-position.js';
import { MateFinder } from './mate-finder.js';
import type { EnginePorts, MateSearchPort } from './ports.js';
import type { RequestedSearch } from './requested-search.js';
import type { SearchReport } from './search-report.js';

/** The other algorithms play by one evaluation of the network. */
const SEARCHES_WITH_MATES = ['tree', 'graph'];

export class MateThread {
  private search: MateSearchPort | null = null;
  private isDisposed = false;
  /** The game up to an answer that leads to a mate, and the moves to that mate after it; 0 = none. */
  private announced: { readonly rootFen: string; readonly moves: readonly Move[]; readonly mateIn: number } | null =
    null;

  /**
   * @param onFound called with a report of a mate that the last report does not show
   * @param onRefuted called when the mate that `go mate` asks for does not exist
   */
  constructor(
    private readonly options: OptionStore,
    private readonly ports: Pick<EnginePorts, 'createMateSearch'>,
    private readonly onFound: (search: RequestedSearch, report: SearchReport) => unknown,
    private readonly onRefuted: (search: RequestedSearch) => unknown,
  ) {}

  /** Starts the thread in the next turn: after `readyok`, and before a clock runs. */
  prepare(): void {
    runNextTurn(() => this.start());
  }

  /** Gives the search a mate finder, unless it has limited strength, ponders, or is a warm-up. */
  follow(search: RequestedSearch): void {
    const { game, candidates, isTimed } = search;
    if (search.strength !== null || search.isDiscarded || search.request.ponder === true) return;
    if (!SEARCHES_WITH_MATES.includes(this.options.getString('SearchAlgorithm'))) return;
    // `go mate` ends when there is no such mate, and only the finder can tell.
    const thread = this.start(search.request.mate !== undefined);
    if (thread === null) return;
    const onFound = (): void => {
      const report = search.mates?.improved ?? null;
      if (report !== null && search.mates?.line !== null && search.shorterMate === null) this.onFound(search, report);
    };
    search.mates = new MateFinder(thread, {
      game,
      candidates,
      announced: this.getAnnounced(game),
      isTimed,
      wanted: search.request.mate === undefined ? 0 : Math.max(1, search.request.mate),
      onFound,
      onRefuted: () => this.onRefuted(search),
    });
  }

  /** Call it with every search that has answered. */
  remember({ game, shorterMate, mates }: RequestedSearch): void {
    const { rootFen, moves } = game;
    this.announced =
      shorterMate === null || mates === null
        ? null
        : { rootFen, moves: [...moves, shorterMate.move], mateIn: mates.moves - 1 };
  }

  async dispose(): Promise<void> {
    this.isDisposed = true;
    await this.search?.dispose();
  }

  /** @param mustFind whether it is wanted whatever the option says */
  private start(mustFind = false): MateSearchPort | null {
    if (this.isDisposed || !(mustFind || this.options.getBoolean('MateSearch'))) return null;
    this.search ??= this.ports.createMateSearch();
    return this.search;
  }

  /** Moves to the mate, when the game has gone on with the answer and a reply; else 0. */
  private getAnnounced({ rootFen, moves }: GamePosition): number {
    const { announced } = this;
    if (announced === null || rootFen !== announced.rootFen || moves.length !== announced.moves.length + 1) return 0;
    return announced.moves.every((move, i) => move === moves[i]) ? announced.mateIn : 0;
  }
}
