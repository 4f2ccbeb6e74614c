/** Processes of this machine by their numbers: whether one runs, and since when. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    // One that has ended answers as long as nobody has asked for its exit status: in a container without an init, for ever.
    return process.platform !== 'linux' || !/^[ZX]$/.test(readStat(pid)[0]);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** The fields of Linux from the third on; the second, the program's name, may hold spaces and brackets. */
function readStat(pid: number): string[] {
  return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
}

/** When a process started, in the system's own words; null where the system does not say. */
export function findProcessStart(pid: number): string | null {
  try {
    // The 22nd field.
    if (process.platform === 'linux') return readStat(pid)[19] ?? null;
    const [program, args] =
      process.platform === 'win32'
        ? ['powershell', ['-NoProfile', '-Command', `(Get-Process -Id ${pid}).StartTime.ToFileTimeUtc()`]]
        : ['ps', ['-o', 'lstart=', '-p', String(pid)]];
    const said = execFileSync(program as string, args as string[], {
      encoding: 'utf8',
      timeout: 10_000,
      windowsHide: true,
      stdio: 'pipe',
    });
    return said.trim() === '' ? null : said.trim();
  } catch {
    return null;
  }
}
