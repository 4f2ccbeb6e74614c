/** What the page shows where something is missing: each state in its place, with a button that leads on. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { findBarriers, loadText, show, typeMove } from '../support/board-page.js';
import { BoardProcess } from '../support/board-process.js';
import { launchBrowser } from '../support/browser.js';

const launched = await launchBrowser();
const skip = 'reason' in launched ? launched.reason : false;

describe('the states of the page', { skip, timeout: 1_800_000 }, () => {
  const browser = (launched as { browser: Browser }).browser;
  let board: BoardProcess;
  let page: Page;
  /** What happens to the connection. */
  let server: 'here' | 'gone' | 'mute' = 'here';
  let hangUp: () => void = () => undefined;

  before(async () => {
    board = await BoardProcess.start(['--backend=hash', '--threads=1', '--nps-limit=4000']);
    page = await (await browser.newContext({ viewport: { width: 1366, height: 768 } })).newPage();
    await page.routeWebSocket(/\/engine$/, (socket) => {
      if (server === 'gone') {
        void socket.close();
        return;
      }
      const real = socket.connectToServer();
      socket.onMessage((message) => {
        if (server !== 'mute' || !/"type":"analyse"/.test(String(message))) real.send(message);
      });
      hangUp = () => void socket.close();
    });
    // Seconds pass when the test says so.
    await page.clock.install();
    await page.goto(board.url);
    await page.waitForSelector('.engine-head');
  });

  after(async () => {
    await browser.close();
    await board?.stop();
  });

  const button = (name: string) => page.getByRole('button', { name, exact: true });

  test('an empty board leads to the games, and a search that finds none to all of them', async () => {
    await button('load a game').click();
    await page.locator('.panel-games').waitFor();
    await button('Back to the board').click();
    await loadText(page, '[White "Anna"]\n\n1. e4 *\n\n[White "Ben"]\n\n1. d4 *');
    await page.getByLabel('Find a game').fill('zzz');
    await page.waitForSelector('.panel-games:has-text("No game fits.")');
    await button('Show all').click();
    await page.waitForSelector('.game-open >> nth=1');
    await show(page, 'analyse');
  });

  test('a server that is gone is tried again in seconds that are counted down, or now', async () => {
    // The scripts of a room come when it is first shown.
    await show(page, 'play');
    await show(page, 'analyse');
    await page.clock.pauseAt(Date.now() + 3_600_000);
    server = 'gone';
    hangUp();
    for (const seconds of [1, 2, 4, 8]) {
      await page.waitForSelector(`.lost:has-text("No connection: again in ${seconds} s")`);
      assert.match(String(await page.locator('.engine-speed').textContent()), new RegExp(`again in ${seconds} s`));
      if (seconds < 8) await page.clock.runFor(1000 * seconds);
    }
    await page.clock.runFor(1000);
    await page.waitForSelector('.lost:has-text("again in 7 s")');
    await page.setViewportSize({ width: 390, height: 844 });
    assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 390);
    await page.setViewportSize({ width: 1366, height: 768 });
    // Every room has it, and the board works meanwhile.
    await show(page, 'play');
    await button('Now').click();
    await page.waitForSelector('.lost:has-text("again in 8 s")');
    await show(page, 'analyse');
    await typeMove(page, 'd3');
    await page.waitForSelector('.move:has-text("d3")');
    server = 'here';
    await button('Now').click();
    await page.locator('.lost').waitFor({ state: 'detached' });
    await page.clock.resume();
  });

  test('an engine that does not answer is asked again', async () => {
    server = 'mute';
    await page.locator('.player-bottom').click();
    await page.keyboard.press('l');
    await page.waitForSelector('.engine-speed:has-text("Starting")');
    await page.clock.fastForward(20_000);
    await page.waitForSelector('.engine-speed:has-text("The engine has said nothing for 15 s")');
    assert.deepEqual(await findBarriers(page), []);
    server = 'here';
    await button('Ask again').click();
    await page.waitForSelector('.line-score');
    await page.keyboard.press('l');
  });

  test('a room whose script does not come says so in its place, and the page is loaded again', async () => {
    await page.route(/match-panel-/, (route) => route.abort());
    await page.evaluate("location.hash = 'match'");
    await page.waitForSelector('.obstacle:has-text("A part of the page could not be loaded")');
    await page.unroute(/match-panel-/);
    await button('Load again').click();
    await page.locator('.panel-match').waitFor();
  });
});
