/** The engine as a Worker of a page, in a real browser: the same lines as in Node. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, type TestContext, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { launchBrowser } from '../support/browser.js';
import { encodeNetworkFile } from '../support/lc0-network-file.js';
import { createRandomNetwork } from '../support/lc0-random-network.js';
import { repositoryRoot } from '../support/shared-folder.js';
import { startWebServer, type WebServer } from '../support/web-server.js';

/** Files that are no networks. */
const damaged = mkdtempSync(join(tmpdir(), 'sardonyx-damaged-'));
const FOLDERS = { '': join(repositoryRoot, 'dist', 'web'), networks: join(repositoryRoot, 'models'), damaged };
/** Longer than a busy machine takes. */
const LONGEST_MS = 600_000;
/** One leaf at a time: nothing depends on the speed of threads. */
const SEQUENTIAL = ['Threads value 1', 'MinibatchSize value 1', 'VerboseMoveStats value true'];

let browser: Browser | null = null;
let reason = '';
let isolated: WebServer;
let open: WebServer;

before(async () => {
  const launched = await launchBrowser();
  if ('browser' in launched) browser = launched.browser;
  else reason = launched.reason;
  isolated = await startWebServer(FOLDERS, true);
  open = await startWebServer(FOLDERS, false);
});

after(async () => {
  await browser?.close();
  rmSync(damaged, { recursive: true });
  isolated.close();
  open.close();
});

async function openPage(t: TestContext, { origin }: WebServer): Promise<Page | null> {
  if (browser === null) {
    t.skip(reason);
    return null;
  }
  const context = await browser.newContext();
  t.after(() => context.close());
  const page = await context.newPage();
  await page.goto(origin);
  return page;
}

/**
 * Sends lines to a new engine. A line `>word` waits for an answer that begins with the word; `!name` calls a function of the page.
 * @returns all answers
 */
function converse(page: Page, lines: readonly string[]): Promise<string[]> {
  const talk = async ([script, longestMs]: readonly [readonly string[], number]): Promise<string[]> => {
    // What the test's own libraries do not know: this runs in the page.
    type PageWorker = {
      onmessage: (event: { data: unknown }) => void;
      postMessage(line: string): void;
      terminate(): void;
    };
    const { Worker } = globalThis as unknown as { Worker: new (url: string, options: object) => PageWorker };
    const worker = new Worker('/sardonyx.js', { type: 'module' });
    const answers: string[] = [];
    let seen = 0;
    let wake = (): void => undefined;
    worker.onmessage = ({ data }) => {
      answers.push(String(data));
      wake();
    };
    for (const line of script) {
      if (line.startsWith('!')) {
        await (globalThis as unknown as Record<string, () => Promise<void>>)[line.slice(1)]();
        continue;
      }
      if (!line.startsWith('>')) {
        worker.postMessage(line);
        continue;
      }
      const deadline = performance.now() + longestMs;
      for (;;) {
        const found = answers.slice(seen).findIndex((answer) => answer.startsWith(line.slice(1)));
        if (found >= 0) {
          seen += found + 1;
          break;
        }
        if (performance.now() > deadline) throw new Error(`no ${line} after: ${answers.join(' | ')}`);
        await new Promise<void>((resolve) => {
          wake = resolve;
          setTimeout(resolve, 100);
        });
      }
    }
    worker.terminate();
    return answers;
  };
  return page.evaluate(talk, [lines, LONGEST_MS] as const);
}

/** What the program answers in Node. */
function converseInNode(lines: readonly string[]): string[] {
  const program = join(repositoryRoot, 'dist', 'cli', 'main.js');
  const input = lines.map((line) => (line.startsWith('>bestmove') ? 'wait' : line)).filter((line) => line[0] !== '>');
  const run = spawnSync(process.execPath, [program], {
    cwd: join(repositoryRoot, 'models'),
    input: `${input.join('\n')}\nquit\n`,
    encoding: 'utf8',
  });
  return run.stdout.trim().split('\n');
}

function pickResult(answers: readonly string[]): string[] {
  return answers.filter((line) => / N: |^bestmove/.test(line));
}

test('with the hash evaluator a page searches what Node searches, move for move', async (t) => {
  const page = await openPage(t, isolated);
  if (page === null) return;
  const options = ['Backend value hash', ...SEQUENTIAL].map((option) => `setoption name ${option}`);
  const lines = ['uci', '>uciok', ...options, 'isready', '>readyok', 'position startpos moves e2e4 c7c5'];
  for (const algorithm of ['tree', 'graph'])
    lines.push(`setoption name SearchAlgorithm value ${algorithm}`, 'go nodes 3000', '>bestmove');
  const inPage = pickResult(await converse(page, lines));
  assert.equal(inPage.length, 64);
  assert.deepEqual(inPage, pickResult(converseInNode(lines)));
});

