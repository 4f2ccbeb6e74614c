/** Networks by name and by address, from a server on this machine: the hosts of the catalogue are not asked. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { after, before, beforeEach, type TestContext, test } from 'node:test';
import { NETWORK_CATALOGUE } from '#sardonyx/engine/weights/index.js';
import {
  findStubObstacle,
  type HttpsStub,
  type Outcome,
  runProgram,
  startHttpsStub,
} from '../../../support/https-stub.js';
import { encodeNetworkFile } from '../../../support/lc0-network-file.js';
import { createRandomNetwork } from '../../../support/lc0-random-network.js';
import { runCommand } from '../../../support/run-command.js';
import { findShared, repositoryRoot } from '../../../support/shared-folder.js';

const skip = findStubObstacle();
const network = Buffer.from(encodeNetworkFile(createRandomNetwork({ blocks: 1, filters: 16, value: 'wdl' })));
const sha256 = createHash('sha256').update(network).digest('hex');
const half = Math.floor(network.length / 2);

let stub: HttpsStub;
let plainAddress = '';
/** Path and Range header of each request. */
const asked: string[] = [];
/** Paths that were asked for before. */
const seen = new Set<string>();

function serveRest(request: IncomingMessage, response: ServerResponse, bytes = network): void {
  const start = Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? '')?.[1] ?? 0);
  if (start === 0) {
    response.writeHead(200, { 'content-length': bytes.length }).end(bytes);
    return;
  }
  const range = `bytes ${start}-${bytes.length - 1}/${bytes.length}`;
  response
    .writeHead(206, { 'content-length': bytes.length - start, 'content-range': range })
    .end(bytes.subarray(start));
}

function breakOff(response: ServerResponse, bytes: Buffer): void {
  response.writeHead(200, { 'content-length': network.length });
  // The end of the connection after the bytes, and not in their place.
  response.write(bytes, () => response.socket?.end());
}

function redirect(response: ServerResponse, status: number, location: string): void {
  response.writeHead(status, { location }).end();
}

function answer(request: IncomingMessage, response: ServerResponse): void {
  const path = request.url ?? '';
  const isFirst = !seen.has(path);
  seen.add(path);
  asked.push(`${path} ${request.headers.range ?? ''}`.trim());
  const answers: Record<string, () => void> = {
    '/net.pb.gz': () => serveRest(request, response),
    '/moved': () => redirect(response, 302, '/moved-again'),
    '/moved-again': () => redirect(response, 307, `${stub.address}/net.pb.gz`),
    '/insecure': () => redirect(response, 301, 'http://localhost:9/net.pb.gz'),
    '/detour': () => redirect(response, 302, plainAddress),
    '/round': () => redirect(response, 302, '/round'),
    '/nowhere': () => redirect(response, 302, 'file:///etc/passwd'),
    '/broken': () => (isFirst ? breakOff(response, network.subarray(0, half)) : serveRest(request, response)),
    '/no-ranges': () => {
      if (isFirst) breakOff(response, network.subarray(0, half));
      else response.writeHead(200, { 'content-length': network.length }).end(network);
    },
    '/always-broken': () => breakOff(response, Buffer.alloc(0)),
    '/slow': () => {
      if (request.headers.range !== undefined) serveRest(request, response);
      else response.writeHead(200, { 'content-length': network.length }).write(network.subarray(0, half));
    },
    '/endless': () => response.writeHead(200, { 'content-length': 3e9 }).write(network),
    '/page.pb.gz': () => response.end('<html>Log in</html>'),
    '/busy': () => (isFirst ? response.writeHead(503).end() : serveRest(request, response)),
  };
  const known = answers[path];
  if (known === undefined) response.writeHead(404).end();
  else known();
}

before(async () => {
  if (skip === false) stub = await startHttpsStub(answer);
});
after(() => stub?.close());
beforeEach(() => {
  asked.length = 0;
  seen.clear();
  if (skip === false) rmSync(join(stub.folder, 'cache'), { recursive: true, force: true });
});

/** In the process of the test. */
function run(args: readonly string[], environment: NodeJS.ProcessEnv = {}): Promise<Outcome> {
  const { SARDONYX_CACHE } = stub.environment;
  return runCommand(args, { cwd: stub.folder, env: { SARDONYX_CACHE, ...environment } });
}

