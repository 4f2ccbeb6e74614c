/** The lines of `sardonyx doctor`: short, and with hints that name the command as it was started. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { test } from 'node:test';
import { repositoryRoot } from '../../../support/shared-folder.js';

const PROGRAM = join(repositoryRoot, 'dist', 'cli', 'main.js');

test('lines are short, and hints can be typed as they stand', () => {
  const folder = mkdtempSync(join(tmpdir(), 'sardonyx-doctor-'));
  try {
    // Without a backend to try, and without a choice of network to measure.
    const args = [PROGRAM, 'doctor', '--providers='];
    const own = { ...process.env, SARDONYX_CONFIG: folder, npm_lifecycle_event: undefined, npm_command: undefined };
    const run = (env: NodeJS.ProcessEnv): string => spawnSync(process.execPath, args, { encoding: 'utf8', env }).stdout;
    const stdout = run(own);
    for (const line of stdout.split('\n')) {
      // A path is one word.
      if (line.length > 100) assert.match(line, /^.{18}\S+$/);
    }
    assert.ok(stdout.includes(`→ node ${relative(process.cwd(), PROGRAM)} tune\n`), stdout);
    assert.ok(run({ ...own, npm_lifecycle_event: 'start' }).includes('→ npm start -- tune\n'));
  } finally {
    rmSync(folder, { recursive: true });
  }
});
