/** The files in models/ are what bundled.json says of them, and every backend gets the one that is meant for it. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { unwrap } from '#sardonyx/base/util/index.js';
import { createOptionStore } from '#sardonyx/engine/app/options.js';
import { LEVELS_NETWORK } from '#sardonyx/engine/core/options.js';
import {
  type BundledNetwork,
  getNetworkName,
  listSuitableNetworks,
  readBundle,
} from '#sardonyx/engine/weights/network-catalogue.js';
import { findModel, resolveNetwork } from '#sardonyx/engine/weights/network-file.js';
import { decodeModel, loadModel } from '#sardonyx/networks/nn/index.js';
import { repositoryRoot } from '../../support/shared-folder.js';

const folder = join(repositoryRoot, 'models');
const { networks, eloPerSpeedDoubling } = readBundle();
/** `wasm` is the CPU of a page. */
const PROVIDERS = ['cpu', 'wasm', 'cuda', 'tensorrt', 'dml', 'coreml', 'webgpu'];
const INT8 = 3;
/** Inputs of the first convolution: the planes alone, or with board features behind them. */
const STEM_INPUTS = [112, 144];

test('bundled.json tells the truth about its files and lists all that play', async () => {
  const files = readdirSync(folder).filter((name) => name.endsWith('.onnx') && name !== 'tiny-test.onnx');
  assert.deepEqual(networks.map(({ file }) => file).sort(), files.sort());
  for (const { file, precision, input, policy, sha256 } of networks) {
    const content = readFileSync(join(folder, file));
    assert.equal(createHash('sha256').update(content).digest('hex'), sha256, file);
    const model = unwrap(await loadModel({ path: join(folder, file) }));
    assert.equal(model.precision, precision, file);
    assert.equal(model.format.inputEncoding.name, input, file);
    assert.equal(model.format.policyEncoding.name, policy, file);
    assert.equal(model.needsWideSums, false, file);
    if (precision === 'int8') requireNarrowSums(content);
  }
});

test('every provider has one network; only CPUs may have several, and then with the figures that decide', () => {
  for (const provider of PROVIDERS) {
    const meant = networks.filter(({ backends }) => backends.includes(provider));
    if (provider !== 'cpu' || meant.length === 1) assert.equal(meant.length, 1, provider);
    else {
      assert.ok(
        meant.every(({ eloAtEqualNodes }) => Number.isFinite(eloAtEqualNodes)),
        JSON.stringify(meant),
      );
      assert.ok((eloPerSpeedDoubling ?? 0) > 0, `${eloPerSpeedDoubling}`);
    }
  }
});

/** CPUs without VNNI clip sums of two products to 16 bits: 255 · 64 · 2 fits, and 127 · 127 · 2, which planes make. */
function requireNarrowSums(content: Uint8Array): void {
  for (const { name, dims, dataType, rawData } of decodeModel(content)?.graph?.initializer ?? []) {
    if (dataType !== INT8 || (dims?.length ?? 0) < 2 || rawData === undefined) continue;
    const weights = new Int8Array(rawData.buffer, rawData.byteOffset, rawData.length);
    const largest = weights.reduce((most, weight) => Math.max(most, Math.abs(weight)), 0);
    const levels = STEM_INPUTS.includes(Number(dims?.[1])) ? 127 : 255;
    assert.ok(2 * levels * largest < 2 ** 15, `${name}: ${largest}`);
  }
}

const entry = (file: string, precision: BundledNetwork['precision'], ...backends: string[]): BundledNetwork => ({
  file,
  precision,
  backends,
  input: 'lc0-112',
  policy: 'lc0-1858',
  sha256: '',
});
const table = [
  entry('small.onnx', 'fp32', 'webgpu'),
  entry('small-int8.onnx', 'int8', 'cpu'),
  entry('large.onnx', 'fp16', 'cuda', 'dml'),
];

