/** Version and build of the program. */
import { isPackaged, readProgramFile } from '#platform/program-files.js';

export function readVersion(): string {
  const manifest: unknown = JSON.parse(Buffer.from(readProgramFile('package.json') ?? []).toString('utf8') || '{}');
  const version = (manifest as { version?: unknown }).version;
  return typeof version === 'string' ? version : 'unknown';
}

/** How the program was put together; empty when it runs from its sources. */
export function readBuild(): string {
  if (!isPackaged) return '';
  return Buffer.from(readProgramFile('build.txt') ?? [])
    .toString('utf8')
    .trim();
}
