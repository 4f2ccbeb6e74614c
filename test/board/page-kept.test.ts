/**
 * What one browser keeps: analyses, reviews and games are there after a reload and in the list, several tabs lose nothing, and storage
 * that is refused or full says so. On the hash evaluator. What the server keeps is in page-storage.test.ts.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { before, test } from 'node:test';
import type { BrowserContext, Page } from 'playwright-core';
import {
  areStored,
  choose,
  chooseReview,
  findBarriers,
  findStored,
  inStore,
  loadText,
  locateSquare,
  openGame,
  readFen,
  setThoroughness,
  show,
  typeMove,
} from '../support/board-page.js';
import { describePages, SLOW_ENGINE } from '../support/page-tests.js';

const ATTACHED = { state: 'attached' } as const;
const GAME = '[White "Anna"]\n[Black "Ben"]\n[Result "1-0"]\n\n1. e4 $1 { best by test } e5 2. Nf3 Nc6 3. Bb5 a6 1-0';

const isKept = (tab: Page, text: string, store = 'games') => areStored(tab, text, (found) => found !== '', store);
/** All games as one value, and one of them again because it had changed. */
const STORE_AS_BEFORE = inStore(`games.getAll(IDBKeyRange.bound(id, id + '~')).onsuccess = ({ target: { result } }) => {
  const all = result.flat();
  games.delete(IDBKeyRange.bound(id, id + '~'));
  games.put(all, id);
  games.put({ ...all[449], text: all[449].text.replace('1. d4', '1. b4') }, id + '/449').onsuccess = done;
};`);

describePages('what a browser keeps', SLOW_ENGINE, (tests) => {
  let page: Page;

  before(async () => {
    page = await tests.open(await tests.createContext({ width: 1400, height: 900, isAlone: true }));
  });

  /** A browser of its own, with nothing kept. @param begin script that runs before the page's */
  async function visit(begin = ''): Promise<{ own: BrowserContext; first: Page }> {
    const own = await tests.createContext({ width: 1400, height: 900, begin, isAlone: true });
    return { own, first: await tests.open(own) };
  }

  const button = (name: string) => page.getByRole('button', { name, exact: true });

  test('an analysis stays: after a reload, among others, with the games of a file as chapters', async () => {
    await loadText(page, GAME);
    await page.waitForSelector('.move-good:has-text("e4!")');
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
    await loadText(first, GAME);
    await setThoroughness(first, 'Quick');
    await chooseReview(first, 'Review the game');
    await first.waitForSelector('.accuracy');
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
    await first.waitForSelector('.panel-analyse .move:has-text("Nc6")');
    assert.deepEqual(await read(), known);
    // Nobody has played what is set up.
    await choose(first, 'New', 'Set up a position');
    assert.deepEqual(await first.locator('.player-name').allTextContents(), ['', '']);
    await first.getByRole('button', { name: 'Cancel', exact: true }).click();
    await own.close();
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
    for (const move of ['e4', 'e5']) {
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
});
