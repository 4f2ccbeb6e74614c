/** The choice between several bundled networks for the CPU: by predicted strength, measured once for a machine. */
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { failure, success, unwrap } from '#sardonyx/base/util/index.js';
import { type Bundle, type BundledNetwork, readBundle } from '#sardonyx/engine/weights/network-catalogue.js';
import { createUnmeasured, NetworkSelector, type SpeedMeasure } from '#sardonyx/engine/weights/network-selection.js';
import { compareSearchers, measurePlayedSpeeds } from '#sardonyx/engine/weights/played-speed.js';
import { type SpeedSetting, SpeedStore } from '#sardonyx/engine/weights/speed-store.js';
import { repositoryRoot } from '../../support/shared-folder.js';

const scratch = mkdtempSync(join(tmpdir(), 'sardonyx-selection-'));
after(() => rmSync(scratch, { recursive: true, force: true }));
const createFolder = (): string => mkdtempSync(join(scratch, 'speeds-'));

const createEntry = (file: string, eloAtEqualNodes?: number, ...backends: string[]): BundledNetwork => ({
  file,
  precision: 'fp32',
  backends: backends.length === 0 ? ['cpu'] : backends,
  input: 'lc0-112',
  policy: 'lc0-1858',
  sha256: `digest of ${file}`,
  ...(eloAtEqualNodes === undefined ? {} : { eloAtEqualNodes }),
});
const STRONG = createEntry('strong.onnx', 100);
const FAST = createEntry('fast.onnx', -40, 'wasm', 'cpu');
const bundle: Bundle = { networks: [STRONG, FAST], eloPerSpeedDoubling: 70 };

interface Bench {
  readonly measure: SpeedMeasure;
  /** Files of each measurement. */
  readonly measured: string[][];
}

/** A machine with these speeds, by file, in each of four rounds. */
function createBench(speeds: Readonly<Record<string, number>>): Bench {
  const measured: string[][] = [];
  return {
    measured,
    measure: async (networks) => {
      measured.push(networks.map(({ file }) => file));
      return success(Array.from({ length: 4 }, () => networks.map(({ file }) => speeds[file])));
    },
  };
}

const SETTING: SpeedSetting = { machine: 'Abacus 3000 × 2', features: 'vnni', architecture: 'x64', onnxRuntime: '1.0' };
const createStore = (folder: string | undefined, setting = SETTING): SpeedStore =>
  new SpeedStore(
    () => folder,
    () => setting,
  );

async function choose(fast: number, among = bundle): Promise<string | undefined> {
  const { measure } = createBench({ 'strong.onnx': 1000, 'fast.onnx': fast, 'third.onnx': 8000 });
  return (await new NetworkSelector(measure, createStore(undefined)).select(among, 'cpu', ''))?.network.file;
}

test('the network with the highest predicted strength is chosen, and the first one in doubt', async () => {
  // 140 Elo are two doublings.
  assert.equal(await choose(1000), 'strong.onnx');
  assert.equal(await choose(3900), 'strong.onnx');
  assert.equal(await choose(4100), 'strong.onnx', '2 Elo are no clear lead');
  assert.equal(await choose(4500), 'fast.onnx', '12 Elo are');
  const turned = { ...bundle, networks: [FAST, STRONG] };
  assert.equal(await choose(4100, turned), 'strong.onnx', 'a tie goes to the stronger at equal nodes');
  assert.equal(await choose(4500, turned), 'fast.onnx');
  assert.equal(await choose(3500, turned), 'strong.onnx');
  const three = { ...bundle, networks: [STRONG, FAST, createEntry('third.onnx', 0)] };
  assert.equal(await choose(4500, three), 'third.onnx');
  assert.equal(await choose(40_000, three), 'fast.onnx');
});

test('predictions say how much stronger each candidate is than the first', async () => {
  const { measure } = createBench({ 'strong.onnx': 1000, 'fast.onnx': 8000 });
  const selection = await new NetworkSelector(measure, createStore(undefined)).select(bundle, 'cpu', '');
  assert.deepEqual(
    selection?.candidates.map(({ network, predictedLeadElo }) => [network.file, Math.round(predictedLeadElo)]),
    [
      ['strong.onnx', 0],
      ['fast.onnx', 70],
    ],
  );
});

