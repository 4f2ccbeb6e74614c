/** The door: what becomes of files that are networks, of files that are not, and of the cache. */
import assert from 'node:assert/strict';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { gzipSync } from 'node:zlib';
import { findCacheFolder } from '#platform/folders.js';
import { unwrap } from '#sardonyx/base/util/index.js';
import { loadLc0Network } from '#sardonyx/networks/lc0/index.js';
import { encodeNetworkFile, type FormatNumbers } from '../../support/lc0-network-file.js';
import { createRandomPlanes, openModel, runModel } from '../../support/lc0-onnx.js';
import { createRandomNetwork, type NetworkSpec } from '../../support/lc0-random-network.js';
import { findShared } from '../../support/shared-folder.js';

const folder = mkdtempSync(join(tmpdir(), 'sardonyx-lc0-'));
after(() => rmSync(folder, { recursive: true, force: true }));

const SPEC: NetworkSpec = { blocks: 1, filters: 4, value: 'wdl', movesLeft: true };
const file = encodeNetworkFile(createRandomNetwork(SPEC));
const WITHOUT_CACHE = { cacheFolder: null };
const LFS_POINTER = Buffer.from(
  `version https://git-lfs.github.com/spec/v1\noid sha256:${'4d7a2146'.repeat(8)}\nsize 12345\n`,
);

function encodeWith(format: FormatNumbers, spec: NetworkSpec = SPEC): Uint8Array {
  return encodeNetworkFile(createRandomNetwork({ ...spec, format }));
}

async function expectFailure(source: string | Uint8Array, pattern: RegExp): Promise<void> {
  const result = await loadLc0Network(source, WITHOUT_CACHE);
  assert.ok(!result.ok, 'the file was loaded');
  assert.match(result.error, pattern);
  assert.ok(!result.error.includes('\n'), 'the error is more than one line');
}

describe('a file that is not a network', () => {
  it('that does not exist', () => expectFailure(join(folder, 'none.pb.gz'), /none\.pb\.gz: there is no such file/));
  it('that is a folder', () => expectFailure(folder, /it is a folder/));
  it('that is empty', () => expectFailure(new Uint8Array(0), /the file is empty/));
  it('that is gzip of nothing', () => expectFailure(gzipSync(''), /the file is empty/));
  it('that Git has not fetched', () => expectFailure(LFS_POINTER, /it is a Git LFS pointer .*`git lfs pull`/));
  it('that is one byte', () => expectFailure(Uint8Array.of(0x1f), /it is not an lc0 network file/));
  it('that is text', () => expectFailure(Buffer.from('hello, world\n'), /it is not an lc0 network file/));
  it('that is gzip of text', () => expectFailure(gzipSync('hello, world\n'), /it is not an lc0 network file/));
  it('that is a text network of 2018', () => expectFailure(gzipSync('2\n0.5 0.5\n'), /text network of 2018/));
  it('that is a text network of version 1', () => expectFailure(gzipSync('1\n0.5\n'), /text network of version 1/));
  it('whose compressed data are damaged', () => {
    const damaged = file.slice();
    damaged.fill(0xff, 200, 400);
    return expectFailure(damaged, /the compressed data are damaged/);
  });
  it('that holds neither weights nor a model', () =>
    expectFailure(Uint8Array.of(0x0d, 0xc0, 1, 0, 0), /neither weights nor an ONNX model/));
  it('that needs a newer lc0', () =>
    expectFailure(
      encodeNetworkFile(createRandomNetwork(SPEC), { minVersion: [0, 99, 0] }),
      /it needs lc0 0\.99\.0, but only networks up to lc0 0\.\d+ are supported/,
    ));
});

describe('a network with something unknown', () => {
  const cases: [string, FormatNumbers, RegExp][] = [
    ['structure', { network: 77 }, /structure 77 is not supported/],
    ['input format', { input: 77 }, /input format 77 is not supported/],
    ['policy format', { policy: 77 }, /policy format 77 is not supported/],
    ['value format', { value: 3 }, /value format VALUE_PARAM is not supported/],
    ['moves-left format', { movesLeft: 9 }, /moves-left format 9 is not supported/],
    ['default activation', { defaultActivation: 5 }, /default activation 5 is not supported/],
    ['embedding', { inputEmbedding: 8 }, /input embedding 8 is not supported/],
  ];
  for (const [name, format, pattern] of cases) {
    it(`says which ${name} it is`, () => expectFailure(encodeWith(format), pattern));
  }
  it('says which activation it is', () =>
    expectFailure(encodeWith({ ffnActivation: 42 }, { encoders: 1, policy: 'attention' }), /unknown activation 42/));
  it('names the heads there are when another is asked for', async () => {
    const result = await loadLc0Network(file, { ...WITHOUT_CACHE, policyHead: 'soft' });
    assert.ok(!result.ok);
    assert.match(result.error, /no policy head "soft"; it has vanilla/);
  });
});

