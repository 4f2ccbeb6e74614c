/**
 * The four steps of gpu.sh, rehearsed on the CPU with tiny sizes (SARDONYX_SLOW_TESTS=1; minutes; npm's and Python's registries needed) in
 * a folder that has what the lent machine has: Python with PyTorch, but no pydantic, no rich, no Node, no xz and no home.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { repositoryRoot } from '../support/shared-folder.js';

const run = promisify(execFile);
const TOOLS =
  'bash cat mkdir cut grep dirname basename sha256sum touch chmod date find xargs nproc sort tail sleep tar split mv rm du stat paste wc tee cp ls env mktemp';
const MOST_BYTES_A_CALL = 64 * 2 ** 20;
const TINY = { BACKEND: 'cpu', SIZE: 'tiny' };
const venv = join(repositoryRoot, '.venv');

const skip =
  process.env.SARDONYX_SLOW_TESTS !== '1'
    ? 'minutes; set SARDONYX_SLOW_TESTS=1'
    : !existsSync(join(venv, 'bin', 'python')) && 'there is no .venv: run the Python tests once';

/** Links to the tools and a Python that finds all packages of .venv but pydantic and rich; returns the PATH. */
async function makeBox(folder: string): Promise<string> {
  const bin = join(folder, 'bin');
  mkdirSync(bin);
  for (const tool of TOOLS.split(' ')) {
    const { stdout } = await run('which', [tool]);
    symlinkSync(stdout.trim(), join(bin, tool));
  }
  await run(join(venv, 'bin', 'python'), ['-m', 'venv', join(folder, 'python')]);
  const [own, full] = [join(folder, 'python'), venv].map((place) => {
    const [version] = readdirSync(join(place, 'lib'));
    return join(place, 'lib', version, 'site-packages');
  });
  for (const name of readdirSync(full)) {
    const isLeftOut = /^(pydantic|rich|pip|setuptools|sardonyx|__editable__)|\.pth$/.test(name);
    if (!isLeftOut && !existsSync(join(own, name))) symlinkSync(join(full, name), join(own, name));
  }
  return `${join(folder, 'python', 'bin')}:${bin}`;
}

test('gpu.sh says before it packs anything that there are no held-out labels', {
  skip: process.platform === 'win32',
}, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'gpu-lab-'));
  const script = join(repositoryRoot, 'scripts', 'lab', 'gpu.sh');
  const env = { ...process.env, LABELS: 'labels.jsonl.gz', VALIDATION: join(folder, 'none') };
  const { stderr } = await run('bash', [script, 'pack', join(folder, 'parts')], { env }).catch((error) => error);
  assert.equal(stderr, `gpu.sh: there are no held-out labels (${join(folder, 'none')}): name a file by VALIDATION\n`);
  assert.deepEqual(readdirSync(folder), []);
  rmSync(folder, { recursive: true });
});

test('gpu.sh packs, proves, trains, goes on with a run, and labels where there is no Node, no pydantic and no home', {
  skip,
}, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'gpu-lab-'));
  try {
    const script = join(repositoryRoot, 'scripts', 'lab', 'gpu.sh');
    const main = join(repositoryRoot, 'dist', 'cli', 'main.js');
    const engine = `cmd=${process.execPath} args="${main} --backend=trivial"`;
    for (const [name, games] of Object.entries({ labels: 12, held: 4 })) {
      const words = ['--games', String(games), '--nodes', '20', '--seed', String(games), '--out', join(folder, name)];
      await run(process.execPath, [main, 'label', '--engine', engine, ...words]);
    }
    const labels = {
      LABELS: join(folder, 'labels', 'labels_0000.jsonl.gz'),
      VALIDATION: join(folder, 'held', 'labels_0000.jsonl.gz'),
    };
    const pack = async (to: string, more = {}): Promise<void> => {
      await run('bash', [script, 'pack', to], { env: { ...process.env, ...TINY, ...labels, ...more } });
      for (const call of readdirSync(to).filter((name) => /^\d+$/.test(name))) {
        const bytes = readdirSync(join(to, call)).map((file) => statSync(join(to, call, file)).size);
        assert.ok(bytes.reduce((sum, size) => sum + size) <= MOST_BYTES_A_CALL, `call ${call}`);
      }
    };
    const PATH = await makeBox(folder);
    const there = async (parts: string, step: string, work: string): Promise<string> => {
      const env = { ...TINY, PATH, HOME: '', WORK: join(folder, work), SECONDS_LEFT: '600' };
      const begun = performance.now();
      await run('bash', [join(parts, 'gpu.sh'), step, join(folder, `out-${work}`)], {
        env,
        cwd: folder,
        maxBuffer: 1 << 26,
      });
      console.log(`${step}: ${Math.round((performance.now() - begun) / 1000)} s`);
      return join(folder, `out-${work}`);
    };

    const parts = join(folder, 'parts');
    await pack(parts);
    const out = await there(parts, 'prove', 'first');
    const proved = JSON.parse(readFileSync(join(out, 'prove.json'), 'utf8'));
    for (const [name, result] of Object.entries<{ failed?: string }>(proved))
      assert.equal(result.failed, undefined, name);
    assert.ok(proved['96x8 against the CPU'].isWithinBar);
    assert.match(proved['lost device'].inSearch.said.join(), /failed, going on with/);
    await there(parts, 'train', 'first');
    await there(parts, 'label', 'first');
    assert.ok(existsSync(join(out, 'labels.tar.0')));

    const back = join(folder, 'back');
    mkdirSync(back);
    await run('bash', ['-c', `cat "${out}"/runs.tar.* | tar -xf - -C "${back}"`]);
    const resumed = join(folder, 'parts-2');
    await pack(resumed, { RESUME: join(back, 'runs') });
    const log = join(await there(resumed, 'train', 'second'), '..', 'second', 'training', 'runs', '48x5', 'log');
    assert.match(readFileSync(log, 'utf8'), /step 1, cpu/);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