function get(path: string, digest = sha256): Promise<Outcome> {
  return run(['networks', 'get', `${stub.address}${path}#sha256=${digest}`]);
}

function listCache(): string[] {
  const folder = join(stub.folder, 'cache', 'networks');
  return existsSync(folder) ? readdirSync(folder) : [];
}

function assertDownloaded({ status, stdout, stderr }: Outcome): void {
  assert.equal(status, 0, stderr);
  assert.deepEqual(readFileSync(stdout.trim()), network);
  assert.equal(listCache().length, 1);
}

test('every entry of the catalogue has an address, a digest and a name of its own', () => {
  assert.equal(new Set(NETWORK_CATALOGUE.map(({ name }) => name)).size, NETWORK_CATALOGUE.length);
  assert.equal(new Set(NETWORK_CATALOGUE.map((entry) => entry.sha256)).size, NETWORK_CATALOGUE.length);
  for (const entry of NETWORK_CATALOGUE) {
    assert.match(entry.sha256, /^[0-9a-f]{64}$/);
    assert.match(entry.url, /^https:\/\/.*\.pb\.gz$/);
    assert.match(entry.name, /^[a-z0-9-]+$/);
  }
});

const maia = findShared('nets/maia-1100.pb.gz');

test('the digests of the catalogue are those of the files that are at hand', { skip: maia.skip }, () => {
  const present = NETWORK_CATALOGUE.filter(({ name }) => findShared(`nets/${name}.pb.gz`).skip === false);
  for (const { name, sha256: expected } of present) {
    const bytes = readFileSync(findShared(`nets/${name}.pb.gz`).path);
    assert.equal(createHash('sha256').update(bytes).digest('hex'), expected, name);
  }
});

test('redirects are followed, and what is here is not downloaded again', { skip }, async () => {
  assertDownloaded(await get('/moved'));
  assert.deepEqual(asked, ['/moved', '/moved-again', '/net.pb.gz']);
  const again = await get('/moved');
  assertDownloaded(again);
  assert.match(again.stderr, /is already downloaded/);
  assert.equal(asked.length, 3);
});

test('a redirect that leaves encryption on the way to an encrypted address is refused before it is followed', {
  skip,
}, async (t) => {
  let plainRequests = 0;
  const plain = createServer((_, response) => {
    plainRequests++;
    redirect(response, 302, `${stub.address}/net.pb.gz`);
  });
  await new Promise<void>((resolve) => plain.listen(0, '127.0.0.1', resolve));
  t.after(() => plain.close());
  plainAddress = `http://127.0.0.1:${(plain.address() as AddressInfo).port}/`;
  const { status, stderr } = await get('/detour');
  assert.equal(status, 1);
  assert.match(stderr, /detour leads to http:\/\/127\.0\.0\.1:\d+\/, which is not encrypted/);
  assert.equal(plainRequests, 0);
  // From an address that was not encrypted it may go to one that is.
  assert.equal((await run(['networks', 'get', `${plainAddress}net.pb.gz#sha256=${sha256}`])).status, 0);
});

/** A proxy that opens tunnels (CONNECT). @returns its port, and the targets that it was asked for */
async function startProxy(t: TestContext): Promise<{ readonly port: number; readonly targets: string[] }> {
  const targets: string[] = [];
  const proxy = createServer();
  proxy.on('connect', (request: IncomingMessage, socket: Socket) => {
    targets.push(request.url ?? '');
    const target = connect(Number(new URL(stub.address).port), '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
      socket.pipe(target).pipe(socket);
    });
    for (const end of [socket, target]) end.on('error', () => socket.destroy());
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    proxy.closeAllConnections();
    proxy.close();
  });
  return { port: (proxy.address() as AddressInfo).port, targets };
}