test('where there is no choice, or a figure is missing, nothing is measured', async () => {
  const noFigure = createEntry('strong.onnx');
  for (const [among, backend, expected] of [
    [{ ...bundle, networks: [STRONG] }, 'cpu', 'strong.onnx'],
    [bundle, 'wasm', 'fast.onnx'],
    [bundle, 'cuda', 'strong.onnx'],
    [{ networks: [STRONG, FAST] }, 'cpu', 'strong.onnx'],
    [{ ...bundle, networks: [noFigure, FAST] }, 'cpu', 'strong.onnx'],
    [{ ...bundle, networks: [] }, 'cpu', undefined],
  ] as const) {
    const selector = new NetworkSelector(() => assert.fail('measured'), new SpeedStore(() => assert.fail('read')));
    assert.equal((await selector.select(among, backend, ''))?.network.file, expected);
  }
});

test('a measurement serves all later starts on the same machine, and another machine measures anew', async () => {
  const folder = createFolder();
  const bench = createBench({ 'strong.onnx': 1000, 'fast.onnx': 8000 });
  const start = async (setting = SETTING, among = bundle) =>
    (await new NetworkSelector(bench.measure, createStore(folder, setting)).select(among, 'cpu', ''))?.path;
  const path = await start();
  assert.ok(path?.startsWith(folder), `${path}`);
  assert.equal(await start(), path, 'the second start is to confirm the first');
  assert.equal(await start(), path);
  assert.equal(await start(SETTING, { ...bundle, networks: [FAST, STRONG], eloPerSpeedDoubling: 60 }), path);
  assert.equal(bench.measured.length, 2);
  const changes = [{ machine: 'Abacus 3000 × 4' }, { features: '' }, { onnxRuntime: '1.1' }, { architecture: 'arm64' }];
  for (const change of changes) assert.notEqual(await start({ ...SETTING, ...change }), path);
  assert.equal(bench.measured.length, 6);
  await start(SETTING, { ...bundle, networks: [STRONG, { ...FAST, sha256: 'another' }] });
  assert.equal(bench.measured.length, 7);
  assert.equal(await start(), path, 'the first result is still there');
  assert.equal(bench.measured.length, 7);
});

test('each of the first starts adds measurements, until most of them agree or there are enough for a tie', async () => {
  // Rounds of one start: how many times as fast the light network is; 4 is a tie, and 4.42 the least clear lead.
  const clear = [6, 6, 3, 6];
  const close = [4.3, 4.5, 4.3, 4.5];
  for (const [starts, ends] of [
    [
      [clear, clear, [1, 1, 1, 1]],
      ['fast.onnx 3/4', 'fast.onnx 6/8 sure', 'fast.onnx 6/8 sure'],
    ],
    [
      [[3, 3, 3, 3], clear, clear],
      ['strong.onnx 4/4', 'strong.onnx 5/8', 'strong.onnx 6/12'],
    ],
    [
      [[5, 5, 3, 3], clear, clear, clear],
      ['strong.onnx 2/4', 'strong.onnx 5/8', 'strong.onnx 8/12', 'strong.onnx 11/16'],
    ],
    // Other programs had the CPU in the first start.
    [
      [[1, 1, 1, 1], clear, clear],
      ['strong.onnx 4/4', 'fast.onnx 3/4', 'fast.onnx 6/8 sure'],
    ],
    [[close, close, close, close, close, close], ['strong.onnx 12/24 sure']],
    [[[0, 5, 5, 5]], ['fast.onnx 3/3']],
  ] as const) {
    const folder = createFolder();
    const said: string[] = [];
    for (const ratios of starts) {
      const measure: SpeedMeasure = async () => success(ratios.map((ratio) => [1000, 1000 * ratio]));
      const selection = await new NetworkSelector(measure, createStore(folder)).select(bundle, 'cpu', '');
      const sure = selection?.isSure ? ' sure' : '';
      said.push(`${selection?.network.file} ${selection?.agreeing}/${selection?.rounds}${sure}`);
    }
    assert.deepEqual(said.slice(-ends.length), ends);
  }
});