test('with a network over WebAssembly the visits are those of Node', async (t) => {
  const page = await openPage(t, isolated);
  if (page === null) return;
  const script = (network: string): string[] => [
    ...[`WeightsFile value ${network}`, ...SEQUENTIAL].map((option) => `setoption name ${option}`),
    ...['isready', '>readyok', 'position startpos moves e2e4', 'go nodes 400', '>bestmove'],
  ];
  const inPage = pickResult(await converse(page, script('/networks/tiny-test.onnx')));
  const inNode = pickResult(converseInNode(script('tiny-test.onnx')));
  assert.equal(inPage.at(-1), inNode.at(-1));
  const visits = (lines: readonly string[]): Map<string, number> =>
    new Map(lines.slice(0, -2).map((line) => [line.split(' ')[2], Number(/N: +(\d+)/.exec(line)?.[1])]));
  const [page1, node1] = [visits(inPage), visits(inNode)];
  assert.deepEqual([...page1.keys()].sort(), [...node1.keys()].sort());
  const difference = [...page1].reduce((sum, [move, count]) => sum + Math.abs(count - (node1.get(move) ?? 0)), 0);
  assert.ok(difference / 800 <= 0.01, `total variation distance ${difference / 800}`);
});

test('a search stops when it is told to, and a second one follows', async (t) => {
  const page = await openPage(t, isolated);
  if (page === null) return;
  const answers = await converse(page, [
    ...[
      'setoption name Backend value hash',
      'isready',
      '>readyok',
      'go infinite',
      '>info depth 2',
      'stop',
      '>bestmove',
    ],
    ...['position startpos moves e2e4', 'go movetime 100', '>bestmove', 'isready', '>readyok'],
  ]);
  assert.equal(answers.filter((line) => line.startsWith('bestmove ')).length, 2);
});

test('a network that cannot be fetched or read is one sentence, and the one before stays', async (t) => {
  const page = await openPage(t, isolated);
  if (page === null) return;
  const [onnx, lc0] = [
    readFileSync(join(repositoryRoot, 'models', 'tiny-test.onnx')),
    encodeNetworkFile(createRandomNetwork({ blocks: 1 })),
  ];
  writeFileSync(join(damaged, 'cut.onnx'), onnx.subarray(0, onnx.length / 2));
  writeFileSync(join(damaged, 'cut.pb.gz'), lc0.subarray(0, lc0.length / 2));
  const cases: readonly [address: string, reason: RegExp][] = [
    ['/networks/nothing.onnx', /: the server answered 404$/],
    ['/', /: the server sent a web page$/],
    [`${open.origin}/networks/tiny-test.onnx`, /or the server does not let other sites read the file \(CORS\)$/],
    ['http://127.0.0.1:9/net.onnx', /: there is no answer, or /],
    ['/damaged/cut.onnx', /^[^:]*cut\.onnx\b/],
    ['/damaged/cut.pb.gz', /: the file is cut off/],
  ];
  const lines = cases.flatMap(([address]) => [`setoption name WeightsFile value ${address}`, 'isready', '>readyok']);
  const first = ['setoption name Backend value hash', 'isready', '>readyok', 'setoption name Backend value wasm'];
  const answers = await converse(page, [...first, ...lines, 'go nodes 10', '>bestmove']);
  const errors = answers.filter((line) => line.endsWith(' stays'));
  assert.equal(errors.length, cases.length, answers.join('\n'));
  for (const [index, [address, reason]] of cases.entries()) {
    const [sentence, rest] = errors[index].split(/; (?=hash)/);
    assert.ok(sentence.includes(`network ${address}`) || sentence.includes(address), sentence);
    assert.match(sentence.replace(/^info string /, ''), reason);
    assert.match(rest, /^hash\b.* stays$/);
  }
});

