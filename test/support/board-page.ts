/** What tests do with the page of the board in a browser: move pieces, load games, look for barriers. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { BrowserContext, Locator, Page } from 'playwright-core';

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

interface AxeResult {
  readonly violations: readonly {
    readonly id: string;
    readonly impact: string;
    readonly nodes: readonly { html: string }[];
  }[];
}

/** The server keeps analyses for all browsers: this one sees those alone that it has sent, as if it had a server of its own. */
export async function hideOthers(context: BrowserContext): Promise<void> {
  const own = new Set<string>();
  await context.route('**/kept/**', async (route) => {
    const id = route.request().url().split('/kept/')[1];
    const isPut = route.request().method() === 'PUT';
    if (isPut) own.add(id);
    if (id === 'played') return route.fulfill(isPut ? { headers: { ETag: '"1"' } } : { status: 404 });
    if (id !== '') return route.continue();
    // The browser or the server may end meanwhile, and nobody waits for the answer then.
    const list = await route.fetch().then(
      (response) => response.json(),
      () => undefined,
    );
    if (list === undefined) return route.abort();
    const analyses = list.analyses.filter((entry: { id: string }) => own.has(entry.id));
    await route.fulfill({ json: { analyses, problems: list.problems } });
  });
}

/** Where a board is. One that takes another size gives way to a new one, and has no place for a moment. */
export async function locateBoard(board: Locator): Promise<{ x: number; y: number; width: number }> {
  let box = await board.boundingBox();
  while (box === null) box = await board.boundingBox();
  return box;
}

/** Middle of a square on the screen; White is below. */
export async function locateSquare(page: Page, square: string): Promise<{ x: number; y: number }> {
  const box = await locateBoard(page.locator('cg-board').first());
  const size = box.width / 8;
  const [file, rank] = [square.charCodeAt(0) - 97, Number(square[1]) - 1];
  return { x: box.x + size * (file + 0.5), y: box.y + size * (7.5 - rank) };
}

export async function dragPiece(page: Page, from: string, to: string): Promise<void> {
  const [a, b] = [await locateSquare(page, from), await locateSquare(page, to)];
  await page.mouse.move(a.x, a.y);
  await page.mouse.down();
  await page.mouse.move(b.x, b.y, { steps: 4 });
  await page.mouse.up();
}

export async function clickSquare(page: Page, square: string): Promise<void> {
  const { x, y } = await locateSquare(page, square);
  await page.mouse.click(x, y);
}

/** Chooses from a menu of the header or of the buttons that step: New, Share, Settings, More. */
export async function choose(page: Page, menu: string, item: string): Promise<void> {
  await page.getByRole('button', { name: menu, exact: true }).click();
  await page.getByRole('menuitem', { name: item, exact: true }).click();
}

/** Chooses from the menu of the review. */
export async function chooseReview(page: Page, item: string): Promise<void> {
  await page.locator('.opening').getByRole('button', { name: 'Review' }).click();
  await page.getByRole('menu', { name: 'Review', exact: true }).getByText(item, { exact: true }).click();
}

/** @param name Quick, Normal, Thorough or Deep */
export async function setThoroughness(page: Page, name: string): Promise<void> {
  await page.locator('.opening').getByRole('button', { name: 'Review' }).click();
  await page.getByRole('menuitemradio', { name }).click();
  await page.keyboard.press('Escape');
}

/** Shows a room or a mode of the board. */
export async function show(page: Page, name: string): Promise<void> {
  await page.evaluate(`location.hash = '${name}'`);
  // An element that the test holds would stay in memory.
  await page.locator(`.panel-${name}`).waitFor();
}

/** The board takes its new size some frames later; a page that stays too large fails by the time limit. */
export async function resize(page: Page, width: number, height: number): Promise<void> {
  await page.setViewportSize({ width, height });
  await page.evaluate(`new Promise((done) => {
    const look = () => {
      const { scrollWidth, scrollHeight } = document.documentElement;
      const fits = innerWidth === ${width} && scrollWidth <= innerWidth && scrollHeight <= innerHeight;
      fits ? done() : requestAnimationFrame(look);
    };
    look();
  })`);
}

