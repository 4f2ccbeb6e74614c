/**
 * What a user does with the page, hour after hour, in one browser: nothing gets lost, nothing is in the way. On the hash
 * evaluator; one page is loaded once, and each test goes on where the one before ended.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, test } from 'node:test';
import type { BrowserContext, Page } from 'playwright-core';
import { findLockOwner } from '#sardonyx/games/match/index.js';
import {
  choose,
  chooseReview,
  dragPiece,
  findBarriers,
  loadText,
  locateSquare,
  openGame,
  readFen,
  setThoroughness,
  show,
  typeMove,
} from '../support/board-page.js';
import { BoardProcess } from '../support/board-process.js';
import { describePages, SLOW_ENGINE } from '../support/page-tests.js';
import { fakeEngine, repositoryRoot } from '../support/shared-folder.js';

const ATTACHED = { state: 'attached' } as const;
const LONG_GAME = `[White "Anna"]\n[Black "Ben"]\n[WhiteElo "2100"]\n[Result "1-0"]\n\n1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 4. Ba4 Nf6
5. O-O Be7 6. Re1 b5 7. Bb3 d6 8. c3 O-O 9. h3 Nb8 10. d4 Nbd7 11. Nbd2 Bb7 12. Bc2 Re8 13. Nf1 Bf8 14. Ng3 g6 15. a4 c5
16. d5 c4 17. Bg5 h6 18. Be3 Nc5 19. Qd2 h5 20. Bg5 Be7 21. Ra3 Rb8 22. Rea1 Bc8 23. Qe3 Nh7 24. Bxe7 Qxe7 1-0`;
const SIZES = [
  [390, 844],
  [844, 390],
  [1024, 768],
  [1400, 900],
  [2560, 1440],
  [700, 450],
] as const;

/** @param body gets `games`, a store of the database, and the id of the analysis; it calls `done` */
const inStore = (body: string, store = 'games'): string => `new Promise((done) => {
  const id = sessionStorage.getItem('sardonyx.analysis');
  indexedDB.open('sardonyx').onsuccess = ({ target: { result } }) => {
    const change = result.transaction('${store}', 'readwrite');
    change.oncomplete = () => result.close();
    const games = change.objectStore('${store}');
    ${body}
  };
})`;
/** The parts of the analysis that hold the text: of its games, or its entry in the list. */
const findStored = (text: string, store = 'games'): string =>
  inStore(
    `const found = [];
    games.openCursor(IDBKeyRange.bound(id, id + '~')).onsuccess = ({ target: { result } }) => {
      if (result === null) return done(found.join());
      if (JSON.stringify(result.value).includes('${text}')) found.push(result.key.slice(id.length) || 'entry');
      result.continue();
    };`,
    store,
  );
/** Waits until just these parts hold the text. The page saves after a pause, and says nothing of it: looks again at ease. */
async function areStored(tab: Page, text: string, parts: (found: string) => boolean, store = 'games'): Promise<void> {
  while (!parts(String(await tab.evaluate(findStored(text, store)))))
    await tab.evaluate('new Promise((resolve) => setTimeout(resolve, 50))');
}
const isKept = (tab: Page, text: string, store = 'games') => areStored(tab, text, (found) => found !== '', store);
/** All games as one value, and one of them again because it had changed. */
const STORE_AS_BEFORE = inStore(`games.getAll(IDBKeyRange.bound(id, id + '~')).onsuccess = ({ target: { result } }) => {
  const all = result.flat();
  games.delete(IDBKeyRange.bound(id, id + '~'));
  games.put(all, id);
  games.put({ ...all[449], text: all[449].text.replace('1. d4', '1. b4') }, id + '/449').onsuccess = done;
};`);

