/**
 * How the code is cut into files: a file under 30 lines usually belongs to its only caller, and two files of one name
 * are mistaken for each other. Configuration, data and prose are not counted.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { repositoryRoot } from './shared-folder.js';

export const MIN_LINES = 30;
const CODE_FOLDERS = ['src', 'scripts', 'test', 'uci-tests'];
const CODE = /\.(ts|mjs|cjs|py|sh)$/;
/** What a folder shows to others; each folder may have them. */
const DOORS = new Set(['index.ts', 'options.ts', 'leaves.ts', '__init__.py']);
export interface CodeFile {
  /** From the repository's root, with forward slashes. */
  readonly path: string;
  readonly lines: number;
  /** It declares the command that bears its name, such as `perft`. */
  readonly isCommand: boolean;
}

/** All code files of the repository, doors left out. */
export function listCodeFiles(): CodeFile[] {
  return CODE_FOLDERS.flatMap((folder) =>
    readdirSync(join(repositoryRoot, folder), { recursive: true, encoding: 'utf8' })
      .map((name) => `${folder}/${name.replaceAll('\\', '/')}`)
      .filter((path) => CODE.test(path) && !path.includes('node_modules/') && !DOORS.has(basename(path)))
      .map((path) => describeFile(path, readFileSync(join(repositoryRoot, path), 'utf8'))),
  );
}

export function describeFile(path: string, text: string): CodeFile {
  const stem = basename(path).replace(/\.\w+$/, '');
  const isCommand = text.includes(`command: '${stem}`);
  return { path, lines: text.trimEnd().split('\n').length, isCommand };
}

/**
 * Names that more than one file has, with the paths of all of them. A command's file is no second one: `perft` is
 * counted in `src/chess/rules/perft.ts` and read from the command line in `src/cli/commands/perft.ts`.
 */
export function findSharedNames(files: readonly CodeFile[]): string[] {
  const pathsByName = new Map<string, string[]>();
  for (const { path, isCommand } of files) {
    if (isCommand) continue;
    const name = basename(path);
    pathsByName.set(name, [...(pathsByName.get(name) ?? []), path]);
  }
  return [...pathsByName]
    .filter(([, paths]) => paths.length > 1)
    .map(([name, paths]) => `${name}: ${paths.join(', ')}`);
}