test('while a network of lc0 is converted the Worker answers', async (t) => {
  // The thread that converts is held until the Worker has answered.
  const held = join(damaged, 'held.txt');
  writeFileSync(held, 'held');
  const busy = `
    for (let isHeld = globalThis.name === 'thread:conversion-worker'; isHeld; ) {
      const request = new XMLHttpRequest();
      request.open('GET', '/damaged/held.txt', false);
      request.send();
      isHeld = request.responseText === 'held';
    }
  `;
  const server = await startWebServer(FOLDERS, true, (path, content) =>
    path === '/sardonyx.js' ? busy + content.toString() : content,
  );
  t.after(() => server.close());
  const page = await openPage(t, server);
  if (page === null) return;
  writeFileSync(join(damaged, 'whole.pb.gz'), encodeNetworkFile(createRandomNetwork({ blocks: 1 })));
  let requests = 0;
  page.on('request', (request) => void (request.url().endsWith('/held.txt') && requests++));
  await page.exposeFunction('conversion', async () => {
    while (requests === 0) await new Promise((resolve) => setTimeout(resolve, 20));
  });
  await page.exposeFunction('release', () => writeFileSync(held, 'free'));
  const answers = await converse(page, [
    ...['setoption name Backend value wasm', 'setoption name WeightsFile value /damaged/whole.pb.gz'],
    ...['!conversion', 'uci', '>uciok', '!release', 'isready', '>readyok', 'go nodes 10', '>bestmove'],
  ]);
  assert.equal(answers.filter((line) => /^error|Cannot/.test(line)).length, 0, answers.join('\n'));
});

test('a slow download says how far it is', async (t) => {
  const page = await openPage(t, isolated);
  if (page === null) return;
  const content = readFileSync(join(repositoryRoot, 'models', 'tiny-test.onnx'));
  const half = content.length / 2;
  const slow = createServer(async (_, response) => {
    response.writeHead(200, { 'content-length': content.length, 'access-control-allow-origin': '*' });
    response.write(content.subarray(0, half));
    // It speaks of what takes longer than a second.
    await new Promise((resolve) => setTimeout(resolve, 1500));
    response.write(content.subarray(half, half + 50_000));
    response.end(content.subarray(half + 50_000));
  });
  t.after(() => slow.close());
  await new Promise<void>((resolve) => slow.listen(0, 'localhost', resolve));
  const { port } = slow.address() as AddressInfo;
  const answers = await converse(page, [
    ...['setoption name Backend value wasm', `setoption name WeightsFile value http://localhost:${port}/slow.onnx`],
    ...['isready', '>readyok', 'go nodes 10', '>bestmove'],
  ]);
  const news = answers.filter((line) => line.startsWith('info string Downloading'));
  assert.ok(news.length >= 1, answers.join('\n'));
  assert.match(news[0], /^info string Downloading slow\.onnx: 0\.[12] of 0\.2 MB$/);
});

test('a browser without SIMD is told so', async (t) => {
  const launched = await launchBrowser(['--js-flags=--no-enable-sse4-1']);
  if ('reason' in launched) return t.skip(launched.reason);
  t.after(() => launched.browser.close());
  const page = await launched.browser.newPage();
  await page.goto(isolated.origin);
  const answers = await converse(page, ['uci', '>error']);
  assert.match(answers.at(-1) ?? '', /^error The engine needs WebAssembly with SIMD, which this browser lacks$/);
});

test('the default network is kept under its SHA-256, and replaced when the stored one is damaged', async (t) => {
  const page = await openPage(t, isolated);
  if (page === null) return;
  const bytes = readFileSync(join(repositoryRoot, 'models', 'light.onnx'));
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  // As in the page's own Cache Storage: the digest is the last part of the address.
  const change = (code: string): Promise<unknown> =>
    page.evaluate(`caches.open('sardonyx-bundled-networks').then(async (cache) => { ${code} })`);
  const start = ['setoption name Backend value cpu', 'setoption name Threads value 1', 'isready', '>readyok'];
  for (const isDamaged of [false, true]) {
    if (isDamaged) await change(`await cache.put('https://sardonyx.invalid/${sha256}', new Response('nonsense'))`);
    const answers = await converse(page, [...start, 'go nodes 2', '>bestmove']);
    assert.equal(answers.filter((line) => /error|Cannot/.test(line)).length, 0, answers.join('\n'));
    const stored = await change(
      'const [key] = await cache.keys(); return [key.url, (await (await cache.match(key)).arrayBuffer()).byteLength]',
    );
    assert.deepEqual(stored, [`https://sardonyx.invalid/${sha256}`, bytes.length]);
  }
});

/** WebGPU on a GPU in software that Chromium brings along. */
const SWIFTSHADER = ['--enable-unsafe-webgpu', '--use-webgpu-adapter=swiftshader', '--enable-features=Vulkan'];

