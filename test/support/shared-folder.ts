/**
 * Some tests compare with material that is too large or differently licensed to live in the repository: real lc0
 * networks, labelled games, tablebases. They look for it in a `shared` folder beside the checkout and skip without it.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const repositoryRoot = fileURLToPath(new URL('../../../', import.meta.url));

/** The path of a file below `../shared`, and the reason to skip a test (false when the file is there). */
export function findShared(relativePath: string): { readonly path: string; readonly skip: string | false } {
  const path = join(repositoryRoot, '..', 'shared', relativePath);
  return { path, skip: existsSync(path) ? false : `../shared/${relativePath} is not on this machine` };
}
