/** A network player's settings: a command's own defaults, config files over them, flags over both. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { createNetworkSetup, SELF_PLAY_DEFAULTS } from '#sardonyx/cli/network-setup.js';
import { unwrap } from '#sardonyx/util/index.js';

const folder = mkdtempSync(join(tmpdir(), 'sardonyx-setup-'));
process.env.SARDONYX_CONFIG = folder;
after(() => rmSync(folder, { recursive: true, force: true }));

test('a config file is read over the defaults of self-play, and flags over the file', async () => {
  const path = join(folder, 'my.config');
  writeFileSync(path, 'cpuct=2.5\nfpu-value=0.5\n');
  const flags = [
    ['config', path],
    ['backend', 'hash'],
    ['fpu-value', '0.25'],
  ] as const;
  const { params } = unwrap(await createNetworkSetup(flags, SELF_PLAY_DEFAULTS, assert.fail));
  assert.equal(params.cpuct, 2.5);
  assert.equal(params.fpuValue, 0.25);
  assert.equal(params.cpuctFactor, 0, 'of self-play');
});

test('what is wrong in a config file that was found is told once, however many players read it', async () => {
  const path = join(folder, 'sardonyx.config');
  writeFileSync(path, 'cpuct=2.5\nno-such-flag=1\n');
  const told: string[] = [];
  for (const cpuct of [2.5, 2.5]) {
    const setup = await createNetworkSetup([['backend', 'hash']], SELF_PLAY_DEFAULTS, (text) => told.push(text));
    assert.equal(unwrap(setup).params.cpuct, cpuct);
  }
  const own = told.filter((text) => text.includes(path));
  assert.equal(own.length, 1, told.join('; '));
  assert.match(own[0], /Unknown flag --no-such-flag=1/);
});
