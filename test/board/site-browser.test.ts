/** The site, built by `npm run site`, in a real Chromium: in a folder of a host that sets no headers, with the engine in the page. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, type TestContext, test } from 'node:test';
import type { Browser, BrowserContext, BrowserContextOptions, Locator, Page } from 'playwright-core';
import { formatSan, parseFen, parseUciMove, START_FEN } from '#sardonyx/chess/index.js';
import { unwrap } from '#sardonyx/util/index.js';
import { findBarriers, loadText, typeMove } from '../support/board-page.js';
import { launchBrowser, launchFirefox } from '../support/browser.js';
import { encodeNetworkFile } from '../support/lc0-network-file.js';
import { createRandomNetwork } from '../support/lc0-random-network.js';
import { runCommand } from '../support/run-command.js';
import { repositoryRoot } from '../support/shared-folder.js';
import { startWebServer, type WebServer } from '../support/web-server.js';

const launched = await launchBrowser();
const skip = 'reason' in launched ? launched.reason : false;
const site = join(repositoryRoot, 'build', 'site');
const FOLDERS = { '': repositoryRoot, chess: site };
const TINY = join(repositoryRoot, 'models', 'tiny-test.onnx');
/** Engines start slowly where other work keeps the processor busy. */
const LONGEST_MS = 120_000;

function encodeLc0(compress: boolean): Uint8Array {
  return encodeNetworkFile(createRandomNetwork({ blocks: 1, filters: 16, value: 'wdl' }), { compress });
}

type Edit = (path: string, content: Buffer) => Buffer | string;

/** A file of the site, with code before its own. */
function prepend(file: string, code: string): Edit {
  return (path, content) => (path.endsWith(`/${file}`) ? code + content.toString() : content);
}

function hash(content: Buffer | string): string {
  return createHash('sha256').update(content).digest('hex');
}

async function openPage(context: BrowserContext, { origin }: WebServer): Promise<Page> {
  const page = await context.newPage();
  page.setDefaultTimeout(LONGEST_MS);
  await page.goto(`${origin}/chess/`);
  return page;
}

async function waitForEngine(page: Page, network: string): Promise<void> {
  await page.waitForSelector(`.engine-name:has-text("${network}")`);
}

/** In the dialog that is open. */
async function setNetworkFile(page: Page, name: string, content: Uint8Array): Promise<void> {
  const file = { name, mimeType: 'application/octet-stream', buffer: Buffer.from(content) };
  await page.getByLabel('Open a network file').setInputFiles(file);
}

async function openNetwork(page: Page, name: string, content: Uint8Array): Promise<void> {
  await page.getByRole('button', { name: 'Engine', exact: true }).click();
  await setNetworkFile(page, name, content);
  await page.waitForSelector(`dialog option:checked:has-text("${name}")`, { state: 'attached' });
  await page.keyboard.press('Escape');
  await page.waitForSelector('dialog', { state: 'detached' });
}

/** Opens a network of lc0's at the initial position: every prior is the one that Node computes of the same file. */
async function comparePriors(page: Page): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'sardonyx-site-'));
  const path = join(folder, 'lc0.pb.gz');
  writeFileSync(path, encodeLc0(true));
  const { stdout, stderr } = await runCommand(['eval', '--json', `--weights=${path}`, '--threads=1']);
  rmSync(folder, { recursive: true });
  assert.match(stdout, /^\{/, stderr);
  const position = unwrap(parseFen(START_FEN));
  const { policy } = JSON.parse(stdout) as { policy: { move: string; prior: number }[] };
  const wanted = policy.map(({ move, prior }) => [formatSan(position, unwrap(parseUciMove(position, move))), prior]);
  await openNetwork(page, 'lc0.pb.gz', encodeLc0(true));
  await page.keyboard.press('l');
  await page.getByRole('button', { name: 'All 20 moves' }).click();
  // In one look: the rows change places.
  const priors = (await page.evaluate(
    `[...document.querySelectorAll('.move-table tbody tr')].map((row) => [row.querySelector('.table-move').textContent, row.cells[2].textContent])`,
  )) as [string, string][];
  const told = new Map(priors.map(([san, prior]) => [san, Number(prior)]));
  for (const [san, prior] of wanted) {
    assert.ok(
      Math.abs((told.get(String(san)) ?? 0) - 100 * Number(prior)) < 0.11,
      `${san}: ${told.get(String(san))}, ${prior}`,
    );
  }
  await page.keyboard.press('l');
}

before(() => {
  execFileSync(process.execPath, [join(repositoryRoot, 'scripts', 'build-site.mjs')], { stdio: 'ignore' });
});

