/** The typed engine in a page: the same cases as in Node, bundled and run in a real browser. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { rolldown } from 'rolldown';
import { engineCases } from '../engine/library/engine-cases.js';
import { launchBrowser } from '../support/browser.js';
import { encodeNetworkFile } from '../support/lc0-network-file.js';
import { createRandomNetwork } from '../support/lc0-random-network.js';
import { repositoryRoot } from '../support/shared-folder.js';
import { silenceWorkers } from '../support/silent-workers.js';
import { startWebServer, type WebServer } from '../support/web-server.js';

const scratch = mkdtempSync(join(tmpdir(), 'sardonyx-page-'));
let browser: Browser | null = null;
let page: Page;
let reason = '';
let server: WebServer;
const trouble: string[] = [];

/** Node's assertions by the npm package of the same name. */
async function bundleCases(): Promise<void> {
  const bundle = await rolldown({
    input: join(repositoryRoot, 'build', 'test', 'engine', 'library', 'engine-cases.js'),
    platform: 'browser',
    resolve: { alias: { 'node:assert/strict': 'assert/' } },
  });
  const banner = 'globalThis.global ??= globalThis; globalThis.process ??= { env: {} };';
  await bundle.write({ file: join(scratch, 'engine-cases.js'), format: 'esm', banner });
}

before(async () => {
  await bundleCases();
  writeFileSync(join(scratch, 'random.pb.gz'), encodeNetworkFile(createRandomNetwork({ blocks: 1 })));
  const folders = { web: 'dist/web', models: 'models' };
  server = await startWebServer(
    {
      ...Object.fromEntries(Object.entries(folders).map(([name, folder]) => [name, join(repositoryRoot, folder)])),
      scratch,
      '': scratch,
    },
    true,
  );
  const launched = await launchBrowser();
  if ('reason' in launched) {
    reason = launched.reason;
    return;
  }
  browser = launched.browser;
  page = await browser.newPage();
  page.on('console', (message) => trouble.push(message.text()));
  page.on('pageerror', (error) => trouble.push(error.message));
  await page.goto(server.origin);
  await page.evaluate(prepareWorld);
});

after(async () => {
  await browser?.close();
  server.close();
  rmSync(scratch, { recursive: true });
});

/** Runs in the page. */
async function prepareWorld(): Promise<void> {
  const [{ createEngine, createEnginePool }, { engineCases: cases }] = await Promise.all(
    ['/web/index.js', '/scratch/engine-cases.js'].map((address) => import(address)),
  );
  const base = globalThis as unknown as { location: { href: string }; world: object; cases: object };
  const locate = (path: string): URL => new URL(path, base.location.href);
  const onnxNetwork = locate('/models/tiny-test.onnx');
  base.cases = cases;
  base.world = {
    engine: await createEngine({ weights: onnxNetwork, threads: 1 }),
    createEngine,
    createEnginePool,
    missingNetwork: locate('/nowhere/net.onnx').href,
    onnxNetwork,
    lc0Network: locate('/scratch/random.pb.gz'),
    readFile: async (address: URL) => new Uint8Array(await (await fetch(address)).arrayBuffer()),
  };
}

for (const [index, { name }] of engineCases.entries()) {
  test(`in a page ${name}`, { timeout: 900_000 }, async (t) => {
    if (browser === null) return t.skip(reason);
    await page.evaluate((at) => {
      const { cases, world } = globalThis as unknown as { cases: typeof engineCases; world: never };
      return cases[at].run(world);
    }, index);
  });
}

test('createEngine survives silent Workers, and rejects with one sentence after four of them', {
  timeout: 900_000,
}, async (t) => {
  if (browser === null) return t.skip(reason);
  const own = await browser.newPage();
  t.after(() => own.close());
  for (const [code, wanted] of [
    [silenceWorkers(1), /^[a-h][1-8][a-h][1-8]$/],
    [silenceWorkers(1e9, 50), /^Cannot evaluate with .*: the browser has started none of 4 Workers$/],
  ] as const) {
    await own.goto(server.origin);
    const said = await own.evaluate(`(async () => {
      const { createEngine } = await import('/web/index.js');
      ${code}
      const engine = await createEngine({ weights: new URL('/models/tiny-test.onnx', location.href), threads: 1 });
      return (await engine.go({ nodes: 10 }).bestMove).move;
    })().catch(({ message }) => message)`);
    assert.match(String(said), wanted);
  }
});

test('in a page without memory createEngine rejects with one sentence', { timeout: 900_000 }, async (t) => {
  if (browser === null) return t.skip(reason);
  const refused = await page.evaluate(async () => {
    const base = globalThis as unknown as {
      world: { createEngine(settings: object): Promise<unknown>; onnxNetwork: URL };
      SharedArrayBuffer: new (bytes: number) => object;
    };
    const Granted = base.SharedArrayBuffer;
    base.SharedArrayBuffer = class extends Granted {
      constructor(bytes: number) {
        if (bytes > 100_000) throw new RangeError('Array buffer allocation failed');
        super(bytes);
      }
    };
    try {
      return await base.world.createEngine({ weights: base.world.onnxNetwork }).then(
        () => 'an engine',
        (error: Error) => error.message,
      );
    } finally {
      base.SharedArrayBuffer = Granted;
    }
  });
  assert.match(refused, /^Cannot evaluate: there is not enough memory: close other programs[^:]*$/);
});

test('none of it wrote to the console, which holds only what the browser says itself', (t) => {
  if (browser === null) return t.skip(reason);
  const ofBrowser = /^(Failed to load resource: .* 404 \(Not Found\)|No available adapters\.)$/;
  assert.deepEqual(
    trouble.filter((line) => !ofBrowser.test(line)),
    [],
  );
});
