/** scripts/strength/calibrate.mjs: what it says where there is nothing to measure. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { repositoryRoot } from '../support/shared-folder.js';

const folder = mkdtempSync(join(tmpdir(), 'sardonyx-calibrate-'));
after(() => rmSync(folder, { recursive: true }));

test('calibrate says in one sentence what is wrong, and writes no table without games', () => {
  const missing = join(folder, 'gone.onnx');
  for (const [args, sentence] of [
    [['--fit-only'], /^There are no games of this network in \S+: play them first, without --fit-only\n$/],
    [['--network', missing], /^Cannot read the network \S+gone\.onnx: there is no such file\n$/],
    [['--games', 'x'], /^--games must be a whole number from 1\n$/],
    [['--no-such-flag'], /^Unknown arguments?: [^\n]*\n$/],
    [['--games=8', '--stockfish', join(folder, 'no-engine')], /^SF1350 cannot be started: [^\n]*\n$/],
  ] as const) {
    const script = join(repositoryRoot, 'scripts', 'strength', 'calibrate.mjs');
    const run = spawnSync(process.execPath, [script, '--folder', folder, ...args], { encoding: 'utf8' });
    assert.equal(run.status, 1, args.join(' '));
    assert.match(run.stderr, sentence);
    assert.equal(run.stdout, '');
  }
});
