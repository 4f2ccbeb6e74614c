import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { discoverNetwork, listDiscoveryFolders, listNetworks } from '#sardonyx/engine/weights/discover-network.js';
import { encodeNetworkFile } from '../../support/lc0-network-file.js';
import { createRandomNetwork } from '../../support/lc0-random-network.js';

const root = mkdtempSync(join(tmpdir(), 'sardonyx-discover-'));
after(() => rmSync(root, { recursive: true, force: true }));

/** Above half a megabyte: the dense policy alone has 1858 × 128 weights. */
const network = encodeNetworkFile(createRandomNetwork({ blocks: 1, filters: 40, encodings: ['FLOAT32'] }));

function place(path: string, content: Uint8Array, ageSeconds: number): string {
  mkdirSync(join(path, '..'), { recursive: true });
  writeFileSync(path, content);
  const time = new Date(Date.now() - ageSeconds * 1000);
  utimesSync(path, time, time);
  return path;
}

describe('autodiscovery', () => {
  it('takes the newest network of the first folder that has one', async () => {
    const first = join(root, 'first');
    const second = join(root, 'second');
    place(join(first, 'notes.txt'), new Uint8Array(600_000), 0);
    place(join(second, 'older.pb.gz'), network, 100);
    const newest = place(join(second, 'networks', 'newer'), network, 50);
    place(join(second, 'newest but small.pb.gz'), network.subarray(0, 1000), 10);
    place(join(second, 'newest but no network.gz'), new Uint8Array(600_000), 10);
    const third = join(root, 'third');
    place(join(third, 'net.pb.gz'), network, 0);
    assert.equal(await discoverNetwork([join(root, 'none'), first, second, third]), newest);
  });

  it('knows lc0’s networks by their content and ONNX by its name, and a link to nowhere hides none', {
    skip: process.platform === 'win32',
  }, async () => {
    const folder = join(root, 'mixed');
    const named = place(join(folder, 'named.onnx'), new Uint8Array(600_000), 30);
    const nameless = place(join(folder, 'networks', 'weights_run1_744706'), network, 20);
    place(join(folder, 'notes.pb.gz'), new Uint8Array(600_000), 10);
    symlinkSync(join(folder, 'gone'), join(folder, 'a.onnx'));
    symlinkSync(join(folder, 'gone'), join(folder, 'networks', 'a.pb.gz'));
    assert.deepEqual(await listNetworks(folder), [nameless, named]);
    assert.equal(await discoverNetwork([folder]), nameless);
    rmSync(nameless);
    assert.equal(await discoverNetwork([folder]), named);
    const packed = place(join(folder, 'packed.onnx.gz'), new Uint8Array(600_000), 25);
    assert.deepEqual(await listNetworks(folder), [packed, named]);
  });

  it('finds nothing where there is nothing', async () => {
    assert.equal(await discoverNetwork([join(root, 'none')]), undefined);
    assert.deepEqual(await listNetworks(join(root, 'none')), []);
  });

  it("looks beside the program, in the user's and in the system's data folders", {
    skip: process.platform !== 'linux',
  }, () => {
    assert.deepEqual(listDiscoveryFolders('/bin', { HOME: root }), [
      '/bin',
      join(root, '.local/share/lc0'),
      '/usr/local/share/lc0',
      '/usr/share/lc0',
    ]);
    // Where lc0 looks if the folder of XDG_DATA_HOME is missing, too.
    assert.deepEqual(listDiscoveryFolders('/bin', { HOME: root, XDG_DATA_HOME: '/data', XDG_DATA_DIRS: '/x:/y' }), [
      '/bin',
      '/data/lc0',
      join(root, '.local/share/lc0'),
      '/x/lc0',
      '/y/lc0',
    ]);
    assert.deepEqual(listDiscoveryFolders('/bin', { HOME: root, XDG_DATA_HOME: 'data', XDG_DATA_DIRS: './x:/y' }), [
      '/bin',
      join(root, '.local/share/lc0'),
      '/y/lc0',
    ]);
  });
});
