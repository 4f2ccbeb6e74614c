/** Header, keys and modes of the board in one browser: what belongs to whom, what runs, and what is off during a game. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, test } from 'node:test';
import type { Page } from 'playwright-core';
import {
  choose,
  chooseReview,
  findBarriers,
  loadText,
  locateSquare,
  readFen,
  setThoroughness,
  show,
  typeMove,
} from '../support/board-page.js';
import { describePages, SLOW_ENGINE } from '../support/page-tests.js';
import { repositoryRoot } from '../support/shared-folder.js';

describePages('the frame of the page', SLOW_ENGINE, (tests) => {
  let page: Page;

  before(async () => {
    page = await tests.open(await tests.createContext());
    await loadText(page, '[White "Anna"]\n[Black "Ben"]\n\n1. e4 e5 2. Nf3 Nc6 *');
    await page.waitForSelector('.panel-games', { state: 'detached' });
  });

  const current = () => page.locator('.move[aria-current]');
  const button = (name: string) => page.getByRole('button', { name, exact: true });

  test('there are three rooms, old addresses lead to modes of the board, and title and heading say what is shown', async () => {
    const links = page.getByRole('navigation').getByRole('link');
    assert.deepEqual(await links.allTextContents(), ['Board', 'Games', 'Match']);
    const read = async () => [await page.title(), await page.getByRole('heading', { level: 1 }).textContent()];
    assert.deepEqual(await read(), ['Anna – Ben · Sardonyx', 'Anna – Ben']);
    for (const [address, heading] of [
      ['play', 'Play against the engine'],
      ['match', 'Match'],
    ]) {
      await show(page, address);
      assert.deepEqual(await read(), [`${heading} · Sardonyx`, heading]);
      const room = address === 'match' ? 'Match' : 'Board';
      assert.equal(await page.locator('.nav [aria-current]').textContent(), room);
    }
    // The room of the board is left and entered in the same mode.
    await page.getByRole('link', { name: 'Board', exact: true }).click();
    await page.locator('.panel-play').waitFor();
    await page.getByRole('link', { name: 'Games', exact: true }).click();
    await page.locator('.panel-games').waitFor();
    assert.deepEqual(await findBarriers(page), []);
    await show(page, 'analyse');
  });

  test('after a click on a choice the arrows step through the game, after Tab they choose', async () => {
    const choice = (name: string) => page.getByRole('radio', { name, exact: true });
    const [file, all] = ['Of this file', 'All that are kept'];
    await page.getByText('Games with this position').click();
    await page.getByText(all, { exact: true }).click();
    await page.keyboard.press('ArrowRight');
    assert.equal(await current().textContent(), 'e4');
    await page.keyboard.press('ArrowRight');
    assert.equal(await current().textContent(), 'e5');
    assert.equal(await choice(all).isChecked(), true);
    await page.keyboard.press('Shift+Tab');
    await page.keyboard.press('Tab');
    await page.keyboard.press('ArrowLeft');
    assert.equal(await choice(file).isChecked(), true);
    assert.equal(await current().textContent(), 'e5');
    await page.locator('.player-bottom').click();
    await page.keyboard.press('ArrowUp');
    assert.equal(await current().count(), 0);
    await page.getByText('Games with this position').click();
    // The slider of the level has its keys, too.
    await show(page, 'play');
    const slider = page.getByLabel('Elo of the engine');
    await slider.focus();
    const elo = Number(await slider.inputValue());
    await page.keyboard.press('ArrowRight');
    assert.equal(Number(await slider.inputValue()), elo + 50);
    await show(page, 'analyse');
  });

  test('each key stands once in the list of keys; those of one sign can be switched off', async () => {
    await page.keyboard.press('?');
    const keys = await page.locator('dialog kbd').allTextContents();
    assert.ok(keys.length > 25);
    assert.deepEqual(new Set(keys).size, keys.length);
    await page.getByLabel('Keys of one letter or sign').uncheck();
    await page.keyboard.press('Escape');
    for (const key of ['f', '?', '/', 'ArrowRight']) await page.keyboard.press(key);
    assert.equal(await current().textContent(), 'e4');
    // Keys with Ctrl stay. What is selected is the browser's to copy, and so is what stands in a field.
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    const copy = async (): Promise<unknown> => {
      await page.keyboard.press('Control+c');
      return page.evaluate('navigator.clipboard.readText()');
    };
    assert.equal(await copy(), 'rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1');
    await page.evaluate("getSelection().selectAllChildren(document.querySelector('h1'))");
    assert.equal(await copy(), 'Anna – Ben');
    await page.evaluate('getSelection().empty()');
    await page.keyboard.press('Control+Shift+c');
    assert.equal(await page.evaluate('navigator.clipboard.readText()'), 'Anna – Ben');
    assert.equal(await page.locator('.orientation-black, dialog, .typed').count(), 0);
    await choose(page, 'Settings', 'Keys');
    await page.getByLabel('Keys of one letter or sign').check();
    await page.keyboard.press('Escape');
    await page.keyboard.press('f');
    await page.waitForSelector('.orientation-black');
    await page.keyboard.press('f');
    await page.keyboard.press('ArrowUp');
  });

  test('the squares are one tab stop: arrows move a cursor, Enter picks up and puts down, and all of it is said', async () => {
    const squares = page.getByRole('application');
    const said = page.getByTestId('spoken');
    await loadText(page, '8/P6k/8/8/8/8/4P3/4K3 w - - 0 1');
    await page.waitForSelector('.move-list-empty');
    await squares.focus();
    for (const key of ['Enter', 'ArrowUp', 'ArrowUp', 'Enter']) await page.keyboard.press(key);
    await page.waitForSelector('.move[aria-current]:has-text("e4")');
    // From Black's side the arrows go where they point.
    await page.keyboard.press('f');
    await page.waitForSelector('.orientation-black');
    for (const [key, words] of [
      ['ArrowRight', 'c5, empty'],
      ['ArrowLeft', 'd5, empty'],
      ['ArrowLeft', 'e5, empty'],
      ['ArrowUp', 'e4, white pawn'],
    ]) {
      await page.keyboard.press(key);
      assert.equal(await said.textContent(), words);
    }
    assert.deepEqual(await findBarriers(page), []);
    // Behind a dialog that a button closes the board has the focus again.
    await page.keyboard.press('?');
    await page.locator('dialog').waitFor();
    await page.keyboard.press('Enter');
    await page.locator('dialog').waitFor({ state: 'detached' });
    await page.waitForSelector('.board-wrap:focus');
    await page.locator('.player-bottom').click();
    await page.keyboard.press('f');
    await page.keyboard.press('ArrowLeft');
    await page.waitForSelector('.move:not([aria-current])');
  });

  test('one field takes moves, a pass, a FEN and a PGN; what it cannot read stays in it', async () => {
    await page.keyboard.press('/');
    const field = page.getByRole('textbox', { name: 'Type a move' });
    await page.waitForSelector('.typed textarea:focus');
    for (const text of ['a8=N', '--', 'e3']) {
      await page.keyboard.type(text);
      await page.keyboard.press('Enter');
    }
    await page.waitForSelector('.move[aria-current]:has-text("e3")');
    await page.keyboard.type('Qh9');
    await page.keyboard.press('Enter');
    // The reason stands beside the field.
    await page.waitForSelector('.typed .problem:has-text("Qh9")');
    assert.equal(await page.locator('.notice-warning').count(), 0);
    assert.equal(await field.inputValue(), 'Qh9');
    await typeMove(page, '4k3/8/8/8/8/8/4P3/4K3 w - - 0 1');
    await field.waitFor({ state: 'detached' });
    assert.equal(await readFen(page), '4k3/8/8/8/8/8/4P3/4K3 w - - 0 1');
    await typeMove(page, '[White "Cleo"]\n[Black "Dan"]\n\n1. d4 d5 *');
    await page.waitForSelector('h1:has-text("Cleo – Dan")');
  });

  test('during a game against the engine nothing of the analysis is shown; the analysis comes back, and a chip leads to the game', async () => {
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('l');
    await page.waitForSelector('.line-move');
    await choose(page, 'New', 'Game against the engine');
    await page.getByText('White', { exact: true }).click();
    await page.getByText('No clock', { exact: true }).click();
    await button('Play').click();
    await page.locator('.actions').waitFor();
    assert.equal(await page.locator('.eval-bar, .engine-head, .lines, .cg-shapes [cgHash]').count(), 0);
    await page.locator('.player-bottom').click();
    await page.keyboard.press('Space');
    assert.equal(await page.locator('.move').count(), 0);
    const places = async () =>
      Promise.all(['Take back', 'Offer a draw', 'Resign'].map((name) => button(name).boundingBox()));
    const before = await places();
    await typeMove(page, 'e4');
    await page.waitForSelector(':nth-match(.move, 2)');
    assert.deepEqual(await places(), before);
    await page.getByRole('link', { name: 'Games', exact: true }).click();
    await page.waitForSelector('.chip:has-text("Game: your move")');
    await show(page, 'analyse');
    assert.match(String(await current().textContent()), /^d4/);
    await page.waitForSelector('.line-move');
    await page.keyboard.press('l');
    await page.locator('.chip').click();
    await page.locator('.panel-play').waitFor();
    await button('Resign').click();
    await page.locator('dialog').getByRole('button', { name: 'Resign' }).click();
    await page.waitForSelector('.result');
    await page.waitForSelector('.chip', { state: 'detached' });
    await page.getByRole('link', { name: 'Back to the analysis' }).click();
    await page.locator('.panel-analyse').waitFor();
  });

  test('a review that runs shows its progress in the header of every room, and is cancelled there', async () => {
    await setThoroughness(page, 'Deep');
    await chooseReview(page, 'Review the game');
    await page.getByRole('link', { name: 'Games', exact: true }).click();
    const runs = '.chip :text-matches("^Review \\\\d+ / 3$")';
    await page.waitForSelector(runs);
    // It gives way to a game against the engine until that is over.
    await choose(page, 'New', 'Game against the engine');
    await button('Play').click();
    await page.waitForSelector('.chip:has-text("Waits: a game against the engine is not over")');
    await choose(page, 'New', 'Game against the engine');
    assert.equal(await button('Play').count(), 0);
    await typeMove(page, 'e4');
    await page.waitForSelector(':nth-match(.move, 2)');
    await button('Resign').click();
    await page.locator('dialog').getByRole('button', { name: 'Resign' }).click();
    await page.waitForSelector(runs);
    await page.getByRole('link', { name: 'Games', exact: true }).click();
    await page.locator('.chip').click();
    await page.getByRole('menuitem', { name: 'Cancel', exact: true }).click();
    await page.waitForSelector('.chip', { state: 'detached' });
    await show(page, 'analyse');
    await button('Review').waitFor();
    assert.deepEqual(tests.complaints, []);
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

  test('a finger that stays on a move opens its menu', async () => {
    const own = await tests.browser.newContext({ viewport: { width: 390, height: 844 }, hasTouch: true });
    const first = await own.newPage();
    await first.goto(tests.board.lines.at(-1) ?? tests.board.url);
    await loadText(first, '1. e4 e5 *');
    await first.waitForSelector('.panel-games', { state: 'detached' });
    const { x = 0, y = 0 } = (await first.locator('.move').first().boundingBox()) ?? {};
    const devtools = await own.newCDPSession(first);
    const touchPoints = [{ x: x + 20, y: y + 10 }];
    // By the time of the events: half a second is a long press.
    const timestamp = Date.now() / 1000;
    await devtools.send('Input.dispatchTouchEvent', { type: 'touchStart', touchPoints, timestamp });
    await devtools.send('Input.dispatchTouchEvent', { type: 'touchEnd', touchPoints: [], timestamp: timestamp + 1 });
    await first.getByRole('menuitem', { name: 'Delete from here' }).waitFor();
    await own.close();
  });

  test('the page installs as an application, and opens files of games', async () => {
    const devtools = await page.context().newCDPSession(page);
    const { errors, data } = await devtools.send('Page.getAppManifest');
    assert.deepEqual(errors, []);
    const { icons, file_handlers: handlers } = JSON.parse(data ?? '');
    assert.deepEqual(handlers[0].accept, { 'application/x-chess-pgn': ['.pgn'] });
    for (const { src, type } of icons) {
      const read = `fetch('${src}').then(({ status, headers }) => [status, headers.get('content-type')])`;
      assert.deepEqual(await page.evaluate(read), [200, type]);
    }
  });

  test('the board is shared as a picture: pieces and arrows as they stand, from the side that is at the bottom', async () => {
    await page.setViewportSize({ width: 1366, height: 768 });
    await page.evaluate(`location.hash = '#fen=4k3/8/8/8/8/8/4P3/4K3_w_-_-_0_1'`);
    await page.waitForSelector('.move-list-empty');
    const save = async (format: string): Promise<Buffer> => {
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        choose(page, 'Share', `Save picture (${format})`),
      ]);
      return readFileSync(await download.path());
    };
    const [from, to] = [await locateSquare(page, 'e2'), await locateSquare(page, 'e4')];
    await page.mouse.move(from.x, from.y);
    await page.mouse.down({ button: 'right' });
    await page.mouse.move(to.x, to.y, { steps: 3 });
    await page.mouse.up({ button: 'right' });
    await page.keyboard.press('f');
    const svg = String(await save('SVG'));
    // White's king on e1 is seen from Black's side: the fourth file, the uppermost row.
    assert.match(svg, /<image href="data:image\/svg[^"]+" x="300" y="0"/);
    assert.equal(svg.match(/<image /g)?.length, 3);
    assert.match(svg, /<line [^>]*marker-end/);
    const png = await save('PNG');
    assert.deepEqual([png.toString('latin1', 1, 4), png.readUInt32BE(16)], ['PNG', 800]);
    await page.keyboard.press('f');
  });

  test('three sets of pieces: the first visit loads one, another comes when it is chosen, and stays', async () => {
    const look = (): Promise<unknown> =>
      page.evaluate(`[
        performance.getEntriesByType('resource').filter(({ name }) => /pieces-/.test(name)).length,
        getComputedStyle(document.querySelector('piece.king.white')).backgroundImage,
      ]`);
    const [loaded, first] = (await look()) as [number, string];
    assert.equal(loaded, 0);
    const seen = new Set([first]);
    for (const [name, set] of [
      ['Merida', 'merida'],
      ['Kryukov', 'fancy'],
    ]) {
      await choose(page, 'Settings', 'Board and sounds');
      await page.getByText(name, { exact: true }).click();
      await page.waitForSelector(`[data-pieces=${set}]`, { state: 'attached' });
      await page.keyboard.press('Escape');
      seen.add(((await look()) as [number, string])[1]);
    }
    assert.equal(seen.size, 3);
    await page.reload();
    await page.waitForSelector('[data-pieces=fancy] piece.king.white', { state: 'attached' });
    assert.ok(seen.has(((await look()) as [number, string])[1]));
    await choose(page, 'Settings', 'Board and sounds');
    await page.getByText('Cburnett', { exact: true }).click();
    await page.keyboard.press('Escape');
  });

  test('a long sentence keeps its button in sight, beside the moves or as a notice, and covers no button of the page', async () => {
    await page.setViewportSize({ width: 390, height: 844 });
    await page.evaluate(`location.hash = '#fen=${'x'.repeat(300)}'`);
    const dismiss = page.getByRole('button', { name: 'Dismiss', exact: true });
    const place = await dismiss.boundingBox();
    assert.ok(place !== null && place.x >= 0 && place.x + place.width <= 390, JSON.stringify(place));
    await dismiss.click();
    await page.evaluate(`(() => {
      const dataTransfer = new DataTransfer();
      dataTransfer.items.add(new File([''], '${'x'.repeat(300)}.txt2'));
      document.body.dispatchEvent(new DragEvent('drop', { bubbles: true, dataTransfer }));
    })()`);
    const notice = page.locator('.notice-warning');
    await notice.waitFor();
    const box = await notice.boundingBox();
    assert.ok(box !== null && box.x >= 0 && box.x + box.width <= 390 && box.y + box.height <= 788, JSON.stringify(box));
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
    await page.setViewportSize({ width: 1366, height: 768 });
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
    // Random, and White again.
    await press('ArrowRight', 'ArrowLeft');
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
});
