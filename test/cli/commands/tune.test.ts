/** Self-tuning: the choice among measured settings, the file of results, and the command on real pools. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { getConfigFolder } from '#platform/folders.js';
import { unwrap } from '#sardonyx/base/util/index.js';
import { chooseSettings, type TuneRow } from '#sardonyx/cli/commands/tune.js';
import { enginePorts } from '#sardonyx/engine/app/evaluator-network.js';
import { createOptionStore } from '#sardonyx/engine/app/settings.js';
import { resolveNetwork } from '#sardonyx/engine/weights/network-file.js';
import {
  findTuning,
  formatTunings,
  getTuningPath,
  parseTunings,
  readTunings,
  type SpeedSettings,
  saveTuning,
  type TunedSettings,
} from '#sardonyx/engine/weights/tuned-settings.js';
import { plantEvaluatorFaults } from '../../support/evaluator-faults.js';
import { runCommand } from '../../support/run-command.js';
import { repositoryRoot } from '../../support/shared-folder.js';

const PROGRAM = fileURLToPath(new URL('../../../../dist/cli/main.js', import.meta.url));
const TINY = join(repositoryRoot, 'models', 'tiny-test.onnx');
const INITIAL: SpeedSettings = { threads: 2, minibatch: 8, batchesInFlight: 3 };

const folder = mkdtempSync(join(tmpdir(), 'sardonyx-tune-'));
process.env.SARDONYX_CONFIG = folder;
after(() => rmSync(folder, { recursive: true, force: true }));

const RESULT: TunedSettings = {
  network: 'x.onnx',
  sha256: 'ab',
  bytes: 10,
  backend: 'cpu',
  backendOptions: '',
  machine: 'm × 2',
  threads: 3,
  minibatch: 16,
  batchesInFlight: 5,
  nodesPerSecond: 2000,
  defaultNodesPerSecond: 1500,
  date: '2026-11-21',
};

test('the fastest setting is found along the three axes, each measured once', async () => {
  const speed = ({ threads, minibatch, batchesInFlight }: SpeedSettings): number =>
    1000 * (threads === 3 ? 2 : 1) * (minibatch === 16 ? 2 : 1) * (batchesInFlight === 5 ? 2 : 1);
  const rows: TuneRow[] = [];
  const { best } = await chooseSettings(
    INITIAL,
    async (settings) => speed(settings),
    (row) => rows.push(row),
  );
  assert.deepEqual(best, { threads: 3, minibatch: 16, batchesInFlight: 5, nodesPerSecond: 8000 });
  assert.deepEqual(rows[0], { ...INITIAL, nodesPerSecond: speed(INITIAL) });
  assert.equal(new Set(rows.map((row) => JSON.stringify(row))).size, rows.length);
});

test('nearly equal settings go to the one with the fewest leaves in flight', async () => {
  const { best } = await chooseSettings(
    INITIAL,
    async ({ minibatch }) => 1000 + minibatch / 100,
    () => undefined,
  );
  assert.equal(best.minibatch, 4);
  assert.ok(best.batchesInFlight <= 2);
});

test('a setting that was only lucky does not replace the engine’s own', async () => {
  let measured = 0;
  const { best } = await chooseSettings(
    INITIAL,
    async () => (++measured === 3 ? 5000 : 1000),
    () => undefined,
  );
  assert.ok(best.minibatch * best.batchesInFlight <= INITIAL.minibatch * INITIAL.batchesInFlight);
  assert.equal(best.nodesPerSecond, 1000);
});

test('the default is compared by the runs that confirm the best setting, not by its first run', async () => {
  let measured = 0;
  const { rows, best, defaultNodesPerSecond } = await chooseSettings(
    INITIAL,
    async ({ minibatch }) => (++measured === 1 ? 1020 : minibatch === INITIAL.minibatch ? 900 : 1010),
    () => undefined,
  );
  assert.equal(rows[0].nodesPerSecond, 1020);
  assert.deepEqual([best.nodesPerSecond, defaultNodesPerSecond], [1010, 900]);
});

test('settings never leave their ranges', async () => {
  for (const initial of [
    { threads: 1, minibatch: 1, batchesInFlight: 2 },
    { threads: 128, minibatch: 1024, batchesInFlight: 129 },
  ]) {
    await chooseSettings(
      initial,
      async (settings) => {
        assert.ok(settings.threads >= 1 && settings.threads <= 128);
        assert.ok(settings.minibatch >= 1 && settings.minibatch <= 1024 && Number.isInteger(settings.minibatch));
        assert.ok(settings.batchesInFlight >= 1);
        return 1;
      },
      () => undefined,
    );
  }
});

test('results are read as they were written; damaged ones are no results', () => {
  assert.deepEqual(parseTunings(formatTunings([RESULT])), [RESULT]);
  assert.deepEqual(parseTunings('{'), []);
  assert.deepEqual(parseTunings('null'), []);
  assert.deepEqual(parseTunings(JSON.stringify({ results: [null, 3, { ...RESULT, threads: 0 }, RESULT] })), [RESULT]);
});

test('a new result takes the place of the old one for the same network, backend and machine', () => {
  assert.equal(getTuningPath(), join(folder, 'tuning.json'));
  unwrap(saveTuning(RESULT));
  unwrap(saveTuning({ ...RESULT, threads: 4 }));
  unwrap(saveTuning({ ...RESULT, machine: 'other × 8' }));
  assert.deepEqual(
    readTunings().map(({ threads, machine }) => [threads, machine]),
    [
      [4, 'm × 2'],
      [3, 'other × 8'],
    ],
  );
  writeFileSync(join(folder, 'tuning.json'), 'not JSON');
  assert.deepEqual(readTunings(), []);
});

test('the config folder follows the system’s convention', { skip: process.platform !== 'linux' }, () => {
  assert.equal(getConfigFolder({ HOME: folder }), join(folder, '.config', 'sardonyx'));
  assert.equal(getConfigFolder({ HOME: folder, XDG_CONFIG_HOME: '/c' }), '/c/sardonyx');
  assert.equal(getConfigFolder({ HOME: folder, SARDONYX_CONFIG: '/d' }), '/d');
});

test('the command measures, saves, and the engine uses the result unless the user chooses', async () => {
  rmSync(join(folder, 'tuning.json'), { force: true });
  const { status, stdout } = await runCommand(['tune', `--weights=${TINY}`, '--seconds=0.01', '--json']);
  assert.equal(status, 0);
  const report = JSON.parse(stdout);
  assert.equal(report.file, join(folder, 'tuning.json'));
  assert.ok(report.rows.length >= 5);
  const [saved] = readTunings();
  assert.deepEqual(
    [saved.threads, saved.minibatch, saved.batchesInFlight],
    [report.best.threads, report.best.minibatch, report.best.batchesInFlight],
  );

  // Values that the engine would not take by itself, to tell them apart.
  unwrap(saveTuning({ ...saved, threads: 3, minibatch: 5, batchesInFlight: 7 }));
  const options = createOptionStore();
  unwrap(options.set('WeightsFile', TINY));
  const network = await enginePorts.createNetwork(options, assert.fail, false);
  const { workers, minibatch, batchesInFlight } = network.handle;
  await network.dispose();
  assert.deepEqual([workers, minibatch, batchesInFlight], [3, 5, 7]);
  const isTuned = async (name: string, value: string): Promise<boolean> => {
    unwrap(options.set(name, value));
    return (await findTuning(options, unwrap(await resolveNetwork(options)))) !== null;
  };
  assert.ok(!(await isTuned('Threads', '1')));
  assert.ok(await isTuned('Threads', '0'));
  assert.ok(!(await isTuned('WeightsFile', join(repositoryRoot, 'models', 'default.onnx'))));

  const doctor = await runCommand(['doctor', '--providers=', '--json']);
  const finding = JSON.parse(doctor.stdout.split('\n')[0]).find(({ what }: { what: string }) => what === 'tuning');
  assert.match(finding.text, /tiny-test\.onnx \(\w{8}\) on cpu: 3 threads, 7 × 5 in flight/);
});

test('the fake evaluator is measured like any other, and nothing is saved for it', async () => {
  const before = readFileSync(join(folder, 'tuning.json'), 'utf8');
  const { status, stdout } = await runCommand(['tune', '--backend=hash', '--seconds=0.01']);
  assert.equal(status, 0);
  assert.match(stdout, /^threads minibatch batches-in-flight nodes\/s\n(\s*\d+ +\d+ +\d+ \d+\n)+Best: --threads=\d+ /);
  assert.equal(readFileSync(join(folder, 'tuning.json'), 'utf8'), before);
});

test('a processor that stands in for a device is not tuned in its name', async () => {
  const before = readFileSync(join(folder, 'tuning.json'), 'utf8');
  const { status, stderr } = spawnSync(process.execPath, [PROGRAM, 'tune', `--weights=${TINY}`, '--backend=cuda'], {
    env: { ...process.env, ...plantEvaluatorFaults({ backend: 'cuda', loadFails: true }) },
    encoding: 'utf8',
  });
  assert.equal(status, 1);
  assert.match(stderr, /^Backend cuda does not work here: tune --backend=cpu/m);
  assert.equal(readFileSync(join(folder, 'tuning.json'), 'utf8'), before);
});

test('a result that cannot be saved is printed, and the command ends with status 1', {
  skip: process.platform !== 'linux',
}, async () => {
  const env = { SARDONYX_CONFIG: '/proc/sardonyx' };
  const { status, stdout, stderr } = await runCommand(['tune', `--weights=${TINY}`, '--seconds=0.1', '--json'], {
    env,
  });
  assert.equal(status, 1, stderr);
  assert.equal(JSON.parse(stdout).file, null);
  assert.match(stderr, /^The result cannot be saved: [^\n]+$/m);
});

test('what tune is to choose may not be chosen', async () => {
  const { status, stderr } = await runCommand(['tune', `--weights=${TINY}`, '--threads=2']);
  assert.equal(status, 1);
  assert.match(stderr, /leave them out/);
});