describe('a network that is cut off', () => {
  const plain = encodeNetworkFile(createRandomNetwork(SPEC), { compress: false });
  it('anywhere in its compressed form is refused', async () => {
    for (let part = 1; part < 40; part++) {
      const cut = file.subarray(0, Math.floor((file.length * part) / 40));
      const result = await loadLc0Network(cut, WITHOUT_CACHE);
      assert.ok(!result.ok);
      assert.match(result.error, /cut off/);
    }
  });
  it('anywhere in its inflated form is refused', async () => {
    for (let part = 1; part < 40; part++) {
      const cut = plain.subarray(0, Math.floor((plain.length * part) / 40));
      const result = await loadLc0Network(cut, WITHOUT_CACHE);
      assert.ok(!result.ok);
    }
  });
});

describe('a layer of the wrong size', () => {
  it('is named', async () => {
    const network = createRandomNetwork(SPEC);
    Object.assign(network.weights, { ip1ValB: network.weights.ip2ValB });
    const result = await loadLc0Network(encodeNetworkFile(network), WITHOUT_CACHE);
    assert.ok(!result.ok);
    assert.match(result.error, /layer ip1_val_w has \d+ values where \d+ are needed/);
  });
  it('is named when it is missing', async () => {
    const network = createRandomNetwork(SPEC);
    delete network.weights.ip2MovW;
    const result = await loadLc0Network(encodeNetworkFile(network), WITHOUT_CACHE);
    assert.ok(!result.ok);
    assert.match(result.error, /layer ip2_mov_w is missing/);
  });
});

describe('a small file that inflates to gigabytes', () => {
  it('is refused before it does', async () => {
    const bomb = Buffer.concat(Array.from({ length: 40 }, () => gzipSync(new Uint8Array(16 << 20))));
    const before = process.memoryUsage.rss();
    await expectFailure(bomb, /inflates to more than \d+ MB/);
    assert.ok(process.memoryUsage.rss() - before < 700e6, 'it took more than 700 MB to find out');
  });
  it('is refused when it is made of millions of empty layers', async () => {
    const layers = new Uint8Array(40 << 20).fill(0);
    for (let i = 0; i < layers.length; i += 2) layers[i] = 0x12;
    const head = Uint8Array.of(0x0d, 0xc0, 1, 0, 0, 0x52, 0x80, 0x80, 0x80, 0x14);
    await expectFailure(gzipSync(Buffer.concat([head, layers])), /more parts than any network has/);
  });
});