test('a GPU that is lost in mid-search gives way to WebAssembly, and the search goes on', async (t) => {
  const launched = await launchBrowser(SWIFTSHADER);
  if ('reason' in launched) return t.skip(launched.reason);
  const { browser: withGpu } = launched;
  t.after(() => withGpu.close());
  const page = await withGpu.newPage();
  await page.goto(isolated.origin);
  const hasAdapter = await page.evaluate('navigator.gpu?.requestAdapter().then((adapter) => adapter !== null)');
  if (hasAdapter !== true) return t.skip('this browser has no WebGPU');
  await page.exposeFunction('crashGpu', async () => {
    const session = await withGpu.newBrowserCDPSession();
    await session.send('Browser.crashGpuProcess');
  });
  // A GPU in software takes seconds for each new shape of a batch.
  const network = ['WeightsFile value /networks/tiny-test.onnx', 'Backend value webgpu', 'MinibatchSize value 1'];
  const options = [...network, 'MaxPrefetch value 0', 'MateSearch value false'];
  const answers = await converse(page, [
    ...[...options.map((option) => `setoption name ${option}`), 'isready', '>readyok'],
    ...['go infinite', '>info depth 2', '!crashGpu', '>info string Backend webgpu failed, going on with cpu: '],
    ...['>info depth', '>info depth', 'stop', '>bestmove', 'ucinewgame', 'isready', '>readyok'],
    ...['position startpos moves e2e4', 'go nodes 50', '>bestmove'],
  ]);
  const nodes = answers.map((line) => Number(/ nodes (\d+)/.exec(line)?.[1] ?? 0));
  const failedAt = answers.findIndex((line) => line.includes('Backend webgpu failed'));
  const movedAt = answers.findIndex((line) => line.startsWith('bestmove'));
  assert.ok(Math.max(...nodes.slice(failedAt, movedAt)) > Math.max(...nodes.slice(0, failedAt)), answers.join('\n'));
  assert.equal(answers.filter((line) => /failed/.test(line)).length, 1, answers.join('\n'));
  assert.equal(
    answers.filter((line) => /^error|cannot|nothing can be evaluated/i.test(line)).length,
    0,
    answers.join('\n'),
  );
});

test('with WebGPU a level plays with the network whose levels were measured, full strength with the larger one', async (t) => {
  const page = await openPage(t, isolated);
  if (page === null) return;
  const asked: string[] = [];
  await page.context().route('**/*.onnx', (route) => {
    asked.push(route.request().url().split('/').at(-1) ?? '');
    return route.abort();
  });
  await page.exposeFunction('endPart', () => asked.push('|'));
  await converse(page, [
    ...['setoption name Backend value webgpu', 'setoption name UCI_LimitStrength value true', 'isready', '>readyok'],
    ...['!endPart', 'setoption name UCI_LimitStrength value false', 'isready', '>readyok'],
  ]);
  // What cannot be fetched gives way to the network of WebAssembly.
  assert.deepEqual(asked, ['light.onnx', 'light.onnx', '|', 'default.onnx', 'light.onnx']);
});

for (const [what, memory, error] of [
  ['a buffer', 'globalThis.SharedArrayBuffer', 'Array buffer allocation failed'],
  ['WebAssembly', 'WebAssembly.Memory', 'WebAssembly.Memory(): could not allocate memory'],
]) {
  test(`no memory for ${what} is one sentence`, async (t) => {
    // In the Worker and all its threads. Small ones, with which threads talk, are granted.
    const refusal = `
      const Granted = ${memory};
      ${memory} = class extends Granted {
        constructor(wanted) {
          if (!(wanted < 100_000)) throw new RangeError('${error}');
          super(wanted);
        }
      };
    `;
    const server = await startWebServer(FOLDERS, true, (path, content) =>
      path === '/sardonyx.js' ? refusal + content.toString() : content,
    );
    t.after(() => server.close());
    const page = await openPage(t, server);
    if (page === null) return;
    const options = ['Backend value wasm', 'WeightsFile value /networks/tiny-test.onnx'];
    const answers = await converse(page, [
      ...options.map((option) => `setoption name ${option}`),
      ...['uci', '>uciok', 'isready', '>readyok', 'go nodes 10', '>bestmove'],
    ]);
    const [first, ...others] = answers.filter((line) => /^info string (?:Cannot|No network)/.test(line));
    assert.match(first, /^info string Cannot evaluate[^:]*: there is not enough memory: close other programs[^:]*$/);
    for (const line of others) assert.equal(line, 'info string No network is loaded: the engine plays any legal move');
  });
}

test('a page that is not isolated is told what it lacks', async (t) => {
  const page = await openPage(t, open);
  if (page === null) return;
  const answers = await converse(page, ['uci', '>error', 'go nodes 1', '>error']);
  for (const answer of answers)
    assert.match(answer, /needs a cross-origin isolated page.*Cross-Origin-Embedder-Policy/);
});
