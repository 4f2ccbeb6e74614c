#!/usr/bin/env node
// Takes the pictures of docs/images: starts `sardonyx board` with the flags that it is given, and the site, and clicks through
// both in Chromium. A training picture needs --loop=FOLDER of a loop that has run; the match is between the bundled
// network and the last two --engine flags. SARDONYX_BROWSER names the browser.
// usage: npm run build && npm run site && node scripts/lab/board-pictures.mjs --loop=runs/mini --engine='cmd=… name=…' …
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { launchBrowser } from '../../build/test/support/browser.js';
import { startWebServer } from '../../build/test/support/web-server.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const images = join(root, 'docs', 'images');
const SCREEN = { viewport: { width: 1366, height: 768 } };
const PHONE = { viewport: { width: 390, height: 844 }, deviceScaleFactor: 2, isMobile: true, hasTouch: true };
const SETTLE_MS = 1200;
const ANALYSIS_MS = 8000;
const MATCH_MS = 60_000;
const RUY_LOPEZ = '1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 *';
const IMMORTAL = `[White "Adolf Anderssen"]
[Black "Lionel Kieseritzky"]

1. e4 e5 2. f4 exf4 3. Bc4 Qh4+ 4. Kf1 b5 5. Bxb5 Nf6 6. Nf3 Qh6 7. d3 Nh5 8. Nh4 Qg5 9. Nf5 c6 10. g4 Nf6 11. Rg1 cxb5
12. h4 Qg6 13. h5 Qg5 14. Qf3 Ng8 15. Bxf4 Qf6 16. Nc3 Bc5 17. Nd5 Qxb2 18. Bd6 Bxg1 19. e5 Qxa1+ 20. Ke2 Na6 21. Nxg7+ Kd8
22. Qf6+ Nxf6 23. Be7# 1-0`;
/** The user plays the first of these that is legal, each but once. */
const PLANS = 'd4 e3 Nf3 Be2 O-O c3 Nbd2 b3 h3 Bb2 a3'.split(' ');
const PLAYED_MOVES = 6;

const launched = await launchBrowser();
if ('reason' in launched) throw new Error(launched.reason);
const { browser } = launched;