test('downloads go through the proxy of HTTPS_PROXY, except to the hosts of NO_PROXY', { skip }, async (t) => {
  const { port, targets } = await startProxy(t);
  const url = `${stub.address}/net.pb.gz`;
  const download = (change: NodeJS.ProcessEnv): Promise<Outcome> =>
    runProgram({ ...stub, environment: { ...stub.environment, ...change } }, [
      'networks',
      'get',
      `${url}#sha256=${sha256}`,
    ]);
  const proxied = await download({ HTTPS_PROXY: `http://127.0.0.1:${port}` });
  assertDownloaded(proxied);
  assert.deepEqual(targets, [new URL(stub.address).host]);
  rmSync(join(stub.folder, 'cache'), { recursive: true });
  assertDownloaded(await download({ https_proxy: `http://127.0.0.1:${port}`, no_proxy: 'localhost' }));
  assert.equal(targets.length, 1);
  rmSync(join(stub.folder, 'cache'), { recursive: true });
  const { status, stderr } = await download({ HTTPS_PROXY: 'not a proxy' });
  assert.equal(status, 1);
  assert.match(stderr, /\nCannot reach \S+ \(HTTPS_PROXY or HTTP_PROXY is not a URL such as http:\/\/proxy:3128\)\n$/);
});

test('a broken transfer goes on where it stopped, or from the start where the server knows no ranges', {
  skip,
}, async () => {
  assertDownloaded(await get('/broken'));
  assert.equal(asked.length, 2);
  assert.match(asked[1], /^\/broken bytes=[1-9]\d+-$/);
  rmSync(join(stub.folder, 'cache'), { recursive: true });
  assertDownloaded(await get('/no-ranges'));
});

test('bundled networks are in the list too, and need no download', { skip }, async () => {
  const list = JSON.parse((await run(['networks', '--json'])).stdout) as Record<string, string>[];
  const light = list.find(({ name }) => name === 'light');
  assert.equal(light?.path, join(repositoryRoot, 'models', 'light.onnx'));
  assert.match(light.purpose, /^bundled, fp32; for wasm.*, limited strength$/);
  const { stdout } = await run(['--version', '--weights=light']);
  assert.match(stdout, /models.light\.onnx$/m);
  const { status, stderr } = await run(['networks', 'get', 'light']);
  assert.equal(status, 1);
  assert.equal(stderr, 'The network light comes with the program: use it with --weights=light\n');
});

test('a server that is busy is asked again, one that sends nothing is given up', { skip }, async () => {
  assertDownloaded(await get('/busy'));
  const { status, stderr } = await get('/always-broken');
  assert.equal(status, 1);
  assert.match(stderr, /\nThe transfer of \S+ broke off[^\n]*\n$/);
});

test('two programs that want the same network at once both get it', { skip }, async () => {
  const args = ['networks', 'get', `${stub.address}/net.pb.gz#sha256=${sha256}`];
  for (const outcome of await Promise.all([runProgram(stub, args), runProgram(stub, args)])) {
    assert.equal(outcome.status, 0, outcome.stderr);
    assert.deepEqual(readFileSync(outcome.stdout.trim()), network);
  }
  assert.equal(listCache().length, 1);
});

test('doctor says that a configured network is still to be downloaded', { skip }, async () => {
  writeFileSync(join(stub.folder, 'sardonyx.config'), 'weights=maia-1500\n');
  const { stdout } = await run(['doctor', '--json', '--providers='], { SARDONYX_CONFIG: stub.folder });
  rmSync(join(stub.folder, 'sardonyx.config'));
  const findings = JSON.parse(stdout) as { what: string; text: string; fix?: string }[];
  const finding = findings.find(({ what }) => what === 'network');
  assert.match(finding?.text ?? '', /^maia-1500 is not on this machine/);
  assert.equal(finding?.fix, 'sardonyx networks get maia-1500');
});

test('a download that was killed is resumed by the next start', { skip }, async () => {
  const program = join(repositoryRoot, 'dist', 'cli', 'main.js');
  const args = [program, 'networks', 'get', `${stub.address}/slow#sha256=${sha256}`];
  const child = spawn(process.execPath, args, { env: stub.environment });
  const isHalf = (): boolean =>
    listCache().some((name) => readFileSync(join(stub.folder, 'cache', 'networks', name)).length === half);
  while (!isHalf()) await new Promise((resolve) => setTimeout(resolve, 25));
  child.kill('SIGKILL');
  await new Promise((resolve) => child.once('exit', resolve));
  assertDownloaded(await get('/slow'));
  assert.deepEqual(asked, ['/slow', `/slow bytes=${half}-`]);
});

