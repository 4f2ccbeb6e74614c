/** Networks of a page: sent as a file, by a name of the catalogue, damaged. On the CPU with a tiny network. */
import assert from 'node:assert/strict';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { EngineDescription } from '#sardonyx/board/protocol/replies.js';
import { BoardProcess, type BoardSocket } from '../support/board-process.js';
import { findStubObstacle, startHttpsStub } from '../support/https-stub.js';
import { encodeNetworkFile } from '../support/lc0-network-file.js';
import { createRandomNetwork } from '../support/lc0-random-network.js';
import { repositoryRoot } from '../support/shared-folder.js';

const TINY = join(repositoryRoot, 'models', 'tiny-test.onnx');
const lc0Network = Buffer.from(encodeNetworkFile(createRandomNetwork({ blocks: 1, filters: 16, value: 'wdl' })));
const folder = mkdtempSync(join(tmpdir(), 'sardonyx-board-networks-'));
const temporary = join(folder, 'tmp');

let board: BoardProcess;
let page: BoardSocket;

before(async () => {
  for (const name of ['tmp', 'offered', 'cache/networks']) mkdirSync(join(folder, name), { recursive: true });
  writeFileSync(join(folder, 'offered', 'damaged.onnx'), readFileSync(TINY).subarray(0, 2000));
  copyFileSync(join(repositoryRoot, 'models', 'light-48x5.onnx'), join(folder, 'offered', 'light-48x5.onnx'));
  symlinkSync(TINY, join(folder, 'offered', 'same.onnx'));
  writeFileSync(join(folder, 'cache', 'networks', 'maia-1100.pb.gz'), lc0Network);
  const environment = { TMPDIR: temporary, SARDONYX_CACHE: join(folder, 'cache') };
  const networks = `--networks=${join(folder, 'offered')}`;
  board = await BoardProcess.start([`--weights=${TINY}`, '--threads=1', networks], environment);
  page = await board.connect();
});

after(async () => {
  page.close();
  await board.stop();
  rmSync(folder, { recursive: true, force: true });
});

async function describeEngine(): Promise<EngineDescription> {
  return (await page.ask('describe')).answer as EngineDescription;
}

async function think(): Promise<void> {
  const question = { position: { fen: null, moves: [] }, limits: { nodes: 20 }, multiPv: 1, elo: null };
  assert.equal((await page.ask('think', question)).type, 'answer');
}

test('a network file is sent, offered to every page, used, and gone when the server ends', async () => {
  const news = page.waitFor(({ type }) => type === 'description');
  const sent = await board.send('files/network?name=mine.pb.gz', lc0Network);
  assert.deepEqual([sent.status, sent.text], [200, 'mine.pb.gz\n']);
  await news;
  assert.ok((await describeEngine()).networks.some(({ name }) => name === 'mine.pb.gz'));
  assert.equal((await page.ask('useNetwork', { name: 'mine.pb.gz' })).type, 'answer');
  assert.equal((await describeEngine()).network, 'mine.pb.gz');
  await think();
  assert.ok(readdirSync(temporary).some((name) => name.startsWith('sardonyx-sent-')));
});

test('a damaged network is one sentence, and the engine keeps the one it has', async () => {
  const before = await describeEngine();
  const refused = await board.send('files/network?name=half.pb.gz', lc0Network.subarray(0, lc0Network.length / 2));
  assert.equal(refused.status, 422);
  assert.match(refused.text, /^[^\n]*half\.pb\.gz[^\n]*\n$/);
  const { error } = await page.ask('useNetwork', { name: 'damaged.onnx' });
  assert.match(String(error), /damaged\.onnx.*stays$/);
  const { network, running, problem } = await describeEngine();
  assert.deepEqual([network, running, problem], [before.network, before.running, '']);
  await think();
});

test('bundled networks are offered and used by name; a copy or link of one that is listed is not listed again', async () => {
  const { networks } = await describeEngine();
  assert.deepEqual(
    networks.filter(({ name }) => /same|\(2\)/.test(name)),
    [],
  );
  const bundled = networks.filter(({ description }) => description.startsWith('bundled, '));
  assert.ok(bundled.length > 1, JSON.stringify(networks));
  for (const { name } of bundled) {
    assert.equal((await page.ask('useNetwork', { name })).type, 'answer', name);
    assert.equal((await describeEngine()).network, name);
  }
  await think();
});

test('networks of the catalogue are offered by name; one that is here already is used', async () => {
  const { networks } = await describeEngine();
  const needsDownload = new Map(networks.map((entry) => [entry.name, entry.needsDownload]));
  assert.equal(needsDownload.get('maia-1100'), false);
  assert.equal(needsDownload.get('bt4'), true);
  assert.equal((await page.ask('useNetwork', { name: 'maia-1100' })).type, 'answer');
  assert.equal((await describeEngine()).network, 'maia-1100');
});

test('a network that is not here is fetched, and every page sees how far it is', {
  skip: findStubObstacle(),
}, async () => {
  const stub = await startHttpsStub((_, response) => {
    response.writeHead(200, { 'content-length': lc0Network.length });
    response.write(lc0Network.subarray(0, 100), () => setTimeout(() => response.end(lc0Network.subarray(100)), 50));
  });
  const remote = await BoardProcess.start([`--weights=${stub.address}/net.pb.gz`, '--threads=1'], stub.environment);
  try {
    const [one, two] = [await remote.connect(), await remote.connect()];
    await one.ask('useNetwork', { name: 'bundled' });
    const cache = join(stub.folder, 'cache', 'networks');
    for (const name of readdirSync(cache)) rmSync(join(cache, name));
    const progress = two.waitFor(({ type, isDone }) => type === 'progress' && isDone === true);
    assert.equal((await one.ask('useNetwork', { name: 'net.pb.gz' })).type, 'answer');
    assert.equal((await progress).text, 'Downloading net.pb.gz');
    one.close();
    two.close();
  } finally {
    await remote.stop();
    await stub.close();
  }
});

test('the sent files are removed when the server ends', async () => {
  await board.stop();
  assert.deepEqual(
    readdirSync(temporary).filter((name) => name.startsWith('sardonyx-sent-')),
    [],
  );
  assert.ok(existsSync(temporary));
});