/** The position on the board, through the clipboard. */
export async function readFen(page: Page): Promise<string> {
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await choose(page, 'Share', 'Copy FEN');
  await page.waitForSelector('.notice:has-text("Copied")');
  return String(await page.evaluate('navigator.clipboard.readText()'));
}

/** Pastes a FEN or PGN into the room of games, and waits until a Worker has read it. One game is then on the board. */
export async function loadText(page: Page, text: string): Promise<void> {
  await choose(page, 'New', 'Paste or open …');
  await page.getByLabel('FEN or PGN').fill(text);
  await page.getByRole('button', { name: 'Load', exact: true }).click();
  await waitForGames(page);
}

/** Until the files or texts have been read. */
export async function waitForGames(page: Page): Promise<void> {
  // The bar is there with the next picture, and the board, if it is shown, behind the bar.
  for (let picture = 0; picture < 2; picture++) {
    await page.evaluate('new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)))');
    await page.waitForSelector('.panel-games progress', { state: 'detached' });
  }
}

/** Opens a row of the table of games. @param name how it begins */
export async function openGame(page: Page, name: string, collection?: string): Promise<void> {
  if ((await page.locator('.panel-games').count()) === 0) await choose(page, 'New', 'Paste or open …');
  if (collection !== undefined) {
    await page.locator('.collection').filter({ hasText: collection }).click();
    await page.locator('.collection[aria-current=true]').filter({ hasText: collection }).waitFor();
  }
  await page
    .locator(name === '' ? '.game-open' : `.game-open[title^="${name}"]`)
    .first()
    .click();
  await page.waitForSelector('.panel-games', { state: 'detached' });
}

/** A move, or a FEN or PGN that is opened. */
export async function typeMove(page: Page, move: string): Promise<void> {
  const field = page.getByRole('textbox', { name: 'Type a move' });
  if ((await field.count()) === 0) await choose(page, 'More', 'Type a move');
  await field.fill(move);
  await field.press('Enter');
}

/** Serious findings of axe-core. @param rules its rules by name; all by default */
export async function findBarriers(page: Page, rules?: readonly string[]): Promise<string[]> {
  if ((await page.evaluate('typeof axe')) === 'undefined') await page.evaluate(axeSource);
  // Fetching style sheets and media anew would take half of the time, for two rules that change no serious finding: one is experimental
  // and off (css-orientation-lock), the other moderate (no-autoplay-audio).
  const options = { resultTypes: ['violations'], preload: false, ...(rules && { runOnly: rules }) };
  const { violations } = (await page.evaluate(`axe.run(${JSON.stringify(options)})`)) as AxeResult;
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(
      ({ id, nodes }) =>
        `${id}: ${nodes
          .map(({ html }) => html)
          .join(' ')
          .slice(0, 300)}`,
    );
}

/** @param body gets `games`, a store of the database, and the id of the analysis; it calls `done`. Nothing is found before the page has named its analysis. */
export const inStore = (body: string, store = 'games'): string => `new Promise((done) => {
  const id = sessionStorage.getItem('sardonyx.analysis');
  if (id === null) return done('');
  indexedDB.open('sardonyx').onsuccess = ({ target: { result } }) => {
    const change = result.transaction('${store}', 'readwrite');
    change.oncomplete = () => result.close();
    const games = change.objectStore('${store}');
    ${body}
  };
})`;
/** The parts of the analysis that hold the text: of its games, or its entry in the list. */
export const findStored = (text: string, store = 'games'): string =>
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
export async function areStored(
  tab: Page,
  text: string,
  parts: (found: string) => boolean,
  store = 'games',
): Promise<void> {
  while (!parts(String(await tab.evaluate(findStored(text, store)))))
    await tab.evaluate('new Promise((resolve) => setTimeout(resolve, 50))');
}
