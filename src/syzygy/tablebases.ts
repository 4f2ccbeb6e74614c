/** The tables of a list of folders, ready for probing. Each thread opens its own. A probe allocates nothing. */
import { getSystem } from '#platform/machine.js';
import { NO_SQUARE, type Position, popCount64 } from '../chess/index.js';
import { MOST_MEN } from './material.js';
import { Prober, WDL_CURSED_WIN } from './prober.js';
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
