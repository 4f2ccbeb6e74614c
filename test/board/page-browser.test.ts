/** The page in a real Chromium, as a user clicks through it. On the hash evaluator: what the engine thinks does not matter here. */
import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, test } from 'node:test';
import type { Page } from 'playwright-core';
import {
  chooseReview,
  clickSquare,
  dragPiece,
  findBarriers,
  loadText,
  locateBoard,
  readFen,
  setThoroughness,
  show,
  typeMove,
} from '../support/board-page.js';
import { BoardProcess } from '../support/board-process.js';
import { describePages, SLOW_ENGINE } from '../support/page-tests.js';
import { fakeEngine } from '../support/shared-folder.js';

const { command, args } = fakeEngine('--think=30');
/** A player of matches that takes its time. */
const SLOW_PLAYER = `--engine=cmd="${command}" args="${args.join(' ')}" name=Slow`;

describePages('the page in Chromium', [...SLOW_ENGINE, SLOW_PLAYER], (tests) => {
  const foreign: string[] = [];
  const { complaints } = tests;
  let page: Page;

  before(async () => {
    page = await (await tests.createContext({ width: 1280, height: 860 })).newPage();
    page.on('request', (request) => {
      const isOwn = request.url().startsWith(tests.board.origin) || /^(data|blob):/.test(request.url());
      if (!isOwn) foreign.push(request.url());
    });
    page.on('console', (message) => {
      if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text());
    });
    page.on('pageerror', (error) => complaints.push(error.message));
    await page.goto(tests.board.url);
    await page.waitForSelector('.engine-head');
  });

  test('the token is gone from the address and from the history', async () => {
    assert.match(page.url(), new RegExp(`^${tests.board.origin}/[\\w-]{32}/$`));
    assert.equal(await page.evaluate('history.length'), 2);
    assert.equal(await page.evaluate('document.referrer'), '');
    assert.equal(await page.evaluate('document.cookie'), '');
    assert.equal(await page.evaluate('crossOriginIsolated'), true);
  });

  test('pieces are dragged and clicked, and moves are typed', async () => {
    await dragPiece(page, 'e2', 'e4');
    await page.waitForSelector('.move:has-text("e4")');
    for (const square of ['e7', 'e5']) await clickSquare(page, square);
    await page.waitForSelector('.move:has-text("e5")');
    await typeMove(page, 'Nf3');
    await page.waitForSelector('.move:has-text("Nf3")');
    assert.match(await readFen(page), /5N2\/PPPP1PPP\/RNBQKB1R b KQkq - 1 2$/);
  });

  test('keys step through the game; another move makes a variation', async () => {
    await page.locator('.move-list').click({ position: { x: 20, y: 100 } });
    await page.keyboard.press('ArrowLeft');
    await page.keyboard.press('ArrowLeft');
    assert.equal(await page.locator('.move[aria-current]').textContent(), 'e4');
    await dragPiece(page, 'c7', 'c5');
    await page.waitForSelector('.variation .move:has-text("c5")');
    await page.keyboard.press('ArrowUp');
    assert.equal(await page.locator('.move[aria-current]').count(), 0);
    await page.keyboard.press('ArrowDown');
    assert.equal(await page.locator('.move[aria-current]').textContent(), 'Nf3');
    await page.keyboard.press('f');
    await page.waitForSelector('.orientation-black');
    await page.keyboard.press('f');
  });

  test('the engine shows candidates with their replies, other moves and arrows, and goes with the board', async () => {
    await page.keyboard.press('l');
    await page.waitForSelector('.line-move');
    await page.waitForSelector('.candidate .facts');
    await page.waitForSelector('.engine-arrow', { state: 'attached' });
    await page.locator('.candidate .fold').first().click();
    await page.waitForSelector('.tree-row');
    await page.locator('.tree-row .fold:enabled').first().click();
    await page.waitForSelector('.tree ul .tree-row');
    await page.getByRole('button', { name: /more moves$/ }).click();
    await page.waitForSelector('.other-move');
    await page.getByRole('button', { name: 'Columns' }).click();
    await page.waitForSelector('.move-table tbody tr');
    await page.getByRole('button', { name: 'Columns' }).click();
    await page.getByRole('button', { name: /more moves$/ }).click();
    await page.locator('.line-move').nth(1).hover();
    await page.locator('.line-move').nth(1).click();
    await page.waitForSelector('.candidate .facts');
    await page.keyboard.press('l');
    await page.waitForSelector('.engine-speed:has-text("Switch the engine on")');
    // What is unfolded within a candidate stays so when its row is drawn anew.
    const fold = page.locator('.candidate .fold').first();
    await fold.click();
    await page.locator('.tree-row .fold:enabled').first().click();
    await page.waitForSelector('.tree ul .tree-row');
    await fold.click();
    await page.waitForSelector('.tree', { state: 'detached' });
    await fold.click();
    await page.waitForSelector('.tree ul .tree-row');
  });

  test('a PGN and nonsense are pasted; a long file is searched', async () => {
    await loadText(page, '[White "Anna"]\n\n1. d4 d5 { queen’s pawn } 2. c4 (2. Nf3) 2... e6 *');
    await page.waitForSelector('.variation .move:has-text("Nf3")');
    await loadText(page, 'neither of them');
    await page.waitForSelector('.panel-games .problem');
    const pgn = Array.from({ length: 3000 }, (_, n) => `[White "Player ${n}"]\n\n1. e4 *\n\n`).join('');
    const file = { name: 'games.pgn', mimeType: 'text/plain', buffer: Buffer.from(`${pgn}1. Ke2 *`) };
    await page.locator('.panel-games input[type=file]').setInputFiles(file);
    await page.waitForSelector('[role=status]:text-is("3000 games")');
    await page.waitForSelector('.problem:has-text("Game 3001 cannot be read")');
    await page.getByLabel('Find a game').fill('player 2999');
    await page.waitForSelector('tbody tr:only-child');
    await page.getByLabel('Find a game').fill('');
  });

  async function startGame(start = 'Standard', control = '3:00 + 2 s'): Promise<void> {
    await page.getByText('White', { exact: true }).click();
    await page.getByText(control, { exact: true }).click();
    await page.getByLabel(start).check();
    await page.getByLabel('Elo of the engine').fill('1500');
    await page.getByRole('button', { name: 'Play', exact: true }).click();
    await page.waitForSelector('.player-row .clock');
  }

  test('a game is played: moves, hint, takeback, premove; it survives a reload, and is resigned', async () => {
    await show(page, 'play');
    await startGame();
    await dragPiece(page, 'e2', 'e4');
    await page.waitForSelector('.move[aria-current]');
    await page.waitForSelector(':nth-match(.move, 2)');
    await page.getByRole('button', { name: 'Hint' }).click();
    await page.waitForSelector('.cg-shapes [cgHash]', { state: 'attached' });
    await page.getByRole('button', { name: 'Take back' }).click();
    await page.waitForSelector('.move', { state: 'detached' });
    await dragPiece(page, 'd2', 'd4');
    await page.waitForSelector(':nth-match(.move, 2)');
    assert.deepEqual(await findBarriers(page), []);
    await page.reload();
    await page.waitForSelector(':nth-match(.move, 2)');
    await page.getByRole('button', { name: 'Resign' }).click();
    await page.locator('dialog').getByRole('button', { name: 'Resign' }).click();
    await page.waitForSelector('.result:has-text("You lose by resignation")');
    await page.getByText('Finished games (1)').click();
    await page.getByRole('button', { name: 'Analyse' }).click();
    await page.waitForSelector('.panel-analyse .move:has-text("d4")');
  });

  test('a finished game is reviewed with one click', async () => {
    await show(page, 'play');
    await page.getByRole('button', { name: 'Review', exact: true }).click();
    await page.waitForSelector('.panel-analyse .move:has-text("d4")');
    await page.waitForSelector('.accuracy:has-text("%")');
    await page.waitForSelector('.chip', { state: 'detached' });
  });

  test('minutes and increment of one’s own', async () => {
    await show(page, 'play');
    await page.getByRole('button', { name: 'New game' }).click();
    await page.getByText('Other …', { exact: true }).click();
    await page.getByLabel('Minutes').fill('0');
    await page.getByLabel('Minutes').blur();
    assert.equal(await page.getByLabel('Minutes').inputValue(), '0.1');
    await page.getByLabel('Minutes').fill('7.5');
    await page.getByLabel('Increment in seconds').fill('4');
    await page.getByLabel('Increment in seconds').blur();
    await startGame('Standard', 'Other …');
    await page.waitForSelector('.play-head:has-text("7:30 + 4 s")');
    // The user's own clock runs.
    assert.equal(await page.getByRole('timer', { name: /^Clock of Sardonyx/ }).textContent(), '7:30');
    assert.deepEqual(await findBarriers(page), []);
    await page.getByRole('button', { name: 'Resign' }).click();
    await page.locator('dialog').getByRole('button', { name: 'Resign' }).click();
    await page.waitForSelector('.result');
  });

  test('Chess960 is played, and a draw is not given away in the opening', async () => {
    await show(page, 'play');
    await page
      .getByRole('button', { name: 'New game' })
      .click()
      .catch(() => undefined);
    await startGame('Chess960');
    await page.getByRole('button', { name: 'Offer a draw' }).click();
    await page.waitForSelector('.notice:has-text("plays on")');
    await typeMove(page, 'a3');
    await page.waitForSelector(':nth-match(.move, 2)');
    await page.getByRole('button', { name: 'Resign' }).click();
    await page.locator('dialog').getByRole('button', { name: 'Resign' }).click();
    await page.waitForSelector('.result');
  });

  test('a game is reviewed: graph, accuracy, marks, better lines; the PGN is exported', async () => {
    await loadText(page, '[White "Anna"]\n[Black "Ben"]\n\n1. e4 e5 2. Qh5 Ke7 3. Qxe5# 1-0');
    await page.waitForSelector('h1:has-text("Anna – Ben")');
    await setThoroughness(page, 'Quick');
    await chooseReview(page, 'Review the game');
    await page.waitForSelector('.move small:has-text("+20.0")');
    await page.waitForSelector('.accuracy:has-text("%")');
    await page.waitForSelector('.review-graph');
    assert.deepEqual(await findBarriers(page), []);
    const [download] = await Promise.all([page.waitForEvent('download'), page.keyboard.press('Control+s')]);
    const text = readFileSync(await download.path(), 'utf8');
    assert.match(text, /\[White "Anna"\]/);
    assert.match(text.replace(/\s+/g, ' '), /3\. Qxe5# \{ \[%eval #/);
  });

  test('a match is started, watched game by game, paused and gone on with', async () => {
    await page.getByRole('link', { name: 'Match' }).click();
    // Where there is no match yet, the form is open.
    await page.getByLabel('First player').selectOption('random');
    await page.getByLabel('Second player').selectOption('random');
    await page.getByLabel('Games at most').fill('400000');
    await page.getByRole('button', { name: 'Start the match' }).click();
    // More than there is room for: the list scrolls.
    await page.waitForSelector(':nth-match(.game-row, 40)');
    await page.getByRole('link', { name: 'Games', exact: true }).click();
    await page.locator('.chip:has-text("Match")').click();
    await page.getByRole('button', { name: 'Pause' }).click();
    await page.getByRole('button', { name: 'Go on' }).click();
    await page.getByRole('button', { name: 'Pause' }).click();
    await page.waitForSelector('button:has-text("Go on")');
    await page.waitForSelector('.chip', { state: 'detached' });
    await page.locator('.game-row').last().click();
    await page.waitForSelector('.panel-match .move');
    // However often it is taken to the analysis, there is one analysis of it.
    const ids = new Set<unknown>();
    for (let times = 0; times < 3; times++) {
      await page.getByRole('button', { name: 'Analyse', exact: true }).click();
      await page.waitForSelector('.panel-analyse .move');
      ids.add(await page.evaluate(`sessionStorage.getItem('sardonyx.analysis')`));
      await page.getByRole('link', { name: 'Match' }).click();
    }
    assert.equal(ids.size, 1);
    await page.waitForSelector('.panel-match .chart canvas');
    // As wide as after many games: it scrolls, and keys must reach it.
    await page
      .locator('.panel-match .summary')
      .evaluateAll("(tables) => tables.forEach(({ style }) => (style.minWidth = '2000px'))");
    assert.deepEqual(await findBarriers(page), []);
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'Save PGN' }).click(),
    ]);
    assert.match(readFileSync(await download.path(), 'utf8'), /^\[Event "/);
    await page.getByRole('button', { name: 'Delete' }).click();
    await page.locator('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.waitForSelector('text=No match yet');
    assert.equal(await page.getByRole('button', { name: 'Start', exact: true }).isDisabled(), true);
    assert.deepEqual(readdirSync(join(tests.board.folder, 'matches')), []);
  });

  test('a page that opens at the matches asks for them as soon as it has a connection', async () => {
    const own = await page.context().newPage();
    // The next question that it asks by itself.
    await own.addInitScript(`const set = setTimeout;
      window.setTimeout = (run, ms, ...rest) => (ms === 5000 ? 0 : set(run, ms, ...rest));`);
    await own.goto(page.url());
    await own.waitForSelector('.match-setup[open]');
    await own.close();
  });

  test('in a browser whose language is no language tag the page opens, and a chart shows its numbers as a table', async () => {
    const context = await tests.browser.newContext();
    const own = await context.newPage();
    await own.addInitScript(`Object.defineProperty(navigator, 'language', { get: () => 'en-US@posix' })`);
    const other = await BoardProcess.start(['--backend=hash', '--threads=1', '--nps-limit=5000']);
    await own.goto(other.url);
    await own.waitForSelector('.engine-head');
    await show(own, 'match');
    await own.getByLabel('First player').selectOption('random');
    await own.getByLabel('Second player').selectOption('random');
    await own.getByRole('button', { name: 'Start the match' }).click();
    await own.waitForSelector('.chart-table tbody tr');
    await context.close();
    await other.stop();
  });

  test('a tournament of three with a book is watched on live boards, with clocks', async () => {
    await page.locator('.match-setup summary').click();
    await page.getByRole('button', { name: 'Add a player' }).click();
    await page.getByLabel('Second player').selectOption('Slow');
    await page.getByLabel('Player 3').selectOption('Slow');
    await page.getByText('Clock', { exact: true }).click();
    await page.getByLabel('Games at a time').fill('2');
    await page.getByLabel('Games of each two').fill('20');
    const book = { name: 'book.epd', mimeType: 'text/plain', buffer: Buffer.from('4k3/8/8/8/8/8/4P3/4K3 w - -\n') };
    await page.locator('.match-setup input[type=file]').setInputFiles(book);
    await page.waitForSelector('option:has-text("book.epd")', { state: 'attached' });
    await page.getByRole('button', { name: 'Start the match' }).click();
    await page.waitForSelector('.live-boards li:nth-child(2) .clock');
    assert.deepEqual(await findBarriers(page), []);
    // Names give way to the numbers; more players than a narrow panel has columns for are a list.
    for (const [width, height] of [
      [1366, 768],
      [1024, 768],
      [390, 844],
    ]) {
      await page.setViewportSize({ width, height });
      const [wide, names] = (await page.evaluate(`(() => {
        const wrap = document.querySelector('.panel-match .table-wrap');
        const names = [...wrap.querySelectorAll('tbody th')];
        for (const name of names) name.textContent = 'Sardonyx_0.1.0_of_2026_with_a_long_name';
        return [wrap.scrollWidth - wrap.clientWidth, names.map(({ offsetWidth }) => offsetWidth)];
      })()`)) as [number, number[]];
      assert.equal(wide, 0, `${width}×${height}`);
      assert.ok(names.length === 3 && names.every((name) => name >= 60), `${width}×${height}: ${names}`);
    }
    await page.setViewportSize({ width: 1400, height: 900 });
    // One of them is watched: both engines' score, depth and line, clocks, and the moves.
    await page.locator('.live-thought').first().click();
    await page.waitForSelector('.panel-match .player-row .clock');
    await page.waitForSelector('.thought:has-text("depth"):has-text("nodes")');
    await page.waitForSelector('.panel-match .move');
    assert.deepEqual(await findBarriers(page), []);
    // When the watched game is over, all boards come by themselves.
    const boards = page.waitForSelector('.live-boards');
    await Promise.race([page.getByRole('button', { name: 'All boards' }).click(), boards]);
    await boards;
    await page.getByRole('button', { name: 'Pause' }).click();
    await page.waitForSelector('button:has-text("Go on")');
  });

  test('without a training loop the panel says how to get one; of a folder without one it says so, in its place', async () => {
    assert.equal(await page.getByRole('link', { name: 'Training' }).count(), 0);
    await show(page, 'training');
    await page.waitForSelector('.training code:has-text("--loop=FOLDER")');
    assert.deepEqual(await findBarriers(page), []);
    const other = await BoardProcess.start(['--backend=hash', `--loop=${tests.board.folder}`]);
    const context = await tests.browser.newContext();
    const own = await context.newPage();
    await own.goto(other.url);
    await own.getByRole('link', { name: 'Training' }).click();
    await own.waitForSelector('.training .problem:has-text("There is no training loop in")');
    assert.equal(await own.locator('.notice, .training code').count(), 0);
    // As soon as there is one it is shown; its games are replayed on a board that can be seen.
    const games = join(tests.board.folder, 'generations', '0001', 'games', 'games-0000');
    mkdirSync(games, { recursive: true });
    writeFileSync(join(games, 'games.pgn'), '[White "a"]\n[Black "b"]\n[Result "1-0"]\n\n1. e4 e5 1-0\n');
    const generations = [{ number: 1, base: 0, games: 1, window: 500, seconds: {}, promoted: true }];
    const state = { current: { number: 2, base: 1, seconds: {} }, stage: 'gate', best: 1, generations };
    writeFileSync(join(tests.board.folder, 'state.json'), JSON.stringify(state));
    await own.locator('.loop-games select').first().selectOption('1');
    await own.waitForSelector('.loop-moves .move:has-text("e5")');
    const box = await locateBoard(own.locator('.loop-position cg-board'));
    assert.ok(box.width > 300, JSON.stringify(box));
    assert.deepEqual(await findBarriers(own), []);
    await context.close();
    await other.stop();
  });

  test('all of this without a request to another host, a warning or an error in the console', () => {
    assert.deepEqual(foreign, []);
    assert.deepEqual(complaints, []);
  });
});
