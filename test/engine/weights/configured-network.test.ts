/** `--version` and `doctor` speak of the network that the engine plays with, config files included. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { examineNetworks, type Finding } from '#sardonyx/cli/commands/doctor/doctor-findings.js';
import { examineProvider } from '#sardonyx/cli/commands/doctor/try-provider.js';
import { createVersionText } from '#sardonyx/cli/version-text.js';
import { plantEvaluatorFaults } from '../../support/evaluator-faults.js';
import { encodeNetworkFile } from '../../support/lc0-network-file.js';
import { createRandomNetwork } from '../../support/lc0-random-network.js';
import { runCommand } from '../../support/run-command.js';
import { repositoryRoot } from '../../support/shared-folder.js';

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
  const { status, stdout, stderr } = await runCommand(['--version'], { cwd: folder });
  assert.equal(status, 0, stderr);
  assert.ok(stdout.trimEnd().endsWith(`, ${TINY}`), stdout);
  assert.match(stderr, /^In [^\n]*sardonyx\.config: Unknown flag --no-such-flag=1[^\n]*\n$/);
  const text = `${TINY}, as WeightsFile says`;
  assert.deepEqual(await examineNetwork(), { what: 'network', isFine: true, text });
});

test('a configured network that is not there is named, and no provider is said to work with it', async () => {
  const missing = join(folder, 'gone.onnx');
  configure(`weights=${missing}`);
  assert.ok((await createVersionText([])).includes(`\nnetwork ${missing}: `));
  assert.deepEqual(await examineNetwork(), { what: 'network', isFine: false, text: `there is no file ${missing}` });
  assert.equal((await examineProvider('cpu')).isFine, false);
});

test('a configured backend without a network is said to have none', async () => {
  configure('backend=hash');
  assert.match(await createVersionText([]), /\nnetwork none, the backend is hash$/);
  assert.deepEqual(await examineNetwork(), { what: 'network', isFine: true, text: 'none, the backend is hash' });
});

test('--version speaks of what the flags beside it name, and says in one sentence what is wrong with them', async () => {
  configure('');
  const run = (...args: string[]) => runCommand(args, { cwd: folder });
  const describe = async (...args: string[]): Promise<string | undefined> => {
    const { status, stdout, stderr } = await run(...args);
    assert.equal(status, 0, stderr);
    return stdout.split('\n')[2];
  };
  assert.equal(await describe('--version', '--weights', TINY), `network random 16x2 (fp32), ${TINY}`);
  assert.equal(await describe('-w', TINY, '--version'), `network random 16x2 (fp32), ${TINY}`);
  for (const flag of ['--version', '-version'])
    assert.equal(await describe('--backend=hash', flag), 'network none, the backend is hash');
  assert.equal(await describe('bench', `--weights=${TINY}`, '--version'), `network random 16x2 (fp32), ${TINY}`);
  assert.match((await describe('--backend=coreml', '--version')) ?? '', /default-large\.onnx$/);
  assert.match((await describe('match', '--games=2', '--version')) ?? '', /models.\S+\.onnx$/, 'flags of a command');
  for (const [flag, sentence] of [
    ['--no-such-flag', /^Unknown flag --no-such-flag; sardonyx --help lists them\n$/],
    ['--backend=abacus', /^[^\n]*abacus[^\n]*\n$/],
  ] as const) {
    const { status, stdout, stderr } = await run(flag, '--version');
    assert.deepEqual([status, stdout], [1, '']);
    assert.match(stderr, sentence);
  }
});

test('a network or head that is not there is one error, and then the default network or the one before plays', () => {
  configure('');
  const file = join(folder, 'headless.pb.gz');
  writeFileSync(file, encodeNetworkFile(createRandomNetwork({ blocks: 1, filters: 4, value: 'wdl' })));
  const missing = join(folder, 'missing.pb.gz');
  const go = 'isready\nposition startpos\ngo nodes 2\nwait\n';
  const set = (name: string, value: string): string => `setoption name ${name} value ${value}\n`;
  const play = (args: string[], input: string): string[][] => {
    const program = join(repositoryRoot, 'dist', 'cli', 'main.js');
    const { stdout, stderr } = spawnSync(process.execPath, [program, ...args], {
      cwd: folder,
      input,
      encoding: 'utf8',
    });
    assert.equal(stderr.includes('rror'), false, stderr);
    const told = stdout.split('\n').filter((line) => /^(error|bestmove|info string (Network|Cannot))/.test(line));
    return told.map((line) =>
      line
        .replaceAll(`${folder}/`, '')
        .split(';')
        .map((part) => part.trim()),
    );
  };
  for (const [args, problem] of [
    [[`--weights=${missing}`], 'info string Cannot load missing.pb.gz: there is no such file'],
    [
      [`--weights=${file}`, '--backend-opts=policy_head=optimistic'],
      'info string Cannot load headless.pb.gz: it has no policy head "optimistic"',
    ],
  ] as const) {
    const [error, move, ...rest] = play([...args, '--threads=1'], `${go}quit\n`);
    assert.equal(error[0], problem);
    assert.match(error.at(-1) ?? '', /^Sardonyx \S+ on cpu, 1 thread plays instead$/);
    assert.match(move[0], /^bestmove [a-h]/);
    assert.deepEqual(rest, []);
  }
  const changes = `${set('BackendOptions', 'policy_head=optimistic')}${set('WeightsFile', file)}`;
  const [network, first, error, second] = play([`--weights=${TINY}`, '--threads=1'], `${go}${changes}${go}quit\n`);
  assert.match(network[0], /^info string Network random 16x2 /);
  assert.equal(error[0], 'info string Cannot load headless.pb.gz: it has no policy head "optimistic"');
  assert.match(error.at(-1) ?? '', /^random 16x2 on cpu, 1 thread stays$/);
  for (const move of [first, second]) assert.match(move[0], /^bestmove [a-h]/);
});

test('providers are tried with the configured options, as far as they are theirs', async () => {
  configure(`weights=${TINY}`, 'backend=coreml', 'backend-opts=units=abacus');
  const coreml = await examineProvider('coreml');
  assert.match(coreml.text, /^Backend option units must be one of all, cpu/);
  assert.equal(coreml.isFine, false);
  assert.deepEqual(await examineProvider('cpu'), { what: 'cpu', isFine: true, text: 'works (cpu)' });
  configure(`weights=${TINY}`);
  const faults = plantEvaluatorFaults({ loadFails: true });
  Object.assign(process.env, faults);
  const cpu = await examineProvider('cpu');
  for (const name of Object.keys(faults)) delete process.env[name];
  assert.equal(cpu.isFine, false);
  assert.match(cpu.text, /made to fail at loading$/);
});

test('what native libraries write is kept from stderr and told, also by one that brings its process down', async () => {
  configure(`weights=${TINY}`);
  const args = [join(repositoryRoot, 'dist', 'cli', 'main.js'), 'doctor', '--providers=webgpu', '--json'];
  const { stdout, stderr } = spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8' });
  assert.equal(stderr, '');
  assert.ok((JSON.parse(stdout) as Finding[]).some(({ what }) => what === 'webgpu'));
  const crash = encodeURIComponent("console.error('Warning: no driver'); process.kill(process.pid, 'SIGKILL')");
  process.env.NODE_OPTIONS = `--import=data:text/javascript,${crash}`;
  try {
    assert.deepEqual(await examineProvider('webgpu'), {
      what: 'webgpu',
      isFine: false,
      text: 'the process that tried it ended (SIGKILL) (no driver)',
    });
  } finally {
    delete process.env.NODE_OPTIONS;
  }
});