describe('the cache of converted networks', () => {
  const planes = createRandomPlanes(1, 1);

  it('gives the same model the second time', async () => {
    const options = { cacheFolder: join(folder, 'same') };
    const first = unwrap(await loadLc0Network(file, options));
    const second = unwrap(await loadLc0Network(file, options));
    assert.ok(!first.isFromCache);
    assert.ok(second.isFromCache);
    assert.deepEqual(second.onnx, first.onnx);
    assert.deepEqual(second.info, first.info);
    assert.deepEqual(
      readdirSync(options.cacheFolder).filter((name) => !name.endsWith('.onnx')),
      [],
    );
  });

  it('keeps precisions and heads apart', async () => {
    const options = { cacheFolder: join(folder, 'apart') };
    const multi = encodeNetworkFile(
      createRandomNetwork({ encoders: 1, policy: 'attention', positions: 'dense', isMultiHead: true }),
    );
    for (const choice of [{}, { precision: 'f16' }, { policyHead: 'soft' }, { valueHead: 'st' }] as const) {
      assert.ok(!unwrap(await loadLc0Network(multi, { ...options, ...choice })).isFromCache);
    }
    assert.equal(readdirSync(options.cacheFolder).length, 4);
  });

  it('keeps models for one processor apart', async () => {
    const options = { cacheFolder: join(folder, 'blocks') };
    const wide = encodeNetworkFile(createRandomNetwork({ ...SPEC, filters: 16 }));
    for (const channelBlock of [0, 8, 16]) {
      assert.ok(!unwrap(await loadLc0Network(wide, { ...options, channelBlock })).isFromCache);
    }
    assert.equal(readdirSync(options.cacheFolder).length, 3);
  });

  it('is not believed when a file in it is damaged', async () => {
    const options = { cacheFolder: join(folder, 'damaged') };
    const first = unwrap(await loadLc0Network(file, options));
    for (const name of readdirSync(options.cacheFolder)) truncateSync(join(options.cacheFolder, name), 5000);
    const second = unwrap(await loadLc0Network(file, options));
    assert.ok(!second.isFromCache);
    assert.deepEqual(second.onnx, first.onnx);
  });

  it('is not believed when a byte of a weight in it has changed', async () => {
    const options = { cacheFolder: join(folder, 'rotten') };
    const first = unwrap(await loadLc0Network(file, options));
    const [name] = readdirSync(options.cacheFolder);
    const path = join(options.cacheFolder, name);
    const bytes = readFileSync(path);
    bytes[bytes.length >> 1] ^= 1;
    writeFileSync(path, bytes);
    const second = unwrap(await loadLc0Network(file, options));
    assert.ok(!second.isFromCache);
    assert.deepEqual(second.onnx, first.onnx);
    const third = unwrap(await loadLc0Network(file, options));
    assert.ok(third.isFromCache);
    assert.deepEqual(third.onnx, first.onnx);
  });

  it('lies where SARDONYX_CACHE says', async () => {
    const before = process.env.SARDONYX_CACHE;
    process.env.SARDONYX_CACHE = join(folder, 'ours');
    try {
      assert.ok(!unwrap(await loadLc0Network(file)).isFromCache);
      assert.ok(unwrap(await loadLc0Network(file)).isFromCache);
      assert.equal(readdirSync(join(folder, 'ours', 'lc0')).length, 1);
    } finally {
      if (before === undefined) delete process.env.SARDONYX_CACHE;
      else process.env.SARDONYX_CACHE = before;
    }
  });

  it('lies in the next place when the first cannot be written to', { skip: process.platform !== 'linux' }, () => {
    const blocked = join(folder, 'no-folder');
    writeFileSync(blocked, '');
    const environment = { SARDONYX_CACHE: join(blocked, 'ours'), XDG_CACHE_HOME: join(folder, 'xdg') };
    assert.equal(findCacheFolder('lc0', environment), join(folder, 'xdg', 'sardonyx', 'lc0'));
  });

  it('may be impossible to write', async () => {
    const blocked = join(folder, 'blocked');
    writeFileSync(blocked, 'a file where the folder should be');
    const network = unwrap(await loadLc0Network(file, { cacheFolder: join(blocked, 'cache') }));
    assert.ok(!network.isFromCache);
    await runModel(await openModel(network), planes);
  });

  it('can hold the weights in a file of their own', async () => {
    const options = { cacheFolder: join(folder, 'weights'), weightsFileAboveBytes: 0 };
    const whole = unwrap(await loadLc0Network(file, WITHOUT_CACHE));
    const expected = await runModel(await openModel(whole), planes);
    for (const isFromCache of [false, true]) {
      const network = unwrap(await loadLc0Network(file, options));
      assert.equal(network.isFromCache, isFromCache);
      assert.equal(network.weightsFolder, options.cacheFolder);
      assert.ok(network.onnx.length < whole.onnx.length / 4);
      assert.deepEqual(await runModel(await openModel(network), planes), expected);
    }
    const weightsName = readdirSync(options.cacheFolder).find((name) => name.endsWith('.weights')) ?? '';
    const weightsPath = join(options.cacheFolder, weightsName);
    const weights = readFileSync(weightsPath);
    writeFileSync(weightsPath, Buffer.alloc(weights.length));
    assert.ok(!unwrap(await loadLc0Network(file, options)).isFromCache, 'zeros of the same length');
    assert.deepEqual(readFileSync(weightsPath), weights);
    truncateSync(weightsPath, 100);
    assert.ok(!unwrap(await loadLc0Network(file, options)).isFromCache);
  });

  it('falls back to one buffer when the weights cannot be written', async () => {
    const blocked = join(folder, 'blocked-weights');
    writeFileSync(blocked, '');
    const options = { cacheFolder: join(blocked, 'cache'), weightsFileAboveBytes: 0 };
    const network = unwrap(await loadLc0Network(file, options));
    assert.equal(network.weightsFolder, undefined);
    await runModel(await openModel(network), planes);
  });

  it('forgets the models that were not used for longest', async () => {
    const cacheFolder = join(folder, 'full');
    mkdirSync(cacheFolder);
    for (let i = 0; i < 40; i++) writeFileSync(join(cacheFolder, `old${i}.onnx`), '');
    unwrap(await loadLc0Network(file, { cacheFolder }));
    const names = readdirSync(cacheFolder);
    assert.equal(names.length, 24);
    assert.ok(names.some((name) => !name.startsWith('old')));
  });

  /** @param bytes of a file that is all holes */
  function placeInCache(cacheFolder: string, name: string, ageMinutes: number, bytes = 0): void {
    const path = join(cacheFolder, name);
    writeFileSync(path, '');
    truncateSync(path, bytes);
    const time = new Date(Date.now() - ageMinutes * 60_000);
    utimesSync(path, time, time);
  }

  it('forgets them, weights included, when there are too many bytes', async () => {
    const cacheFolder = join(folder, 'heavy');
    mkdirSync(cacheFolder);
    placeInCache(cacheFolder, 'recent.onnx', 1, 1000);
    placeInCache(cacheFolder, 'recent.weights', 500, 3e9);
    placeInCache(cacheFolder, 'older.onnx', 2, 1000);
    placeInCache(cacheFolder, 'older.weights', 500, 3e9);
    placeInCache(cacheFolder, 'oldest.onnx', 3);
    unwrap(await loadLc0Network(file, { cacheFolder }));
    const names = readdirSync(cacheFolder);
    assert.equal(names.length, 3);
    assert.ok(names.includes('recent.onnx') && names.includes('recent.weights'), names.join());
  });

  it('keeps the model just made, though others seem to be of tomorrow', async () => {
    const options = { cacheFolder: join(folder, 'tomorrow') };
    mkdirSync(options.cacheFolder);
    placeInCache(options.cacheFolder, 'tomorrow.onnx', -1440, 5e9);
    unwrap(await loadLc0Network(file, options));
    assert.ok(!readdirSync(options.cacheFolder).includes('tomorrow.onnx'));
    assert.ok(unwrap(await loadLc0Network(file, options)).isFromCache);
  });

  it('loses what killed conversions have left, but nothing of one that may be at work', async () => {
    const cacheFolder = join(folder, 'debris');
    mkdirSync(cacheFolder);
    for (const [prefix, ageMinutes] of [
      ['old', 61],
      ['new', 59],
    ] as const) {
      placeInCache(cacheFolder, `${prefix}.weights.17.ab12.tmp`, ageMinutes);
      placeInCache(cacheFolder, `${prefix}.onnx.17.ab12.tmp`, ageMinutes);
      placeInCache(cacheFolder, `${prefix}-orphan.weights`, ageMinutes);
    }
    placeInCache(cacheFolder, 'whole.onnx', 61);
    placeInCache(cacheFolder, 'whole.weights', 61);
    unwrap(await loadLc0Network(file, { cacheFolder }));
    const names = readdirSync(cacheFolder).filter((name) => !/^\w{40}\.onnx$/.test(name));
    assert.deepEqual(names.sort(), [
      'new-orphan.weights',
      'new.onnx.17.ab12.tmp',
      'new.weights.17.ab12.tmp',
      'whole.onnx',
      'whole.weights',
    ]);
  });
});

describe('the real network maia-1900', () => {
  const maia = findShared('nets/maia-1900.pb.gz');
  it('is described by its info', { skip: maia.skip }, async () => {
    const { info, onnx } = unwrap(await loadLc0Network(maia.path, WITHOUT_CACHE));
    assert.equal(info.structure, 'NETWORK_SE_WITH_HEADFORMAT');
    assert.equal(info.inputFormat, 'INPUT_CLASSICAL_112_PLANE');
    assert.equal(info.policyFormat, 'POLICY_CONVOLUTION');
    assert.equal(info.trainingSteps, 400000);
    assert.equal(info.hasMovesLeft, false);
    assert.ok(onnx.length > readFileSync(maia.path).length);
  });
});
