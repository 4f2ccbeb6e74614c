/** The machine over node:os. Each function asks anew, because the limits of a container can change while it runs. */
import { readFileSync } from 'node:fs';
import { availableParallelism, totalmem } from 'node:os';
import { basename, join, posix, relative } from 'node:path';
import { isPackaged } from './node-program-files.js';

/** The files that hold a memory limit, in a folder of cgroup v1 and of cgroup v2; above memory.high a process is slowed to a crawl. */
const LIMIT_FILES = ['memory.limit_in_bytes', 'memory.max', 'memory.high'];

/**
 * The lowest memory limit of the container and of all groups above it, where it is lower than the memory of the machine. Node's own
 * `process.constrainedMemory` knows the innermost group alone.
 * @param root the folder in which the kernel's files are looked for
 */
export function getMemoryBytes(root = '/'): number {
  const folders = readText(join(root, 'proc/self/cgroup')).split('\n').flatMap(listMemoryGroups);
  const limits = folders.flatMap((folder) =>
    LIMIT_FILES.map((file) => readText(join(root, 'sys/fs/cgroup', folder, file))),
  );
  // A file that is missing or says `max` is no number above 0; a v1 group without limit has a number above any memory.
  return Math.min(totalmem(), ...limits.map((text) => Number.parseInt(text, 10)).filter((limit) => limit > 0));
}

/**
 * The folders of a process's memory group and of those above it, below /sys/fs/cgroup.
 * @param line of /proc/self/cgroup: `number:controllers:path`, with no controllers for cgroup v2. In a container the path may be the host's;
 *   then only its upper end, which is the container's own group, is there
 */
function listMemoryGroups(line: string): string[] {
  const [, controllers = '', path = ''] = /^\d+:([^:]*):(\/.*)$/.exec(line) ?? [];
  if (path === '' || (controllers !== '' && !controllers.split(',').includes('memory'))) return [];
  const mounts = controllers === '' ? ['', 'unified'] : ['memory'];
  const groups = [path];
  while (groups[groups.length - 1] !== '/') groups.push(posix.dirname(groups[groups.length - 1]));
  return mounts.flatMap((mount) => groups.map((group) => posix.join(mount, group)));
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

/** Counts only the cores that this process may use (taskset, a container). */
export function getCoreCount(): number {
  return availableParallelism();
}

export function hasX64Kernels(): boolean {
  return process.arch === 'x64';
}

/** linux, darwin, win32, … */
export function getSystem(): string {
  return process.platform;
}

/** `sardonyx`, `npm start --`, `./sardonyx-linux-x64`. */
export function getProgramCommand(): string {
  const { npm_lifecycle_event: script, npm_command: npm } = process.env;
  if (isPackaged) return quoteWord(process.argv0);
  const file = process.argv[1] ?? '';
  if (basename(file) !== 'main.js') return npm === 'exec' ? 'npx sardonyx' : 'sardonyx';
  return script === 'start' ? 'npm start --' : `node ${quoteWord(relative(process.cwd(), file))}`;
}

function quoteWord(word: string): string {
  return /\s/.test(word) ? `"${word}"` : word;
}
