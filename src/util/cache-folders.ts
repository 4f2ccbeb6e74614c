/** Where this user's cached files go: one folder of ours in each place that systems have for it, best first. */
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';

/** Last resort, where the home folder cannot be written to. */
const SHARED_PLACES = process.platform === 'linux' ? [tmpdir(), '/dev/shm'] : [tmpdir()];

export function listCacheFolders(environment: NodeJS.ProcessEnv = process.env): string[] {
  const folders: string[] = [];
  const add = (...parts: (string | undefined)[]): void => {
    if (parts.every((part) => part !== undefined && part !== '')) folders.push(join(...(parts as string[])));
  };
  const home = environment.HOME || homedir();
  add(environment.SARDONYX_CACHE);
  if (process.platform === 'win32') add(environment.LOCALAPPDATA, 'sardonyx');
  else if (process.platform === 'darwin') add(home, 'Library', 'Caches', 'sardonyx');
  else {
    add(environment.XDG_CACHE_HOME, 'sardonyx');
    add(home, '.cache', 'sardonyx');
  }
  for (const shared of SHARED_PLACES) add(shared, `sardonyx-${process.getuid?.() ?? 'user'}`);
  return folders;
}

/** All users may write there. */
export function isSharedPlace(folder: string): boolean {
  return SHARED_PLACES.includes(folder);
}
