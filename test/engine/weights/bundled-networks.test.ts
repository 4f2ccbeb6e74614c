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
  chooseNetwork,
  getNetworkName,
  listBundledNetworks,
} from '#sardonyx/engine/weights/bundled-networks.js';
import { findModel, resolveNetwork } from '#sardonyx/engine/weights/network-file.js';
import { decodeModel, loadModel } from '#sardonyx/networks/nn/index.js';
import { repositoryRoot } from '../../support/shared-folder.js';

const folder = join(repositoryRoot, 'models');
const networks = listBundledNetworks();
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
    const model = unwrap(await loadModel({ bytes: content, name: file }));
    assert.equal(model.precision, precision, file);
    assert.equal(model.format.inputEncoding.name, input, file);
    assert.equal(model.format.policyEncoding.name, policy, file);
    assert.equal(model.needsWideSums, false, file);
    if (precision === 'int8') requireNarrowSums(content);
  }
});

test('every provider has one network for any machine; one before it may ask for a feature of the processor', () => {
  for (const provider of PROVIDERS) {
    const meant = networks.filter(({ backends }) => backends.includes(provider));
    assert.equal(meant.filter(({ processor }) => processor === undefined).length, 1, provider);
    assert.equal(meant.at(-1)?.processor, undefined, provider);
    if (provider !== 'cpu') assert.equal(meant.length, 1, provider);
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

test('a backend gets its network; a precision that is asked for comes first; something is better than nothing', () => {
  const choose = (backend: string, precision = '', among = table): string | undefined =>
    chooseNetwork(among, backend, precision)?.file;
  assert.equal(choose('cpu'), 'small-int8.onnx');
  assert.equal(choose('cuda'), 'large.onnx');
  assert.equal(choose('cpu', 'fp32'), 'small.onnx');
  assert.equal(choose('dml', 'fp16'), 'large.onnx');
  assert.equal(choose('cpu', 'fp16', table.slice(0, 2)), 'small.onnx', 'made of it');
  assert.equal(choose('coreml'), 'small.onnx');
  assert.equal(choose('cpu', 'fp16', [table[0]]), 'small.onnx');
  assert.equal(choose('cpu', '', []), undefined);
});

test('the first network plays of which the processor has what it asks for, unless its precision is asked for', () => {
  const among = [{ ...table[1], processor: 'vnni' }, entry('light.onnx', 'fp32', 'wasm', 'cpu')];
  const choose = (precision: string, ...features: string[]): string | undefined =>
    chooseNetwork(among, 'cpu', precision, (name) => features.includes(name))?.file;
  assert.equal(choose('', 'avx2', 'vnni'), 'small-int8.onnx');
  assert.equal(choose('', 'avx2'), 'light.onnx');
  assert.equal(choose('fp32', 'vnni'), 'light.onnx');
  assert.equal(choose('int8', 'avx2'), 'small-int8.onnx');
});

async function resolve(...settings: readonly (readonly [string, string])[]): Promise<string> {
  const options = createOptionStore();
  for (const [name, value] of settings) unwrap(options.set(name, value));
  const source = unwrap(await findModel(options));
  const path = unwrap(await resolveNetwork(options)).path;
  assert.equal('path' in source ? source.path : source.name, path);
  return path;
}

const choose = (backend: string, precision = ''): string =>
  join(folder, chooseNetwork(networks, backend, precision)?.file ?? '');

test('options choose: the backend, then datatype, and a named file overrules both', async () => {
  assert.equal(await resolve(['Backend', 'cpu']), choose('cpu'));
  assert.equal(await resolve(['Backend', 'onnx-cuda']), choose('cuda'));
  assert.equal(await resolve(['Backend', 'cpu'], ['BackendOptions', 'datatype=f32']), choose('cpu', 'fp32'));
  const precise = [
    ['Backend', 'cpu'],
    ['BackendOptions', 'datatype=f32'],
  ] as const;
  assert.equal(await resolve(...precise, ['WeightsFile', 'default']), await resolve(...precise));
  const tiny = join(folder, 'tiny-test.onnx');
  assert.equal(await resolve(['Backend', 'cpu'], ['WeightsFile', tiny]), tiny);
});

test('limited strength plays with the network whose levels were measured, unless the user chooses', async () => {
  const measured = join(folder, `${LEVELS_NETWORK}.onnx`);
  for (const limit of [
    ['UCI_LimitStrength', 'true'],
    ['Skill Level', '19'],
  ] as const) {
    assert.equal(await resolve(['Backend', 'cpu'], limit), measured);
    assert.notEqual(await resolve(['Backend', 'cpu'], ['BackendOptions', 'datatype=f32'], limit), measured);
    assert.equal(await resolve(['Backend', 'onnx-cuda'], limit), measured);
    const int8 = join(folder, 'default-int8.onnx');
    assert.equal(await resolve(['Backend', 'cpu'], ['WeightsFile', 'default-int8'], limit), int8);
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
  const requireChoice = async (provider: string, choice: string, expected: string): Promise<void> => {
    const options = createOptionStore();
    unwrap(options.set('Backend', 'cuda'));
    unwrap(options.set('BackendOptions', choice));
    const path = unwrap(await resolveNetwork(options, provider)).path;
    assert.equal(path, expected);
  };
  await requireChoice('cuda', 'fp16=true', choose('cuda', 'fp16'));
  await requireChoice('cpu', 'fp16=true', choose('cpu'));
  await requireChoice('cpu', 'datatype=f32', choose('cpu', 'fp32'));
});