describePages('the page in use', SLOW_ENGINE, (tests) => {
  let page: Page;

  before(async () => {
    page = await tests.open(await tests.createContext({ width: 1400, height: 900, isAlone: true }));
  });

  /** A browser of its own, with nothing kept. @param begin script that runs before the page's */
  async function visit(begin = '', { lines, url } = tests.board): Promise<{ own: BrowserContext; first: Page }> {
    const own = await tests.createContext({ width: 1400, height: 900, begin, isAlone: true });
    return { own, first: await tests.open(own, lines.at(-1) ?? url) };
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
      for (let i = 0; i < 100; i++) {
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
    for (const change of [changeFolds, changePanels]) {
      await changePanels();
      await change();
      const before = await countNodes();
      for (let round = 0; round < 3; round++) await change();
      const left = await countNodes();
      assert.ok(left < before + 100, `${change.name}: ${before} nodes, then ${left}`);
    }
    await own.close();
  });

  test('keys belong to what has the focus: a choice and the slider of the level', async () => {
    const at = await current().textContent();
    await page.getByText('Games with this position', { exact: true }).click();
    await page.getByLabel('Of this file').focus();
    await page.keyboard.press('ArrowRight');
    assert.equal(await page.getByLabel('All that are kept').isChecked(), true);
    await page.keyboard.press('ArrowLeft');
    assert.equal(await current().textContent(), at);
    await page.getByText('Games with this position', { exact: true }).click();
    await show(page, 'play');
    const slider = page.getByLabel('Elo of the engine');
    await slider.focus();
    const elo = Number(await slider.inputValue());
    await page.keyboard.press('ArrowRight');
    assert.equal(Number(await slider.inputValue()), elo + 50);
    await show(page, 'analyse');
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

  test('an analysis stays: after a reload, among others, with the games of a file as chapters', async () => {
    const moves = page.locator('.move-list').locator('.move-san, .move-comment');
    const texts = await moves.allTextContents();
    await page.reload();
    await page.waitForSelector('.move-good:has-text("e4!")');
    assert.deepEqual(await moves.allTextContents(), texts);
    await loadText(
      page,
      '[White "Carl"]\n[Black "Dora"]\n\n1. d4 d5 *\n\n[White "Emil"]\n[Black "Fritz"]\n\n1. c4 c5 *\n',
    );
    await openGame(page, 'Carl');
    await page.waitForSelector('h1:has-text("1 / 2 · Carl – Dora")');
    await button('Next game').click();
    await page.waitForSelector('.move:has-text("c4")');
    await choose(page, 'New', 'Paste or open …');
    await page.getByLabel('Find a game').fill('carl');
    await page.waitForSelector('[role=status]:has-text("1 of ")');
    await openGame(page, '');
    await page.waitForSelector('.move:has-text("d4")');
    await show(page, 'games');
    assert.deepEqual(await findBarriers(page), []);
    await openGame(page, 'Anna', 'Kept analyses');
    await page.waitForSelector('.move-good:has-text("e4!")');
  });

  test('a large file is stored in parts, an edit of one of its games too, and what earlier versions stored is read', async () => {
    const games = Array.from({ length: 450 }, (_, i) => `[White "W${i}"]\n[Black "B"]\n\n1. d4 d5 *\n`);
    await loadText(page, games.join('\n'));
    await page.getByLabel('Find a game').fill('W449');
    await page.waitForSelector('[role=status]:has-text("1 of ")');
    await openGame(page, '');
    await page.waitForSelector('h1:has-text("450 / 450")');
    await typeMove(page, 'c4');
    await areStored(page, 'c4', (found) => found === '#2');
    assert.equal(await page.evaluate(findStored('d4')), '#0,#1,#2');
    // As if the server had not confirmed it.
    await areStored(page, '"isConfirmed":true', (found) => found !== '', 'analyses');
    await page.evaluate(STORE_AS_BEFORE);
    await page.evaluate(
      inStore(
        'games.get(id).onsuccess = ({ target: { result } }) => (games.put({ ...result, isConfirmed: false }).onsuccess = done);',
        'analyses',
      ),
    );
    await page.reload();
    await page.waitForSelector('h1:has-text("450 / 450")');
    await page.waitForSelector('.move:has-text("b4")');
    await typeMove(page, 'e6');
    await areStored(page, 'e6', (found) => found === '#2');
    assert.equal(await page.evaluate(findStored('d4')), '#0,#1,#2');
    await page.reload();
    await page.waitForSelector('.move:has-text("b4")');
    await openGame(page, 'Anna', 'Kept analyses');
    await page.waitForSelector('.move-good:has-text("e4!")');
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

  test('a position that is half set up stays with its analysis, through panels, links and a reload', async () => {
    const { own, first } = await visit();
    const press = (name: string) => first.getByRole('button', { name, exact: true }).click();
    const fen = first.locator('.setup .fen');
    await choose(first, 'New', 'Set up a position');
    await press('Empty board');
    await press('white king');
    const { x, y } = await locateSquare(first, 'c2');
    await first.mouse.click(x, y);
    await first.locator('.setup').getByText('Black', { exact: true }).click();
    const half = '8/8/8/8/8/8/2K5/8 b - - 0 1';
    assert.equal(await fen.inputValue(), half);
    await show(first, 'play');
    await show(first, 'analyse');
    assert.equal(await fen.inputValue(), half);
    await isKept(first, half, 'analyses');
    await first.reload();
    await fen.waitFor();
    assert.equal(await fen.inputValue(), half);
    await first.waitForSelector('.setup .problem');
    // Something else is opened: it is seen, and the set-up waits in the list.
    await first.evaluate('location.hash = "#fen=4k3/8/8/8/8/8/4P3/4K3_w_-_-_0_1&moves=e2e4"');
    await first.waitForSelector('.move:has-text("e4")');
    await choose(first, 'New', 'Paste or open …');
    const earlier = first.locator('.game-open[title^="A position"]');
    await earlier.click();
    await fen.waitFor();
    assert.equal(await fen.inputValue(), half);
    await press('Cancel');
    await first.waitForSelector('.move-list-empty');
    await areStored(first, half, (found) => found === '', 'analyses');
    await own.close();
  });

  test('a review that is done comes back with its game, after a reload and from the list', async () => {
    const { own, first } = await visit();
    await loadText(first, LONG_GAME);
    await setThoroughness(first, 'Quick');
    await chooseReview(first, 'Review the game');
    await first.locator('.chip').waitFor();
    await first.locator('.chip').waitFor({ state: 'detached' });
    await first.keyboard.press('ArrowDown');
    const read = () => first.locator('.accuracy, .move-list').allTextContents();
    const known = await read();
    assert.match(known.join(), /White \d+ %.*Black \d+ %/);
    await isKept(first, await readFen(first));
    await first.reload();
    await first.waitForSelector('.accuracy');
    assert.deepEqual(await read(), known);
    await loadText(first, '1. d4 d5 *');
    await first.waitForSelector('.accuracy', { state: 'detached' });
    // One that is cut short has what it knew.
    await setThoroughness(first, 'Deep');
    await chooseReview(first, 'Review the game');
    await isKept(first, 'bestSan');
    await first.reload();
    await first.waitForSelector('.accuracy');
    await openGame(first, 'Anna', 'Kept analyses');
    await first.waitForSelector('.panel-analyse .move:has-text("Bxe7")');
    assert.deepEqual(await read(), known);
    // Nobody has played what is set up.
    await choose(first, 'New', 'Set up a position');
    assert.deepEqual(await first.locator('.player-name').allTextContents(), ['', '']);
    await first.getByRole('button', { name: 'Cancel', exact: true }).click();
    await own.close();
  });

  test('the back button of the browser closes what is open, and leads from panel to panel', async () => {
    await show(page, 'play');
    await show(page, 'analyse');
    for (const [menu, item] of [
      ['Settings', 'Engine'],
      ['Settings', 'Board and sounds'],
    ]) {
      await choose(page, menu, item);
      await page.waitForSelector('dialog[open]');
      await page.goBack();
      await page.waitForSelector('dialog', { state: 'detached' });
      await page.waitForSelector('.panel-play');
      await page.goForward();
      await page.waitForSelector('.panel-analyse');
      assert.equal(await page.locator('dialog').count(), 0);
    }
  });

  test('no two tabs write the same analysis, and a game goes on when the tab that asked the engine is closed', async () => {
    const { own, first } = await visit();
    const second = await own.newPage();
    await typeMove(first, 'e4');
    await isKept(first, 'e4');
    await second.goto(first.url());
    await second.waitForSelector('.move-list-empty');
    await typeMove(second, 'd4');
    await isKept(second, 'd4');
    for (const [tab, move] of [
      [first, 'e4'],
      [second, 'd4'],
    ] as const) {
      await tab.reload();
      await tab.waitForSelector('.move');
      assert.deepEqual(await tab.locator('.move').allTextContents(), [move]);
    }
    await openGame(second, 'e4', 'Kept analyses');
    await second.waitForSelector('.opening ~ .problem:has-text("this is a copy")');
    await typeMove(second, 'c5');
    await isKept(second, 'c5');
    assert.deepEqual(await first.locator('.move').allTextContents(), ['e4']);
    // A tab that is duplicated begins with a copy, too.
    const [copy] = await Promise.all([own.waitForEvent('page'), first.evaluate('void open(location.href)')]);
    await copy.waitForSelector('.move:has-text("e4")');
    await typeMove(copy, 'e6');
    await isKept(copy, 'e6');
    assert.deepEqual(await first.locator('.move').allTextContents(), ['e4']);
    await copy.close();
    // The engine never answers the first tab.
    await first.routeWebSocket(/\/engine$/, (socket) => {
      const server = socket.connectToServer();
      socket.onMessage((text) => String(text).includes('"think"') || server.send(text));
    });
    await first.reload();
    await show(first, 'play');
    await first.getByText('White', { exact: true }).click();
    await first.getByRole('button', { name: 'Play', exact: true }).click();
    await show(second, 'play');
    await typeMove(first, 'e4');
    await first.waitForSelector('.player-remark:has-text("thinks")');
    await second.waitForSelector('.move:has-text("e4")');
    await first.close();
    await second.waitForSelector(':nth-match(.move, 2)');
    // A game that ends in one tab ends in the others.
    const third = await own.newPage();
    await third.goto(second.url());
    await third.waitForSelector(':nth-match(.move, 2)');
    await second.getByRole('button', { name: 'Resign', exact: true }).click();
    await second.locator('dialog').getByRole('button', { name: 'Resign' }).click();
    await third.waitForSelector('.notice-note:has-text("Another tab has ended the game")');
    await third.waitForSelector('.move', { state: 'detached' });
    await own.close();
  });

  test('a tab that is closed right behind a move has kept it', async () => {
    const { own, first } = await visit();
    const url = first.url();
    let tab = first;
    const moves: string[] = [];
    for (const move of ['e4', 'e5', 'Nf3', 'Nc6']) {
      await typeMove(tab, move);
      moves.push(move);
      await tab.waitForSelector(`:nth-match(.move, ${moves.length})`);
      await tab.close();
      tab = await own.newPage();
      await tab.goto(url);
      await tab.waitForSelector(`:nth-match(.move, ${moves.length})`);
      assert.deepEqual(await tab.locator('.move').allTextContents(), moves);
    }
    await own.close();
  });

  test('a browser that lets the page keep nothing says so, and the page works', async () => {
    const { own, first } = await visit(`for (const name of ['localStorage', 'sessionStorage', 'indexedDB'])
      Object.defineProperty(window, name, { get() { throw new DOMException('denied', 'SecurityError'); } });`);
    await first.route('**/kept/*', (route) => route.abort());
    await typeMove(first, 'e4');
    await first.waitForSelector('[role=menuitem]:has-text("The browser keeps nothing: save it as PGN")', ATTACHED);
    await choose(first, 'New', 'Empty board');
    await first.waitForSelector('.move-list-empty');
    await own.close();
    assert.deepEqual(tests.complaints, []);
  });

  test('storage that is full or refuses: one sentence, nothing lost in memory, a file instead', async () => {
    const { own, first } =
      await visit(`for (const [kind, name] of [[IDBObjectStore, 'put'], [IDBObjectStore, 'delete'], [IDBObjectStore, 'get'], [Storage, 'setItem']]) {
      const real = kind.prototype[name];
      kind.prototype[name] = function (...given) {
        if (!globalThis.refused?.includes(name)) return real.apply(this, given);
        const problem = new DOMException('full', 'QuotaExceededError');
        if (globalThis.isLate !== true) throw problem;
        if (name === 'put') return real.apply(this, given);
        // Browsers that write later: the request succeeds, the transaction does not.
        const request = real.apply(this, given);
        request.addEventListener('success', () => this.transaction.abort(), { once: true });
        return request;
      };
    }
    const commit = IDBTransaction.prototype.commit;
    IDBTransaction.prototype.commit = function () {
      if (globalThis.isLate === true && globalThis.refused?.includes('put')) this.abort();
      else commit.call(this);
    };`);
    // The server does not answer either.
    await first.route('**/kept/**', (route) => route.abort());
    const press = (name: string | RegExp) => first.getByRole('button', { name, exact: true }).click();
    const refuse = (names: string, isLate = false) =>
      first.evaluate(`globalThis.refused = '${names}'.split(' '); globalThis.isLate = ${isLate}`);
    const savePgn = async (): Promise<string> => {
      const [download] = await Promise.all([
        first.waitForEvent('download'),
        choose(first, '● not saved', 'The browser has no room to keep this analysis: save it as PGN'),
      ]);
      return readFileSync(await download.path(), 'utf8');
    };
    // Each begins with a move of its own: the tab may hold the id of the analysis before for a moment.
    for (const [move, isLate] of [
      ['c4', false],
      ['e4', true],
    ] as const) {
      await refuse('none');
      await choose(first, 'New', 'Empty board');
      await typeMove(first, move);
      await isKept(first, `1. ${move}`);
      await refuse('put', isLate);
      await typeMove(first, 'e5');
      await first.waitForSelector('[role=menuitem]:has-text("no room to keep this analysis")', ATTACHED);
      assert.match(await savePgn(), new RegExp(`1\\. ${move} e5`));
      assert.equal(await first.evaluate(findStored(`1. ${move} e5`)), '');
      assert.equal(await first.evaluate(findStored(`1. ${move}`)), '#0', 'what was kept before stays');
      await refuse('none');
      await typeMove(first, 'Nf3');
      await isKept(first, `1. ${move} e5 2. Nf3`);
    }
    // An analysis is deleted, and there is no room to bring it back.
    await choose(first, 'New', 'Empty board');
    await typeMove(first, 'd4');
    await isKept(first, '1. d4');
    const list = first.locator('.game-table');
    const games = list.locator('.game-open');
    await refuse('delete');
    await choose(first, 'New', 'Paste or open …');
    await games.nth(1).waitFor();
    const count = await games.count();
    await list
      .getByRole('button', { name: /^Delete e4/ })
      .first()
      .click();
    await first.waitForSelector('.problem:has-text("earlier analyses stay as they were")');
    assert.equal(await games.count(), count);
    // What this page has written it knows, whatever the browser says.
    await refuse('get');
    await openGame(first, 'e4');
    await first.waitForSelector('.move:has-text("Nf3")');
    await openGame(first, 'd4');
    await first.waitForSelector('.move:has-text("d4")');
    await refuse('none');
    await choose(first, 'New', 'Paste or open …');
    await list
      .getByRole('button', { name: /^Delete e4/ })
      .first()
      .click();
    await first.locator('.notice-note').waitFor();
    await refuse('put');
    await first.locator('.notice-note').getByRole('button', { name: 'Undo' }).click();
    await first.waitForSelector('.problem:has-text("no room to keep this analysis: it is open")');
    await show(first, 'analyse');
    await first.waitForSelector('.move:has-text("Nf3")');
    // Settings last as long as the page; finished games do, too, one beside the other.
    await refuse('setItem');
    await choose(first, 'Settings', 'Dark colours');
    await first.waitForSelector('[data-theme=dark] .notice-warning:has-text("does not keep this setting")');
    await show(first, 'play');
    await first.getByText('White', { exact: true }).click();
    await press('Play');
    for (const count of [1, 2]) {
      if (count === 2) await press('Rematch');
      await press('Resign');
      await first.locator('dialog').getByRole('button', { name: 'Resign' }).click();
      await first.waitForSelector(`summary:has-text("Finished games (${count})")`);
    }
    await own.close();
    assert.deepEqual(tests.complaints, []);
  });

  test('options: a refused value leaves its field, messages are in reach, changes can be reset', async () => {
    await choose(page, 'Settings', 'Engine');
    const filter = page.getByLabel('Find an option');
    await filter.fill('no such words');
    await page.waitForSelector('text=No option fits “no such words”.');
    await filter.fill('CPuct');
    const field = page.getByLabel('CPuct', { exact: true });
    const before = await field.inputValue();
    await field.fill('1e9');
    await field.blur();
    await page.locator('dialog .notice-text:has-text("CPuct must lie between")').click();
    await page.waitForSelector('dialog .notice:has-text("CPuct")', { state: 'detached' });
    assert.equal(await field.inputValue(), before);
    await field.fill('2');
    await field.blur();
    await button('Reset CPuct').click();
    await page.waitForSelector('.option-changed', { state: 'detached' });
    await filter.fill('SyzygyPath');
    await page.waitForSelector('output.option-fixed');
    await page.getByRole('button', { name: 'Close', exact: true }).click();
  });

  test('a game that is over is not begun; nothing is taken back that the user has not played', async () => {
    await loadText(page, '7k/5KQ1/8/8/8/8/8/8 b - - 0 1');
    await show(page, 'play');
    await page.getByLabel('The position on the analysis board').check();
    await button('Play').click();
    await page.waitForSelector('.setup .problem:has-text("it is checkmate")');
    await page.getByText('Black', { exact: true }).click();
    await page.getByText('No clock', { exact: true }).click();
    await page.getByText('0.2 s', { exact: true }).click();
    await page.getByLabel('Standard').check();
    await button('Play').click();
    await page.waitForSelector(':nth-match(.move, 1)');
    assert.equal(await button('Take back').isDisabled(), true);
    assert.equal(await button('Move now').count(), 1);
    const resignAt = await button('Resign').boundingBox();
    await typeMove(page, 'a6');
    assert.deepEqual(await button('Resign').boundingBox(), resignAt);
    await page.waitForSelector(':nth-match(.move, 3)');
    assert.deepEqual(await button('Resign').boundingBox(), resignAt);
  });

  test('two tabs show one game, and its result is kept once', async () => {
    const tab = await page.context().newPage();
    await tab.goto(new URL('#play', page.url()).href);
    await tab.waitForSelector(':nth-match(.move, 3)');
    await typeMove(tab, 'b6');
    await page.waitForSelector(':nth-match(.move, 5)');
    await page.bringToFront();
    await button('Resign').click();
    await page.locator('dialog').getByRole('button', { name: 'Resign' }).click();
    await page.waitForSelector('summary:has-text("Finished games (1)")');
    await tab.waitForSelector('summary:has-text("Finished games (1)")');
    await tab.close();
    // Taken back and resigned again, it is the same game.
    await button('Take back').click();
    await button('Resign').click();
    await page.locator('dialog').getByRole('button', { name: 'Resign' }).click();
    await page.waitForSelector('.result');
    assert.equal(await page.locator('summary:has-text("Finished games (1)")').count(), 1);
  });

  test('a browser without room says so', async () => {
    await page.evaluate('Storage.prototype.setItem = () => { throw new DOMException("full", "QuotaExceededError"); }');
    await button('Rematch').click();
    await page.waitForSelector('[role=menuitem]:has-text("no room to keep this game: save it as PGN")', ATTACHED);
    await button('Resign').click();
    await page.locator('dialog').getByRole('button', { name: 'Resign' }).click();
    await page.waitForSelector('summary:has-text("Finished games (2)")');
    await page.reload();
    await page.waitForSelector('.setup');
  });

  test('with keys alone a game is played, reviewed and loaded, and a network opened; the focus is always seen', async () => {
    /** Goes on from stop to stop. */
    const tabTo = async (selector: string): Promise<void> => {
      const focused = `(() => {
        const at = document.activeElement;
        const seen = [at, at.nextElementSibling, at.closest('label')].some((one) => one !== null && getComputedStyle(one).outlineStyle !== 'none');
        return { isThere: at.matches(${JSON.stringify(selector)}), seen, html: at.outerHTML.slice(0, 200) };
      })()`;
      for (let stops = 0; stops < 150; stops++) {
        await page.keyboard.press('Tab');
        const { isThere, seen, html } = (await page.evaluate(focused)) as {
          isThere: boolean;
          seen: boolean;
          html: string;
        };
        assert.ok(seen || html.startsWith('<body'), html);
        if (isThere) return;
      }
      assert.fail(`no key leads to ${selector}`);
    };
    const press = async (...keys: string[]): Promise<void> => {
      for (const key of keys) await page.keyboard.press(key);
    };
    const chooser = page.waitForEvent('filechooser');
    await press('e');
    await page.waitForSelector('dialog');
    await tabTo('dialog input[type=file]');
    await press('Enter');
    await (await chooser).setFiles(join(repositoryRoot, 'models', 'tiny-test.onnx'));
    await page.waitForSelector('dialog option:checked:has-text("tiny-test.onnx")', { state: 'attached' });
    await press('Escape');
    await page.waitForSelector('dialog', { state: 'detached' });
    await tabTo('.header [aria-label=New]');
    await press('Enter');
    await page.waitForSelector('[role=menuitem]:focus');
    await press('Enter');
    await tabTo('[name=color]');
    await press('ArrowLeft', 'ArrowLeft');
    await tabTo('button.primary');
    await press('Enter');
    await press('/');
    await page.waitForSelector('.typed textarea:focus');
    await page.keyboard.type('e4');
    await press('Enter');
    await page.waitForSelector(':nth-match(.move, 2)');
    assert.equal(await page.evaluate('document.activeElement.getAttribute("aria-label")'), 'Type a move');
    await tabTo('button.danger');
    await press('Enter');
    await page.waitForSelector('dialog');
    await tabTo('dialog button.danger');
    await press('Enter');
    await page.waitForSelector('.result');
    await tabTo('.actions button[title="Review the game"]');
    await press('Enter');
    await page.waitForSelector('.accuracy:has-text("%")');
    await press('p');
    await page.waitForSelector('.games-source textarea:focus');
    await page.keyboard.type('1. d4 d5 2. c4');
    await press('Control+Enter');
    await page.waitForSelector('.panel-games', { state: 'detached' });
    await press('ArrowDown');
    await page.waitForSelector('.move[aria-current]:has-text("c4")');
  });

  /** The board takes its new size some frames later; a page that stays too large fails by the time limit. */
  const resize = async (width: number, height: number): Promise<void> => {
    await page.setViewportSize({ width, height });
    await page.evaluate(`new Promise((done) => {
      const look = () => {
        const { scrollWidth, scrollHeight } = document.documentElement;
        const fits = innerWidth === ${width} && scrollWidth <= innerWidth && scrollHeight <= innerHeight;
        fits ? done() : requestAnimationFrame(look);
      };
      look();
    })`);
  };

  test('in every panel, size and theme the board has its place, nothing is cut, and axe-core finds nothing serious', async () => {
    const panels = ['analyse', 'play', 'match', 'training'];
    const look = `(() => {
      const { scrollWidth, scrollHeight } = document.documentElement;
      const { x, y, width } = document.querySelector('.board-area')?.firstElementChild.getBoundingClientRect() ?? {};
      const cut = [...document.querySelectorAll('#app *')].filter((one) => {
        const { display, overflowX, textOverflow } = getComputedStyle(one);
        // A box of boxes cuts its words without "…".
        const isMarked = textOverflow === 'ellipsis' && !/flex|grid/.test(display);
        return one.scrollWidth > one.clientWidth + 1 && overflowX !== 'visible' && !isMarked &&
          one.clientWidth > 0 && !one.matches('input, textarea, .visually-hidden, .visually-hidden *');
      });
      return {
        overflow: [scrollWidth - innerWidth, scrollHeight - innerHeight],
        place: [x, y, width].join(),
        cut: cut.map((one) => one.tagName + '.' + one.className),
      };
    })()`;
    await show(page, 'analyse');
    const players = `[White "Anastasia Alexandrowna Petrosjan-Nimzowitsch"]\n[Black "Ben"]\n`;
    await loadText(page, `${players}\n1. e4 e5 *\n\n[White "C"]\n\n1. d4 *`);
    await openGame(page, '');
    for (const [width, height] of SIZES) {
      await resize(width, height);
      const places = new Set<string>();
      for (const name of panels) {
        await show(page, name);
        const { overflow, cut, place } = (await page.evaluate(look)) as Record<'overflow' | 'cut' | 'place', unknown>;
        assert.deepEqual([overflow, cut], [[0, 0], []], `${name} at ${width}×${height}`);
        if (name !== 'training') places.add(String(place));
      }
      assert.equal(places.size, 1, `${width}×${height}: ${[...places].join(' or ')}`);
    }
    await page.setViewportSize({ width: 1400, height: 900 });
    for (const [colorScheme, forcedColors] of [
      ['light', 'none'],
      ['dark', 'none'],
      ['light', 'active'],
    ] as const) {
      await page.emulateMedia({ colorScheme, forcedColors });
      // Of what axe-core looks for, contrast alone depends on colours.
      const rules = colorScheme === 'light' && forcedColors === 'none' ? undefined : ['color-contrast'];
      const check = async (what: string): Promise<void> =>
        assert.deepEqual(await findBarriers(page, rules), [], `${what}, ${colorScheme}, ${forcedColors}`);
      for (const name of [...panels, 'games']) {
        await show(page, name);
        await check(name);
      }
      await show(page, 'analyse');
      for (let click = 0; click < 2; click++) {
        await button('Lines, limits, arrows, numbers').click();
        await page.getByText('Games with this position', { exact: true }).click();
        await check('the engine, unfolded');
      }
      await choose(page, 'New', 'Set up a position');
      await check('Set up');
      await button('Cancel').click();
      for (const [menu, item] of [
        ['Settings', 'Engine'],
        ['Settings', 'Board and sounds'],
        ['Settings', 'Keys'],
      ]) {
        await choose(page, menu, item);
        await page.waitForSelector('dialog[open]');
        await check(item);
        await page.getByRole('button', { name: 'Close', exact: true }).click();
      }
    }
    await page.setViewportSize({ width: SIZES[0][0], height: SIZES[0][1] });
    for (const name of [...panels, 'games']) {
      await show(page, name);
      assert.deepEqual(await findBarriers(page), [], `${name} on a phone`);
    }
    // Forced colours keep bars and switches.
    await show(page, 'analyse');
    const read = (name: string) => page.evaluate(`getComputedStyle(document.querySelector('${name}')).backgroundColor`);
    assert.notEqual(await read('.eval-white'), await read('.eval-black'));
    await page.emulateMedia({ forcedColors: 'none' });
  });

  test('a list of matches that rest is asked for seldom', async () => {
    const idle = await page.context().newPage();
    await idle.clock.install();
    let sent = 0;
    idle.on('websocket', (socket) => socket.on('framesent', () => sent++));
    await idle.goto(new URL('#match', page.url()).href);
    await idle.waitForSelector('text=No match yet');
    // From now on no time passes but what the test lets pass.
    await idle.clock.pauseAt(Number(await idle.evaluate('Date.now()')) + 60_000);
    const begun = sent;
    for (let seconds = 0; seconds < 10; seconds++) await idle.clock.runFor(1000);
    assert.ok(sent - begun <= 6, `${sent - begun} requests in ten seconds`);
    // The clock is that of all tabs.
    await idle.clock.resume();
    await idle.close();
  });

  test('a server is killed in the middle of a match: the page says so, and the match goes on with no game lost or doubled', async () => {
    const folder = join(tests.board.folder, 'killed');
    // While this file is there, Slow plays no second game.
    const held = join(tests.board.folder, 'held');
    const { command, args } = fakeEngine(`--hold-while=${held}`);
    const flags = [
      '--backend=hash',
      `--engine=cmd="${command}" args="${args.join(' ')}" name=Slow`,
      `--matches=${folder}`,
    ];
    const games = 4;
    const findFile = (ending: string) => join(folder, readdirSync(folder).find((name) => name.endsWith(ending)) ?? '');
    const readMatch = (ending: string) => readFileSync(findFile(ending), 'utf8');
    for (const killsBoth of [false, true]) {
      writeFileSync(held, '2');
      let server = await BoardProcess.start(flags);
      const { own, first } = await visit('', server);
      await first.clock.install();
      await first.getByRole('link', { name: 'Match' }).click();
      const isNew = !killsBoth;
      if (isNew) {
        await first.getByLabel('First player').selectOption('Slow');
        await first.getByLabel('Second player').selectOption('random');
        await first.getByText('Clock', { exact: true }).click();
        await first.getByLabel('Seconds a game').fill('600');
        await first.getByLabel('Games at most').fill(String(games));
        await first.getByRole('button', { name: 'Start the match' }).click();
      } else {
        assert.ok(readMatch('.jsonl').split('\n').length - 2 < games);
        await first.getByRole('button', { name: 'Go on' }).click();
      }
      const begun = isNew ? 1 : readMatch('.jsonl').split('\n').length - 1;
      await first.waitForSelector(`.game-list li:nth-child(${begun})`);
      await first.waitForSelector('.panel-match .player-row .clock');
      const [killed] = [once(server.child, 'exit')];
      if (killsBoth) process.kill(Number.parseInt(readMatch('.lock'), 10), 'SIGKILL');
      server.child.kill('SIGKILL');
      await killed;
      // Nobody knows how the clocks run on.
      await first.waitForSelector('.lost:has-text("No connection")');
      const clocks = await first.getByRole('timer').allTextContents();
      await first.clock.runFor(10_000);
      assert.deepEqual(await first.getByRole('timer').allTextContents(), clocks);
      assert.equal(await first.getByRole('button', { name: 'Pause' }).isDisabled(), true);
      await own.close();
      rmSync(held);
      // A match without its server ends with the next move that it tells.
      while (findLockOwner(findFile('.jsonl')) !== null) await new Promise((resolve) => setTimeout(resolve, 50));
      if (isNew) continue;
      server = await BoardProcess.start(flags);
      const { own: again, first: next } = await visit('', server);
      await next.getByRole('link', { name: 'Match' }).click();
      await next.getByRole('button', { name: 'Go on' }).click();
      await next.waitForSelector(`.review-head:has-text("${games} of ${games}")`);
      await next.waitForSelector('.review-head:not(:has(button:text-is("Pause")))');
      const rounds = readMatch('.pgn').match(/\[Round "[^"]*"\]/g) ?? [];
      assert.deepEqual([rounds.length, new Set(rounds).size], [games, games]);
      const rows = readMatch('.jsonl').trim().split('\n').slice(1);
      assert.equal(new Set(rows.map((row) => JSON.parse(row).game)).size, games);
      assert.equal(rows.length, games);
      await again.close();
      await server.stop();
    }
  });

  test('a server that was started again is told from one that is away', async () => {
    const port = String(tests.board.port);
    const { own, first } = await visit();
    await first.clock.install();
    await first.reload();
    await show(first, 'play');
    await first.getByText('White', { exact: true }).click();
    await first.getByText('3:00 + 2 s', { exact: true }).click();
    await first.getByRole('button', { name: 'Play', exact: true }).click();
    await tests.board.stop();
    await page.waitForSelector('.lost:has-text("No connection")');
    // The user may move; the engine's clock stands still until it can be asked.
    await first.waitForSelector('.lost');
    await typeMove(first, 'e4');
    await first.waitForSelector('.move:has-text("e4")');
    await first.clock.runFor(10_000);
    assert.equal(await first.getByRole('timer', { name: /^Clock of Sardonyx/ }).textContent(), '3:00');
    await own.close();
    tests.board = await BoardProcess.start(['--backend=hash', `--port=${port}`]);
    await page.waitForSelector('.obstacle:has-text("opened by the address that it has printed")');
    for (const [width, height] of SIZES) await resize(width, height);
    assert.deepEqual(tests.complaints, []);
  });
});
