/**
 * The tables of a list of folders, ready for probing; each thread opens its own. A probe finds the result of a position and the
 * distance to the next capture or pawn move ("zeroing move", since it resets the fifty-move counter), and allocates nothing. The
 * files are small because they omit what a short search can find again:
 *
 * - A WDL table ignores en passant. If a capture wins or draws, its value may be anything lower. So a probe searches
 *   captures first and takes the best of them and of the table's value.
 * - A DTZ table holds no useful value for a draw, nor if a zeroing move wins. It stores one side to move; for the other,
 *   a probe tries all moves.
 *
 * A probe needs all tables to which captures lead. It makes moves on the given position and takes them back.
 */

import { getSystem } from '#platform/machine.js';
import { BLACK, MAX_MOVES, type Move, NO_SQUARE, PAWN, type Position, WHITE } from '../rules/index.js';
import { findTables, splitFolders } from './find-tables.js';
import { MOST_MEN } from './material.js';
import { PieceList } from './piece-list.js';
import { OTHER_SIDE } from './table.js';
import { NO_VALUE, TableSet } from './table-set.js';

export const WDL_WIN = 2;
export const WDL_CURSED_WIN = 1;
export const WDL_DRAW = 0;
export const WDL_BLESSED_LOSS = -1;
export const WDL_LOSS = -2;

/** Longest line of a probe: two moves of a DTZ probe, a pawn move, and captures down to two kings. */
const MAX_PLIES = 10;
/** A win that takes more plies than this is cursed: the fifty-move rule makes it a draw. */
const CURSED_PLIES = 100;

export interface TablebaseSettings {
  /** Folders, separated by `;` or, except on Windows, by `:`. Empty for no tables. */
  readonly paths: string;
  /** Positions with more men are not probed. */
  readonly menLimit: number;
  /** Whether a win or loss that the fifty-move rule makes a draw counts as a draw. */
  readonly fiftyMoveRule: boolean;
}

export const NO_TABLEBASES: TablebaseSettings = { paths: '', menLimit: MOST_MEN, fiftyMoveRule: true };

export class Tablebases {
  /** What is wrong with folders and files, as far as it shows without opening them; one sentence each. */
  readonly warnings: readonly string[];
  private readonly tables: TableSet;
  private readonly pieces = new PieceList();
  private readonly moves = new Uint16Array(MAX_MOVES * MAX_PLIES);
  private hasFailed = false;
  /** Whether a zeroing move is among the best moves of the last `search`; the DTZ table then holds no useful value. */
  private isZeroingBest = false;

  /** @param onWarning receives one sentence about each file that a probe finds damaged */
  constructor(paths: string, onWarning: (text: string) => void) {
    const folders = splitFolders(paths, getSystem() === 'win32');
    const found = folders.length === 0 ? { files: [], warnings: [] } : findTables(folders);
    this.warnings = found.warnings;
    this.tables = new TableSet(found.files, onWarning);
  }

  /** Men of the largest table; 0 if there is none. */
  get mostMen(): number {
    return this.tables.mostMen;
  }

  /** Number of tables found. */
  get counts(): { readonly wdl: number; readonly dtz: number } {
    return this.tables.counts;
  }

  /** Whether a position may be probed: it has few enough men and no castling rights, which tables do not know. */
  mayProbe(position: Position, menLimit = MOST_MEN): boolean {
    const { castlingRooks } = position;
    const men = position.countMen(WHITE) + position.countMen(BLACK);
    if (men > this.tables.mostMen || men > menLimit) return false;
    for (let i = 0; i < 4; i++) if (castlingRooks[i] !== NO_SQUARE) return false;
    return true;
  }

  /**
   * The result for the side to move, LOSS … WIN, or NO_VALUE if a table is missing. The position must satisfy `mayProbe`; so must
   * those of the next two. (`0 +` turns −0, which negation leaves behind, into 0.)
   */
  probeWdl(position: Position): number {
    this.hasFailed = false;
    const wdl = this.search(position, 0, WDL_LOSS, WDL_WIN, false);
    return this.hasFailed ? NO_VALUE : 0 + wdl;
  }

  /**
   * Plies to the next zeroing move with best play: the winner hurries, the loser delays. Above 0 if the side to move
   * wins (above 100 for a cursed win), below 0 if it loses, 0 for a draw, NO_VALUE if a table is missing. The distance
   * may be one ply too small, since tables may count full moves.
   */
  probeDtz(position: Position): number {
    this.hasFailed = false;
    const dtz = this.findDtz(position, 0);
    return this.hasFailed ? NO_VALUE : 0 + dtz;
  }

  /** As probeDtz, if the side to move plays `move`, and from its view. */
  probeDtzOfMove(position: Position, move: number): number {
    this.hasFailed = false;
    const dtz = this.findDtzOfMove(position, move, 0);
    return this.hasFailed ? NO_VALUE : 0 + dtz;
  }