const inFirefox = await launchFirefox();
test('the site in Firefox: a network of lc0’s plays, with the priors it has in Node', {
  skip: 'reason' in inFirefox ? inFirefox.reason : false,
  timeout: 600_000,
}, async () => {
  const { browser } = inFirefox as { browser: Browser };
  const host = await startWebServer(FOLDERS, false);
  try {
    const page = await openPage(await browser.newContext(), host);
    await waitForEngine(page, 'Sardonyx');
    assert.equal(await page.evaluate('crossOriginIsolated'), true);
    await comparePriors(page);
    await page.getByRole('link', { name: 'Play' }).click();
    await page.getByText('White', { exact: true }).click();
    await page.getByText('No clock', { exact: true }).click();
    await page.getByText('0.2 s', { exact: true }).click();
    await page.getByRole('button', { name: 'Play', exact: true }).click();
    await typeMove(page, 'e4');
    await page.waitForSelector(':nth-match(.move, 2)');
  } finally {
    await browser.close();
    host.close();
  }
});

describe('the site in Chromium', { skip, timeout: 600_000 }, () => {
  const browser = (launched as { browser: Browser }).browser;

  after(() => browser.close());

  /** A host and a browser of its own. */
  async function visit(
    t: TestContext,
    { isIsolated = false, edit, ...options }: { isIsolated?: boolean; edit?: Edit } & BrowserContextOptions = {},
  ): Promise<{ readonly host: WebServer; readonly context: BrowserContext; readonly page: Page }> {
    const host = await startWebServer(FOLDERS, isIsolated, edit);
    const context = await browser.newContext(options);
    t.after(async () => {
      await context.close();
      host.close();
    });
    return { host, context, page: await openPage(context, host) };
  }

  /** Playwright's own waitForFunction needs eval, which the page forbids. */
  async function waitUntil(page: Page, condition: string): Promise<void> {
    // A page that loads itself again has no answer for a moment.
    while (!(await page.evaluate(condition).catch(() => false))) {
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  const keptNetworks = (page: Page): Locator => page.getByRole('list', { name: 'Networks kept in this browser' });

  test('without headers of the host the page is isolated, analyses, plays, reviews, and comes again without the host', async (t) => {
    const { host, context, page } = await visit(t);
    const requests: string[] = [];
    const complaints: string[] = [];
    context.on('request', (request) => requests.push(request.url()));
    page.on('console', (message) => {
      if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text());
    });
    page.on('pageerror', (error) => complaints.push(error.message));

    await waitForEngine(page, 'Sardonyx');
    assert.equal(await page.evaluate('crossOriginIsolated'), true);
    assert.equal(await page.evaluate('history.state?.sardonyxReloads'), undefined);
    assert.deepEqual(await page.locator('.nav a').allTextContents(), ['Analyse', 'Play', 'Review']);

    await page.keyboard.press('l');
    await page.waitForSelector('.line-move');
    await page.waitForSelector('.move-table tbody tr');
    await page.waitForSelector('.cg-shapes [cgHash]', { state: 'attached' });
    assert.deepEqual(await findBarriers(page), []);
    await page.getByRole('tab', { name: 'Tree' }).click();
    await page.getByRole('button', { name: 'Show the search tree' }).click();
    await page.waitForSelector('.tree-row');
    await page.getByRole('tab', { name: 'Explain' }).click();
    await page.getByRole('button', { name: 'Explain the network’s favourite' }).click();
    await page.waitForSelector('.weights li');
    await page.waitForSelector('cg-board [class*="explain-"]', { state: 'attached' });
    await page.getByRole('tab', { name: 'Graph' }).click();
    await page.waitForSelector('.chart canvas');
    await page.waitForSelector('cg-board [class*="explain-"]', { state: 'hidden' });
    await page.getByRole('tab', { name: 'Moves' }).click();
    await page.locator('.line-move').nth(1).click();
    await page.waitForSelector('.move-list .move:nth-of-type(2)');
    await page.keyboard.press('l');

    // One of lc0's, in both forms; a damaged one is refused with its reason, and is not kept.
    await openNetwork(page, 'lc0.pb', encodeLc0(false));
    await page.keyboard.press('ArrowUp');
    await comparePriors(page);
    await page.getByRole('button', { name: 'Engine', exact: true }).click();
    await setNetworkFile(page, 'half.pb', encodeLc0(false).subarray(0, 3000));
    await page.waitForSelector('.notice-error:has-text("half.pb"):has-text("the file is cut off")');
    await keptNetworks(page).filter({ hasNotText: 'half.pb' }).waitFor();
    await page.keyboard.press('Escape');

    // A network by file; one that is none is refused.
    await openNetwork(page, 'tiny-test.onnx', readFileSync(TINY));
    await waitForEngine(page, 'random 16x2');
    await page.getByRole('button', { name: 'Engine', exact: true }).click();
    await page.getByLabel('Open a network file').setInputFiles(join(repositoryRoot, 'package.json'));
    await page.waitForSelector('.notice-error:has-text("package.json is no network")');
    // One by its address.
    for (const name of ['nothing.onnx', 'tiny-test.onnx']) {
      await page.getByLabel('Address of a network').fill(`${host.origin}/models/${name}`);
      await page.getByRole('button', { name: 'Open', exact: true }).click();
    }
    await page.waitForSelector('.notice-error:has-text("/models/nothing.onnx: the server answered 404")');
    assert.deepEqual(await findBarriers(page), []);
    await page.keyboard.press('Escape');
    await waitForEngine(page, 'random 16x2');

    // A game to mate: every reply is forced.
    await loadText(page, 'k7/8/2K5/8/8/8/8/7Q w - - 0 1');
    await page.getByRole('link', { name: 'Play' }).click();
    await page.getByText('White', { exact: true }).click();
    await page.getByLabel('The position on the analysis board').check();
    await page.getByRole('button', { name: 'Play', exact: true }).click();
    await typeMove(page, 'Kb6');
    await page.waitForSelector('.move:has-text("Kb8")');
    await typeMove(page, 'Qb7');
    await page.waitForSelector('.result:has-text("You win by checkmate")');
    assert.deepEqual(await findBarriers(page), []);

    // It is reviewed with one click.
    await page.getByRole('button', { name: 'Review', exact: true }).click();
    await page.waitForSelector('.panel-review .move:has-text("Qb7")');
    await page.waitForSelector('.panel-review .summary td:has-text("%")');
    await page.waitForSelector('.panel-review button.primary:has-text("Review")');

    // A game with a clock of one's own: hint, takeback, resignation; it is kept, and saved as PGN.
    await page.getByRole('link', { name: 'Play' }).click();
    await page.getByRole('button', { name: 'New game' }).click();
    await page.getByText('Other …', { exact: true }).click();
    await page.getByLabel('Minutes').fill('3');
    await page.getByLabel('Increment in seconds').fill('1');
    await page.getByLabel('Standard').check();
    await page.getByRole('button', { name: 'Play', exact: true }).click();
    await page.waitForSelector('.actions:has-text("3:00 + 1 s")');
    await typeMove(page, 'e4');
    await page.waitForSelector(':nth-match(.move, 2)');
    await page.getByRole('button', { name: 'Hint' }).click();
    await page.waitForSelector('.cg-shapes [cgHash]', { state: 'attached' });
    await page.getByRole('button', { name: 'Take back' }).click();
    await page.waitForSelector('.move', { state: 'detached' });
    await typeMove(page, 'd4');
    await page.waitForSelector(':nth-match(.move, 2)');
    await page.reload();
    await page.waitForSelector(':nth-match(.move, 2)');
    await page.getByRole('button', { name: 'Resign' }).click();
    await page.locator('dialog').getByRole('button', { name: 'Resign' }).click();
    await page.waitForSelector('summary:has-text("Finished games (2)")');
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Save PGN' }).click(),
    ]);
    assert.match(
      readFileSync(await download.path(), 'utf8'),
      /\[TimeControl "180\+1"\][\s\S]*1\. d4 \{ \[%clk 0:0[23]:/,
    );

    await page.getByRole('link', { name: 'Review' }).click();
    await loadText(page, '[White "Anna"]\n[Black "Ben"]\n\n1. e4 e5 2. Qh5 Ke7 3. Qxe5# 1-0', 'Load a game');
    await page.getByLabel('How thoroughly').selectOption('100');
    await page.getByRole('button', { name: 'Review', exact: true }).click();
    await page.waitForSelector('.summary td:has-text("%")');
    await page.waitForSelector('.move small:has-text("#")');
    assert.deepEqual(await findBarriers(page), []);

    await page.setViewportSize({ width: 390, height: 844 });
    for (const name of ['Analyse', 'Play', 'Review']) {
      await page.getByRole('link', { name, exact: true }).click();
      await page.waitForSelector(`.panel-${name.toLowerCase()}`);
      assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 390, name);
      assert.deepEqual(await findBarriers(page), [], name);
    }
    assert.deepEqual(complaints, []);

    // The second visit, with no host at all: files and networks are there, and the one that ran last runs.
    host.close();
    await page.close();
    const again = await openPage(context, host);
    await waitForEngine(again, 'random 16x2');
    await again.getByRole('button', { name: 'Engine', exact: true }).click();
    await again.locator('dialog select').first().selectOption('bundled');
    await waitForEngine(again, 'Sardonyx');
    const remove = keptNetworks(again).getByRole('button', { name: /^Remove / });
    const count = await remove.count();
    assert.ok(count > 0);
    assert.deepEqual(await findBarriers(again), []);
    for (let left = count; left > 0; left--) {
      await remove.first().click();
      await waitUntil(again, `document.querySelectorAll('.kept-networks li').length === ${left - 1}`);
    }
    assert.equal(
      await again.evaluate(
        "caches.open('sardonyx-opened-networks').then(async (cache) => (await cache.keys()).length)",
      ),
      0,
    );
    await again.keyboard.press('Escape');
    await again.getByRole('link', { name: 'Analyse' }).click();
    await again.keyboard.press('l');
    await again.waitForSelector('.move-table tbody tr');
    assert.deepEqual(
      requests.filter((url) => !url.startsWith(`${host.origin}/`) && !/^(data|blob):/.test(url)),
      [],
    );
  });

  test('a network on the host that is not the one of this build is refused', async (t) => {
    const edit: Edit = (path, content) => (path.endsWith('.onnx') ? Buffer.concat([content, Buffer.of(0)]) : content);
    const { page } = await visit(t, { edit });
    await page.waitForSelector('.notice-error:has-text("is not the one of this version: reload the page")');
    await page.waitForSelector('.engine-name:has-text("is not the one of this version")');
  });

  test('a script on the host that is not of this build is never run', async (t) => {
    const { page } = await visit(t, { edit: prepend('board-worker.js', '/* newer */') });
    await page.waitForSelector('.obstacle:has-text("the files of the page could not be stored")');
  });

  test('a newer build waits until the older page is left, and then takes over as a whole', async (t) => {
    const read = (name: string): string => readFileSync(join(site, name), 'utf8');
    const index = read('index.html');
    const build = /sardonyx-build" content="(\w+)"/.exec(index)?.[1] ?? '';
    const newIndex = index.replace(build, 'newer');
    let isNew = false;
    const edit: Edit = (path, content) => {
      if (!isNew) return content;
      if (path.endsWith('/index.html')) return newIndex;
      if (!path.endsWith('/service-worker.js')) return content;
      return content.toString().replaceAll(hash(index), hash(newIndex)).replaceAll(build, 'newer');
    };
    const { host, page } = await visit(t, { edit });
    const readBuild = 'document.querySelector("meta[name=sardonyx-build]").content';
    await waitForEngine(page, 'Sardonyx');
    assert.equal(await page.evaluate(readBuild), build);
    isNew = true;
    const hasWaiting = 'navigator.serviceWorker.ready.then(({ waiting }) => waiting?.state === "installed")';
    await page.evaluate('navigator.serviceWorker.ready.then((registration) => registration.update())');
    await waitUntil(page, hasWaiting);
    // Another tab keeps the older build.
    const tab = await openPage(page.context(), host);
    await waitForEngine(tab, 'Sardonyx');
    assert.equal(await tab.evaluate(readBuild), build);
    await tab.close();
    await page.reload();
    await waitUntil(page, `${readBuild} === 'newer' && crossOriginIsolated`);
    await waitForEngine(page, 'Sardonyx');
  });

  test('a host with headers needs no service worker', async (t) => {
    const { page } = await visit(t, { isIsolated: true, serviceWorkers: 'block' });
    await waitForEngine(page, 'Sardonyx');
  });

  test('what keeps the engine from running is one sentence in the page', async (t) => {
    const { page } = await visit(t, { serviceWorkers: 'block' });
    await page.waitForSelector('.obstacle:has-text("needs a cross-origin isolated page"):has-text("service worker")');
    await page.waitForSelector('.lost:has-text("No engine")');
    await page.keyboard.press('l');
    assert.deepEqual(await findBarriers(page), []);

    const cases = [
      ['delete globalThis.SharedArrayBuffer;', '.obstacle:has-text("needs a cross-origin isolated page")'],
      ['WebAssembly.validate = () => false;', '.obstacle:has-text("WebAssembly with SIMD, which this browser lacks")'],
      ['throw new Error("planted");', '.obstacle:has-text("The engine does not start: Uncaught Error: planted")'],
    ] as const;
    for (const [code, selector] of cases) {
      const edit = prepend('board-worker.js', code);
      const { page: other } = await visit(t, { isIsolated: true, serviceWorkers: 'block', edit });
      await other.waitForSelector(selector);
    }
  });

  test('a browser that keeps nothing, and one without memory', async (t) => {
    const unstored = 'caches.open = () => Promise.reject(new DOMException("no storage", "SecurityError"));';
    const noMemory = 'WebAssembly.Memory = function () { throw new RangeError("could not allocate memory"); };';
    const plain = { isIsolated: true, serviceWorkers: 'block' } as const;
    const { page } = await visit(t, { ...plain, edit: prepend('board-worker.js', unstored) });
    await waitForEngine(page, 'Sardonyx');
    const { page: poor } = await visit(t, { ...plain, edit: prepend('sardonyx.js', noMemory) });
    await poor.waitForSelector('.engine-name:has-text("memory")');
  });
});
