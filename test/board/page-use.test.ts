/**
 * What a user does with an analysis, hour after hour, in one browser: nothing gets lost, nothing is in the way. On the hash
 * evaluator; one page is loaded once, and each test goes on where the one before ended.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { before, test } from 'node:test';
import type { BrowserContext, Page } from 'playwright-core';
import {
  choose,
  dragPiece,
  findBarriers,
  loadText,
  locateSquare,
  readFen,
  show,
  typeMove,
} from '../support/board-page.js';
import { describePages, SLOW_ENGINE } from '../support/page-tests.js';

const LONG_GAME = `[White "Anna"]\n[Black "Ben"]\n[WhiteElo "2100"]\n[Result "1-0"]\n\n1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 4. Ba4 Nf6
5. O-O Be7 6. Re1 b5 7. Bb3 d6 8. c3 O-O 9. h3 Nb8 10. d4 Nbd7 11. Nbd2 Bb7 12. Bc2 Re8 13. Nf1 Bf8 14. Ng3 g6 15. a4 c5
16. d5 c4 17. Bg5 h6 18. Be3 Nc5 19. Qd2 h5 20. Bg5 Be7 21. Ra3 Rb8 22. Rea1 Bc8 23. Qe3 Nh7 24. Bxe7 Qxe7 1-0`;

describePages('the page in use', SLOW_ENGINE, (tests) => {
  let page: Page;

  before(async () => {
    page = await tests.open(await tests.createContext({ width: 1400, height: 900, isAlone: true }));
  });

  /** A browser of its own, with nothing kept. */
  async function visit(): Promise<{ own: BrowserContext; first: Page }> {
    const own = await tests.createContext({ width: 1400, height: 900, isAlone: true });
    return { own, first: await tests.open(own) };
  }

  const current = () => page.locator('.move[aria-current]');
  const button = (name: string) => page.getByRole('button', { name, exact: true });

  test('the current move stays in sight, with the engine on too; the opening has its name', async () => {
    await loadText(page, LONG_GAME);
    await page.waitForSelector('.panel-games', { state: 'detached' });
    await page.keyboard.press('ArrowDown');
    await page.waitForSelector('.opening:has-text("C95 Ruy Lopez: Closed, Breyer Defense")');
    await button('Lines, limits, arrows, numbers').click();
    await page.getByLabel('Number of lines').fill('8');
    await page.getByLabel('Number of lines').blur();
    await button('Lines, limits, arrows, numbers').click();
    await page.keyboard.press('l');
    await page.waitForSelector(':nth-match(.line-score, 8)');
    await page.waitForSelector('.candidate .facts');
    // Looks with every frame, to the pixel. Playwright's own waitForFunction needs eval, which the page forbids.
    const comesInSight = `new Promise((resolve) => (function look() {
      const [list, move] = ['.move-list', '.move[aria-current]'].map((name) => document.querySelector(name).getBoundingClientRect());
      if (move.top > list.top - 1 && move.bottom < list.bottom + 1) resolve();
      else requestAnimationFrame(look);
    })())`;
    await page.evaluate(comesInSight);
    for (const key of ['ArrowUp', 'ArrowRight', 'ArrowDown', 'ArrowLeft', 'ArrowLeft']) {
      await page.keyboard.press(key);
      if (key !== 'ArrowUp') await current().waitFor();
      if (key !== 'ArrowUp') await page.evaluate(comesInSight);
    }
  });

  test('after a burst of keys the last position is analysed; lines unfold and are one tab stop each', async () => {
    await page.evaluate(`(async () => {
      for (let i = 0; i < 30; i++) {
        dispatchEvent(new KeyboardEvent('keydown', { key: i % 2 === 0 ? 'ArrowLeft' : 'ArrowRight' }));
        await new Promise((resolve) => setTimeout(resolve));
      }
    })()`);
    await page.waitForSelector('.engine-speed:has-text("visits")');
    const stops = 'document.querySelectorAll(".lines button:not([tabindex=\\"-1\\"], [popover] *)").length';
    assert.equal(await page.evaluate(stops), 8);
    await page.locator('.line-score').first().focus();
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('ArrowRight');
    await page.waitForSelector('.line-preview .board');
    await page.keyboard.press('Escape');
    await page.waitForSelector('.line-preview', { state: 'detached' });
    await page.locator('.candidate .fold').first().click();
    await page.waitForSelector('.candidate-unfolded .tree-row');
    // The board never removes an arrowhead: the engine's arrows have their own.
    for (const key of ['ArrowUp', 'ArrowRight', 'ArrowRight', 'ArrowRight', 'ArrowDown']) {
      await page.keyboard.press(key);
      await page.waitForSelector('.candidate .facts');
    }
    const heads = 'new Set([...document.querySelectorAll(".cg-shapes marker")].map(({ id }) => id)).size';
    assert.ok(Number(await page.evaluate(heads)) <= 12);
    await page.keyboard.press('l');
  });

  test('what has been shown is let go: however often folds and panels change, nodes stay flat', async () => {
    const { own, first } = await visit();
    const devtools = await own.newCDPSession(first);
    await devtools.send('Performance.enable');
    await devtools.send('HeapProfiler.enable');
    // Counted where nothing of the engine is shown, which fills its tables at its own pace.
    const countNodes = async (): Promise<number> => {
      await show(first, 'training');
      for (let frames = 0; frames < 5; frames++)
        await first.evaluate('new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)))');
      await devtools.send('HeapProfiler.collectGarbage');
      const { metrics } = await devtools.send('Performance.getMetrics');
      await show(first, 'analyse');
      return metrics.find(({ name }) => name === 'Nodes')?.value ?? 0;
    };
    await loadText(first, LONG_GAME);
    await first.locator('body').press('l');
    const changeFolds = async (): Promise<void> => {
      for (let click = 0; click < 2; click++) {
        await first.getByText('Games with this position', { exact: true }).click();
        await first.getByRole('button', { name: 'Columns' }).click();
        await first.locator('.candidate .fold').first().click();
      }
      await first.locator('.candidate .facts').first().waitFor();
    };
    const changePanels = async (): Promise<void> => {
      for (const name of ['play', 'match', 'training', 'analyse']) await show(first, name);
      await first.locator('.candidate .facts').first().waitFor();
    };
    await changePanels();
    await changeFolds();
    const before = await countNodes();
    for (let round = 0; round < 3; round++) {
      await changePanels();
      await changeFolds();
    }
    const left = await countNodes();
    assert.ok(left < before + 100, `${before} nodes, then ${left}`);
    await own.close();
  });

  test('what is deleted comes back; glyphs and comments show at once; a move has a menu', async () => {
    await page.locator('.move').first().click();
    await page.keyboard.press('1');
    await page.waitForSelector('.move-good:has-text("e4!")');
    await page.locator('.move').first().click({ button: 'right' });
    await page.getByRole('menuitem', { name: 'Delete from here' }).click();
    await page.waitForSelector('.move-list-empty');
    await page.locator('.notice').getByRole('button', { name: 'Undo' }).click();
    await page.waitForSelector('.move-good:has-text("e4!")');
    // The button is held for some frames.
    await page.locator('.move:has-text("Nc6")').hover();
    await page.mouse.down({ button: 'right' });
    for (let frames = 0; frames < 10; frames++)
      await page.evaluate('new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)))');
    await page.mouse.up({ button: 'right' });
    await page.getByRole('menuitemcheckbox', { name: 'Blunder' }).click();
    await page.waitForSelector('.move-blunder:has-text("Nc6??")');
    await page.keyboard.press('Control+z');
    await page.waitForSelector('.move-blunder', { state: 'detached' });
    // An arrow that the user draws stays with the move.
    const [from, to] = [await locateSquare(page, 'e2'), await locateSquare(page, 'e4')];
    await page.mouse.move(from.x, from.y);
    await page.mouse.down({ button: 'right' });
    await page.mouse.move(to.x, to.y, { steps: 4 });
    await page.mouse.up({ button: 'right' });
    await page.keyboard.press('ArrowRight');
    await page.waitForSelector('.cg-shapes [cgHash]', { state: 'detached' });
    await page.keyboard.press('ArrowLeft');
    await page.waitForSelector('.cg-shapes [cgHash]', { state: 'attached' });
    assert.deepEqual(await findBarriers(page), []);
  });

  test('each change is taken back by itself, also behind later ones; the moves of a threat are not those of the position', async () => {
    const { own, first } = await visit();
    const press = (name: string) => first.getByRole('button', { name, exact: true }).first().click();
    const comment = first.getByLabel('Comment');
    const pgn = async (): Promise<string> => {
      const [download] = await Promise.all([first.waitForEvent('download'), choose(first, 'Share', 'Save PGN')]);
      return readFileSync(await download.path(), 'utf8')
        .split('\n\n')[1]
        .replace(/\s+/g, ' ')
        .trim();
    };
    await loadText(first, '1. Nf3 $16 Nf6 2. Ng1 Ng8 3. Nf3 *');
    await first.locator('.move:has-text("Nf3")').first().click({ button: 'right' });
    await first.getByRole('menuitemcheckbox', { name: 'Mistake' }).click();
    for (const [index, text] of ['first', 'second'].entries()) {
      await first.locator('.move:has-text("Nf3")').nth(index).click();
      await first.keyboard.press('c');
      await comment.pressSequentially(text);
      await first.keyboard.press('Escape');
    }
    assert.equal(await pgn(), '1. Nf3 $2 $16 { first } 1... Nf6 2. Ng1 Ng8 3. Nf3 { second } *');
    await press('Undo');
    assert.equal(await pgn(), '1. Nf3 $2 $16 { first } 1... Nf6 2. Ng1 Ng8 3. Nf3 *');
    await press('Undo');
    assert.equal(await pgn(), '1. Nf3 $2 $16 1... Nf6 2. Ng1 Ng8 3. Nf3 *');
    await press('Undo');
    assert.equal(await pgn(), '1. Nf3 $16 1... Nf6 2. Ng1 Ng8 3. Nf3 *');
    // The notice brings back what it names, whatever has come since then.
    await first.locator('.move').first().click({ button: 'right' });
    await first.getByRole('menuitem', { name: 'Delete from here' }).click();
    await typeMove(first, 'd4');
    await first.locator('.notice').getByRole('button', { name: 'Undo' }).click();
    assert.equal(await pgn(), '1. Nf3 $16 (1. d4) 1... Nf6 2. Ng1 Ng8 3. Nf3 *');
    // What has been opened meanwhile is among the games that are kept.
    await first.getByText('Games with this position', { exact: true }).click();
    await first.getByText('All that are kept', { exact: true }).click();
    await press('Start');
    await first.waitForSelector('.explorer-moves .table-move:has-text("Nf3")');
    await first.getByText('Games with this position', { exact: true }).click();
    await loadText(first, '1. g4 e5 *');
    await first.getByText('Games with this position', { exact: true }).click();
    await first.waitForSelector('.explorer-moves .table-move:has-text("g4")');
    await first.getByText('Games with this position', { exact: true }).click();
    // Figures, a line under the pointer and a restriction are of one side.
    const toggle = (key: string) => first.locator('body').press(key);
    const score = first.locator('.engine-score');
    await toggle('l');
    await first.locator('.candidate .facts').first().waitFor();
    await first.locator('.candidate .fold').first().click();
    await first.waitForSelector('.tree-row');
    await toggle('x');
    await first.waitForSelector('.tree-row', { state: 'detached' });
    await toggle('x');
    await first.locator('.line-move').nth(1).hover();
    await first.waitForSelector('.line-preview');
    await toggle('x');
    await first.waitForSelector('.line-preview', { state: 'detached' });
    await toggle('x');
    await first.locator('.candidate-menu').first().click();
    await first.getByRole('menuitemcheckbox', { name: 'Search only this' }).click();
    await first.waitForSelector('.engine-speed:has-text("chosen moves: 1")');
    await toggle('x');
    await first.waitForSelector('.engine-speed:text-matches("^[^o]*visits[^o]*$")');
    await toggle('l');
    await toggle('x');
    assert.equal(await score.textContent(), '–');
    assert.equal(await first.locator('.candidate').count(), 0);
    await own.close();
    assert.deepEqual(tests.complaints, []);
  });

  test('a position is set up on the board, typed as FEN, and opened by a link', async () => {
    await choose(page, 'New', 'Set up a position');
    await button('Empty board').click();
    await page.waitForSelector('.setup .problem');
    for (const [piece, square] of [
      ['white king', 'e1'],
      ['black king', 'e8'],
      ['white pawn', 'a7'],
    ]) {
      await button(piece).click();
      const { x, y } = await locateSquare(page, square);
      await page.mouse.click(x, y);
    }
    await button('Analyse this position').click();
    assert.match(await readFen(page), /^4k3\/P7\/8\/8\/8\/8\/8\/4K3 w - - 0 1$/);
    await dragPiece(page, 'a7', 'a8');
    await page.locator('.promotion-choice').first().waitFor();
    for (const choice of await page.locator('.promotion-choice').all()) {
      const box = await choice.boundingBox();
      assert.ok(box !== null && box.width >= 48 && box.height >= 48, JSON.stringify(box));
    }
    await page.locator('.promotion-choice').first().click();
    await page.waitForSelector('.move:has-text("a8=Q+")');
    // A position that was set up has the name of its opening, too.
    await typeMove(page, 'rnbqkb1r/1p2pppp/p2p1n2/8/3NP3/2N5/PPP2PPP/R1BQKB1R w KQkq - 0 6');
    await page.waitForSelector('.opening:has-text("B90 Sicilian Defense: Najdorf Variation")');
    await choose(page, 'New', 'Paste or open …');
    await page.locator('.game-open').nth(1).click();
    await page.waitForSelector('.move:has-text("a8=Q+")');
    await page.keyboard.press('ArrowDown');
    // What is neither stays in its field, to be mended.
    await typeMove(page, 'no position');
    await page.waitForSelector('.opening ~ .problem');
    assert.equal(await page.getByRole('textbox', { name: 'Type a move' }).inputValue(), 'no position');
    assert.match(await readFen(page), /^Q3k3/);
    await typeMove(page, '4k3/8/8/8/8/8/4P3/4K3 w - - 0 1');
    await page.waitForSelector('.move-list-empty');
    // A link leads to the analysis, from a game against the engine too. What is set up is not stepped through, also not behind the editor.
    await show(page, 'play');
    await page.evaluate('location.hash = "#fen=4k3/8/8/8/8/8/4P3/4K3_w_-_-_0_1&moves=e2e4,e8d7"');
    await page.waitForSelector('.panel-analyse .move[aria-current]:has-text("Kd7")');
    assert.equal(await page.evaluate('location.hash'), '#analyse');
    await choose(page, 'New', 'Set up a position');
    const fen = page.locator('.setup .fen');
    await fen.fill('4k3/8/8/3pP3/8/8/8/4K3 w - d6 4 31');
    // Whatever draws the form anew leaves what is typed; a click by script takes no focus.
    for (const tool of ['Take off', 'Move']) {
      await button(tool).evaluate((element) => element.click());
      await page.waitForSelector(`.spare[aria-pressed=true]:has-text("${tool}")`);
    }
    await fen.press('Tab');
    await page.waitForSelector('cg-board piece.black.pawn');
    assert.equal(await page.getByLabel('Half moves since').inputValue(), '4');
    await page.getByLabel('Move', { exact: true }).fill('7');
    await page.keyboard.press('Tab');
    await page.getByLabel('En passant').selectOption('None');
    assert.equal(await fen.inputValue(), '4k3/8/8/3pP3/8/8/8/4K3 w - - 4 7');
    await page.getByLabel('En passant').selectOption('d6');
    // Who else moves, has not let the pawn pass.
    await page.locator('.setup').getByText('Black', { exact: true }).click();
    assert.equal(await fen.inputValue(), '4k3/8/8/3pP3/8/8/8/4K3 b - - 4 7');
    await page.keyboard.press('ArrowLeft');
    assert.equal(await button('Back').isDisabled(), true);
    await button('Cancel').click();
    await page.waitForSelector('.move[aria-current]:has-text("Kd7")');
    // A broken link says so.
    await page.evaluate('location.hash = "#fen=%E0%A4%A"');
    await page.waitForSelector('.opening ~ .problem:has-text("The link names no position")');
    assert.equal(await page.locator('.notice-error, .notice-warning').count(), 0);
    await button('Dismiss').click();
    await page.waitForSelector('.problem', { state: 'detached' });
  });
});