  /**
   * The result of a position right after a capture or pawn move. Tables assume a fifty-move counter of 0, so lc0 probes
   * leaves and ends self-play games only there.
   * @param fiftyMoveRule whether cursed wins and blessed losses are draws
   * @returns 1 won, 0 drawn, −1 lost for the side to move; NO_VALUE in other positions or if a table is missing
   */
  probeResult(position: Position, menLimit: number, fiftyMoveRule: boolean): number {
    if (position.rule50 !== 0 || !this.mayProbe(position, menLimit)) return NO_VALUE;
    const wdl = this.probeWdl(position);
    if (wdl === NO_VALUE) return NO_VALUE;
    return fiftyMoveRule && Math.abs(wdl) === WDL_CURSED_WIN ? 0 : Math.sign(wdl);
  }

  close(): void {
    this.tables.close();
  }

  /**
   * Searches captures and returns the result for the side to move. Sets `hasFailed` if a table is missing.
   * @param alpha,beta search window: results outside it are only bounds
   * @param withPawnMoves search pawn moves too, so that `isZeroingBest` counts them
   */
  private search(position: Position, ply: number, alpha: number, beta: number, withPawnMoves: boolean): number {
    const first = ply * MAX_MOVES;
    const { moves } = this;
    const count = position.generateLegalMoves(moves, first);
    let best = WDL_LOSS;
    let searched = 0;
    for (let i = first; i < first + count; i++) {
      const move = moves[i];
      if (!isCapture(position, move) && !(withPawnMoves && isPawnMove(position, move))) continue;
      searched++;
      position.makeMove(move as Move);
      const wdl = -this.search(position, ply + 1, -beta, -Math.max(alpha, best), false);
      position.unmakeMove();
      if (this.hasFailed) return WDL_DRAW;
      if (wdl > best) best = wdl;
      if (best >= beta) {
        this.isZeroingBest = true;
        return best;
      }
    }
    // If all legal moves were searched, ignore the table: without en passant the position may be a stalemate to it.
    const isSettled = searched > 0 && searched === count;
    const stored = isSettled ? best : this.readWdl(position);
    this.isZeroingBest = isSettled || (best >= stored && best > WDL_DRAW);
    return Math.max(best, stored);
  }

  /** The value of the WDL table; DRAW for two bare kings. Sets `hasFailed` if the table is missing. */
  private readWdl(position: Position): number {
    const { pieces } = this;
    pieces.fill(position);
    if (pieces.count === 2) return WDL_DRAW;
    const wdl = this.tables.read('wdl', pieces, position.sideToMove === 1, 0);
    if (wdl !== NO_VALUE) return wdl;
    this.hasFailed = true;
    return WDL_DRAW;
  }

  /** As probeDtz, but it sets `hasFailed` and returns 0 if a table is missing. */
  private findDtz(position: Position, ply: number): number {
    const wdl = this.search(position, ply, WDL_LOSS, WDL_WIN, true);
    if (this.hasFailed || wdl === WDL_DRAW) return 0;
    if (this.isZeroingBest) return getZeroingDistance(wdl);
    this.pieces.fill(position);
    const plies = this.tables.read('dtz', this.pieces, position.sideToMove === 1, wdl);
    if (plies === OTHER_SIDE && ply < 2) return this.searchDtz(position, ply, wdl);
    if (plies === NO_VALUE || plies === OTHER_SIDE) {
      this.hasFailed = true;
      return 0;
    }
    return Math.sign(wdl) * (plies + (Math.abs(wdl) === WDL_CURSED_WIN ? CURSED_PLIES : 0));
  }

  /** As findDtz, by trying all moves: the shortest win or the longest loss. `wdl` is the result of the position. */
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
    // No moves: the side to move is mated.
    return best === 0 ? -1 : best;
  }

  /**
   * Plies to zeroing from the view of the player of `move`. A mating move counts as one ply. Sets `hasFailed` if a
   * table is missing.
   * @param ply number of moves made since the probed position, with this one: selects free room in `moves`
   */
  private findDtzOfMove(position: Position, move: number, ply: number): number {
    const isZeroing = isCapture(position, move) || isPawnMove(position, move);
    position.makeMove(move as Move);
    let dtz: number;
    if (isZeroing) dtz = getZeroingDistance(-this.search(position, ply, WDL_LOSS, WDL_WIN, false));
    else {
      dtz = -this.findDtz(position, ply);
      if (dtz !== 1 || !isCheckmate(position)) dtz += Math.sign(dtz);
    }
    position.unmakeMove();
    return dtz;
  }
}

/** Plies to zeroing if the best move is a zeroing move. */
function getZeroingDistance(wdl: number): number {
  return Math.sign(wdl) * (Math.abs(wdl) === WDL_CURSED_WIN ? CURSED_PLIES + 1 : 1);
}

/** Whether a legal move captures. Castling moves never reach this. */
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
