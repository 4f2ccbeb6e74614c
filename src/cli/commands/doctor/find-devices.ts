/** Asks the system for graphics devices, their driver and the libraries that CUDA needs, without loading any of them. */

import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';

export interface Devices {
  /** One line for each device. */
  readonly names: readonly string[];
  /** Version of NVIDIA's driver; null when there is none. */
  readonly driver: string | null;
}

const TIMEOUT_MS = 5000;
const run = promisify(execFile);

async function askProgram(command: string, args: readonly string[]): Promise<string | null> {
  try {
    const { stdout } = await run(command, args, { timeout: TIMEOUT_MS, windowsHide: true });
    return stdout;
  } catch {
    return null;
  }
}

export async function findDevices(): Promise<Devices> {
  const printed = await askProgram('nvidia-smi', [
    '--query-gpu=name,memory.total,driver_version',
    '--format=csv,noheader',
  ]);
  const rows = (printed ?? '')
    .split('\n')
    .map((line) => line.split(',').map((word) => word.trim()))
    .filter((words) => words.length === 3);
  if (rows.length > 0) return { names: rows.map(([name, memory]) => `${name}, ${memory}`), driver: rows[0][2] };
  const others = process.platform === 'linux' ? await findPciDevices() : [];
  return { names: others, driver: readKernelDriver() };
}

/** Works without nvidia-smi, which small containers lack. */
function readKernelDriver(): string | null {
  try {
    return /Kernel Module\D{0,99}([\d.]+)/.exec(readFileSync('/proc/driver/nvidia/version', 'utf8'))?.[1] ?? null;
  } catch {
    return null;
  }
}

async function findPciDevices(): Promise<string[]> {
  const listed = (await askProgram('lspci', [])) ?? '';
  return listed
    .split('\n')
    .filter((line) => /VGA|3D controller|Display controller/.test(line))
    .map((line) => line.replace(/^\S+ [^:]*: /, ''));
}

/** Which of these shared libraries the loader would not find. */
export async function findMissingLibraries(names: readonly string[]): Promise<string[]> {
  const folders = (process.env.LD_LIBRARY_PATH ?? '').split(delimiter).filter((folder) => folder !== '');
  const cached = (await askProgram('ldconfig', ['-p'])) ?? (await askProgram('/sbin/ldconfig', ['-p'])) ?? '';
  const known = new Set([...cached.matchAll(/^\s+(\S+)/gm)].map((match) => match[1]));
  return names.filter((name) => !known.has(name) && !folders.some((folder) => existsSync(join(folder, name))));
}
