/**
 * A report of an internal error, for its developers: a file with the error, the versions and the last lines of the
 * conversation. Nothing is written to stdout, and nothing leaves the machine.
 */

import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { listCacheFolders, openCacheFolder } from '#platform/folders.js';
import { cutText } from '../../base/util/result.js';
import { readBuild, readVersion } from './program-version.js';

const KEPT_LINES = 200;
const KEPT_REPORTS = 20;
const MAX_REPORTS_A_RUN = 5;
/** A game of 1000 moves has half of it. */
const LONGEST_LINE = 10_000;

export class CrashReporter {
  private readonly lines: string[] = [];
  private written = 0;

  /** Called for every line in and out. */
  note(line: string): void {
    this.lines.push(cutText(line, LONGEST_LINE));
    if (this.lines.length > 2 * KEPT_LINES) this.lines.splice(0, KEPT_LINES);
  }

  /** @returns the file's path; null when it could not be written, or when enough were. */
  write(error: unknown): string | null {
    if (this.written >= MAX_REPORTS_A_RUN) return null;
    this.written++;
    const name = `crash-${new Date().toISOString().replaceAll(/[:.]/g, '-')}-${process.pid}-${this.written}.txt`;
    for (const cache of listCacheFolders()) {
      try {
        const folder = openCacheFolder(cache, 'crashes');
        writeFileSync(join(folder, name), this.describe(error), { mode: 0o600 });
        forgetOldReports(folder);
        return join(folder, name);
      } catch {
        // Try the next place.
      }
    }
    return null;
  }

  private describe(error: unknown): string {
    const { version, platform, arch, argv, pid } = process;
    return [
      `Sardonyx ${readVersion()} ${readBuild()}`.trim(),
      `Node ${version}, ${platform} ${arch}, process ${pid}, up ${process.uptime().toFixed(1)} s`,
      `Memory ${Math.round(process.memoryUsage.rss() / 2 ** 20)} MB`,
      `Arguments: ${argv.slice(2).join(' ')}`,
      '',
      error instanceof Error ? (error.stack ?? error.message) : String(error),
      '',
      'The end of the conversation:',
      ...this.lines.slice(-KEPT_LINES),
      '',
    ].join('\n');
  }
}

function forgetOldReports(folder: string): void {
  const reports = readdirSync(folder).filter((name) => name.startsWith('crash-'));
  for (const name of reports.sort().slice(0, -KEPT_REPORTS)) rmSync(join(folder, name), { force: true });
}
