/** The ports themselves. Their types are checked when this file is compiled: a side that lacks a function, Node's or a page's, does not compile. */
import assert from 'node:assert/strict';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir, totalmem } from 'node:os';
import { dirname, join } from 'node:path';
import { after, test } from 'node:test';
import { deflateRawSync, gzipSync } from 'node:zlib';
import * as nodeByteStreams from '#platform/byte-streams.js';
import * as nodeCacheFiles from '#platform/cache-files.js';
import * as nodeFiles from '#platform/files.js';
import {
  createFolder,
  findCacheFolder,
  findHome,
  getConfigFolder,
  getDataFolder,
  getTemporaryFolder,
  listCacheFolders,
} from '#platform/folders.js';
import * as nodeLogFile from '#platform/log-file.js';
import * as nodeMachine from '#platform/machine.js';
import * as nodeOnnxRuntime from '#platform/onnx-runtime.js';
import * as nodeThreads from '#platform/threads.js';
import { concatBytes } from '#sardonyx/base/util/index.js';
import type * as pageByteStreams from '#sardonyx/platform/browser/browser-byte-streams.js';
import type * as pageCacheFiles from '#sardonyx/platform/browser/browser-cache-files.js';
import type * as pageFiles from '#sardonyx/platform/browser/browser-files.js';
import type * as pageLogFile from '#sardonyx/platform/browser/browser-log-file.js';
import type * as pageMachine from '#sardonyx/platform/browser/browser-machine.js';
import type * as pageOnnxRuntime from '#sardonyx/platform/browser/browser-onnx-runtime.js';
import type * as pageThreads from '#sardonyx/platform/browser/browser-threads.js';
import type {
  ByteStreamPort,
  CacheFilePort,
  FilePort,
  LogFilePort,
  MachinePort,
  OnnxRuntimePort,
  ThreadPort,
} from '#sardonyx/platform/platform-ports.js';
import { repositoryRoot } from '../support/shared-folder.js';

interface Ports {
  readonly byteStreams: ByteStreamPort;
  readonly cacheFiles: CacheFilePort;
  readonly files: FilePort;
  readonly logFile: LogFilePort;
  readonly machine: MachinePort;
  readonly onnxRuntime: OnnxRuntimePort;
  readonly threads: ThreadPort;
}

/** A page's side runs only in a page; here the compiler looks at it. */
interface PageSide {
  readonly byteStreams: typeof pageByteStreams;
  readonly cacheFiles: typeof pageCacheFiles;
  readonly files: typeof pageFiles;
  readonly logFile: typeof pageLogFile;
  readonly machine: typeof pageMachine;
  readonly onnxRuntime: typeof pageOnnxRuntime;
  readonly threads: typeof pageThreads;
}

type Shared<Side extends Ports> = Pick<Ports, keyof Side & keyof Ports>;

const {
  byteStreams,
  cacheFiles,
  files,
  logFile,
  machine,
  onnxRuntime,
  threads: port,
}: Shared<PageSide> = {
  byteStreams: nodeByteStreams,
  cacheFiles: nodeCacheFiles,
  files: nodeFiles,
  logFile: nodeLogFile,
  machine: nodeMachine,
  onnxRuntime: nodeOnnxRuntime,
  threads: nodeThreads,
};

const folder = mkdtempSync(join(tmpdir(), 'sardonyx-ports-'));
after(() => rmSync(folder, { recursive: true, force: true }));
const bytes = Uint8Array.from({ length: 100_000 }, (_, i) => (i * i) >> 7);

async function collect(chunks: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  for await (const part of chunks) parts.push(part);
  return concatBytes(parts);
}

test('gunzip gives back what was gzipped, in whatever pieces it comes, several members included', async () => {
  const packed = await byteStreams.gzip(bytes);
  assert.deepEqual(await collect(byteStreams.gunzip([packed])), bytes);
  const pieces = [packed.subarray(0, 9), packed.subarray(9), gzipSync(bytes)];
  assert.deepEqual(await collect(byteStreams.gunzip(pieces)), concatBytes([bytes, bytes]));
});

test('gunzip names what is wrong by zlib’s codes', async () => {
  const packed = await byteStreams.gzip(bytes);
  await assert.rejects(collect(byteStreams.gunzip([packed.subarray(0, -9)])), { code: 'Z_BUF_ERROR' });
  await assert.rejects(collect(byteStreams.gunzip([new Uint8Array(100)])), { code: 'Z_DATA_ERROR' });
});

