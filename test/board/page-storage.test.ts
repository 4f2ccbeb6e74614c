/**
 * What a user has done is there the next day: servers are started again, tabs come back, two browsers change one analysis, storage is
 * full or refused. On the hash evaluator, in one Chromium with a profile for each user.
 */
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { Browser, BrowserContext, Page, Response } from 'playwright-core';
import type { KeptList } from '#sardonyx/board/protocol/kept.js';
import { areStored, choose, loadText, openGame, show, typeMove } from '../support/board-page.js';
import { BoardProcess } from '../support/board-process.js';
import { launchBrowser } from '../support/browser.js';

const launched = await launchBrowser();
const skip = 'reason' in launched ? launched.reason : false;
const FLAGS = ['--backend=hash', '--threads=1', '--nps-limit=4000'];
const MARK = '.unsaved';
/** Address of an analysis; that of the list ends with the slash. */
const ONE_KEPT = /\/kept\/[^/]+$/;

describe('what the page keeps', { skip, timeout: 1_800_000 }, () => {
  const browser = (launched as { browser: Browser }).browser;
  const data = mkdtempSync(join(tmpdir(), 'sardonyx-storage-'));
  const folder = join(data, 'board');
  const complaints: string[] = [];
  let board: BoardProcess;

  before(async () => {
    board = await BoardProcess.start(FLAGS, { SARDONYX_DATA: data });
  });
  after(async () => {
    await browser.close();
    await board?.stop();
    rmSync(data, { recursive: true });
    assert.deepEqual(complaints, []);
  });

  async function createBrowser(begin = ''): Promise<BrowserContext> {
    const own = await browser.newContext({ viewport: { width: 1400, height: 900 } });
    await own.addInitScript(begin);
    return own;
  }
  /** @param url of the server; left out: a token for a further browser */
  async function open(own: BrowserContext, url = board.lines.at(-1) ?? board.url): Promise<Page> {
    const page = await own.newPage();
    page.on('pageerror', (error) => complaints.push(error.message));
    await page.goto(url);
    await page.waitForSelector('.engine-head');
    return page;
  }
  const press = (page: Page, name: string | RegExp): Promise<void> =>
    page.getByRole('button', { name, exact: true }).first().click();
  const readMoves = (page: Page): Promise<string[]> => page.locator('.move').allTextContents();
  /** A state that gives way to its next one just now is left out. */
  const readFolder = (): string =>
    (existsSync(folder) ? readdirSync(folder) : [])
      .map((name) => {
        try {
          return readFileSync(join(folder, name), { encoding: 'utf8' });
        } catch {
          return '';
        }
      })
      .join('\n');
  /** Waits until the folder of the server holds the text. */
  async function isKept(page: Page, text: string): Promise<void> {
    while (!readFolder().includes(text)) await page.evaluate('new Promise((resolve) => setTimeout(resolve, 50))');
  }
  async function listEarlier(page: Page): Promise<string[]> {
    await show(page, 'games');
    await page.getByRole('button', { name: /^Kept analyses/ }).click();
    const rows = page.locator('.game-open');
    await rows.first().waitFor();
    const names = await rows.evaluateAll((all) => all.map((row) => row.title));
    await show(page, 'analyse');
    return names;
  }
  async function restart(): Promise<void> {
    const port = board.port;
    await board.stop();
    board = await BoardProcess.start([...FLAGS, `--port=${port}`], { SARDONYX_DATA: data });
  }
  /** Of the games that the user has played against the engine. */
  async function resignGame(page: Page): Promise<void> {
    await show(page, 'play');
    await page.getByText('White', { exact: true }).click();
    await press(page, 'Play');
    await typeMove(page, 'e4');
    await page.waitForSelector(':nth-match(.move, 2)');
    await press(page, 'Resign');
    await page.locator('dialog').getByRole('button', { name: 'Resign' }).click();
    await page.waitForSelector('summary:has-text("Finished games (1)")');
  }

  test('the next day analyses and finished games are there, in this browser and in any other', async () => {
    const own = await createBrowser();
    const page = await open(own);
    await loadText(page, '[White "Anna"]\n[Black "Ben"]\n\n1. e4 e5 2. Nf3 Nc6 *');
    await page.waitForSelector('.move:has-text("Nc6")');
    await page.keyboard.press('Home');
    await page.keyboard.press('ArrowRight');
    await typeMove(page, 'c5');
    await isKept(page, 'c5');
    await resignGame(page);
    await isKept(page, 'GameId');
    await page.close();
    await restart();
    const again = await open(own, board.url);
    await again.waitForSelector('.move[aria-current]:has-text("c5")');
    const other = await open(await createBrowser());
    await other.waitForSelector('.move[aria-current]:has-text("c5")');
    await show(other, 'play');
    await other.waitForSelector('summary:has-text("Finished games (1)")');
    assert.match(readFolder(), /"name":"Finished games"/);
    await own.close();
  });

  test('what a browser has kept of its own comes to the server once, also what earlier versions have stored', async () => {
    const own = await createBrowser();
    const page = await open(own);
    await page.evaluate(`new Promise((done) => {
      indexedDB.open('sardonyx').onsuccess = ({ target: { result } }) => {
        const change = result.transaction(['analyses', 'games'], 'readwrite');
        const entry = { changedAtMs: 1, chapter: 0, path: [], orientation: 'white', setup: null };
        change.objectStore('analyses').put({ ...entry, id: 'old-1', name: 'Old one', chapters: 1 });
        change.objectStore('games').put([{ title: 'Old', text: '1. a3 a6 *' }], 'old-1#0');
        change.objectStore('analyses').put({ ...entry, id: 'old-2', name: 'Older one', chapters: 2 });
        change.objectStore('games').put([{ title: 'a', text: '1. b3 *' }, { title: 'b', text: '1. b4 *' }], 'old-2');
        change.objectStore('games').put({ title: 'b', text: '1. h3 *' }, 'old-2/1');
        change.oncomplete = () => { result.close(); done(); };
      };
    })`);
    await page.reload();
    await isKept(page, '1. a3 a6');
    await isKept(page, '1. h3');
    assert.doesNotMatch(readFolder(), /1\. b4/);
    await page.reload();
    await page.waitForSelector('.engine-head');
    const other = await open(await createBrowser());
    const names = (await listEarlier(other)).filter((name) => /Old/.test(name));
    assert.deepEqual(names, ['Old one']);
    await openGame(other, 'a', 'Older one');
    await other.waitForSelector('.move:has-text("b3")');
    await own.close();
  });

  test('two browsers change one analysis: the second gets a copy and a sentence; who only looks gets the newer version', async () => {
    const [first, second, third] = [
      await open(await createBrowser()),
      await open(await createBrowser()),
      await open(await createBrowser()),
    ];
    await loadText(first, '[White "Carl"]\n[Black "Dora"]\n\n1. d4 d5 *');
    await first.waitForSelector('.move:has-text("d5")');
    await isKept(first, '1. d4 d5');
    for (const page of [second, third]) {
      await page.reload();
      await openGame(page, 'Carl', 'Kept analyses');
      await page.waitForSelector('.move:has-text("d5")');
    }
    // It may come before the step: the page says which opening it shows.
    const told = third.waitForSelector('.opening ~ .problem:has-text("this is the newer version")');
    await first.keyboard.press('ArrowDown');
    await typeMove(first, 'c4');
    await isKept(first, '1. d4 d5 2. c4');
    // A save of the step alone, before the move is played, would bring the newer version.
    let release = (): void => undefined;
    const isPlayed = new Promise<void>((resolve) => {
      release = resolve;
    });
    await second.route(ONE_KEPT, (route) => isPlayed.then(() => route.continue()));
    await second.keyboard.press('ArrowDown');
    await typeMove(second, 'Nf3');
    await second.waitForSelector('.move:has-text("Nf3")');
    release();
    await second.waitForSelector(
      '.opening ~ .problem:has-text("Carl – Dora was changed elsewhere meanwhile: your version is kept as a copy")',
    );
    await isKept(second, '1. d4 d5 2. Nf3');
    await third.keyboard.press('ArrowDown');
    await told;
    await third.waitForSelector('.move:has-text("c4")');
    // The copy is an analysis like others, and the first one goes on.
    await typeMove(second, 'Nf6');
    await isKept(second, '2. Nf3 Nf6');
    await typeMove(first, 'e6');
    await isKept(first, '2. c4 e6');
    await second.reload();
    await second.waitForSelector('.move[aria-current]:has-text("Nf6")');
    assert.equal(
      (await listEarlier(second)).filter((name) => /Carl/.test(name)).length,
      2,
      'the first one and its copy',
    );
    assert.match(readFolder(), /2\. c4 e6/);
    // Whoever steps and pages through a file has changed their place in it, and no game.
    await loadText(first, '[White "Eve"]\n\n1. e4 e5 *\n\n[White "Eve"]\n\n1. c4  c5 2. g3 *');
    await openGame(first, 'Eve');
    await isKept(first, '1. c4  c5');
    for (const page of [second, third]) {
      await page.reload();
      await openGame(page, 'Eve', 'Eve');
    }
    const look = async (page: Page): Promise<void> => {
      const sent = page.waitForResponse((answer) => answer.request().method() === 'PUT' && answer.ok());
      for (const key of ['PageDown', 'PageUp'])
        for (const go of ['Home', 'ArrowRight', key]) await page.keyboard.press(go);
      await page.locator('.move[aria-current]:has-text("e4")').waitFor();
      await sent;
    };
    for (const page of [first, second, third, second]) await look(page);
    await typeMove(third, 'c6');
    await isKept(third, '(1... c6)');
    await second.keyboard.press('PageDown');
    await second.locator('.opening ~ .problem:has-text("this is the newer version")').waitFor();
    const copies = `fetch('kept/').then((answer) => answer.json()).then(({ analyses }) => analyses.filter(({ name }) => /^Eve/.test(name)).length)`;
    assert.equal(await first.evaluate(copies), 1);
    for (const page of [first, second, third]) await page.context().close();
  });

  test('an answer that is lost on its way makes no copy, and what was not sent is sent by the next page', async () => {
    const own = await createBrowser();
    const page = await open(own);
    await choose(page, 'New', 'Empty board');
    await page.route('**/kept/*', async (route) => {
      if (route.request().method() === 'PUT') await route.fetch();
      await route.abort();
    });
    await typeMove(page, 'f4');
    await isKept(page, '1. f4');
    await typeMove(page, 'f5');
    await page.waitForSelector('.move:has-text("f5")');
    const url = page.url();
    await page.close();
    const next = await own.newPage();
    await next.goto(url);
    await next.waitForSelector('.move[aria-current]:has-text("f5")');
    await isKept(next, '1. f4 f5');
    await typeMove(next, 'g3');
    await isKept(next, '1. f4 f5 2. g3');
    const names = await next.evaluate(
      `fetch('kept/').then((answer) => answer.json()).then(({ analyses }) => analyses.map(({ name }) => name))`,
    );
    assert.equal((names as string[]).filter((name) => /^f4/.test(name)).length, 1);
    assert.equal(await next.locator('.notice-warning, .problem').count(), 0);
    await own.close();
  });

  test('a server that was started again: the open tab goes on where the new one is, with what it shows', async () => {
    const own = await createBrowser();
    const page = await open(own);
    await choose(page, 'New', 'Empty board');
    await typeMove(page, 'Nc3');
    await typeMove(page, 'Nf6');
    await press(page, 'Back');
    await page.waitForSelector('.move[aria-current]:has-text("Nc3")');
    await show(page, 'play');
    const before = page.url();
    await restart();
    await page.waitForSelector('.obstacle:has-text("The server was started again")');
    const opened = await open(own, board.url);
    await page.waitForSelector('.lost', { state: 'detached' });
    assert.notEqual(page.url().split('#')[0], before.split('#')[0]);
    assert.equal(page.url().split('#')[0], opened.url().split('#')[0]);
    assert.match(page.url(), /#play$/);
    await show(page, 'analyse');
    await page.waitForSelector('.move[aria-current]:has-text("Nc3")');
    assert.deepEqual(await readMoves(page), ['Nc3', 'Nf6']);
    assert.equal(await page.locator('.notice').count(), 0);
    await own.close();
  });

  test('a bookmark of yesterday asks for the token, and takes the printed address', async () => {
    const own = await createBrowser();
    const page = await open(own);
    await choose(page, 'New', 'Empty board');
    await typeMove(page, 'b3');
    await isKept(page, '1. b3');
    const bookmark = page.url();
    await page.close();
    await restart();
    const next = await own.newPage();
    await next.goto(bookmark);
    await next.getByLabel(/address that .* has printed/).fill('wrong');
    await press(next, 'Open the board');
    await next.waitForSelector('p:has-text("The token is wrong or was used.")');
    await next.getByLabel(/address that .* has printed/).fill(board.url);
    await press(next, 'Open the board');
    await next.waitForSelector('.move:has-text("b3")');
    assert.doesNotMatch(next.url(), /token/);
    await own.close();
  });

  test('what the user begins or opens while an earlier analysis is read stays', async () => {
    let own = await createBrowser();
    let page = await own.newPage();
    let release = (): void => undefined;
    /** What is asked of these analyses comes when it is released. */
    const hold = async (which: RegExp | string): Promise<void> => {
      const held = new Promise<void>((resolve) => {
        release = resolve;
      });
      await page.route(which, (route) => held.then(() => route.fallback()));
    };
    const answer = async (id = ''): Promise<void> => {
      const isAnswer = (response: Response): boolean =>
        ONE_KEPT.test(response.url()) && response.url().endsWith(id) && response.request().method() === 'GET';
      const coming = page.waitForResponse(isAnswer);
      release();
      await (await coming).finished();
      await page.evaluate('new Promise((resolve) => setTimeout(resolve, 300))');
    };
    const arrive = async (): Promise<void> => {
      await hold(ONE_KEPT);
      const asked = page.waitForRequest(ONE_KEPT);
      await page.goto(board.lines.at(-1) ?? board.url);
      await asked;
    };
    await arrive();
    await choose(page, 'New', 'Set up a position');
    await answer();
    assert.equal(await page.locator('.fen').count(), 1);
    await own.close();
    own = await createBrowser();
    page = await own.newPage();
    await arrive();
    // A list of games that the user has chosen stays in sight.
    await show(page, 'games');
    const file = page.locator('.collection').filter({ hasText: 'Eve' });
    await file.click();
    await answer();
    assert.equal(await file.getAttribute('aria-current'), 'true');
    await own.close();
    own = await createBrowser();
    page = await own.newPage();
    await arrive();
    // Every save is answered late.
    await page.route(ONE_KEPT, async (route) => {
      if (route.request().method() !== 'PUT') return route.fallback();
      const response = await route.fetch();
      await new Promise((resolve) => setTimeout(resolve, 1500));
      await route.fulfill({ response }).catch(() => undefined);
    });
    await choose(page, 'New', 'Empty board');
    await typeMove(page, 'g3');
    await answer();
    await isKept(page, '1. g3');
    assert.deepEqual(await readMoves(page), ['g3']);
    // Of two games of the list the last one. A copy has the name of its original.
    const isClear = (name: string, at: number, all: string[]): boolean =>
      !name.startsWith('g3') && all.indexOf(name) === at && all.lastIndexOf(name) === at;
    const [slow, fast] = (await listEarlier(page)).filter(isClear);
    await show(page, 'games');
    await page.locator('.game-open').first().waitFor();
    const listed = (await page.evaluate("fetch('kept/').then((answer) => answer.json())")) as KeptList;
    // The list of games may still be reading it, too.
    const slowId = listed.analyses.find((entry) => entry.name === slow)?.id;
    await hold(`**/kept/${slowId}`);
    const sent = new Set<string | undefined>();
    page.on('request', (request) => request.method() === 'PUT' && sent.add(request.url().split('/').at(-1)));
    for (const name of [slow, fast]) await page.getByTitle(name, { exact: true }).click();
    await page.waitForSelector('.panel-games', { state: 'detached' });
    const shown = await readMoves(page);
    await answer(slowId);
    assert.deepEqual(await readMoves(page), shown);
    // Only what has changed is sent.
    const id = String(await page.evaluate("sessionStorage.getItem('sardonyx.analysis')"));
    const put = page.waitForRequest((request) => request.method() === 'PUT' && request.url().endsWith(id));
    await page.keyboard.press('f');
    await put;
    assert.deepEqual([...sent], [id]);
    await own.close();
  });

  test('where neither browser nor server keeps the last change, the header says so until one does, and leaving asks', async () => {
    const own = await createBrowser(`const put = IDBObjectStore.prototype.put;
      IDBObjectStore.prototype.put = function (...given) {
        if (globalThis.isFull === true) throw new DOMException('full', 'QuotaExceededError');
        return put.apply(this, given);
      };`);
    const page = await open(own);
    await choose(page, 'New', 'Empty board');
    await typeMove(page, 'g4');
    await isKept(page, '1. g4');
    assert.equal(await page.locator(MARK).count(), 0);
    await page.evaluate('globalThis.isFull = true');
    await page.route('**/kept/*', (route) => route.abort());
    await typeMove(page, 'e5');
    await page.waitForSelector(`${MARK}:has-text("not saved")`);
    await page.waitForSelector('[role=menuitem]:has-text("no room to keep this analysis: save it as PGN")', {
      state: 'attached',
    });
    const asked = new Promise<string>((resolve) => {
      page.once('dialog', (dialog) => {
        resolve(dialog.type());
        void dialog.dismiss();
      });
    });
    await page.evaluate('setTimeout(() => location.reload())');
    assert.equal(await asked, 'beforeunload');
    assert.deepEqual(await readMoves(page), ['g4', 'e5']);
    // The server alone is enough.
    await page.unroute('**/kept/*');
    await page.waitForSelector(MARK, { state: 'detached' });
    await isKept(page, '1. g4 e5');
    await typeMove(page, 'f3');
    await isKept(page, '1. g4 e5 2. f3');
    await page.waitForSelector(MARK, { state: 'detached' });
    await page.reload();
    await page.waitForSelector('.move[aria-current]:has-text("f3")');
    await own.close();
  });

  test('a server that cannot write says so, and the browser keeps the work for later', async () => {
    writeFileSync(join(data, 'no-folder'), '');
    const other = await BoardProcess.start(FLAGS, { SARDONYX_DATA: join(data, 'no-folder') });
    const own = await createBrowser();
    const page = await open(own, other.url);
    await show(page, 'games');
    await page.waitForSelector('.problem:has-text("no-folder")');
    await show(page, 'analyse');
    await typeMove(page, 'h4');
    await page.waitForSelector(`${MARK}:has-text("only in this browser")`);
    await page.close();
    const port = other.port;
    await other.stop();
    const again = await BoardProcess.start([...FLAGS, `--port=${port}`], { SARDONYX_DATA: data });
    const next = await open(own, again.url);
    await next.waitForSelector('.move:has-text("h4")');
    await isKept(next, '1. h4');
    assert.equal(await next.locator(MARK).count(), 0);
    await own.close();
    await again.stop();
  });

  test('an analysis that cannot be read and one that is too large cost a sentence, and nothing else', async () => {
    writeFileSync(join(folder, 'broken.1.json'), '{"id":');
    const own = await createBrowser();
    const page = await open(own);
    await show(page, 'games');
    await page.waitForSelector('.problem:has-text("broken.1.json is no analysis that can be read")');
    await show(page, 'analyse');
    await page.route('**/kept/*', (route) =>
      route.request().method() === 'PUT'
        ? route.fulfill({ status: 413, body: 'The server keeps at most 2000 analyses' })
        : route.continue(),
    );
    await choose(page, 'New', 'Empty board');
    await typeMove(page, 'a4');
    await page.waitForSelector(`${MARK}:has-text("only in this browser")`);
    await page.waitForSelector('[role=menuitem]:has-text("at most 2000 analyses")', { state: 'attached' });
    await page.reload();
    await page.waitForSelector('.move:has-text("a4")');
    await page.route('**/kept/old-1', (route) => route.abort());
    // The list stays, for another try.
    await listEarlier(page);
    await show(page, 'games');
    await page.getByTitle(/^Old one/).click();
    await page.waitForSelector('.problem:has-text("Old one cannot be read")');
    await show(page, 'analyse');
    assert.deepEqual(await readMoves(page), ['a4']);
    assert.equal(readFileSync(join(folder, 'broken.1.json'), 'utf8'), '{"id":');
    rmSync(join(folder, 'broken.1.json'));
    await own.close();
  });

  test('what is deleted is gone in every browser, and undone it is back', async () => {
    const [first, second] = [await open(await createBrowser()), await open(await createBrowser())];
    await loadText(first, '[White "Zoe"]\n[Black "Yan"]\n\n1. Nh3 *');
    await isKept(first, '1. Nh3');
    await choose(first, 'New', 'Empty board');
    await choose(first, 'New', 'Paste or open …');
    await first.getByRole('button', { name: /^Delete Zoe/ }).click();
    await first.locator('.notice-note').waitFor();
    assert.doesNotMatch(readFolder(), /1\. Nh3/);
    assert.doesNotMatch(String(await second.evaluate(`fetch('kept/').then((answer) => answer.text())`)), /Zoe/);
    await first.locator('.notice-note').getByRole('button', { name: 'Undo' }).click();
    await isKept(first, '1. Nh3');
    await second.reload();
    await second.waitForSelector('.engine-head');
    assert.ok((await listEarlier(second)).some((name) => /Zoe/.test(name)));
    for (const page of [first, second]) await page.context().close();
  });

  test('the last save of a page that was left may come after a deletion was asked for; a change elsewhere refuses it', async () => {
    const own = await createBrowser();
    const page = await open(own);
    await loadText(page, '[White "Leo"]\n[Black "Mia"]\n\n1. Na3 *');
    await isKept(page, '1. Na3');
    // A page that is loaded before the server's answer came sends the analysis once more, perhaps between reading and writing in `save`.
    await areStored(page, '"isConfirmed":true', (found) => found !== '', 'analyses');
    await page.reload();
    await page.waitForSelector('.move:has-text("Na3")');
    /** @param change of the entry that the server has: JavaScript */
    const save = (change: string): Promise<unknown> =>
      page.evaluate(`(async () => {
        const address = 'kept/' + sessionStorage.getItem('sardonyx.analysis');
        const answer = await fetch(address);
        const entry = JSON.parse((await answer.text()).split('\\n')[0]);
        globalThis.edit ??= entry.edit;
        ${change};
        const headers = { 'If-Match': answer.headers.get('ETag') };
        const { ok } = await fetch(address, { method: 'PUT', body: JSON.stringify(entry), headers });
        if (!ok) throw new Error('The change is refused');
      })()`);
    await show(page, 'games');
    await page.getByRole('button', { name: /^Kept analyses/ }).click();
    const deletion = page.getByRole('button', { name: /^Delete Leo/ });
    await save(`entry.edit = 'elsewhere:1'`);
    await deletion.click();
    await page.waitForSelector('.problem:has-text("changed elsewhere"), .notice:has-text("changed elsewhere")');
    await isKept(page, '1. Na3');
    await save('entry.edit = edit');
    await deletion.click();
    await page.waitForSelector('.notice-note:has-text("deleted")');
    assert.doesNotMatch(readFolder(), /1\. Na3/);
    await show(page, 'analyse');
    assert.deepEqual(await readMoves(page), []);
    await own.close();
  });

  test('a tab with an older or newer database in its way says what to do, and blocks nobody', async () => {
    const own = await createBrowser();
    const page = await open(own);
    await choose(page, 'New', 'Empty board');
    await typeMove(page, 'd3');
    await isKept(page, '1. d3');
    // A later version of the page, which changes the database.
    const upgrader = await own.newPage();
    await upgrader.goto(page.url().replace(/\/[^/]*$/, '/icon-that-is-not-there'));
    await upgrader.evaluate(`new Promise((done, fail) => {
      const asked = indexedDB.open('sardonyx', 2);
      asked.onupgradeneeded = () => undefined;
      asked.onsuccess = () => { asked.result.close(); done(); };
      asked.onerror = fail;
    })`);
    await page.waitForSelector(
      '.obstacle:has-text("Another tab has a newer version of this page"):has(button:text-is("Load again"))',
    );
    // The server keeps what this tab goes on to do.
    await typeMove(page, 'd6');
    await isKept(page, '1. d3 d6');
    await own.close();
  });

  test('over plain HTTP a text that cannot be copied can be selected, and two tabs of one analysis lose nothing', async () => {
    // As in a page of another machine, without https.
    const own = await createBrowser(`for (const name of ['locks', 'clipboard', 'storage'])
      Object.defineProperty(Navigator.prototype, name, { get: () => undefined });`);
    const page = await open(own);
    await choose(page, 'New', 'Empty board');
    await typeMove(page, 'e3');
    await isKept(page, '1. e3');
    const other = await own.newPage();
    await other.goto(page.url());
    await other.waitForSelector('.move:has-text("e3")');
    await typeMove(page, 'c6');
    await isKept(page, '1. e3 c6');
    await typeMove(other, 'b6');
    await other.waitForSelector('.opening ~ .problem:has-text("your version is kept as a copy")');
    await isKept(other, '1. e3 b6');
    await isKept(other, '1. e3 c6');
    await choose(page, 'Share', 'Copy FEN');
    const field = page.getByLabel('Text to copy');
    await field.waitFor();
    assert.match(await field.inputValue(), /^rnbqkbnr\//);
    assert.equal(
      await page.evaluate('getSelection().toString() || document.activeElement.value'),
      await field.inputValue(),
    );
    await press(page, 'Share');
    await page.getByRole('menuitem', { name: 'Copy PGN' }).waitFor();
    assert.equal(await page.getByRole('menuitem', { name: 'Copy link' }).count(), 0);
    await own.close();
  });
});
