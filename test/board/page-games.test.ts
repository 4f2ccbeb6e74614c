/** Games, reviews and the list of moves, in one browser on the hash evaluator. Each test has a browser context of its own. */
import assert from 'node:assert/strict';
import { after, before, describe, type TestContext, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { loadText, typeMove } from '../support/board-page.js';
import { BoardProcess } from '../support/board-process.js';
import { launchBrowser } from '../support/browser.js';

const launched = await launchBrowser();
const skip = 'reason' in launched ? launched.reason : false;

describe('games, reviews and the list of moves', { skip, timeout: 900_000 }, () => {
  const browser = (launched as { browser: Browser }).browser;
  const complaints: string[] = [];
  let board: BoardProcess;

  before(async () => {
    board = await BoardProcess.start(['--backend=hash', '--threads=1', '--nps-limit=4000']);
  });

  after(async () => {
    await browser.close();
    await board?.stop();
    assert.deepEqual(complaints, []);
  });

  async function visit(t: TestContext): Promise<Page> {
    const context = await browser.newContext({ viewport: { width: 1366, height: 768 } });
    t.after(() => context.close());
    const page = await context.newPage();
    page.on('pageerror', (error) => complaints.push(error.message));
    await page.goto(board.url);
    await page.waitForSelector('.engine-head');
    return page;
  }

  const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
  const games = (page: Page) => page.getByRole('list', { name: 'Games', exact: true }).getByRole('button');

  async function openFile(page: Page, pgn: string, index = 0): Promise<void> {
    await loadText(page, pgn);
    await games(page).nth(index).click();
    await page.waitForSelector('dialog', { state: 'detached' });
  }

  test('each game of a file has its own place and its own undo, also after a reload', async (t) => {
    const page = await visit(t);
    await openFile(page, '[White "Anna"]\n\n1. e4 e5 2. Nf3 Nc6 3. Bb5 *\n\n[White "Ben"]\n\n1. d4 d5 *\n');
    const current = page.locator('.move[aria-current]');
    const undo = page.getByTitle('Take the last change back');
    await page.locator('.move:has-text("Nf3")').click({ button: 'right' });
    await page.getByRole('menuitem', { name: 'Delete from here' }).click();
    await page.keyboard.press('End');
    await typeMove(page, 'f4');
    await button(page, 'Next game').click();
    await page.waitForSelector('.move:has-text("d4")');
    assert.equal(await undo.isDisabled(), true);
    await typeMove(page, 'Nf3');
    await button(page, 'Previous game').click();
    await page.waitForSelector('.move[aria-current]:has-text("f4")');
    await undo.click();
    await page.waitForSelector('.move:has-text("f4")', { state: 'detached' });
    assert.equal(await current.textContent(), 'e5');
    await undo.click();
    await page.waitForSelector('.move:has-text("Bb5")');
    assert.equal(await undo.isDisabled(), true);
    await button(page, 'Next game').click();
    await page.waitForSelector('.move[aria-current]:has-text("Nf3")');
    await page.reload();
    await page.waitForSelector('.move[aria-current]:has-text("Nf3")');
    await page.getByRole('textbox', { name: 'Type a move' }).waitFor();
    await page.keyboard.press('Control+z');
    await page.waitForSelector('.move:has-text("Nf3")', { state: 'detached' });
  });
});