test('deflate data say where they end, and are refused when they are damaged', async () => {
  const packed = concatBytes([deflateRawSync(bytes), bytes.subarray(0, 7)]);
  const inflater = new byteStreams.Inflater();
  const steps = [await inflater.inflate(packed.subarray(0, 99)), await inflater.inflate(packed.subarray(99))];
  assert.deepEqual(concatBytes(steps.flatMap((step) => step?.pieces ?? [])), bytes);
  assert.deepEqual([steps[1]?.isAtEnd, steps[1]?.unusedBytes], [true, 7]);
  assert.equal(await new byteStreams.Inflater().inflate(new Uint8Array(99).fill(255)), null);
  assert.equal(byteStreams.crc32(new TextEncoder().encode('123456789'), 0), 0xcbf43926);
});

test('SHA-256 is of all pieces together', async () => {
  const abc = 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad';
  assert.equal(await byteStreams.computeSha256([new TextEncoder().encode('abc')]), abc);
  assert.equal(await byteStreams.computeSha256(['a', 'bc'].map((text) => new TextEncoder().encode(text))), abc);
});

test('a file is read whole, in pieces and in parts', async () => {
  const path = join(folder, 'file.bin');
  writeFileSync(path, bytes);
  assert.equal(files.getFileName(path), 'file.bin');
  assert.equal(await files.getFileSize(path), bytes.length);
  assert.deepEqual(new Uint8Array(await files.readFile(path)), bytes);
  assert.deepEqual(await collect(files.streamFile(path)), bytes);
  assert.deepEqual(await files.readFilePart(path, 99_990, 50), bytes.subarray(99_990));
  const failure = await files.readFile(join(folder, 'none')).catch((error: unknown) => error);
  assert.equal(files.describeReadFailure(failure), 'there is no such file');
});

test('a cache file appears whole or not at all', async () => {
  const cache = join(folder, 'cache');
  const isWritten = await cacheFiles.writeCacheFile(cache, 'a', async (file) => {
    await file.write(bytes, 10);
    assert.deepEqual(
      readdirSync(cache).filter((name) => name === 'a'),
      [],
    );
    assert.equal(await file.getSize(), bytes.length + 10);
  });
  assert.ok(isWritten);
  assert.deepEqual(new Uint8Array(await cacheFiles.readCacheFile(cache, 'a')).subarray(10), bytes);
  const tail = await cacheFiles.withCacheFile(cache, 'a', (file) => file.read(bytes.length, 20));
  assert.deepEqual(tail, bytes.subarray(-10));
  await assert.rejects(
    cacheFiles.writeCacheFile(cache, 'b', () => Promise.reject(new RangeError('of the caller'))),
    RangeError,
  );
  assert.deepEqual(
    (await cacheFiles.listCacheFiles(cache)).map(({ name, bytes: size }) => [name, size]),
    [['a', bytes.length + 10]],
  );
  await cacheFiles.removeCacheFile(cache, 'a');
  await assert.rejects(cacheFiles.readCacheFile(cache, 'a'));
  assert.deepEqual(await cacheFiles.listCacheFiles(join(folder, 'none')), []);
});

test('a log goes to a file of this process, or to none', () => {
  assert.equal(logFile.getLogPath('engine-%p.log'), `engine-${process.pid}.log`);
  assert.deepEqual(['', '<stderr>'].map(logFile.getLogPath), [null, null]);
});

test('the machine has memory and cores', () => {
  assert.ok(machine.getMemoryBytes() > 2 ** 27);
  assert.ok(machine.getCoreCount() >= 1);
});

