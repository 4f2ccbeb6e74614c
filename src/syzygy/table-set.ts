/**
 * All tables that were found, by material. A file is opened at its first probe. A damaged file causes one warning and
 * counts as missing from then on. Nothing here throws.
 */
import { getSize, joinPath, listFolder } from '#platform/table-files.js';
import { FileMemory } from './file-bytes.js';
import { type Material, mirrorMaterial, type PieceList, parseTableName } from './material.js';
import { isTableSize, Table, type TableKind } from './table.js';

// Finds table files in the folders that the user names, by file name and size. It opens none.

export interface TableFile {
  readonly path: string;
  readonly kind: TableKind;
  readonly material: Material;
}

export interface FoundTables {
  readonly files: readonly TableFile[];
  /** One sentence each, for the user. */
  readonly warnings: readonly string[];
}

const KINDS: Readonly<Record<string, TableKind>> = { '.rtbw': 'wdl', '.rtbz': 'dtz' };

/** Splits a list of folders at `;` and, except on Windows, at `:`. */
export function splitFolders(paths: string, isWindows: boolean): string[] {
  return paths
    .split(isWindows ? ';' : /[;:]/)
    .map((folder) => folder.trim().replace(/^"(.*)"$/, '$1'))
    .filter((folder) => folder !== '');
}

/** If several folders hold the same table, the first wins. */
export function findTables(folders: readonly string[]): FoundTables {
  const files = new Map<string, TableFile>();
  const wrongSizes: string[] = [];
  const warnings: string[] = [];
  for (const folder of folders) {
    let names: string[] = [];
    try {
      names = listFolder(folder);
    } catch {
      warnings.push(`SyzygyPath: the folder ${folder} cannot be read`);
    }
    for (const name of names) {
      const kind = KINDS[name.slice(-5)];
      const material = kind === undefined ? null : parseTableName(name.slice(0, -5));
      if (material === null || files.has(name)) continue;
      const path = joinPath(folder, name);
      if (hasTableSize(path)) files.set(name, { path, kind, material });
      else wrongSizes.push(path);
    }
  }
  if (wrongSizes.length > 0) {
    const others = wrongSizes.length > 1 ? ` and ${wrongSizes.length - 1} more` : '';
    warnings.push(`Tablebase ${wrongSizes[0]}${others} left out: the size is wrong, the file is not complete`);
  }
  if (files.size === 0 && warnings.length === 0) {
    warnings.push(`SyzygyPath: no tables (.rtbw, .rtbz) in ${folders.join(' or ')}`);
  }
  return { files: [...files.values()], warnings };
}

function hasTableSize(path: string): boolean {
  try {
    return isTableSize(getSize(path));
  } catch {
    return false;
  }
}

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
      this.entries[file.kind].set(mirrorMaterial(file.material.key), entry);
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
      this.onWarning(`Tablebase ${path} left out: ${error instanceof Error ? error.message : String(error)}`);
      return NO_VALUE;
    }
  }

  close(): void {
    this.memory.close();
  }
}
