/** The files in models/ are what bundled.json says of them, and every backend gets the one that is meant for it. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { type BundledNetwork, chooseBundledNetwork, listBundledNetworks } from '#sardonyx/app/bundled-networks.js';
import { findModel, resolveNetworkFile } from '#sardonyx/app/network-file.js';
import { createOptionStore } from '#sardonyx/app/option-list.js';
import { decodeModel } from '#sardonyx/lc0/onnx-model.js';
import { loadModel } from '#sardonyx/nn/index.js';
import { unwrap } from '#sardonyx/util/index.js';
import { repositoryRoot } from '../support/shared-folder.js';

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
    const model = unwrap(await loadModel({ path: join(folder, file) }));
    assert.equal(model.precision, precision, file);
    assert.equal(model.format.inputEncoding.name, input, file);
    assert.equal(model.format.policyEncoding.name, policy, file);
    assert.equal(model.needsWideSums, false, file);
    if (precision === 'int8') requireNarrowSums(content);
  }
});

test('every provider gets exactly one network', () => {
  for (const provider of PROVIDERS) {
    assert.equal(networks.filter(({ backends }) => backends.includes(provider)).length, 1, provider);
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
  const choose = (backend: string, precision = ''): string | undefined =>
    chooseBundledNetwork(table, backend, precision)?.file;
  assert.equal(choose('cpu'), 'small-int8.onnx');
  assert.equal(choose('cuda'), 'large.onnx');
  assert.equal(choose('cpu', 'fp32'), 'small.onnx');
  assert.equal(choose('dml', 'fp16'), 'large.onnx');
  assert.equal(chooseBundledNetwork(table.slice(0, 2), 'cpu', 'fp16')?.file, 'small.onnx', 'made of it');
  assert.equal(choose('coreml'), 'small.onnx');
  assert.equal(chooseBundledNetwork([table[0]], 'cpu', 'fp16')?.file, 'small.onnx');
  assert.equal(chooseBundledNetwork([], 'cpu', ''), null);
});

test('options choose: the backend, then datatype, and a named file overrules both', async () => {
  const resolve = async (...settings: [string, string][]): Promise<string> => {
    const options = createOptionStore();
    for (const [name, value] of settings) unwrap(options.set(name, value));
    const source = unwrap(await findModel(options));
    const path = unwrap(await resolveNetworkFile(options));
    assert.equal('path' in source ? source.path : source.name, path);
    return path;
  };
  const expected = (backend: string, precision = ''): string =>
    join(folder, chooseBundledNetwork(networks, backend, precision)?.file ?? '');
  assert.equal(await resolve(['Backend', 'cpu']), expected('cpu'));
  assert.equal(await resolve(['Backend', 'onnx-cuda']), expected('cuda'));
  assert.equal(await resolve(['Backend', 'cpu'], ['BackendOptions', 'datatype=f32']), expected('cpu', 'fp32'));
  assert.equal(
    await resolve(['Backend', 'cpu'], ['WeightsFile', join(folder, 'tiny-test.onnx')]),
    join(folder, 'tiny-test.onnx'),
  );
});

test('the processor in a device’s place gets its own network, not one for half precision', async () => {
  const resolve = async (provider: string, choice: string): Promise<string> => {
    const options = createOptionStore();
    unwrap(options.set('Backend', 'cuda'));
    unwrap(options.set('BackendOptions', choice));
    return unwrap(await resolveNetworkFile(options, provider));
  };
  const expected = (backend: string, precision = ''): string =>
    join(folder, chooseBundledNetwork(networks, backend, precision)?.file ?? '');
  assert.equal(await resolve('cuda', 'fp16=true'), expected('cuda', 'fp16'));
  assert.equal(await resolve('cpu', 'fp16=true'), expected('cpu'));
  assert.equal(await resolve('cpu', 'datatype=f32'), expected('cpu', 'fp32'));
});