test('memory is the lowest limit of the own group and of all above it, by cgroup v1, v2 or both', (t) => {
  const root = mkdtempSync(join(tmpdir(), 'sardonyx-cgroup-'));
  t.after(() => rmSync(root, { recursive: true }));
  const own = nodeMachine.getMemoryBytes(join(root, 'nothing'));
  assert.equal(own, totalmem());
  const cases: readonly (readonly [string, string, Record<string, string>, number])[] = [
    ['v2, its own', '0::/a/b', { 'a/b/memory.max': '500000000', 'a/memory.max': '700000000' }, 5e8],
    ['v2, a parent', '0::/a/b', { 'a/b/memory.max': 'max', 'a/memory.max': '300000000' }, 3e8],
    ['v2, throttled', '0::/a', { 'a/memory.max': '500000000', 'a/memory.high': '400000000' }, 4e8],
    ['v2, a container with the path of its host', '0::/docker/12', { 'memory.max': '200000000' }, 2e8],
    ['v2, no limit', '0::/a', { 'a/memory.max': 'max' }, own],
    ['v1, a parent', '5:memory:/a/b', { 'memory/a/memory.limit_in_bytes': '100000000' }, 1e8],
    ['v1, no limit', '5:memory:/', { 'memory/memory.limit_in_bytes': '9223372036854771712' }, own],
    ['v1, two controllers', '5:cpu,memory:/a', { 'memory/a/memory.limit_in_bytes': '100000000' }, 1e8],
    ['v1, another controller', '5:cpu:/a', { 'memory/a/memory.limit_in_bytes': '100000000' }, own],
    [
      'both',
      '4:memory:/a\n0::/b',
      { 'memory/a/memory.limit_in_bytes': '600000000', 'unified/b/memory.max': '550000000' },
      5.5e8,
    ],
  ];
  for (const [name, groups, files, expected] of cases) {
    const folder = join(root, name);
    mkdirSync(join(folder, 'proc/self'), { recursive: true });
    writeFileSync(join(folder, 'proc/self/cgroup'), `${groups}\n`);
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, 'sys/fs/cgroup', path)), { recursive: true });
      writeFileSync(join(folder, 'sys/fs/cgroup', path), `${text}\n`);
    }
    assert.equal(nodeMachine.getMemoryBytes(folder), Math.min(own, expected), name);
  }
});

test('ONNX Runtime runs a network on tensors that share their memory with the caller', async () => {
  onnxRuntime.prepareRuntime(true);
  const session = await onnxRuntime.openSession({
    model: readFileSync(join(repositoryRoot, 'models', 'tiny-test.onnx')),
    provider: { name: 'cpu' },
    intraOpThreads: 1,
    optimization: 3,
    needsWideSums: false,
  });
  const policy = new Float32Array(2 * 1858);
  const value = new Float32Array(2 * 3);
  const planes = session.createTensor(new Float32Array(2 * 112 * 64), [2, 112, 8, 8]);
  await session.run(
    { '/input/planes': planes },
    {
      '/output/policy': session.createTensor(policy, [2, 1858]),
      '/output/wdl': session.createTensor(value, [2, 3]),
    },
  );
  assert.ok(policy.some((logit) => logit !== 0));
  assert.deepEqual(policy.subarray(0, 1858), policy.subarray(1858));
  assert.ok(Math.abs(value[0] + value[1] + value[2] - 1) < 1e-3);
  await session.release();
});

const script = new URL('../support/echo-thread.js', import.meta.url);

test('a thread has its data, answers messages that came before it listened, and ends when told to', async () => {
  const answers: unknown[] = [];
  const thread = port.startThread<string, unknown>(
    script,
    { name: 'echo', data: 7 },
    { onMessage: (a) => answers.push(a) },
  );
  for (const text of ['a', 'b', 'end']) thread.post(text);
  await thread.ended;
  assert.deepEqual(answers, [7, 'a', 'b']);
});

test('a thread that throws reports its exception, then its end', async () => {
  const events: string[] = [];
  const thread = port.startThread<string, unknown>(
    script,
    {},
    { onMessage: () => undefined, onError: ({ message }) => events.push(message) },
  );
  thread.post('throw');
  await thread.ended;
  assert.deepEqual(events, ['told to throw']);
});

test('a thread is terminated in the middle of a computation', async () => {
  let startSpinning: () => void;
  const spins = new Promise<void>((resolve) => {
    startSpinning = resolve;
  });
  const onMessage = (message: unknown): void => (message === 'spinning' ? startSpinning() : thread.post('spin'));
  const thread = port.startThread<string, unknown>(script, {}, { onMessage });
  await spins;
  await thread.terminate();
  await thread.ended;
});

const scratch = mkdtempSync(join(tmpdir(), 'sardonyx-folders-'));
after(() => rmSync(scratch, { recursive: true }));
const isPosix = process.platform !== 'win32';

