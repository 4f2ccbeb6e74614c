/**
 * All tables that were found, by material. A file is opened at its first probe. A damaged table is reported once and then left
 * out.
 */

import { getErrorMessage } from '../../base/util/index.js';
import { FileMemory } from './file-bytes.js';
import type { TableFile } from './find-tables.js';
import type { PieceList } from './piece-list.js';
import { Table, type TableKind } from './table.js';

/** Returned instead of a value if no table holds the position. */
export const NO_VALUE = -32767;

interface Entry {
  readonly file: TableFile;
  table: Table | null;
  isBroken: boolean;
}

export class TableSet {
  /** Men of the largest WDL table; 0 if there is none. */
  readonly mostMen: number;
  /** Number of tables found. */
  readonly counts: Readonly<Record<TableKind, number>>;
  private readonly entries: Readonly<Record<TableKind, Map<number, Entry>>> = { wdl: new Map(), dtz: new Map() };

  constructor(
    files: readonly TableFile[],
    private readonly onWarning: (text: string) => void,
    private readonly memory = new FileMemory(),
  ) {
    for (const file of files) {
      const entry: Entry = { file, table: null, isBroken: false };
      this.entries[file.kind].set(file.material.key, entry);
      this.entries[file.kind].set(file.material.mirroredKey, entry);
    }
    const count = (kind: TableKind): number => files.filter((file) => file.kind === kind).length;
    this.counts = { wdl: count('wdl'), dtz: count('dtz') };
    this.mostMen = files.reduce((most, { kind, material }) => {
      return kind === 'wdl' ? Math.max(most, material.codes.length) : most;
    }, 0);
  }

  /** As Table.read; NO_VALUE if the table is missing or damaged. */
  read(kind: TableKind, pieces: PieceList, blackToMove: boolean, wdl: number): number {
    const entry = this.entries[kind].get(pieces.key);
    if (entry === undefined || entry.isBroken) return NO_VALUE;
    const { path, material } = entry.file;
    try {
      entry.table ??= new Table(path, material, kind, this.memory);
      return entry.table.read(pieces, blackToMove, wdl);
    } catch (error) {
      entry.isBroken = true;
      entry.table = null;
      this.onWarning(`Tablebase ${path} left out: ${getErrorMessage(error)}`);
      return NO_VALUE;
    }
  }

  close(): void {
    this.memory.close();
  }
}
