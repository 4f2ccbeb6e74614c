/**
 * Finds a forced mate (chessprogramming wiki, "Mate Search"). If asked to, it first tries only checks of the attacker, and every
 * reply to them, which finds long mates in few positions; then every move of the attacker, for a shorter mate; each time one
 * move deeper. It evaluates nothing. It stops after a given number of positions.
 */
import { listLegalMoves } from './generate.js';
import { type Move, NO_MOVE } from './move.js';
import { computeRuleOutcome } from './outcome.js';
import type { Position } from './position.js';

export interface MateQuestion {
  /** Length of the longest mate to find, in moves of the attacker. */
  readonly moves: number;
  /** The same for mates in which every move of the attacker gives check; absent = 0. */
  readonly checks?: number;
  /** Largest number of positions to visit. */
  readonly effort: number;
  /** First moves to try; all legal ones if absent. */
  readonly candidates?: readonly Move[];
}

export interface MateAnswer {
  /** The moves of both sides up to the mate: 2 · n − 1 plies for a mate in n. Null if none was found. */
  readonly line: readonly Move[] | null;
  /** There is no mate in this many moves. */
  readonly refuted: number;
  /** Positions visited before the mate was found. The same question finds it only with an effort above that. */
  readonly visited: number;
}

/** Checks run out in few positions; where they do not, this many are enough for 16 of the 24 mates of Win at Chess in 4 to 14. */
const MOST_FOR_CHECKS = 20_000;

/**
 * Looks for a mate by the side to move. A line that repeats a position for the third time or reaches the fifty-move
 * rule is a draw, counted with the position's history. The position is unchanged afterwards.
 */
export function findMate(position: Position, question: MateQuestion): MateAnswer {
  const { moves, checks = 0, effort, candidates } = question;
  const search = new MateSearch(position, candidates);
  const byChecks = search.deepen(checks, Math.min(effort, MOST_FOR_CHECKS), true);
  const visited = search.visited;
  const most = byChecks === null ? moves : Math.min(moves, countMateMoves(byChecks) - 1);
  const shortest = search.deepen(most, effort, false);
  if (shortest === null && byChecks !== null) return { line: byChecks, refuted: search.refuted, visited };
  return { line: shortest, refuted: search.refuted, visited: search.visited };
}

/** n of a line that is a mate in n. */
export function countMateMoves(line: readonly Move[]): number {
  return (line.length + 1) / 2;
}

class MateSearch {
  /** The reply that refuted the last attempt, by moves left; it often refutes the next one too. */
  private readonly refutations: Move[] = [];
  /** There is no mate in this many moves. */
  refuted = 0;
  visited = 0;
  private limit = 0;
  private isByChecks = false;

  /** @param candidates first moves to try; all legal ones if absent */
  constructor(
    private readonly position: Position,
    private readonly candidates?: readonly Move[],
  ) {}

  private get isExhausted(): boolean {
    return this.visited >= this.limit;
  }

  /**
   * Returns a shortest mate in at most `moves` moves; null if none was found.
   * @param limit positions to visit at most, those of earlier calls included
   * @param isByChecks whether all moves of the attacker must be checks
   */
  deepen(moves: number, limit: number, isByChecks: boolean): readonly Move[] | null {
    this.limit = limit;
    this.isByChecks = isByChecks;
    for (let depth = 1; depth <= moves; depth++) {
      const line = this.attack(depth, this.candidates);
      if (this.isExhausted) return null;
      if (line !== null) return line;
      if (!isByChecks) this.refuted = depth;
    }
    return null;
  }

  /** Returns a line in which the side to move mates in at most `depth` moves, or null. */
  private attack(depth: number, candidates?: readonly Move[]): Move[] | null {
    const { position } = this;
    for (const move of this.orderAttack(candidates ?? listLegalMoves(position), depth)) {
      if (this.isExhausted) return null;
      this.enter(move);
      const replies = depth === 1 ? NO_REPLIES : this.defend(depth);
      position.unmakeMove();
      if (replies !== null) return [move, ...replies];
    }
    return null;
  }

  /** The attacker has just moved. Returns the longest defence if every reply leads to mate in time, else null. */
  private defend(depth: number): Move[] | null {
    const { position, refutations } = this;
    const replies = listLegalMoves(position);
    if (replies.length === 0) return position.inCheck() ? [] : null;
    if (isDrawnByRule(position)) return null;
    const refutation = replies.indexOf(refutations[depth] ?? NO_MOVE);
    if (refutation > 0) [replies[0], replies[refutation]] = [replies[refutation], replies[0]];
    let longest: Move[] = [];
    for (const reply of replies) {
      this.enter(reply);
      const line = isDrawnByRule(position) ? null : this.attack(depth - 1);
      position.unmakeMove();
      if (line === null) {
        refutations[depth] = reply;
        return null;
      }
      if (line.length >= longest.length) longest = [reply, ...line];
    }
    return longest;
  }

  /** Orders checks first, then by the number of replies they leave. With one move left it keeps only mates. */
  private orderAttack(moves: readonly Move[], depth: number): Move[] {
    const { position } = this;
    const takesQuiet = depth > 1 && !this.isByChecks;
    const ranked: { move: Move; rank: number }[] = [];
    for (const move of moves) {
      this.enter(move);
      const isCheck = position.inCheck();
      if (takesQuiet || isCheck) {
        const replies = position.countLegalMoves();
        if (depth > 1 || replies === 0) ranked.push({ move, rank: isCheck ? replies : replies + QUIET });
      }
      position.unmakeMove();
    }
    return ranked.sort((a, b) => a.rank - b.rank).map(({ move }) => move);
  }

  private enter(move: Move): void {
    this.visited++;
    this.position.makeMove(move);
  }
}

/** Added to the rank of a move that gives no check: more than any number of replies. */
const QUIET = 256;
const NO_REPLIES: Move[] = [];

/** Whether a position that is no mate is a draw by rule. */
function isDrawnByRule(position: Position): boolean {
  return computeRuleOutcome(position) !== 'ongoing';
}
