/** The lines of `sardonyx doctor`: short, and with hints that name the command as it was started. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { test } from 'node:test';
import { repositoryRoot } from '../../../support/shared-folder.js';

const PROGRAM = join(repositoryRoot, 'dist', 'cli', 'main.js');

test('lines are short, and hints can be typed as they stand', () => {
  const folder = mkdtempSync(join(tmpdir(), 'sardonyx-doctor-'));
  try {
    writeFileSync(join(folder, 'sardonyx.config'), 'weights=maia-1100\n');
    // Without a backend to try.
    const args = [PROGRAM, 'doctor', '--providers='];
    const own = {
      ...process.env,
      SARDONYX_CONFIG: folder,
      SARDONYX_CACHE: folder,
      npm_lifecycle_event: undefined,
      npm_command: undefined,
    };
    const run = (env: NodeJS.ProcessEnv): string => spawnSync(process.execPath, args, { encoding: 'utf8', env }).stdout;
    const stdout = run(own);
    for (const line of stdout.split('\n')) {
      // A path is one word.
      if (line.length > 100) assert.match(line, /^.{18}\S+$/);
    }
    assert.ok(stdout.includes(`→ node ${relative(process.cwd(), PROGRAM)} networks get maia-1100\n`), stdout);
    assert.ok(run({ ...own, npm_lifecycle_event: 'start' }).includes('→ npm start -- networks get maia-1100\n'));
  } finally {
    rmSync(folder, { recursive: true });
  }
});
