import assert from 'node:assert/strict';
import test from 'node:test';
import { type OptionSpec, OptionStore } from '#sardonyx/base/options/index.js';
import { unwrap } from '#sardonyx/base/util/index.js';
import type { NetworkPort } from '#sardonyx/engine/core/index.js';
import { NetworkLoader } from '#sardonyx/engine/core/network-loader.js';
import { FakeWorld } from './fake-ports.js';

/** Stands for all options that a network depends on; 9 is a network that cannot be loaded. */
const network: OptionSpec = {
  uci: 'Network',
  effect: 'pool',
  flag: '',
  kind: 'int',
  default: 0,
  min: 0,
  max: 9,
  help: '',
};

const limited: OptionSpec = { uci: 'Limited', effect: 'strength', flag: '', kind: 'bool', default: false, help: '' };

class World extends FakeWorld {
  reasons: string[] = [];
  /** The network that is gone by now. */
  missing = 9;

  override async createNetwork(options: OptionStore, _warn?: unknown, avoidsDevice?: boolean): Promise<NetworkPort> {
    const wanted = options.getNumber('Network');
    if (wanted === 9 || wanted === this.missing) throw new Error('File 9.onnx does not exist');
    const description = `network ${wanted}${avoidsDevice ? ' on the processor' : ''}`;
    return Object.assign(await super.createNetwork(options), { description, reason: this.reasons[wanted] ?? null });
  }
}

function setUp() {
  const options = new OptionStore([network, limited]);
  const world = new World();
  const said: string[] = [];
  const say = (text: string) => void said.push(text);
  const loader = new NetworkLoader(options, world, { warning: say, note: say, error: say, progress: say });
  options.connect({ pool: () => loader.onPoolChange(), strength: () => loader.onPoolChange() });
  const choose = async (number: number) => {
    unwrap(options.set('Network', `${number}`));
    return (await loader.ensure())?.description;
  };
  return { world, said, loader, choose, options };
}

test('each network is told with the reason for it, once it is loaded', async () => {
  const { world, said, choose } = setUp();
  world.reasons = ['', '', 'named by WeightsFile'];
  for (const number of [2, 2, 1, 9]) await choose(number);
  const last = 'File 9.onnx does not exist; network 1 stays';
  assert.deepEqual(said, ['Network network 2: named by WeightsFile', 'Network network 1', last]);
});

test('a network that cannot be loaded leaves the one before in use, and the failure is told once', async () => {
  const { said, loader, choose } = setUp();
  assert.equal(await choose(2), 'network 2');
  assert.equal(await choose(9), 'network 2');
  assert.equal(loader.current?.description, 'network 2');
  assert.equal(await choose(9), 'network 2');
  assert.deepEqual(said, ['File 9.onnx does not exist; network 2 stays']);
});

test('where the network before cannot be loaded again either, a spare one plays', async () => {
  const { world, said, choose, options } = setUp();
  const spare = options.clone();
  unwrap(spare.set('Network', '1'));
  world.createSpareOptions = () => spare;
  assert.equal(await choose(2), 'network 2');
  world.missing = 2;
  assert.equal(await choose(9), 'network 1');
  assert.deepEqual(said, ['File 9.onnx does not exist; network 1 plays instead']);
});

test('where the first network cannot be loaded a spare one plays, until an option changes', async () => {
  const { world, said, loader, choose, options } = setUp();
  const spare = options.clone();
  unwrap(spare.set('Network', '1'));
  world.createSpareOptions = () => spare;
  assert.equal(await choose(9), 'network 1');
  assert.deepEqual(said, ['File 9.onnx does not exist; network 1 plays instead']);
  assert.equal((await loader.ensure())?.description, 'network 1');
  assert.equal(world.networks.length, 1);
  assert.equal(await choose(3), 'network 3');
});

test('what else decides which network is created counts as much as the options of the pool', async () => {
  const { world, loader, choose, options } = setUp();
  world.describeChoice = (current) => (current.getBoolean('Limited') ? 'levels' : '');
  await choose(2);
  unwrap(options.set('Limited', 'true'));
  assert.equal(loader.current, null);
  assert.equal(await loader.ensure(), world.networks[1]);
  unwrap(options.set('Limited', 'false'));
  unwrap(options.set('Limited', 'true'));
  assert.equal(loader.current, world.networks[1]);
});

test('the options before need no other load, the next ones do, and no two networks are held at a time', async () => {
  const { world, loader, choose, options } = setUp();
  await choose(2);
  await choose(9);
  unwrap(options.set('Network', '2'));
  assert.equal(loader.current, world.networks[1]);
  assert.equal(await choose(3), 'network 3');
  await loader.dispose();
  assert.deepEqual(
    world.networks.map(({ disposed }) => disposed),
    [1, 1, 1],
  );
});

test('without a network before, or when that is gone as well, there is none', async () => {
  const { world, said, choose } = setUp();
  assert.equal(await choose(9), undefined);
  assert.equal(await choose(2), 'network 2');
  world.loadError = new Error('The disk is gone');
  assert.equal(await choose(9), undefined);
  assert.deepEqual(said, Array(2).fill('File 9.onnx does not exist'));
  world.loadError = null;
  assert.equal(await choose(2), 'network 2');
});

test('a network that has lost its device is loaded for the processor, once, and only then let go', async () => {
  const { world, said, loader, choose } = setUp();
  await choose(2);
  world.networks[0].hasLostDevice = true;
  assert.equal(loader.current, null, 'the next search waits for the other one');
  let disposedBefore = -1;
  world.loading = Promise.resolve().then(() => {
    disposedBefore = world.networks[0].disposed;
  });
  assert.equal((await loader.ensure())?.description, 'network 2 on the processor');
  assert.deepEqual([disposedBefore, world.networks[0].disposed], [0, 1]);
  assert.equal(await choose(3), 'network 3', 'other options, another try');
  await loader.dispose();
  assert.deepEqual(
    world.networks.map(({ disposed }) => disposed),
    [1, 1, 1],
  );
  assert.deepEqual(said, []);
});

test('when it cannot be loaded for the processor, the network that has lost its device goes on', async () => {
  const { world, said, loader, choose } = setUp();
  await choose(2);
  world.networks[0].hasLostDevice = true;
  world.loadError = new Error('The disk is gone');
  assert.equal(await loader.ensure(), world.networks[0]);
  assert.equal(loader.current, world.networks[0]);
  assert.equal(world.networks[0].disposed, 0);
  assert.deepEqual(said, ['The network cannot be loaded for the CPU: The disk is gone']);
});