test('one process measures once, also for two callers at the same time', async () => {
  const bench = createBench({ 'strong.onnx': 1000, 'fast.onnx': 8000 });
  const selector = new NetworkSelector(bench.measure, createStore(undefined));
  await Promise.all([selector.select(bundle, 'cpu', ''), selector.select(bundle, 'cpu', 'fp32')]);
  await selector.select(bundle, 'cpu', '');
  assert.deepEqual(bench.measured, [['strong.onnx', 'fast.onnx']]);
});

test('a damaged file is measured anew and replaced', async () => {
  const folder = createFolder();
  const bench = createBench({ 'strong.onnx': 1000, 'fast.onnx': 8000 });
  const start = async () =>
    (await new NetworkSelector(bench.measure, createStore(folder)).select(bundle, 'cpu', ''))?.network.file;
  await start();
  await start();
  const [name] = readdirSync(folder);
  const good = readFileSync(join(folder, name), 'utf8');
  const wrong = (change: (speeds: Record<string, unknown>) => void): string => {
    const content = JSON.parse(good) as { nodesPerSecond: Record<string, unknown> };
    change(content.nodesPerSecond);
    return JSON.stringify(content);
  };
  const damaged = [
    '',
    'null',
    '[]',
    '{"measuredOn": 1}',
    good.slice(0, good.length / 2),
    good.replace('Abacus', 'Slate'),
    wrong((speeds) => delete speeds[FAST.sha256]),
    ...[8000, ['8000'], [8000, -1], [8000]].map((speeds) =>
      wrong((table) => {
        table[FAST.sha256] = speeds;
      }),
    ),
  ];
  for (const [index, text] of damaged.entries()) {
    writeFileSync(join(folder, name), text);
    assert.equal(await start(), 'fast.onnx', text);
    assert.equal(bench.measured.length, 2 * index + 3, text);
    await start();
    assert.equal(readFileSync(join(folder, name), 'utf8'), good);
  }
});

test('a folder that cannot be written costs a measurement at each start, and nothing else', async () => {
  const blocked = join(scratch, 'a file');
  writeFileSync(blocked, '');
  for (const folder of [undefined, join(blocked, 'speeds'), '/proc/no-such-folder']) {
    const bench = createBench({ 'strong.onnx': 1000, 'fast.onnx': 8000 });
    for (const count of [1, 2]) {
      const selector = new NetworkSelector(bench.measure, createStore(folder));
      const selection = await selector.select(bundle, 'cpu', '');
      assert.deepEqual([selection?.network.file, selection?.path, bench.measured.length], ['fast.onnx', null, count]);
    }
  }
});

test('on a machine that is too busy to be measured the first network plays, and the next start measures again', async () => {
  const folder = createFolder();
  const bench = createBench({ 'strong.onnx': 0, 'fast.onnx': 8000 });
  for (const count of [1, 2]) {
    const selection = await new NetworkSelector(bench.measure, createStore(folder)).select(bundle, 'cpu', '');
    const problem = 'other programs keep the CPU busy';
    assert.deepEqual(selection, { ...createUnmeasured(STRONG), problem, isSure: false });
    assert.equal(bench.measured.length, count);
  }
  assert.deepEqual(readdirSync(folder), []);
});

test('rounds in each of which another network was starved choose nothing', async () => {
  const measure: SpeedMeasure = async () =>
    success([
      [7000, 500],
      [500, 15_000],
    ]);
  const selection = await new NetworkSelector(measure, createStore(createFolder())).select(bundle, 'cpu', '');
  assert.equal(selection?.network.file, 'strong.onnx');
  assert.equal(selection?.problem, 'other programs keep the CPU busy');
  assert.equal(selection?.isSure, false);
});

