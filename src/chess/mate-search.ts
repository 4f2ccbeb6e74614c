/**
 * Is there a mate in so few moves (chessprogramming: Mate Search)? Every move of the attacker and every reply, one move
 * deeper each time, so that the first mate found is a shortest one. Exhaustive and blind, hence meant for a few moves
 * where somebody already knows that the game is won; it refuses to look at more positions than it was given.
 */
import { listLegalMoves } from './legal-moves.js';
import { type Move, NO_MOVE } from './move.js';
import type { Position } from './position.js';

export interface MateQuestion {
  /** Longest mate to look for, in moves of the attacker. */
  readonly moves: number;
  /** Positions it may visit. */
  readonly effort: number;
  /** First moves to try; absent = all legal ones. */
  readonly candidates?: readonly Move[];
}

export interface MateAnswer {
  /** The attacker's move first, his mating move last: 2 · n − 1 plies for a mate in n. Null: none was found. */
  readonly line: readonly Move[] | null;
  /** No shorter mate exists; false when the effort was used up. */
  readonly isComplete: boolean;
}

/** The position is as before afterwards. Draws by repetition and by fifty moves count, with the position's history. */
export function findMate(position: Position, { moves, effort, candidates }: MateQuestion): MateAnswer {
  const search = new MateSearch(position, effort);
  for (let depth = 1; depth <= moves; depth++) {
    const line = search.attack(depth, candidates);
    if (search.isExhausted) return { line: null, isComplete: false };
    if (line !== null) return { line, isComplete: true };
  }
  return { line: null, isComplete: true };
}

class MateSearch {
  /** By moves to go: the reply that refuted the last try, likely to refute the next. */
  private readonly refutations: Move[] = [];

  constructor(
    private readonly position: Position,
    private effort: number,
  ) {}

  get isExhausted(): boolean {
    return this.effort <= 0;
  }

  /** @returns the line of a mate in at most `depth` moves by the side to move, or null */
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

  /** @returns the longest line that follows when every reply is mated in time, else null; the attacker has just moved */
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

  /** Checks first, and what leaves few replies; for the last move nothing but mates. */
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
    this.effort--;
    this.position.makeMove(move);
  }
}

/** More than any number of replies. */
const QUIET = 256;
const NO_REPLIES: Move[] = [];

/** In a position that is no mate. */
function isDrawnByRule(position: Position): boolean {
  return position.rule50 >= 100 || position.repetitions() >= 2 || position.hasInsufficientMaterial();
}
