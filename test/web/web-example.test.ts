/** docs/examples/web as its readers try it: without a bundler, with Vite's server, and built by Vite. */
import assert from 'node:assert/strict';
import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, type TestContext, test } from 'node:test';
import type { Browser } from 'playwright-core';
import { build, createServer, preview } from 'vite';
import { launchBrowser } from '../support/browser.js';
import { repositoryRoot } from '../support/shared-folder.js';
import { startWebServer } from '../support/web-server.js';

const EXAMPLE = join(repositoryRoot, 'docs', 'examples', 'web');
const NETWORK = join(repositoryRoot, 'models', 'tiny-test.onnx');

let browser: Browser | null = null;
let reason = '';
/** A project with the package in its node_modules, as npm installs it. */
const project = mkdtempSync(join(tmpdir(), 'sardonyx-example-'));
const settings = { root: project, logLevel: 'error' } as const;

before(async () => {
  const launched = await launchBrowser();
  if ('browser' in launched) browser = launched.browser;
  else reason = launched.reason;
  cpSync(EXAMPLE, project, { recursive: true });
  const installed = join(project, 'node_modules', 'sardonyx');
  mkdirSync(installed, { recursive: true });
  cpSync(join(repositoryRoot, 'package.json'), join(installed, 'package.json'));
  cpSync(join(repositoryRoot, 'dist', 'web'), join(installed, 'dist', 'web'), { recursive: true });
});

after(async () => {
  await browser?.close();
  rmSync(project, { recursive: true, force: true });
});

/** The page loads its own network, analyses, takes a file for a network, and analyses again. */
async function tryExample(t: TestContext, origin: string): Promise<void> {
  if (browser === null) return t.skip(reason);
  const page = await browser.newPage();
  t.after(() => page.close());
  await page.goto(origin);
  const status = page.locator('#status');
  for (const network of ['Sardonyx light 48x3', 'random 16x2']) {
    if (network !== 'Sardonyx light 48x3') await page.setInputFiles('#network', NETWORK);
    await status.filter({ hasText: new RegExp(`^${network} on cpu`) }).waitFor({ timeout: 900_000 });
    await page.click('text=Analyse');
    await status.filter({ hasText: 'nodes' }).waitFor();
    // As long as one move alone was searched there is one line.
    await page.locator('#lines li:nth-child(3)').waitFor();
    await page.click('#stop');
    await status.filter({ hasText: /^Best: [a-h][1-8][a-h][1-8]$/ }).waitFor();
    assert.equal(await page.locator('#lines li').count(), 3);
  }
  await page.fill('#fen', 'nonsense');
  await page.click('text=Analyse');
  await status.filter({ hasText: 'is not a FEN: one begins with eight ranks' }).waitFor();
}

test('the example runs as plain modules', { timeout: 900_000 }, async (t) => {
  const server = await startWebServer(
    { '': EXAMPLE, sardonyx: join(repositoryRoot, 'dist', 'web') },
    true,
    undefined,
    '',
  );
  t.after(() => server.close());
  await tryExample(t, `${server.origin}/index.html`);
});

test('the example runs with Vite’s server', { timeout: 900_000 }, async (t) => {
  const server = await createServer({ ...settings, server: { port: 0, ws: false } });
  t.after(() => server.close());
  await server.listen();
  await tryExample(t, server.resolvedUrls?.local[0] ?? '');
});

test('the example runs as Vite builds it', { timeout: 900_000 }, async (t) => {
  await build(settings);
  const server = await preview({ ...settings, preview: { port: 0 } });
  t.after(() => server.close());
  await tryExample(t, server.resolvedUrls?.local[0] ?? '');
});
