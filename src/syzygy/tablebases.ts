/** The tables of a list of folders, ready for probing. Each thread opens its own. A probe allocates nothing. */
import { getSystem } from '#platform/machine.js';
import { listLegalMoves, type Move, NO_SQUARE, type Position, popCount64 } from '../chess/index.js';
import { MOST_MEN } from './material.js';
import { Prober, WDL_BLESSED_LOSS, WDL_CURSED_WIN } from './prober.js';
import { findTables, NO_VALUE, splitFolders, TableSet } from './table-set.js';

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
  private readonly prober: Prober;

  /** @param onWarning receives one sentence about each file that a probe finds damaged */
  constructor(paths: string, onWarning: (text: string) => void) {
    const folders = splitFolders(paths, getSystem() === 'win32');
    const found = folders.length === 0 ? { files: [], warnings: [] } : findTables(folders);
    this.warnings = found.warnings;
    this.tables = new TableSet(found.files, onWarning);
    this.prober = new Prober(this.tables);
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
    const { masks, castlingRooks } = position;
    const men = popCount64(masks[0] | masks[16], masks[1] | masks[17]);
    if (men > this.tables.mostMen || men > menLimit) return false;
    for (let i = 0; i < 4; i++) if (castlingRooks[i] !== NO_SQUARE) return false;
    return true;
  }

  /** See Prober. The position must satisfy `mayProbe`; so must those of the next two. */
  probeWdl(position: Position): number {
    return this.prober.probeWdl(position);
  }

  probeDtz(position: Position): number {
    return this.prober.probeDtz(position);
  }

  probeDtzOfMove(position: Position, move: number): number {
    return this.prober.probeDtzOfMove(position, move);
  }

  /**
   * The result of a position right after a capture or pawn move. Tables assume a fifty-move counter of 0, so lc0 probes
   * leaves and ends self-play games only there.
   * @param fiftyMoveRule whether cursed wins and blessed losses are draws
   * @returns 1 won, 0 drawn, −1 lost for the side to move; NO_VALUE in other positions or if a table is missing
   */
  probeResult(position: Position, menLimit: number, fiftyMoveRule: boolean): number {
    if (position.rule50 !== 0 || !this.mayProbe(position, menLimit)) return NO_VALUE;
    const wdl = this.prober.probeWdl(position);
    if (wdl === NO_VALUE) return NO_VALUE;
    return fiftyMoveRule && Math.abs(wdl) === WDL_CURSED_WIN ? 0 : Math.sign(wdl);
  }

  close(): void {
    this.tables.close();
  }
}

// Finds the moves of a root position that keep its tablebase result (lc0: SyzygyTablebase::root_probe, root_probe_wdl). All
// sure wins rank equal, so the search chooses among them. If a position was repeated since the last zeroing move, or with
// SyzygyFastPlay, only the moves with the shortest way to zeroing remain. In a lost position all moves remain unless a draw by
// the fifty-move rule is near.

/** Rank of a sure win. */
const SURE = 1000;
/** Rank of a win that the fifty-move rule makes a draw. It ranks above a draw, since the opponent may err. */
const CURSED = 899;
const LAST_SAFE_PLY = 99;
const DRAWING_PLY = 100;

export interface RootRanking {
  /** The best moves; at least one. */
  readonly moves: readonly Move[];
  /** False if a DTZ table is missing. Then results alone rank the moves, and the engine may fail to make progress. */
  readonly usesDtz: boolean;
  /** Result for the side to move with best play, the fifty-move rule considered: 1 won, 0 drawn, −1 lost. */
  readonly result: number;
}

type Rank = (position: Position, move: Move) => { readonly rank: number; readonly result: number } | null;

/**
 * Null if the tables do not know the position or the game is over.
 * @param fastPlay rank wins by distance (SyzygyFastPlay)
 */
export function rankRootMoves(
  tables: Tablebases,
  settings: TablebaseSettings,
  position: Position,
  fastPlay: boolean,
): RootRanking | null {
  if (!tables.mayProbe(position, settings.menLimit)) return null;
  const list = listLegalMoves(position);
  if (list.length === 0) return null;
  const isOrdered = fastPlay || hasRepeated(position);
  const { fiftyMoveRule } = settings;
  const count = fiftyMoveRule ? position.rule50 : 0;
  const byDistance: Rank = (root, move) => {
    const dtz = tables.probeDtzOfMove(root, move);
    return dtz === NO_VALUE ? null : rankDistance(dtz, count, isOrdered, fiftyMoveRule);
  };
  const byResult: Rank = (root, move) => {
    root.makeMove(move);
    const wdl = tables.probeWdl(root);
    root.unmakeMove();
    return wdl === NO_VALUE ? null : rankResult(0 - wdl, fiftyMoveRule);
  };
  return keepBest(position, list, byDistance, true) ?? keepBest(position, list, byResult, false);
}

/** The moves of the highest rank; null if `rank` fails for a move. */
function keepBest(position: Position, list: readonly Move[], rank: Rank, usesDtz: boolean): RootRanking | null {
  let best = Number.NEGATIVE_INFINITY;
  let result = 0;
  let moves: Move[] = [];
  for (const move of list) {
    const ranked = rank(position, move);
    if (ranked === null) return null;
    if (ranked.rank > best) {
      best = ranked.rank;
      result = ranked.result;
      moves = [];
    }
    if (ranked.rank === best) moves.push(move);
  }
  return { moves, usesDtz, result };
}

/**
 * @param dtz plies to zeroing with this move, from its player's view
 * @param count plies since the last zeroing move; 0 if the fifty-move rule does not apply
 * @param isOrdered rank wins by distance
 */
function rankDistance(dtz: number, count: number, isOrdered: boolean, fiftyMoveRule: boolean) {
  const plies = Math.abs(dtz);
  const isSure = !fiftyMoveRule || plies + count <= LAST_SAFE_PLY;
  const result = isSure ? Math.sign(dtz) : 0;
  if (dtz > 0) return { rank: isSure && !isOrdered ? SURE : SURE - (plies + count), result };
  if (dtz === 0) return { rank: 0, result };
  const isHopeless = !fiftyMoveRule || 2 * plies + count < DRAWING_PLY;
  return { rank: isHopeless ? -SURE : plies + count - SURE, result };
}

function rankResult(wdl: number, fiftyMoveRule: boolean) {
  const isCursed = wdl === WDL_CURSED_WIN || wdl === WDL_BLESSED_LOSS;
  const sign = Math.sign(wdl);
  if (isCursed && fiftyMoveRule) return { rank: sign * CURSED, result: 0 };
  return { rank: sign * SURE, result: sign };
}

/** Whether a position has been repeated since the last capture or pawn move. */
function hasRepeated(position: Position): boolean {
  const past = position.clone();
  while (past.rule50 > 0 && past.historyLength > 0) {
    if (past.repetitions() > 0) return true;
    past.unmakeMove();
  }
  return false;
}
