#!/usr/bin/env node
// How long the site takes in Chromium, from a local server without headers: first paint, and the time from opening the page until its
// engine has a network and is warm, on the first visit (nothing stored, one reload for isolation) and on the second.
// usage: node scripts/bench/site-load.mjs [runs]   (after `npm run build` and `npm run site`)
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { launchBrowser } from '../../build/test/support/browser.js';
import { startWebServer } from '../../build/test/support/web-server.js';

const site = fileURLToPath(new URL('../../build/site', import.meta.url));
const runs = Number(process.argv[2]) || 5;
const LONGEST_MS = 120_000;

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
await launched.browser.close();
server.close();