test('a backend gets its networks; a precision that is asked for comes first; something is better than nothing', () => {
  const list = (backend: string, precision = '', among = table): string[] =>
    listSuitableNetworks(among, backend, precision).map(({ file }) => file);
  assert.deepEqual(list('cpu'), ['small-int8.onnx']);
  assert.deepEqual(list('cuda'), ['large.onnx']);
  assert.deepEqual(list('cpu', 'fp32'), ['small.onnx']);
  assert.deepEqual(list('dml', 'fp16'), ['large.onnx']);
  assert.deepEqual(list('cpu', 'fp16', table.slice(0, 2)), ['small.onnx'], 'made of it');
  assert.deepEqual(list('coreml'), ['small.onnx']);
  assert.deepEqual(list('cpu', 'fp16', [table[0]]), ['small.onnx']);
  assert.deepEqual(list('cpu', '', []), []);
  const several = [...table, entry('light.onnx', 'fp32', 'wasm', 'cpu')];
  assert.deepEqual(list('cpu', '', several), ['small-int8.onnx', 'light.onnx']);
  assert.deepEqual(list('cpu', 'fp32', several), ['light.onnx']);
});

async function resolve(...settings: readonly (readonly [string, string])[]): Promise<string> {
  const options = createOptionStore();
  for (const [name, value] of settings) unwrap(options.set(name, value));
  const source = unwrap(await findModel(options));
  const path = unwrap(await resolveNetwork(options)).path;
  assert.equal('path' in source ? source.path : source.name, path);
  return path;
}

const suitable = (backend: string, precision = ''): string[] =>
  listSuitableNetworks(networks, backend, precision).map(({ file }) => join(folder, file));

test('options choose: the backend, then datatype, and a named file overrules both', async () => {
  const requireOne = (path: string, allowed: readonly string[]): void => assert.ok(allowed.includes(path), path);
  requireOne(await resolve(['Backend', 'cpu']), suitable('cpu'));
  requireOne(await resolve(['Backend', 'onnx-cuda']), suitable('cuda'));
  requireOne(await resolve(['Backend', 'cpu'], ['BackendOptions', 'datatype=f32']), suitable('cpu', 'fp32'));
  const precise = [
    ['Backend', 'cpu'],
    ['BackendOptions', 'datatype=f32'],
  ] as const;
  assert.equal(await resolve(...precise, ['WeightsFile', 'default']), await resolve(...precise));
  const tiny = join(folder, 'tiny-test.onnx');
  assert.equal(await resolve(['Backend', 'cpu'], ['WeightsFile', tiny]), tiny);
});

test('limited strength on a CPU plays with the network whose levels were measured, unless the user chooses', async () => {
  const measured = join(folder, `${LEVELS_NETWORK}.onnx`);
  for (const limit of [
    ['UCI_LimitStrength', 'true'],
    ['Skill Level', '19'],
  ] as const) {
    assert.equal(await resolve(['Backend', 'cpu'], limit), measured);
    assert.notEqual(await resolve(['Backend', 'cpu'], ['BackendOptions', 'datatype=f32'], limit), measured);
    assert.notEqual(await resolve(['Backend', 'onnx-cuda'], limit), measured);
    const light = join(folder, 'light.onnx');
    assert.equal(await resolve(['Backend', 'cpu'], ['WeightsFile', 'light'], limit), light);
  }
});

test('a bundled network has the name of its file, which overrules the backend and datatype', async () => {
  for (const network of networks) {
    const { file } = network;
    // The word `default` means the choice, so `sardonyx networks` and doctor name that file otherwise.
    const plain = file.replace('.onnx', '');
    const names = [file, getNetworkName(network), file.toUpperCase(), ...(plain === 'default' ? [] : [plain])];
    for (const name of names) {
      const settings = [
        ['Backend', 'cpu'],
        ['BackendOptions', 'datatype=f32'],
        ['WeightsFile', name],
      ] as const;
      assert.equal(await resolve(...settings), join(folder, file), name);
    }
  }
});

test('the processor in a device’s place gets its own network, not one for half precision', async () => {
  const requireSuitable = async (provider: string, choice: string, allowed: readonly string[]): Promise<void> => {
    const options = createOptionStore();
    unwrap(options.set('Backend', 'cuda'));
    unwrap(options.set('BackendOptions', choice));
    const path = unwrap(await resolveNetwork(options, provider)).path;
    assert.ok(allowed.includes(path), path);
  };
  await requireSuitable('cuda', 'fp16=true', suitable('cuda', 'fp16'));
  await requireSuitable('cpu', 'fp16=true', suitable('cpu'));
  await requireSuitable('cpu', 'datatype=f32', suitable('cpu', 'fp32'));
});
