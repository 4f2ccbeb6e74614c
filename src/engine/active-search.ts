/**
 * One search from `go` to `bestmove`: what it was asked, on which position, and what it has said so far. It knows the
 * legal moves, so that whatever happens below it can answer with one of them, and what tablebases say of them.
 */
import { findMate, listLegalMoves, type Move, NO_MOVE } from '../chess/index.js';
import type { SearchLimits } from '../search/index.js';
import type { RootRanking } from '../syzygy/index.js';
import type { GamePosition } from './game-position.js';
import { type GoRequest, isUnlimited } from './go-request.js';
import type { MateFinder } from './mate-finder.js';
import type { RootStats } from './move-stats.js';
import { createBlindReport, type SearchReport } from './search-report.js';
import type { Strength } from './strength.js';

export interface BestMove {
  /** NO_MOVE when the game is over. */
  readonly move: Move;
  readonly ponder: Move;
}

/** Looked for where nothing else is known: a few milliseconds. */
const BLIND_MATES = { moves: 2, effort: 20_000 };

export class ActiveSearch {
  readonly startedAtMs = getNowMs();
  lastReport: SearchReport | null = null;
  lastStats: RootStats | null = null;
  /** The search thread works on it (otherwise it waits for the network, or is over and waits for `stop`). */
  isRunning = false;
  stopRequested = false;
  /** The listener does not hear of it (any more). */
  isDiscarded = false;
  /** A first search that nobody asked for; a `go` may end it at any time. */
  isWarmUp = false;
  /** Called when it has been answered. */
  onEnd: () => void = () => undefined;
  /** Move statistics are wanted whatever the options say. */
  wantsStats = false;
  /** It plays at a level below its best; null = full strength. */
  strength: Strength | null = null;
  /** What the search has answered, while a mate is still looked for. */
  ownAnswer: BestMove | null = null;
  /** Looks for shorter mates than the search has found; null = nobody does. */
  mates: MateFinder | null = null;
  /** What tablebases say of the root; null when they do not know it or were not asked. */
  ranking: RootRanking | null = null;
  private readonly legalOrWanted: readonly Move[];

  constructor(
    readonly id: number,
    readonly request: GoRequest,
    readonly game: GamePosition,
  ) {
    const legal = listLegalMoves(game.position);
    const wanted = request.searchMoves?.filter((move) => legal.includes(move)) ?? [];
    this.legalOrWanted = wanted.length > 0 ? wanted : legal;
  }

  get hasSearchMoves(): boolean {
    return this.request.searchMoves !== undefined;
  }

  /** The moves it may play: the best by tablebases, or those asked for by `searchmoves`, else all. */
  get candidates(): readonly Move[] {
    return this.ranking?.moves ?? this.legalOrWanted;
  }

  /** Once distances have chosen the moves, the search has only to make progress with them: leaves need no look-up (lc0). */
  get tablebaseLimits(): Pick<SearchLimits, 'tablebaseMoves' | 'skipsTablebases'> {
    const { ranking, strength } = this;
    return {
      ...(ranking === null ? {} : { tablebaseMoves: ranking.moves }),
      ...(ranking?.usesDtz === true || strength !== null ? { skipsTablebases: true } : {}),
    };
  }

  /** The request with the nodes that its strength allows; apart from `searchmoves` of its own root nothing else limits pondering. */
  get limitedRequest(): GoRequest {
    const { request, strength, startsEarlier } = this;
    const { searchMoves } = request;
    const ponderRequest = searchMoves === undefined || startsEarlier ? { ponder: true } : { ponder: true, searchMoves };
    const limits: GoRequest = request.ponder === true ? ponderRequest : request;
    if (strength === null) return limits;
    return { ...limits, nodes: Math.min(strength.nodes, limits.nodes ?? Number.POSITIVE_INFINITY) };
  }

  /** Whether its answer is a move in a game, and not what analysis comes to. */
  get isPlay(): boolean {
    return !this.isDiscarded && !isUnlimited(this.request) && this.request.mate === undefined;
  }

  /** Whether it must answer in time. */
  get isTimed(): boolean {
    const { whiteTimeMs, blackTimeMs, moveTimeMs } = this.request;
    return [whiteTimeMs, blackTimeMs, moveTimeMs].some((limit) => limit !== undefined);
  }

  get elapsedMs(): number {
    return getNowMs() - this.startedAtMs;
  }

  /** Ponders from one ply earlier; its reports are of the position all the same. */
  get startsEarlier(): boolean {
    return this.request.ponder === true && this.game.moves.length > 0;
  }

  /** What was asked for, apart from pondering. */
  get requestWithoutPonder(): GoRequest {
    const { ponder: _, ...request } = this.request;
    return request;
  }

  /** Must not answer before `stop` (or `ponderhit`), even when there is nothing left to find out. */
  get waitsForStop(): boolean {
    return !this.stopRequested && (this.request.ponder === true || isUnlimited(this.request));
  }

  /** What to answer when the search has failed: the best it had found, else a mate that needs no network, else any legal move. */
  get fallback(): BestMove {
    if (this.ownAnswer !== null) return this.shorterMate ?? this.ownAnswer;
    const [move = NO_MOVE, ponder = NO_MOVE] = this.lastReport?.lines[0]?.pv ?? [];
    if (this.isCandidate(move)) return { move, ponder };
    const { candidates } = this;
    const [mating = candidates[0] ?? NO_MOVE] =
      findMate(this.game.position.clone(), { ...BLIND_MATES, candidates }).line ?? [];
    return { move: mating, ponder: NO_MOVE };
  }

  isCandidate(move: Move): boolean {
    return this.candidates.includes(move);
  }

  /** The best move as `lastReport` has it, when that is not the search's own. */
  get shorterMate(): BestMove | null {
    const pv = this.lastReport?.lines[0]?.pv;
    if (pv === undefined || pv !== this.mates?.line) return null;
    return { move: pv[0], ponder: pv[1] ?? NO_MOVE };
  }

  /** A mate as short as `go mate` asks for is known. */
  get hasWantedMate(): boolean {
    return this.shorterMate !== null && (this.mates?.moves ?? 0) <= (this.request.mate ?? 0);
  }

  /** The report that must precede an answer when the search made none. */
  createMissingReport(move: Move): SearchReport {
    return createBlindReport(move, this.elapsedMs);
  }
}

function getNowMs(): number {
  return performance.timeOrigin + performance.now();
}
