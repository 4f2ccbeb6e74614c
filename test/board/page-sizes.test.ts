/** The board at the sizes of windows: how large board and moves are, and that nothing lies over anything or leaves the window. */
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import type { Page } from 'playwright-core';
import {
  choose,
  chooseReview,
  clickSquare,
  findBarriers,
  loadText,
  openGame,
  resize,
  setThoroughness,
  show,
  typeMove,
} from '../support/board-page.js';
import { describePages, SLOW_ENGINE } from '../support/page-tests.js';

/** Width and height of the window, of the board, and least height of the moves; null = three rows of them. */
const SIZES = [
  [1366, 768, 652, 518],
  [1366, 641, 525, 391],
  [1024, 768, 652, 291],
  [1920, 1080, 964, 830],
  [390, 844, 390, 136],
  [820, 1180, 744, null],
  [683, 384, 336, null],
  [844, 390, 344, null],
  [390, 664, 386, null],
  [360, 640, 360, null],
  [320, 568, 290, null],
] as const;
/** Where every panel is looked at. */
const WINDOWS = [
  [390, 844],
  [844, 390],
  [1024, 768],
  [1400, 900],
  [2560, 1440],
  [700, 450],
] as const;
const GAME = `[Black "B"]\n\n1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 4. Ba4 Nf6 5. O-O Be7 6. Re1 b5 7. Bb3 d6 8. c3 O-O 9. h3 Nb8 10. d4 Nbd7
11. Nbd2 Bb7 12. Bc2 Re8 13. Nf1 Bf8 14. Ng3 g6 15. a4 c5 16. d5 c4 17. Bg5 h6 18. Be3 Nc5 19. Qd2 h5 20. Bg5 Be7 *\n\n`;