test('a remainder of another file costs one more transfer, not the download', { skip }, async () => {
  const folder = join(stub.folder, 'cache', 'networks');
  mkdirSync(folder, { recursive: true });
  const first = await get('/net.pb.gz');
  const path = first.stdout.trim();
  rmSync(path);
  // A process number that no system gives.
  writeFileSync(`${path}.99999999.part`, Buffer.alloc(100, 1));
  assertDownloaded(await get('/net.pb.gz'));
  assert.deepEqual(asked, ['/net.pb.gz', '/net.pb.gz bytes=100-', '/net.pb.gz']);
});

test('another digest, a missing file, an unencrypted redirect and no network are one sentence each', {
  skip,
}, async () => {
  const cases: [() => Promise<Outcome>, RegExp][] = [
    [
      () => get('/net.pb.gz', '0'.repeat(64)),
      new RegExp(`has the SHA-256 ${sha256}, not 0+: it is damaged or another file`),
    ],
    [() => get('/nothing-here'), /nothing-here answers 404/],
    [() => get('/endless'), /endless is larger than 2000 MB/],
    [() => run(['networks', 'get', `${stub.address}/page.pb.gz`]), /page\.pb\.gz is no network: /],
    [() => get('/insecure'), /insecure leads to http:\/\/localhost:9\/net\.pb\.gz, which is not encrypted/],
    [() => get('/round'), /round leads to other addresses more than 10 times/],
    [() => get('/nowhere'), /leads to file:\/\/\/etc\/passwd, which is no address of a file/],
    [() => run(['networks', 'get', 'https://localhost:1/net.pb.gz']), /Cannot reach https:\/\/localhost:1\//],
    [() => run(['networks', 'get', `${stub.address}/net.pb.gz#md5=1`]), /which is not #sha256= and 64/],
    [() => run(['networks', 'get', 'no-such-network']), /^There is no network no-such-network/],
    [() => run(['networks', 'get', 'maia-1100', `--from=${stub.address}/net.pb.gz`]), /SHA-256 \w+, not e1cf1cd0/],
  ];
  for (const [ask, sentence] of cases) {
    const { status, stdout, stderr } = await ask();
    assert.equal(status, 1, stderr);
    assert.equal(stdout, '');
    assert.match(stderr.trimEnd().split('\n').at(-1) ?? '', sentence);
  }
  assert.deepEqual(listCache(), []);
  const { stdout } = await run(['--version', '--weights=maia-1100']);
  assert.match(stdout, /maia-1100 is not on this machine: sardonyx networks get maia-1100 downloads it/);
});

test('--weights=https://… and setoption WeightsFile download a network and play with it', { skip }, async () => {
  const url = `${stub.address}/net.pb.gz#sha256=${sha256}`;
  const { status, stdout, stderr } = await run(['eval', '--backend=cpu', `--weights=${url}`]);
  assert.equal(status, 0, stderr);
  assert.match(stdout, /^Score: /);
  assert.match(stderr, /^Downloading https[\s\S]*\nDownloaded 100 % of 0\.5 MB\n$/);
  rmSync(join(stub.folder, 'cache'), { recursive: true });
  const lines = [`setoption name WeightsFile value ${url}`, 'isready', 'go nodes 20', ''];
  const game = await runProgram(stub, ['--backend=cpu', '--threads=1'], lines.join('\n'));
  assert.match(game.stdout, /^info string Downloading /m);
  assert.match(game.stdout, /^readyok[\s\S]*^bestmove [a-h][1-8]/m);
  assert.doesNotMatch(game.stdout, /^info string (Cannot|error)/m);
});

test('a name of the catalogue plays with the file in the cache, and the list shows where it is', {
  skip: skip || maia.skip,
}, async () => {
  const folder = join(stub.folder, 'cache', 'networks');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'maia-1100.pb.gz'), readFileSync(maia.path));
  const { status, stdout, stderr } = await run(['eval', '--backend=cpu', '--weights=maia-1100']);
  assert.equal(status, 0, stderr);
  assert.match(stdout, /^Score: /);
  assert.equal(stderr, '');
  const list = JSON.parse((await run(['networks', '--json'])).stdout) as { name: string; path: string }[];
  assert.equal(list.find(({ name }) => name === 'maia-1100')?.path, join(folder, 'maia-1100.pb.gz'));
  assert.deepEqual(asked, []);
});
