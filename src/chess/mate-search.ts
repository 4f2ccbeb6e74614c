/**
 * Finds a forced mate within a few moves (chessprogramming wiki, "Mate Search"). It tries every move of the attacker
 * and every reply, one move deeper each time, so the first mate it finds is a shortest one. It evaluates nothing: use
 * it for short mates in positions that are known to be won. It stops after a given number of positions.
 */
import { listLegalMoves } from './generate.js';
import { type Move, NO_MOVE } from './move.js';
import { computeRuleOutcome } from './outcome.js';
import type { Position } from './position.js';

export interface MateQuestion {
  /** Length of the longest mate to find, in moves of the attacker. */
  readonly moves: number;
  /** Largest number of positions to visit. */
  readonly effort: number;
  /** First moves to try; all legal ones if absent. */
  readonly candidates?: readonly Move[];
}

export interface MateAnswer {
  /** The moves of both sides up to the mate: 2 · n − 1 plies for a mate in n. Null if none was found. */
  readonly line: readonly Move[] | null;
  /** False if the effort ran out, so that an undiscovered mate may exist. True if `line` is the whole answer. */
  readonly isComplete: boolean;
  /** Positions visited. A question finds a mate only with an effort above those that finding it takes. */
  readonly visited: number;
}

/**
 * Looks for a mate by the side to move. A line that repeats a position for the third time or reaches the fifty-move
 * rule is a draw, counted with the position's history. The position is unchanged afterwards.
 */
export function findMate(position: Position, { moves, effort, candidates }: MateQuestion): MateAnswer {
  const search = new MateSearch(position, effort);
  for (let depth = 1; depth <= moves; depth++) {
    const line = search.attack(depth, candidates);
    const visited = effort - search.effortLeft;
    if (search.isExhausted) return { line: null, isComplete: false, visited };
    if (line !== null) return { line, isComplete: true, visited };
  }
  return { line: null, isComplete: true, visited: effort - search.effortLeft };
}

class MateSearch {
  /** The reply that refuted the last attempt, by moves left; it often refutes the next one too. */
  private readonly refutations: Move[] = [];

  constructor(
    private readonly position: Position,
    public effortLeft: number,
  ) {}

  get isExhausted(): boolean {
    return this.effortLeft <= 0;
  }

  /** Returns a line in which the side to move mates in at most `depth` moves, or null. */
  attack(depth: number, candidates?: readonly Move[]): Move[] | null {
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
    const ranked: { move: Move; rank: number }[] = [];
    for (const move of moves) {
      this.enter(move);
      const isCheck = position.inCheck();
      if (depth > 1 || isCheck) {
        const replies = position.countLegalMoves();
        if (depth > 1 || replies === 0) ranked.push({ move, rank: isCheck ? replies : replies + QUIET });
      }
      position.unmakeMove();
    }
    return ranked.sort((a, b) => a.rank - b.rank).map(({ move }) => move);
  }

  private enter(move: Move): void {
    this.effortLeft--;
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
