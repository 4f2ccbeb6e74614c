#!/usr/bin/env node
// How a file of games comes into the built site in Chromium: when the first game is listed, when all are, and the longest tasks of the page's
// main thread while the file is read, searched, opened, saved and its games are indexed.
// usage: node scripts/lab/bench/page-import.mjs GAMES.pgn   (after `npm run build` and `npm run site`)
import { fileURLToPath } from 'node:url';
import { launchBrowser } from '../../../build/test/support/browser.js';
import { startWebServer } from '../../../build/test/support/web-server.js';

const [, , file] = process.argv;
const site = fileURLToPath(new URL('../../../build/site', import.meta.url));
const LONGEST_MS = 120_000;
/** What a user does not wait for: the analysis is saved, the index of the explorer grows. */
const AFTERWARDS_MS = 8000;

const launched = await launchBrowser();
if ('reason' in launched) throw new Error(launched.reason);
const server = await startWebServer({ '': site, chess: site }, false);
const page = await (await launched.browser.newContext()).newPage();
page.setDefaultTimeout(LONGEST_MS);
await page.goto(`${server.origin}/chess/`);
await page.waitForSelector('.engine-name:has-text(" on ")', { timeout: LONGEST_MS });
await page.waitForTimeout(2000);
let startedAt;
const startStep = async () => {
  startedAt = await page.evaluate('performance.now()');
  await launched.browser.startTracing(page, { categories: ['toplevel'] });
};
/** The time of the clock, and of the processor, which does not depend on what else the machine does. */
async function endStep(name) {
  const ms = Math.round((await page.evaluate('performance.now()')) - startedAt);
  const { traceEvents } = JSON.parse(await launched.browser.stopTracing());
  const isMain = ({ args, name }) => name === 'thread_name' && args.name === 'CrRendererMain';
  const mains = new Set(traceEvents.filter(isMain).map(({ pid, tid }) => `${pid} ${tid}`));
  const tasks = traceEvents
    .filter(({ pid, tid, ph, name }) => ph === 'X' && name.endsWith('RunTask') && mains.has(`${pid} ${tid}`))
    .sort((a, b) => b.tdur - a.tdur)
    .slice(0, 4)
    .map(({ dur, tdur }) => `${Math.round(tdur / 1000)} (${Math.round(dur / 1000)})`);
  console.log(`${name}: ${ms} ms; the longest tasks in ms of CPU time (of the clock): ${tasks.join(', ')}`);
}
await startStep();

await page.keyboard.press('p');
await page.waitForSelector('.panel-games');
await endStep('show the room of games');
await startStep();
const shown = page.waitForSelector('.game-open');
await page.getByLabel('Open files').setInputFiles(file);
const progress = page
  .waitForSelector('.panel-games progress', { state: 'attached' })
  .then(() => page.textContent('.games [role=status]'));
await shown;
console.log(`first game listed after ${Math.round((await page.evaluate('performance.now()')) - startedAt)} ms`);
console.log(`progress: ${await progress}`);
await page.waitForSelector('.panel-games progress', { state: 'detached' });
console.log(await page.textContent('.games [role=status]'));
await endStep('all games listed');
await startStep();
await page.getByLabel('Find a game').pressSequentially('opponent77', { delay: 50 });
await endStep('search');
await startStep();
await page.locator('.game-open').first().click();
await page.waitForSelector('.panel-games', { state: 'detached' });
await endStep('open a game');
await startStep();
await page.waitForTimeout(AFTERWARDS_MS);
await endStep('afterwards');
await startStep();
await page.keyboard.press('ArrowRight');
await page.keyboard.press('ArrowRight');
await endStep('two moves');
await startStep();
await page.keyboard.press('p');
await page.waitForSelector('.game-open');
await page.locator('.game-open').nth(3).click();
await page.waitForSelector('.panel-games', { state: 'detached' });
await page.waitForTimeout(3000);
await endStep('open another game of the file');
await launched.browser.close();
server.close();
