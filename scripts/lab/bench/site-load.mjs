#!/usr/bin/env node
// How long the site takes in Chromium, from a local server without headers: first paint, and the time from opening the page until its
// engine has a network and is warm, on the first visit (nothing stored, one reload for isolation) and on the second. Then CPU time of the page's
// thread from a click on a move to the next frame, while the engine analyses with five lines: other work on the machine does not count.
// usage: node scripts/lab/bench/site-load.mjs [runs]   (after `npm run build` and `npm run site`)
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { launchBrowser } from '../../../build/test/support/browser.js';
import { startWebServer } from '../../../build/test/support/web-server.js';

const site = fileURLToPath(new URL('../../../build/site', import.meta.url));
const runs = Number(process.argv[2]) || 5;
const LONGEST_MS = 120_000;
const CLICKS = 40;
const GAME =
  '1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 4. Ba4 Nf6 5. O-O Be7 6. Re1 b5 7. Bb3 d6 8. c3 O-O 9. h3 Nb8 10. d4 Nbd7 *';

/** Runs in the page: stores the time at which the engine's name appears, which means that the engine is ready. */
const WATCH = `new MutationObserver(() => {
  if (/ on /.test(document.querySelector('.engine-name')?.textContent ?? '')) window.readyAt ??= Date.now();
}).observe(document, { subtree: true, childList: true, characterData: true });`;

async function visit(context, address) {
  const page = await context.newPage();
  const openedAt = Date.now();
  await page.goto(address);
  await page.waitForSelector('.engine-name:has-text(" on ")', { timeout: LONGEST_MS });
  const ready = (await page.evaluate('window.readyAt')) - openedAt;
  const paint = await page.evaluate('performance.getEntriesByName("first-contentful-paint")[0].startTime');
  await page.close();
  return { ready, paint: Math.round(paint) };
}

async function measureClicks(context, address) {
  const page = await context.newPage();
  page.setDefaultTimeout(LONGEST_MS);
  await page.goto(address);
  await page.waitForSelector('.engine-name:has-text(" on ")');
  await page.keyboard.press('p');
  await page.getByLabel('FEN or PGN').fill(GAME);
  await page.keyboard.press('Control+Enter');
  await page.getByRole('button', { name: 'Lines, limits, arrows, numbers' }).click();
  await page.getByLabel('Number of lines').fill('5');
  await page.getByLabel('Number of lines').blur();
  await page.keyboard.press('l');
  await page.getByRole('button', { name: 'Columns' }).click();
  await page.waitForSelector('.move-table tbody tr');
  const session = await context.newCDPSession(page);
  await session.send('Performance.enable', { timeDomain: 'threadTicks' });
  const readCpuMs = async () => {
    const { metrics } = await session.send('Performance.getMetrics');
    return 1000 * metrics.find(({ name }) => name === 'TaskDuration').value;
  };
  const moves = await page.locator('.move').all();
  const figures = [];
  for (let click = 0; click < CLICKS; click++) {
    const { x, y, width, height } = await moves[(7 * click) % moves.length].boundingBox();
    const before = await readCpuMs();
    await page.mouse.click(x + width / 2, y + height / 2);
    await page.evaluate('new Promise((done) => requestAnimationFrame(() => setTimeout(done)))');
    figures.push(Math.round(10 * ((await readCpuMs()) - before)) / 10);
    await page.waitForSelector('.line-move');
  }
  return figures;
}

function describe(name, figures) {
  const sorted = figures.toSorted((a, b) => a - b);
  console.log(`${name}: median ${sorted[sorted.length >> 1]} ms, longest ${sorted.at(-1)} ms`);
}

for (const name of readdirSync(site, { recursive: true }).filter((file) => file.endsWith('.js'))) {
  console.log(`${name}: ${(gzipSync(readFileSync(join(site, name))).length / 1000).toFixed(1)} kB gzipped`);
}
const launched = await launchBrowser();
if ('reason' in launched) throw new Error(launched.reason);
const server = await startWebServer({ '': site, chess: site }, false);
const visits = { first: [], second: [] };
for (let run = 0; run < runs; run++) {
  const context = await launched.browser.newContext();
  await context.addInitScript(WATCH);
  for (const list of Object.values(visits)) list.push(await visit(context, `${server.origin}/chess/`));
  await context.close();
}
for (const [name, list] of Object.entries(visits)) {
  const pick = (key) => list.map((figures) => figures[key]);
  describe(`${name} visit, engine ready`, pick('ready'));
  describe(`${name} visit, first paint`, pick('paint'));
}
const context = await launched.browser.newContext({ viewport: { width: 1400, height: 900 } });
describe('click on a move to the next frame, CPU time', await measureClicks(context, `${server.origin}/chess/`));
await launched.browser.close();
server.close();
