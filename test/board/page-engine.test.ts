/** The engine's panel as its users meet it: candidates, threats, settings, and several tabs that want one engine. On the hash evaluator. */
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import type { Page } from 'playwright-core';
import {
  choose,
  chooseReview,
  findBarriers,
  loadText,
  locateSquare,
  readFen,
  typeMove,
} from '../support/board-page.js';
import { describePages, SLOW_ENGINE } from '../support/page-tests.js';

const SETTINGS = 'Lines, limits, arrows, numbers';
/** The locks of a browser that is busy come late; while this is set, never. */
const LATE_LOCKS = `const { locks } = navigator;
const request = locks.request.bind(locks);
locks.request = (...args) => (globalThis.isLate ? new Promise(() => {}) : request(...args));`;

describePages('the engine’s panel', SLOW_ENGINE, (tests) => {
  let page: Page;

  before(async () => {
    page = await tests.open(await tests.createContext());
  });

  const state = (tab: Page) => tab.locator('.engine-speed');
  const thinks = (tab: Page) => tab.waitForSelector('.candidate .facts');
  /** A Worker's clock never runs here: the engine has reported since then. */
  const reports = async (tab: Page): Promise<void> => {
    const before = await state(tab).textContent();
    while ((await state(tab).textContent()) === before) await tab.evaluate('new Promise(requestAnimationFrame)');
  };
  const button = (name: string) => page.getByRole('button', { name, exact: true });

  test('threats are marked, in red, and end with the next step', async () => {
    await page.keyboard.press('l');
    await thinks(page);
    const readColor = () => page.evaluate(`getComputedStyle(document.querySelector('.engine-score')).color`);
    const color = await readColor();
    const readWidth = async () => (await button('Threats').boundingBox())?.width;
    const width = await readWidth();
    await page.keyboard.press('x');
    await page.waitForSelector('.engine-state strong:text-is("Threat")');
    assert.equal(await readWidth(), width);
    assert.notEqual(await readColor(), color);
    await thinks(page);
    await typeMove(page, 'e4');
    await page.waitForSelector('.engine-state strong', { state: 'detached' });
    await thinks(page);
    assert.equal(await readColor(), color);
    await page.locator('.move-list').click({ position: { x: 200, y: 100 } });
    await page.keyboard.press('ArrowLeft');
    await thinks(page);
    assert.equal(await page.locator('.engine-state strong').count(), 0);
  });

  test('the number of lines can be typed while the engine reports', async () => {
    await button(SETTINGS).click();
    const field = page.getByLabel('Number of lines');
    await field.press('Control+a');
    await field.press('5');
    for (let times = 0; times < 3; times++) await reports(page);
    assert.equal(await field.inputValue(), '5');
    await field.press('Enter');
    await page.waitForSelector(':nth-match(.line-score, 5)');
    await field.fill('3');
    await field.press('Enter');
    await page.waitForSelector(':nth-match(.line-score, 4)', { state: 'detached' });
    await button(SETTINGS).click();
  });

  test('a square of a candidate shows its line; arrows lie by length, those of the policy are dashed; numbers keep off the pieces', async () => {
    await page.keyboard.press('ArrowUp');
    await thinks(page);
    const san = (await page.locator('.line-move').first().textContent()) ?? '';
    const { x, y } = await locateSquare(page, san.replace(/[+#]/g, '').slice(-2));
    const isPointed = `document.querySelector('.candidate-pointed') !== null &&
      document.querySelectorAll('.engine-arrow [fill="#3692e7"]').length > 0 &&
      document.querySelectorAll('.engine-arrow [fill="#5a5a5a"]').length > 0`;
    await page.mouse.move(x, y);
    while (!(await page.evaluate(isPointed))) await page.evaluate('new Promise(requestAnimationFrame)');
    await page.mouse.move(10, 10);
    await page.waitForSelector('.candidate-pointed', { state: 'detached' });
    await page.waitForSelector('.engine-arrow [fill="#3692e7"]', { state: 'detached' });
    const readLengths = `[...document.querySelectorAll('.engine-arrow > [fill]')].map((head) => Number(/L([\\d.]+) /.exec(head.getAttribute('d'))[1]))`;
    const lengths = (await page.evaluate(readLengths)) as number[];
    assert.deepEqual(
      lengths,
      lengths.toSorted((a, b) => b - a),
    );
    await page.keyboard.press('o');
    await page.waitForSelector('.engine-arrow [stroke-dasharray]', { state: 'attached' });
    await page.keyboard.press('o');
    await page.waitForSelector('.engine-arrow [stroke-dasharray]', { state: 'detached' });
    await page.keyboard.press('s');
    await page.waitForSelector('.square-numbers text:nth-of-type(2):text-matches("^.+$")', { state: 'attached' });
    const share = `(() => {
      const { height } = document.querySelector('cg-board').getBoundingClientRect();
      return [...document.querySelectorAll('.square-numbers')].map((one) => one.getBoundingClientRect().height / (height / 8));
    })()`;
    for (const part of (await page.evaluate(share)) as number[]) assert.ok(part < 0.4, `${part} of a square`);
    await page.keyboard.press('s');
  });

  test('a candidate unfolds to its replies, and its menu restricts the search; other moves have rows or lc0’s columns', async () => {
    await page.locator('.candidate .fold').first().click();
    await page.waitForSelector('.candidate-unfolded .tree-row .facts:has-text("W ")');
    assert.deepEqual(await findBarriers(page), []);
    await page.locator('.candidate .fold').first().click();
    await page.locator('.candidate-menu').first().click();
    await page.getByRole('menuitemcheckbox', { name: 'Search only this' }).click();
    await page.waitForSelector('.engine-speed:has-text("chosen moves: 1")');
    await page.waitForSelector('.candidate:nth-child(2)', { state: 'detached' });
    await button('All moves again').click();
    await page.waitForSelector('.candidate:nth-child(3) .facts');
    await page.getByRole('button', { name: /^17 more moves$/ }).click();
    await page.waitForSelector('.other-move:nth-child(17)');
    await page.getByRole('button', { name: /^17 more moves$/ }).click();
    await button('Columns').click();
    await page.waitForSelector('.move-table tbody tr:nth-child(20) td:text-matches("^[+−][.][0-9]{3}$")');
    const names = await page.locator('.move-table thead th').allTextContents();
    assert.equal(names.slice(1).join(''), 'NPQDMUSV');
    assert.deepEqual(await findBarriers(page), []);
    await button('Columns').click();
  });

  test('there are no more lines than moves; a result that is proven is said, and ends the search', async () => {
    // One legal move, then mate.
    await loadText(page, '7k/Q7/6K1/8/8/8/8/8 b - - 0 1');
    await page.waitForSelector('.engine-speed:has-text("Finished: all is proven")');
    assert.equal(await page.locator('.candidate').count(), 1);
    assert.equal(await page.locator('.engine-score').textContent(), '+20.0');
    await page.waitForSelector('.engine-wdl:has-text("White wins, proven · W 100 D 0 L 0")');
    await page.waitForSelector('.line-score:text-is("+20.0")');
    await page.keyboard.press(' ');
    await page.waitForSelector('.move[aria-current]:has-text("Kg8")');
    await thinks(page);
    assert.match((await page.locator('.engine-score').textContent()) ?? '', /^\+20\.0$/);
    await page.locator('.move-list').click({ position: { x: 200, y: 100 } });
    await page.keyboard.press('ArrowLeft');
    // What the engine thought of a position stays with its move.
    await page.waitForSelector('.move small:text-is("+20.0")');
  });

  test('on a phone there are the head and one line, until all are asked for', async () => {
    await loadText(page, '1. e4 *');
    await thinks(page);
    await page.setViewportSize({ width: 390, height: 844 });
    await page.waitForSelector('.candidate:nth-child(2)', { state: 'hidden' });
    const height = Number(await page.evaluate(`document.querySelector('.engine-panel').clientHeight`));
    assert.ok(height <= 80, `${height} pixels`);
    const look = `[...document.querySelectorAll('.engine-panel, .engine-head, .engine-state')].every(({ scrollWidth, clientWidth }) => scrollWidth <= clientWidth)`;
    assert.equal(await page.evaluate(look), true);
    await button('Lines').click();
    await page.waitForSelector('.candidate:nth-child(3)', { state: 'visible' });
    assert.equal(await page.evaluate(look), true);
    assert.deepEqual(await findBarriers(page), []);
    await button('Lines').click();
    await page.setViewportSize({ width: 1366, height: 768 });
  });

  test('of two tabs the one has the engine whose user did something; the other says who has it, and takes it over', async () => {
    await loadText(page, '[White "Anna"]\n[Black "Ben"]\n\n1. e4 e5 *');
    await page.keyboard.press('ArrowRight');
    await thinks(page);
    const second = await page.context().newPage();
    second.on('pageerror', (error) => tests.complaints.push(error.message));
    const away = (tab: Page, about: string) =>
      tab.waitForSelector(`.engine-speed:has-text("Another tab has the engine: ${about}")`);
    await second.goto(page.url());
    await away(second, 'Anna – Ben, after 1. e4');
    await reports(page);
    await second.reload();
    await away(second, 'Anna – Ben, after 1. e4');
    await page.bringToFront();
    await second.bringToFront();
    await reports(page);
    assert.equal(await page.getByRole('button', { name: 'Take over' }).count(), 0);
    // Who comes back from another room has done nothing on the board.
    for (const room of ['Games', 'Board']) await second.getByRole('link', { name: room, exact: true }).click();
    await away(second, 'Anna – Ben, after 1. e4');
    await reports(page);
    // A step takes it.
    await loadText(second, '[White "Carl"]\n[Black "Dora"]\n\n1. d4 d5 *');
    await second.keyboard.press('ArrowRight');
    await thinks(second);
    await away(page, 'Carl – Dora, after 1. d4');
    await page.reload();
    await away(page, 'Carl – Dora, after 1. d4');
    await reports(second);
    await page.getByRole('button', { name: 'Take over' }).click();
    await thinks(page);
    await away(second, 'Anna – Ben, after 1. e4');
    assert.deepEqual(await findBarriers(second), []);
    // So does the switch.
    await second.locator('.switch input').focus();
    await second.keyboard.press(' ');
    await second.keyboard.press(' ');
    await thinks(second);
    await away(page, 'Carl – Dora, after 1. d4');
    await second.close();
    await page.waitForSelector('.engine-speed:has-text("No other tab has the engine any more")');
    await page.getByRole('button', { name: 'Take over' }).click();
    await thinks(page);
  });

  test('replies whose tree is gone, and an explanation that there is none of, say so in their place', async () => {
    await choose(page, 'New', 'Empty board');
    await typeMove(page, 'e4');
    await thinks(page);
    await page.locator('.candidate .fold').first().click();
    await page.waitForSelector('.tree-row');
    // The engine's tree is that of the review.
    await chooseReview(page, 'Review the game');
    await page.waitForSelector('.chip', { state: 'detached' });
    await button('Look again').click();
    await button('Analyse again').click();
    await button('Look again').waitFor();
    await page.waitForSelector('.tree-row');
    await page.locator('.candidate-menu').first().click();
    await page.getByRole('menuitem', { name: 'Explain', exact: true }).click();
    await page.waitForSelector('.explain .problem:has-text("has no network")');
    await button('Clear').click();
    assert.equal(await page.locator('.explain, .notice-error, .notice-warning').count(), 0);
  });

  test('a position to analyse is that of the tab at once, however late the browser answers', async () => {
    const own = await page.context().newPage();
    await own.addInitScript(LATE_LOCKS);
    await own.goto(page.url());
    await own.waitForSelector('.engine-head');
    await loadText(own, '1. c4 c5 *');
    await own.keyboard.press('ArrowDown');
    await own.waitForSelector('.move[aria-current]:has-text("c5")');
    await own.evaluate('isLate = true');
    await choose(own, 'New', 'Set up a position');
    await own.getByRole('button', { name: 'Analyse this position', exact: true }).click();
    await own.waitForSelector('.move-list-empty');
    await own.reload();
    await own.getByText(/White: .* pawns c4/).waitFor({ state: 'attached' });
    await own.waitForSelector('.move-list-empty');
    assert.match(await readFen(own), /2p5\/2P5/);
    await own.close();
    assert.deepEqual(tests.complaints, []);
  });
});
