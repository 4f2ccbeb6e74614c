/**
 * Table values → the truth about a position. The files leave out what a short search finds again, which makes them small:
 *
 * - A WDL file knows nothing of en passant, and where a capture wins or draws it may hold any lower value. So captures are
 *   searched first, and the best of them and of the table counts.
 * - A DTZ file holds nothing of use for draws, and where a capture or pawn move wins. It knows one side to move: for the
 *   other all moves are tried.
 *
 * A probe needs every table that captures lead to; it makes and takes back moves on the position that it is given.
 */
import { MAX_MOVES, type Move, PAWN, type Position } from '../chess/index.js';
import { PieceList } from './piece-list.js';
import { OTHER_SIDE } from './table.js';
import { NO_VALUE, type TableSet } from './table-set.js';

export const WIN = 2;
export const CURSED_WIN = 1;
export const DRAW = 0;
export const BLESSED_LOSS = -1;
export const LOSS = -2;

/** Captures down to two kings, a pawn move before them, and two moves of a DTZ probe. */
const MAX_PLIES = 10;
/** Plies of a result by the fifty-move rule: a cursed win takes more than a hundred. */
const CURSED_PLIES = 100;

export class Prober {
  private readonly pieces = new PieceList();
  private readonly moves = new Uint16Array(MAX_MOVES * MAX_PLIES);
  private hasFailed = false;
  /** Of the last search: a capture or pawn move is as good as anything else, so the DTZ table says nothing. */
  private isZeroingBest = false;

  constructor(private readonly tables: TableSet) {}

  // `0 +` makes 0 of -0, which negation leaves behind.
  /** The result for the side to move, LOSS … WIN, or NO_VALUE when a table is missing. No castling rights. */
  probeWdl(position: Position): number {
    this.hasFailed = false;
    const wdl = this.search(position, 0, LOSS, WIN, false);
    return this.hasFailed ? NO_VALUE : 0 + wdl;
  }

  /**
   * Plies to the next capture or pawn move with best play, the winner as fast and the loser as slow as he can: above 0 when
   * the side to move wins, more than 100 for cursed wins; below 0 likewise for losses; 0 for a draw; or NO_VALUE. May be one
   * too small for long wins, since tables may count full moves.
   */
  probeDtz(position: Position): number {
    this.hasFailed = false;
    const dtz = this.findDtz(position, 0);
    return this.hasFailed ? NO_VALUE : 0 + dtz;
  }

  /** As probeDtz, by way of this move and for its player. */
  probeDtzOfMove(position: Position, move: number): number {
    this.hasFailed = false;
    const dtz = this.findDtzOfMove(position, move, 0);
    return this.hasFailed ? NO_VALUE : 0 + dtz;
  }

  /**
   * @param alpha,beta results outside of them need not be told apart
   * @param withPawnMoves search pawn moves too: only what neither they nor captures reach is left to a DTZ table
   */
  private search(position: Position, ply: number, alpha: number, beta: number, withPawnMoves: boolean): number {
    const first = ply * MAX_MOVES;
    const { moves } = this;
    const count = position.generateLegalMoves(moves, first);
    let best = LOSS;
    let searched = 0;
    for (let i = first; i < first + count; i++) {
      const move = moves[i];
      if (!isCapture(position, move) && !(withPawnMoves && isPawnMove(position, move))) continue;
      searched++;
      position.makeMove(move as Move);
      const wdl = -this.search(position, ply + 1, -beta, -Math.max(alpha, best), false);
      position.unmakeMove();
      if (this.hasFailed) return DRAW;
      if (wdl > best) best = wdl;
      if (best >= beta) {
        this.isZeroingBest = true;
        return best;
      }
    }
    // With no other move left the table would speak of a position that the rules do not allow, without en passant.
    const isSettled = searched > 0 && searched === count;
    const stored = isSettled ? best : this.readWdl(position);
    this.isZeroingBest = isSettled || (best >= stored && best > DRAW);
    return Math.max(best, stored);
  }

  private readWdl(position: Position): number {
    const { pieces } = this;
    pieces.fill(position);
    if (pieces.count === 2) return DRAW;
    const wdl = this.tables.read('wdl', pieces, position.sideToMove === 1, 0);
    if (wdl !== NO_VALUE) return wdl;
    this.hasFailed = true;
    return DRAW;
  }

  private findDtz(position: Position, ply: number): number {
    const wdl = this.search(position, ply, LOSS, WIN, true);
    if (this.hasFailed || wdl === DRAW) return 0;
    if (this.isZeroingBest) return getZeroingDistance(wdl);
    this.pieces.fill(position);
    const plies = this.tables.read('dtz', this.pieces, position.sideToMove === 1, wdl);
    if (plies === OTHER_SIDE && ply < 2) return this.searchDtz(position, ply, wdl);
    if (plies === NO_VALUE || plies === OTHER_SIDE) {
      this.hasFailed = true;
      return 0;
    }
    return Math.sign(wdl) * (plies + (Math.abs(wdl) === CURSED_WIN ? CURSED_PLIES : 0));
  }

  /** The shortest win or the longest loss among the moves. */
  private searchDtz(position: Position, ply: number, wdl: number): number {
    const first = ply * MAX_MOVES;
    const { moves } = this;
    const count = position.generateLegalMoves(moves, first);
    let best = 0;
    for (let i = first; i < first + count; i++) {
      const move = moves[i];
      const dtz = this.findDtzOfMove(position, move, ply + 1);
      if (this.hasFailed) return 0;
      if (Math.sign(dtz) === Math.sign(wdl) && (best === 0 || dtz < best)) best = dtz;
    }
    // A mated side has no moves.
    return best === 0 ? -1 : best;
  }

  /**
   * The distance to zeroing by way of a move, for its player; a mating move counts as one. Leaves `hasFailed` behind.
   * @param ply of the position after the move: moves of lower plies are under way
   */
  private findDtzOfMove(position: Position, move: number, ply: number): number {
    const isZeroing = isCapture(position, move) || isPawnMove(position, move);
    position.makeMove(move as Move);
    let dtz: number;
    if (isZeroing) dtz = getZeroingDistance(-this.search(position, ply, LOSS, WIN, false));
    else {
      dtz = -this.findDtz(position, ply);
      if (dtz !== 1 || !isCheckmate(position)) dtz += Math.sign(dtz);
    }
    position.unmakeMove();
    return dtz;
  }
}

/** Plies to zeroing when the best move zeroes at once. */
function getZeroingDistance(wdl: number): number {
  return Math.sign(wdl) * (Math.abs(wdl) === CURSED_WIN ? CURSED_PLIES + 1 : 1);
}

/** Of a legal move; positions here have no castling. */
function isCapture(position: Position, move: number): boolean {
  const to = (move >> 6) & 63;
  return position.board[to] !== 0 || (to === position.enPassantSquare && isPawnMove(position, move));
}

function isPawnMove(position: Position, move: number): boolean {
  return (position.board[move & 63] & 7) === PAWN;
}

function isCheckmate(position: Position): boolean {
  return position.inCheck() && position.countLegalMoves() === 0;
}