test('a folder is made with all above it, and may be there already', () => {
  const folder = join(scratch, 'a', 'b', 'c');
  for (const path of [folder, `${folder}/`, join(scratch, 'a'), '.', '/']) {
    createFolder(path);
    assert.ok(statSync(path).isDirectory());
  }
});

test('all that are made get the mode', { skip: !isPosix }, () => {
  createFolder(join(scratch, 'own', 'kind'), 0o700);
  for (const name of ['own', 'own/kind']) assert.equal(statSync(join(scratch, name)).mode & 0o777, 0o700);
});

test('a link to a folder is as good as the folder', { skip: !isPosix }, () => {
  createFolder(join(scratch, 'real'));
  symlinkSync(join(scratch, 'real'), join(scratch, 'link'));
  createFolder(join(scratch, 'link'));
  createFolder(join(scratch, 'link', 'inner'));
  assert.ok(statSync(join(scratch, 'real', 'inner')).isDirectory());
});

test('what is in the way is one sentence', () => {
  const file = join(scratch, 'file');
  writeFileSync(file, '');
  for (const path of [file, join(file, 'inner'), join(file, 'inner', 'most')]) {
    assert.throws(() => createFolder(path), {
      message: `Cannot create the folder ${path}: there is a file of that name`,
    });
  }
  assert.throws(() => createFolder(''), { message: 'Cannot create the folder : the name is empty' });
});

test('a link into nowhere ends the search for a parent', { skip: !isPosix }, () => {
  const link = join(scratch, 'dangling');
  symlinkSync(join(scratch, 'nowhere'), link);
  for (const path of [link, join(link, 'inner')])
    assert.throws(() => createFolder(path), /^Error: Cannot create the folder/);
});

test('below /proc no folder can be made, and nobody waits for one', { skip: process.platform !== 'linux' }, () => {
  for (const path of ['/proc/x', '/proc/x/y/z']) {
    assert.throws(() => createFolder(path), {
      message: `Cannot create the folder ${path}: no folder can be created there`,
    });
  }
});

test('a home that does not exist, or is the root, is none, and nothing is made there', { skip: !isPosix }, () => {
  const missing = join(scratch, 'home');
  for (const HOME of [missing, '/', '//', '/..', join(scratch, 'file')]) {
    assert.equal(findHome({ HOME }), undefined, HOME);
    assert.equal(getConfigFolder({ HOME }), undefined, HOME);
    assert.equal(getDataFolder({ HOME }), undefined, HOME);
    assert.equal(getDataFolder({ HOME, SARDONYX_DATA: scratch }), scratch);
    assert.deepEqual(listCacheFolders({ HOME }), listCacheFolders({ HOME: '/' }));
    assert.ok(findCacheFolder('kind', { HOME, SARDONYX_CACHE: join(scratch, 'cache') }));
  }
  assert.ok(!existsSync(missing));
  assert.equal(findHome({ HOME: scratch }), scratch);
});

test('relative paths in HOME and XDG_* name no folder', { skip: process.platform !== 'linux' }, () => {
  const environment = { HOME: '.', XDG_CONFIG_HOME: 'settings', XDG_CACHE_HOME: './cache' };
  assert.equal(getConfigFolder(environment), undefined);
  assert.equal(getDataFolder(environment), undefined);
  assert.deepEqual(listCacheFolders(environment), listCacheFolders({ HOME: '/' }));
});

test('a missing folder of XDG_CACHE_HOME is made for the user alone', { skip: process.platform !== 'linux' }, () => {
  const xdg = join(scratch, 'xdg');
  assert.equal(
    findCacheFolder('kind', { HOME: '/', XDG_CACHE_HOME: join(xdg, 'cache') }),
    join(xdg, 'cache/sardonyx/kind'),
  );
  for (const name of ['', 'cache', 'cache/sardonyx']) assert.equal(statSync(join(xdg, name)).mode & 0o777, 0o700);
});

test('a TMPDIR that does not exist is not made: the system’s own folder takes its place', { skip: !isPosix }, (t) => {
  const { TMPDIR } = process.env;
  t.after(() => {
    if (TMPDIR === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = TMPDIR;
  });
  process.env.TMPDIR = join(scratch, 'no-tmp');
  assert.equal(getTemporaryFolder(), '/tmp');
  assert.ok(findCacheFolder('kind', { HOME: '/' }));
  assert.ok(!existsSync(process.env.TMPDIR));
});