test('networks that cannot be measured leave the choice to the order of the list', async () => {
  const folder = createFolder();
  const selector = new NetworkSelector(async () => failure('no abacus'), createStore(folder));
  const selection = await selector.select(bundle, 'cpu', '');
  assert.deepEqual(selection, { ...createUnmeasured(STRONG), problem: 'no abacus', isSure: false });
  assert.deepEqual(readdirSync(folder), []);
});

test('the networks of the program are measured as they are, and the result is kept in the cache folder', async () => {
  const cache = createFolder();
  const before = process.env.SARDONYX_CACHE;
  process.env.SARDONYX_CACHE = cache;
  try {
    const files = ['default-int8.onnx', 'light.onnx'];
    const networks = readBundle()
      .networks.filter(({ file }) => files.includes(file))
      .map((network) => ({ ...network, backends: ['cpu'], eloAtEqualNodes: 0 }));
    const selection = await new NetworkSelector().select({ networks, eloPerSpeedDoubling: 1000 }, 'cpu', '');
    if (selection?.path === null) {
      assert.equal(selection.problem, 'other programs keep the CPU busy');
      return;
    }
    const speeds = selection?.candidates.map(({ nodesPerSecond }) => nodesPerSecond) ?? [];
    assert.equal(speeds.length, 2);
    assert.ok(
      speeds.every((speed) => speed > 0 && speed < 1e6),
      speeds.join(', '),
    );
    assert.ok(existsSync(join(cache, 'speeds')) && selection?.path.startsWith(join(cache, 'speeds')));
    // Which one is faster is a matter of the machine and of what runs beside.
    const leads = selection?.candidates.map(({ predictedLeadElo }) => predictedLeadElo) ?? [];
    const chosen = selection?.candidates.find(({ network }) => network.file === selection.network.file);
    if (selection?.isClear) assert.ok(Number(chosen?.predictedLeadElo) >= Math.max(...leads) - 10, leads.join(', '));
  } finally {
    if (before === undefined) delete process.env.SARDONYX_CACHE;
    else process.env.SARDONYX_CACHE = before;
  }
});

// The speeds by which the engine chooses between networks: the real measurement, and its rule under load.

const readModel = (file: string) => {
  const name = join(repositoryRoot, 'models', file);
  return { bytes: readFileSync(name), name };
};

test('searches with bundled networks are measured in rounds', async () => {
  const models = [readModel('default-int8.onnx'), readModel('light.onnx')];
  const rounds = unwrap(await measurePlayedSpeeds(models));
  assert.ok(rounds.length >= 1 && rounds.length <= 4);
  for (const round of rounds)
    assert.ok(round.length === 2 && round.every((speed) => speed >= 0 && speed < 1e6), `${round}`);
});

test('a file that is no network is a failure, not an exception', async () => {
  const zeros = { bytes: new Uint8Array(100), name: 'zeros.onnx' };
  const speeds = await measurePlayedSpeeds([readModel('light.onnx'), zeros]);
  assert.match(speeds.ok ? '' : speeds.error, /zeros\.onnx/);
});

test('searches take turns, so that both of a round meet the same machine; on a slow one fewer rounds are measured', async () => {
  const order: string[] = [];
  let timeMs = 0;
  let searchMs = 150;
  const createSearcher = (name: string, speed: number) => ({
    search: async () => {
      timeMs += searchMs;
      return order.push(name) * speed;
    },
    dispose: async () => undefined,
  });
  const searchers = [createSearcher('a', 100), createSearcher('b', 1)];
  const rounds = await compareSearchers(searchers, () => timeMs);
  assert.equal(order.join(''), 'abababab');
  assert.deepEqual(rounds, [
    [100, 2],
    [300, 4],
    [500, 6],
    [700, 8],
  ]);
  for (const [slowMs, count] of [
    [1000, 2],
    [10_000, 1],
  ]) {
    searchMs = slowMs;
    assert.equal((await compareSearchers(searchers, () => timeMs)).length, count);
  }
});
