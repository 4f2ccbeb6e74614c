/** A network player's settings: a command's own defaults, config files over them, flags over both. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { unwrap } from '#sardonyx/base/util/index.js';
import { createNetworkSetup, SELF_PLAY_DEFAULTS } from '#sardonyx/cli/commands/play/player-network.js';
import { listBundledNetworks } from '#sardonyx/engine/weights/bundled-networks.js';
import { NetworkPools } from '#sardonyx/games/play/index.js';
import { createFaultyThread } from '../../support/evaluator-faults.js';
import { encodeNetworkFile } from '../../support/lc0-network-file.js';
import { createRandomNetwork } from '../../support/lc0-random-network.js';
import { repositoryRoot } from '../../support/shared-folder.js';

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

test('digest and name of a network are those of the file that is played with, also where the processor stands in', async () => {
  const warnings: string[] = [];
  const flags = [
    ['backend', 'coreml'],
    ['threads', '1'],
  ] as const;
  const setup = unwrap(await createNetworkSetup(flags, [], (text) => warnings.push(text)));
  const pools = new NetworkPools();
  try {
    const pool = { ...setup.pool, threadScript: createFaultyThread({ backend: 'coreml', loadFails: true }) };
    const { weightsDigest, networkName, evaluators } = await pools.open({ ...setup, pool });
    assert.equal(evaluators.network.backend, 'cpu');
    const meant = listBundledNetworks().filter(({ backends }) => backends.includes('cpu'));
    const used = meant.find(({ file }) => file === `${networkName}.onnx`);
    assert.equal(weightsDigest, used?.sha256.slice(0, 12));
    assert.ok(warnings.some((text) => text.startsWith('Backend coreml failed, going on with cpu')));
  } finally {
    await pools.close();
  }
});

test('the digest of a network that was changed on the way, is gzipped or lc0’s, is that of its file too', async () => {
  const leela = join(folder, 'net.pb.gz');
  writeFileSync(leela, encodeNetworkFile(createRandomNetwork({ blocks: 1, filters: 8 })));
  const packed = join(folder, 'default.onnx.gz');
  writeFileSync(packed, gzipSync(readFileSync(join(repositoryRoot, 'models', 'default.onnx'))));
  for (const [file, name] of [
    [join(repositoryRoot, 'models', 'default.onnx'), 'default'],
    [packed, 'default'],
    [leela, 'net'],
  ]) {
    const setup = unwrap(
      await createNetworkSetup(
        [
          ['weights', file],
          ['backend', 'cpu'],
        ],
        [],
        assert.fail,
      ),
    );
    const pools = new NetworkPools();
    const { weightsDigest, networkName } = await pools.open(setup);
    await pools.close();
    assert.equal(networkName, name);
    assert.equal(weightsDigest, createHash('sha256').update(readFileSync(file)).digest('hex').slice(0, 12), file);
  }
});