function sleep(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

async function withPage(address, options, take) {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  page.setDefaultTimeout(120_000);
  await page.goto(address);
  try {
    await take(page);
  } finally {
    await context.close();
  }
}

async function shoot(page, name, options = {}) {
  await sleep(SETTLE_MS);
  await page.screenshot({ path: join(images, `${name}.png`), ...options });
  console.log(`${name}.png`);
}

async function load(page, text) {
  await page.keyboard.press('p');
  await page.getByLabel('FEN or PGN').fill(text);
  await page.getByRole('button', { name: 'Load', exact: true }).click();
  await page.waitForSelector('.panel-games', { state: 'detached' });
}

async function analyse(page) {
  await page.waitForSelector('.engine-name:has-text("Sardonyx")');
  await load(page, RUY_LOPEZ);
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('l');
  // A phone shows no more of a candidate.
  await page.waitForSelector('.candidate .line-move');
  await sleep(ANALYSIS_MS);
}

async function explain(page) {
  await page.locator('.candidate-menu').first().click();
  await page.getByRole('menuitem', { name: 'Explain' }).click();
  await page.waitForSelector('.weights li');
  await page.mouse.move(0, 0);
}

async function play(page) {
  await page.evaluate("location.hash = 'play'");
  await page.getByText('White', { exact: true }).click();
  await page.getByText('3:00 + 2 s', { exact: true }).click();
  await page.getByRole('button', { name: 'Play', exact: true }).click();
  for (let played = 0; played < PLAYED_MOVES; played++) {
    while (PLANS.length > 0) {
      const san = PLANS.shift();
      const field = page.getByRole('textbox', { name: 'Type a move' });
      if ((await field.count()) === 0) await page.keyboard.press('/');
      await field.fill(san);
      await field.press('Enter');
      await sleep(50);
      // A legal move takes the field away until it is the user's turn again, or empties it.
      if ((await field.count()) === 0 || (await field.inputValue()) === '') break;
    }
    await page.waitForSelector(`.panel-play :nth-match(.move, ${2 * played + 2})`);
  }
  await page.getByRole('button', { name: 'Hint' }).click();
  await page.waitForSelector('.cg-shapes [cgHash]', { state: 'attached' });
}

async function review(page) {
  await load(page, IMMORTAL);
  await page.locator('.opening').getByRole('button', { name: 'Review' }).click();
  await page.getByRole('menu', { name: 'Review', exact: true }).getByText('Review the game', { exact: true }).click();
  await page.waitForSelector('.accuracy:has-text("%")');
  await page.locator('.chip').waitFor({ state: 'detached' });
  await page.keyboard.press('n');
  await page.keyboard.press('n');
}

async function watchMatch(page) {
  await page.evaluate("location.hash = 'match'");
  await page.getByRole('button', { name: 'Add a player' }).click();
  const players = await page.getByLabel('First player').locator('option').allTextContents();
  // The bundled network against the two engines before the random mover, which is the last.
  const chosen = [players[0], ...players.slice(-3, -1)];
  for (const [index, label] of ['First player', 'Second player', 'Player 3'].entries()) {
    await page.getByLabel(label).selectOption(chosen[index]);
  }
  await page.getByText('Clock', { exact: true }).click();
  await page.getByLabel('Seconds a game').fill('8');
  await page.getByLabel('Increment in seconds').fill('0.05');
  await page.getByLabel('Games of each two').fill('20');
  await page.getByLabel('Games at a time').fill('4');
  await page.getByRole('button', { name: 'Start the match' }).click();
  await page.waitForSelector('.live-boards li:nth-child(4)');
  await sleep(MATCH_MS);
  await page.waitForSelector('.live-boards li:nth-child(4)');
}

async function watchTraining(page) {
  await page.evaluate("location.hash = 'training'");
  await page.waitForSelector('.loop-charts canvas');
}

const folder = mkdtempSync(join(tmpdir(), 'sardonyx-pictures-'));
const flags = ['--no-open', '--config=', `--matches=${join(folder, 'matches')}`, ...process.argv.slice(2)];
const board = spawn(process.execPath, [join(root, 'dist', 'cli', 'main.js'), 'board', ...flags], {
  stdio: ['ignore', 'pipe', 'inherit'],
});
const site = await startWebServer({ '': root, chess: join(root, 'build', 'site') }, true);
try {
  const addresses = createInterface({ input: board.stdout });
  const [first] = await once(addresses, 'line');
  // An address is for one browser.
  const next = once(addresses, 'line');
  await withPage(first, SCREEN, async (page) => {
    await analyse(page);
    await shoot(page, 'board-analyse');
    await explain(page);
    await shoot(page, 'board-explain');
    await page.keyboard.press('l');
    await review(page);
    await shoot(page, 'board-review');
    await watchMatch(page);
    await shoot(page, 'board-match');
    await page.getByRole('button', { name: 'Pause' }).click();
    await page.waitForSelector('button:has-text("Go on")');
    if (flags.some((flag) => flag.startsWith('--loop='))) {
      await watchTraining(page);
      await shoot(page, 'board-training');
    }
  });
  const [second] = await next;
  await withPage(second, { ...SCREEN, colorScheme: 'dark' }, async (page) => {
    await analyse(page);
    await shoot(page, 'board-dark');
    await page.keyboard.press('l');
    await play(page);
    await shoot(page, 'board-play');
  });
  await withPage(`${site.origin}/chess/`, SCREEN, async (page) => {
    await analyse(page);
    await shoot(page, 'site');
  });
  await withPage(`${site.origin}/chess/`, PHONE, async (page) => {
    await analyse(page);
    await shoot(page, 'site-phone');
  });
} finally {
  await browser.close();
  site.close();
  const end = once(board, 'exit');
  board.kill('SIGINT');
  await end;
  rmSync(folder, { recursive: true, force: true });
}