interface Box {
  readonly name: string;
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

interface Look {
  readonly boxes: readonly Box[];
  /** Height of a row of moves. */
  readonly row: number;
  /** Pixels that do not fit. */
  readonly overflow: readonly number[];
}

/** Parts of the panel that stand beside each other, and what does not fit into the window or its side. */
const look = (parts: readonly string[]): string => `(() => {
  const boxes = ${JSON.stringify(parts)}.flatMap((name) => {
    const part = document.querySelector(name);
    if (part === null) throw new Error(name + ' is missing');
    const { left, top, right, bottom } = part.getBoundingClientRect();
    return [{ name, left, top, right, bottom }];
  });
  const { scrollWidth, scrollHeight } = document.documentElement;
  const side = document.querySelector('.side-main');
  return {
    boxes,
    row: document.querySelector('.move-row')?.getBoundingClientRect().height ?? 27,
    overflow: [scrollWidth - innerWidth, scrollHeight - innerHeight, side.scrollWidth - side.clientWidth],
  };
})()`;

/** Elements whose content is wider than they are, without a “…” that says so. */
const SPILLED = `[...document.querySelectorAll('.header *, .side *, dialog, dialog *')]
  .filter((part) => part.checkVisibility() && !part.closest('svg') && part.clientWidth > 0)
  .filter((part) => part.scrollWidth > part.clientWidth + 1)
  .filter((part) => !/hidden|clip/.test(getComputedStyle(part).overflowX))
  .map(({ outerHTML }) => outerHTML.slice(0, 120))`;
/** Moves and brackets that are not in one piece, and clocks of which only the beginning is seen. */
const BROKEN = `[...document.querySelectorAll('.move-clock, .move-group')]
  .filter((part) => {
    const [own, row] = [part, part.closest('.move-facts') ?? part].map((one) => one.getBoundingClientRect());
    return part.getClientRects().length > 1 || (part.scrollWidth > part.clientWidth && own.top < row.bottom - 1);
  })
  .map(({ textContent }) => textContent)`;

describePages('the sizes of the board', SLOW_ENGINE, (tests) => {
  let page: Page;

  before(async () => {
    page = await tests.open(await tests.createContext());
    await loadText(page, GAME + GAME);
    await openGame(page, '');
    await page.waitForSelector('h1:has-text("1 / 2")');
    await page.keyboard.press('l');
    await page.waitForSelector(':nth-match(.line-score, 3)');
  });

  /** Looks when the board has taken its new size. */
  async function lookAt(width: number, height: number, parts: readonly string[]): Promise<Look> {
    await page.setViewportSize({ width, height });
    await page.evaluate('new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)))');
    const seen = (await page.evaluate(look(parts))) as Look;
    const at = `${width}×${height}`;
    assert.deepEqual(seen.overflow, [0, 0, 0], at);
    for (const [index, one] of seen.boxes.entries()) {
      const isInside = one.left >= 0 && one.top >= 0 && one.right <= width + 0.5 && one.bottom <= height + 0.5;
      assert.ok(isInside && one.bottom > one.top, `${at}: ${JSON.stringify(one)} leaves the window`);
      for (const other of seen.boxes.slice(index + 1)) {
        const isApart =
          one.right <= other.left + 0.5 ||
          other.right <= one.left + 0.5 ||
          one.bottom <= other.top + 0.5 ||
          other.bottom <= one.top + 0.5;
        assert.ok(isApart, `${at}: ${one.name} and ${other.name} overlap`);
      }
    }
    return seen;
  }

  const button = (name: string) => page.getByRole('button', { name, exact: true });

  const PARTS = ['.header', '.player-top', '.board-wrap', '.player-bottom', '.side-main', '.move-list', '.steps'];

  test('with engine, three lines and a file, board and moves have their size, and nothing overlaps', async () => {
    for (const [width, height, size, moves] of SIZES) {
      const { boxes, row } = await lookAt(width, height, PARTS);
      const [wrap, list] = [boxes[2], boxes[5]];
      const board = wrap.right - wrap.left;
      assert.ok(Math.abs(board - size) <= 0.05 * size, `${width}×${height}: board of ${board}`);
      const shown = list.bottom - list.top;
      const least = moves ?? Math.min(78, 3 * row);
      assert.ok(shown >= least - 4, `${width}×${height}: ${shown} pixels of moves`);
    }
  });

  test('after a review the moves keep their room beside accuracy and graph, and a phone has a button for them', async () => {
    await page.setViewportSize({ width: 1366, height: 768 });
    await page.keyboard.press('l');
    await setThoroughness(page, 'Quick');
    await chooseReview(page, 'Review the game');
    await page.locator('.chip').waitFor();
    await page.locator('.chip').waitFor({ state: 'detached' });
    await page.keyboard.press('l');
    await page.waitForSelector(':nth-match(.line-score, 3)');
    for (const [width, height, , moves] of SIZES) {
      const isLarge = width > 1000;
      const parts = isLarge ? [...PARTS, '.opening', '.accuracy', '.review-graph'] : PARTS;
      const { boxes, row } = await lookAt(width, height, parts);
      const shown = boxes[5].bottom - boxes[5].top;
      assert.ok(
        shown >= Math.min(moves ?? 78, isLarge ? 1000 : 3 * row) - 4,
        `${width}×${height}: ${shown} pixels of moves`,
      );
      if (!isLarge) continue;
      assert.deepEqual(
        boxes.slice(7).map(({ top, bottom }) => Math.round(bottom - top)),
        [32, 28, 96],
      );
    }
    for (const [width, height] of [
      [390, 844],
      [390, 664],
      [320, 568],
    ]) {
      await page.setViewportSize({ width, height });
      await page.getByRole('button', { name: 'Graph', exact: true }).click();
      await lookAt(width, height, [
        '.board-wrap',
        '.player-bottom',
        '.opening',
        '.accuracy',
        '.review-graph',
        '.steps',
      ]);
      await page.getByRole('button', { name: 'Graph', exact: true }).click();
    }
  });

  test('many glyphs, long clocks, brackets, dialogs: nothing is wider than its place', async () => {
    await loadText(
      page,
      `1. Nf3 $140 $146 $32 $36 $40 $132 $138 $22 $18 $10 $145 $220 $239 { [%clk 1:02:03.5] [%eval 0.31] } Nf6 { [%clk 1:40:09] [%eval -1.25] }
      (1... Nc6 2. Nc3 (2. Na3 Nf6 3. Ng1 Nh5 4. Nf3 Nf6) 2... Nf6 3. Ng1 (3. Nb1 Nb8) 3... Nd4) *`,
    );
    await page.waitForSelector('.move-clock');
    const check = async (what: string): Promise<void> => {
      for (const [width, height] of [...SIZES.map((size) => size.slice(0, 2) as number[]), [512, 384]]) {
        await page.setViewportSize({ width, height });
        await page.evaluate('new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)))');
        assert.deepEqual(await page.evaluate(SPILLED), [], `${what}, ${width}×${height}`);
        assert.deepEqual(await page.evaluate(BROKEN), [], `${what}, ${width}×${height}`);
      }
    };
    await check('moves');
    // The board may be smaller than the window is high: its corner stays at it.
    const [board, grip] = [
      await page.locator('.board-wrap').boundingBox(),
      await page.locator('.board-grip').boundingBox(),
    ];
    assert.ok(board !== null && grip !== null && Math.abs(board.y + board.height - grip.y) < 24);
    await choose(page, 'Settings', 'Engine');
    await page.locator('dialog .option').first().waitFor();
    await check('options');
    await page.keyboard.press('Escape');
    await typeMove(page, '8/P6k/8/8/8/8/8/K7 w - - 0 1');
    await page.waitForSelector('.move-list-empty');
    for (const square of ['a7', 'a8']) await clickSquare(page, square);
    await page.locator('.promotion').waitFor();
    await check('promotion');
    await page.keyboard.press('Escape');
  });

  test('the board becomes smaller at its corner, and the side takes the room', async () => {
    await page.setViewportSize({ width: 1366, height: 768 });
    // From here on the engine stops by itself: its lines stay, and nothing is drawn anew while the windows are looked at.
    await button('Lines, limits, arrows, numbers').click();
    await page.getByLabel('Stop after visits').fill('500');
    await page.getByLabel('Stop after visits').press('Enter');
    await button('Lines, limits, arrows, numbers').click();
    const measure = async () => (await page.locator('.board-wrap').boundingBox())?.width ?? 0;
    const before = await measure();
    const grip = await page.locator('.board-grip').boundingBox();
    assert.ok(grip !== null);
    await page.mouse.move(grip.x + 12, grip.y + 12);
    await page.mouse.down();
    await page.mouse.move(grip.x - 138, grip.y - 138, { steps: 5 });
    await page.mouse.up();
    const smaller = await measure();
    assert.ok(Math.abs(before - 150 - smaller) <= 12, `${before}, then ${smaller}`);
    await page.reload();
    await page.waitForSelector('.engine-head');
    assert.equal(await measure(), smaller);
    await page.locator('.board-grip').dblclick();
    assert.equal(await measure(), before);
  });

  test('on a phone the buttons are large, the menu leads to the rooms, and the lines take the place of the moves', async () => {
    await page.setViewportSize({ width: 390, height: 844 });
    const buttons = page.locator('.steps button:visible:not([role=menuitem])');
    assert.equal(await buttons.count(), 5);
    for (const button of await buttons.all()) {
      const box = await button.boundingBox();
      assert.ok(box !== null && box.width >= 76 && box.height >= 55, JSON.stringify(box));
    }
    await page.getByRole('button', { name: 'Lines', exact: true }).click();
    await page.locator('.move-list').waitFor({ state: 'hidden' });
    await page.getByRole('button', { name: 'Lines', exact: true }).click();
    await page.locator('.move-list').waitFor();
    await page.getByRole('button', { name: 'More', exact: true }).click();
    await page.getByRole('menuitem', { name: 'Games', exact: true }).click();
    await page.locator('.panel-games').waitFor();
    await page.getByRole('button', { name: 'Settings', exact: true }).click();
    await page.getByRole('menuitem', { name: 'Board', exact: true }).click();
    await page.locator('.panel-analyse').waitFor();
  });

  test('the form of a game has its button in sight on every phone, and a game its actions at every size', async () => {
    await show(page, 'play');
    const play = page.getByRole('button', { name: 'Play', exact: true });
    for (const [width, height] of SIZES.filter(([width, height]) => width < height && width < 600)) {
      await page.setViewportSize({ width, height });
      const box = await play.boundingBox();
      assert.ok(box !== null && box.y + box.height <= height, `${width}×${height}: ${JSON.stringify(box)}`);
    }
    await page.getByText('White', { exact: true }).click();
    await page.getByText('No clock', { exact: true }).click();
    await play.click();
    await page.locator('.actions').waitFor();
    const parts = PARTS.map((part) => (part === '.side-main' ? '.actions' : part));
    for (const [width, height] of SIZES) await lookAt(width, height, parts);
    await page.getByRole('button', { name: 'Resign', exact: true }).click();
    await page.locator('dialog').getByRole('button', { name: 'Resign', exact: true }).click();
    await page.getByRole('button', { name: 'Rematch', exact: true }).waitFor();
    for (const [width, height] of SIZES) {
      await lookAt(width, height, parts);
      assert.deepEqual(await page.evaluate(SPILLED), [], `${width}×${height}`);
    }
  });

  test('while a match is watched its moves, steps and form are in reach at every size', async () => {
    await page.setViewportSize({ width: 1366, height: 768 });
    await show(page, 'match');
    for (const player of ['First', 'Second']) await page.getByLabel(`${player} player`).selectOption('random');
    await page.getByLabel('Games at most').fill('3');
    await page.getByRole('button', { name: 'Start the match' }).click();
    await page.waitForSelector(':nth-match(.game-row, 3)');
    await page.locator('.chip').waitFor({ state: 'detached' });
    for (const [width, height] of SIZES) {
      const { boxes, row } = await lookAt(width, height, ['.header', '.board-wrap', '.player-bottom', '.steps']);
      const list = await page.locator('.move-list').boundingBox();
      assert.ok(
        list !== null && list.height >= 3 * row - 4 && list.y + 3 * row - 4 <= boxes[3].top,
        `${width}×${height}`,
      );
      for (const part of ['.match-setup > summary', '.game-row >> nth=-1'])
        await page.locator(part).click({ position: { x: 20, y: 8 }, trial: true });
    }
    await page.getByRole('button', { name: 'Delete' }).click();
    await page.locator('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByText('No match yet').waitFor();
  });

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
    if (await page.locator('.switch input').isChecked()) await page.keyboard.press('l');
    const players = `[White "Anastasia Alexandrowna Petrosjan-Nimzowitsch"]\n[Black "Ben"]\n`;
    await loadText(page, `${players}\n1. e4 e5 *\n\n[White "C"]\n\n1. d4 *`);
    await openGame(page, '');
    for (const [width, height] of WINDOWS) {
      await resize(page, width, height);
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
    await page.setViewportSize({ width: WINDOWS[0][0], height: WINDOWS[0][1] });
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

  test('for a finger every control is 44 pixels high, in every room; a form fills the phone, its button at the bottom', async () => {
    const context = await tests.browser.newContext({ viewport: { width: 390, height: 844 }, hasTouch: true });
    page = await context.newPage();
    await page.goto(tests.board.lines.at(-1) ?? tests.board.url);
    await page.waitForSelector('.engine-head');
    const check = async (what: string): Promise<void> => {
      const low =
        await page.evaluate(`[...document.querySelectorAll('button, a[href], select, input, textarea, summary')]
        .filter((control) => control.checkVisibility({ visibilityProperty: true }))
        .map((control) => (control.matches('[type=checkbox], [type=radio], [type=file]') && control.closest('label')) || control)
        .filter((control) => control.getBoundingClientRect().height < 44)
        .map(({ outerHTML }) => outerHTML.slice(0, 200))`);
      const { scrollWidth, clientWidth } = (await page.evaluate(
        `(({ scrollWidth, clientWidth }) => ({ scrollWidth, clientWidth }))(document.querySelector('.side-main, .room'))`,
      )) as Record<string, number>;
      assert.deepEqual([low, scrollWidth], [[], clientWidth], what);
    };
    await loadText(page, GAME.repeat(3));
    await check('games');
    await openGame(page, '');
    await page.locator('.switch').click();
    await page.locator('.line-score').first().waitFor();
    for (const [width, height] of SIZES.toReversed()) {
      const { boxes, row } = await lookAt(width, height, PARTS);
      const shown = boxes[5].bottom - boxes[5].top;
      assert.ok(shown >= 3 * row - 4, `${width}×${height}: ${shown} pixels of moves, rows of ${row}`);
      await check(`board, ${width}×${height}`);
    }
    await page.setViewportSize({ width: 390, height: 844 });
    await button('Lines').click();
    await page.locator('.candidate .fold').first().click();
    await button('Lines, limits, arrows, numbers').click();
    await check('lines');
    await button('Columns').click();
    await check('columns');
    for (const menu of ['New', 'Share', 'Settings', 'More']) {
      await button(menu).click();
      await check(menu);
      await page.keyboard.press('Escape');
    }
    for (const item of ['Engine', 'Board and sounds', 'Keys']) {
      await choose(page, 'Settings', item);
      await page.locator('dialog[open]').waitFor();
      await check(item);
      await button('Close').click();
    }
    // The form of a position stands where the graph was.
    await button('Lines').click();
    await button('Graph').click();
    await choose(page, 'New', 'Set up a position');
    await button('Cancel').scrollIntoViewIfNeeded();
    await check('set up');
    await button('Cancel').click();
    for (const [room, name] of [
      ['match', 'Start the match'],
      ['play', 'Play'],
    ]) {
      await show(page, room);
      await button(name).waitFor();
      await check(room);
      assert.deepEqual(
        await page.evaluate(`(() => {
          const { left, top, width, bottom } = document.querySelector('.sheet').getBoundingClientRect();
          return [left, top, width, bottom];
        })()`),
        [0, 44, 390, 844],
      );
      const { y = 0, height = 0 } = (await button(name).boundingBox()) ?? {};
      assert.ok(y + height <= 844, `${name} ends at ${y + height}`);
    }
    await page.getByText('White', { exact: true }).click();
    await page.getByText('No clock', { exact: true }).click();
    await button('Play').click();
    await page.locator('.actions').waitFor();
    await check('a game');
    await context.close();
  });
});
