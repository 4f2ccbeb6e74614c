/**
 * One search from `go` to `bestmove`, whether it waits, runs or is over: its request, its position, and its reports so far. It knows the legal moves and their
 * tablebase results, so it can answer with a legal move whatever fails below.
 */

import { createDeferred } from '../../base/util/index.js';
import { findMate, listLegalMoves, type Move, NO_MOVE } from '../../chess/rules/index.js';
import type { RootRanking } from '../../chess/syzygy/index.js';
import type { SearchLimits } from '../../search/index.js';
import type { GamePosition } from './game-position.js';
import { type GoRequest, isUnlimited } from './go-request.js';
import type { MateFinder } from './mate-finder.js';
import type { BestMove } from './ports.js';
import type { RootStats } from './root-stats.js';
import type { SearchReport } from './search-report.js';
import type { Strength } from './strength.js';

/** Effort of the search for a mate if there is no other answer; it takes a few milliseconds. */
const BLIND_MATES = { moves: 2, effort: 20_000 };

/** What a search is for: the answer to a `go`, the network's evaluation of a position, or to have run once. */
export type SearchPurpose = 'answer' | 'evaluation' | 'warm-up';

export class RequestedSearch {
  /** When its time began: when it was asked for, or when its network was there. */
  startedAtMs = getNowMs();
  /** How long it has waited for its network. Its budget does not count this, but the client's clock ran meanwhile. */
  waitedMs = 0;
  lastReport: SearchReport | null = null;
  lastStats: RootStats | null = null;
  /** Whether the search thread works on it. If not, it waits for the network, or it is over and waits for `stop`. */
  isRunning = false;
  stopRequested = false;
  /** If true, the listener gets no further reports and no answer from it. */
  isDiscarded: boolean;
  /** Resolved after its answer. */
  readonly ended = createDeferred();
  /** The level to play at; null = full strength. */
  strength: Strength | null = null;
  /** With limited strength: the moves that bring a bare king nearer to mate; null elsewhere. */
  mopUpMoves: readonly Move[] | null = null;
  /** The answer of the search, while the mate finder still works. */
  ownAnswer: BestMove | null = null;
  /** Looks for shorter mates than the search has found; null if switched off. */
  mates: MateFinder | null = null;
  /** Tablebase result of the root; null if the tables do not hold it or were not probed. */
  ranking: RootRanking | null = null;
  private readonly legalOrWanted: readonly Move[];

  constructor(
    readonly id: number,
    readonly request: GoRequest,
    readonly game: GamePosition,
    readonly purpose: SearchPurpose = 'answer',
  ) {
    this.isDiscarded = purpose !== 'answer';
    const legal = listLegalMoves(game.position);
    const wanted = request.searchMoves?.filter((move) => legal.includes(move)) ?? [];
    this.legalOrWanted = wanted.length > 0 ? wanted : legal;
  }

  get hasSearchMoves(): boolean {
    return this.request.searchMoves !== undefined;
  }

  /** The moves it may play: the best by tablebases, those that mate a bare king, or those of `searchmoves`, else all. */
  get candidates(): readonly Move[] {
    if (this.game.isRefused) return [];
    return this.ranking?.moves ?? this.mopUpMoves ?? this.legalOrWanted;
  }

  /** If DTZ tables have chosen the moves, every one of them keeps the result, so leaves are not probed (as in lc0). */
  get tablebaseLimits(): Pick<SearchLimits, 'tablebaseMoves' | 'skipsTablebases'> {
    const { ranking, strength } = this;
    return {
      ...(ranking === null ? {} : { tablebaseMoves: ranking.moves }),
      ...(ranking?.usesDtz === true || strength !== null ? { skipsTablebases: true } : {}),
    };
  }

  /**
   * The limits of the search: those of the request, and the nodes that the playing strength allows. While pondering, only the
   * nodes count, and `searchmoves` if the search starts from the position that it names.
   */
  get limitedRequest(): GoRequest {
    const { request, strength, startsEarlier, mopUpMoves } = this;
    const { searchMoves } = request;
    const ponderRequest = searchMoves === undefined || startsEarlier ? { ponder: true } : { ponder: true, searchMoves };
    const limits: GoRequest = request.ponder === true ? ponderRequest : request;
    if (strength === null) return limits;
    return {
      ...limits,
      nodes: Math.min(strength.nodes, limits.nodes ?? Number.POSITIVE_INFINITY),
      ...(mopUpMoves !== null && !startsEarlier && { searchMoves: mopUpMoves }),
    };
  }

  /** Whether its answer is a move in a game, not the result of an analysis. */
  get isPlay(): boolean {
    return !this.isDiscarded && !isUnlimited(this.request) && this.request.mate === undefined;
  }

  /** Whether it is on a clock. */
  get isTimed(): boolean {
    const { whiteTimeMs, blackTimeMs, moveTimeMs } = this.request;
    return [whiteTimeMs, blackTimeMs, moveTimeMs].some((limit) => limit !== undefined);
  }

  get elapsedMs(): number {
    return getNowMs() - this.startedAtMs;
  }

  /** The network is loaded, so the time of the search begins: loading must not use up a short one. */
  endWaiting(): void {
    this.waitedMs += this.elapsedMs;
    this.startedAtMs = getNowMs();
  }

  /** Whether the search ponders from the position one ply earlier (`stepBack`). Its reports are still about `game`. */
  get startsEarlier(): boolean {
    return this.request.ponder === true && this.game.moves.length > 0;
  }

  /** Whether it must not answer before `stop` or `ponderhit`, even if nothing is left to search. */
  get waitsForStop(): boolean {
    return !this.stopRequested && (this.request.ponder === true || isUnlimited(this.request));
  }

  /** The answer if the search has failed: its best move so far, else a mate found without network, else any legal move. */
  get fallback(): BestMove {
    if (this.ownAnswer !== null) return this.shorterMate ?? this.ownAnswer;
    const { reportedMove, candidates } = this;
    if (reportedMove !== null) return reportedMove;
    if (candidates.length === 0) return { move: NO_MOVE, ponder: NO_MOVE };
    const [mating = candidates[0] ?? NO_MOVE] =
      findMate(this.game.position.clone(), { ...BLIND_MATES, candidates }).line ?? [];
    return { move: mating, ponder: NO_MOVE };
  }

  /** The best move of `lastReport` and the reply to it; null if it names no move that may be played. */
  get reportedMove(): BestMove | null {
    const [move = NO_MOVE, ponder = NO_MOVE] = this.lastReport?.lines[0]?.pv ?? [];
    return this.isCandidate(move) ? { move, ponder } : null;
  }

  isCandidate(move: Move): boolean {
    return this.candidates.includes(move);
  }

  /** The best move of `lastReport` if the mate finder found it; null if the search did. */
  get shorterMate(): BestMove | null {
    const pv = this.lastReport?.lines[0]?.pv;
    if (pv === undefined || pv !== this.mates?.line) return null;
    return { move: pv[0], ponder: pv[1] ?? NO_MOVE };
  }

  /** Whether the mate finder knows a mate as short as `go mate` asks for. */
  get hasWantedMate(): boolean {
    return this.shorterMate !== null && (this.mates?.moves ?? 0) <= (this.request.mate ?? 0);
  }
}

function getNowMs(): number {
  return performance.timeOrigin + performance.now();
}
