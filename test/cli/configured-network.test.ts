/** `--version` and `doctor` speak of the network that the engine plays with, config files included. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { examineNetworks, examineProvider, type Finding } from '#sardonyx/cli/doctor-findings.js';
import { createVersionText } from '#sardonyx/cli/version-text.js';
import { repositoryRoot } from '../support/shared-folder.js';

const TINY = join(repositoryRoot, 'models', 'tiny-test.onnx');
const folder = mkdtempSync(join(tmpdir(), 'sardonyx-configured-'));
process.env.SARDONYX_CONFIG = folder;
after(() => rmSync(folder, { recursive: true, force: true }));

function configure(...lines: string[]): void {
  writeFileSync(join(folder, 'sardonyx.config'), lines.join('\n'));
}

async function examineNetwork(): Promise<Finding | undefined> {
  return (await examineNetworks()).find(({ what }) => what === 'network');
}

test('the network of a config file is the one that is described, and a line that is wrong costs only itself', async () => {
  configure(`weights=${TINY}`, 'no-such-flag=1');
  const args = [join(repositoryRoot, 'dist', 'cli', 'main.js'), '--version'];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8' });
  assert.equal(status, 0, stderr);
  assert.ok(stdout.trimEnd().endsWith(`, ${TINY}`), stdout);
  assert.match(stderr, /^In [^\n]*sardonyx\.config: Unknown flag --no-such-flag=1[^\n]*\n$/);
  assert.deepEqual(await examineNetwork(), { what: 'network', isFine: true, text: TINY });
});

test('a configured network that is not there is named, and no provider is said to work with it', async () => {
  const missing = join(folder, 'gone.onnx');
  configure(`weights=${missing}`);
  assert.ok((await createVersionText()).includes(`\nnetwork ${missing}: `));
  assert.deepEqual(await examineNetwork(), { what: 'network', isFine: false, text: `there is no file ${missing}` });
  assert.equal((await examineProvider('cpu')).isFine, false);
});

test('a configured backend without a network is said to have none', async () => {
  configure('backend=hash');
  assert.match(await createVersionText(), /\nnetwork none, the backend is hash$/);
  assert.deepEqual(await examineNetwork(), { what: 'network', isFine: true, text: 'none, the backend is hash' });
});
