/** Finds table files in the folders that the user names, by file name and size. It opens none. */

import { getSize, joinPath, listFolder } from '#platform/files.js';
import { type Material, parseTableName } from './material.js';
import { isTableSize, type TableKind } from './table.js';

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
