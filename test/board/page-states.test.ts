/** What the page shows where something is missing: each state in its place, with a button that leads on. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, test } from 'node:test';
import type { BrowserContext, Page } from 'playwright-core';
import { findLockOwner } from '#sardonyx/games/match/index.js';
import { findBarriers, loadText, resize, show, typeMove } from '../support/board-page.js';
import { BoardProcess } from '../support/board-process.js';
import { describePages, SLOW_ENGINE } from '../support/page-tests.js';
import { fakeEngine } from '../support/shared-folder.js';

describePages('the states of the page', SLOW_ENGINE, (tests) => {
  let page: Page;
  /** What happens to the connection. */
  let server: 'here' | 'gone' | 'mute' = 'here';
  let hangUp: () => void = () => undefined;

  before(async () => {
    page = await (await tests.createContext()).newPage();
    await page.routeWebSocket(/\/engine$/, (socket) => {
      if (server === 'gone') {
        void socket.close();
        return;
      }
      const real = socket.connectToServer();
      socket.onMessage((message) => {
        if (server !== 'mute' || !/"type":"analyse"/.test(String(message))) real.send(message);
      });
      hangUp = () => void socket.close();
    });
    // Seconds pass when the test says so.
    await page.clock.install();
    await page.goto(tests.board.url);
    await page.waitForSelector('.engine-head');
  });

  /** A browser of its own, with nothing kept. */
  async function visit({ lines, url } = tests.board): Promise<{ own: BrowserContext; first: Page }> {
    const own = await tests.createContext({ width: 1400, height: 900, isAlone: true });
    return { own, first: await tests.open(own, lines.at(-1) ?? url) };
  }

  const button = (name: string) => page.getByRole('button', { name, exact: true });

  test('an empty board leads to the games, and a search that finds none to all of them', async () => {
    await button('load a game').click();
    await page.locator('.panel-games').waitFor();
    await button('Back to the board').click();
    await loadText(page, '[White "Anna"]\n\n1. e4 *\n\n[White "Ben"]\n\n1. d4 *');
    await page.getByLabel('Find a game').fill('zzz');
    await page.waitForSelector('.panel-games:has-text("No game fits.")');
    await button('Show all').click();
    await page.waitForSelector('.game-open >> nth=1');
    await show(page, 'analyse');
  });

  test('a server that is gone is tried again in seconds that are counted down, or now', async () => {
    // The scripts of a room come when it is first shown.
    await show(page, 'play');
    await show(page, 'analyse');
    await page.clock.pauseAt(Date.now() + 3_600_000);
    server = 'gone';
    hangUp();
    for (const seconds of [1, 2, 4, 8]) {
      await page.waitForSelector(`.lost:has-text("No connection: again in ${seconds} s")`);
      assert.match(String(await page.locator('.engine-speed').textContent()), new RegExp(`again in ${seconds} s`));
      if (seconds < 8) await page.clock.runFor(1000 * seconds);
    }
    await page.clock.runFor(1000);
    await page.waitForSelector('.lost:has-text("again in 7 s")');
    await page.setViewportSize({ width: 390, height: 844 });
    assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 390);
    await page.setViewportSize({ width: 1366, height: 768 });
    // Every room has it, and the board works meanwhile.
    await show(page, 'play');
    await button('Now').click();
    await page.waitForSelector('.lost:has-text("again in 8 s")');
    await show(page, 'analyse');
    await typeMove(page, 'd3');
    await page.waitForSelector('.move:has-text("d3")');
    server = 'here';
    await button('Now').click();
    await page.locator('.lost').waitFor({ state: 'detached' });
    await page.clock.resume();
  });

  test('an engine that does not answer is asked again', async () => {
    server = 'mute';
    await page.locator('.player-bottom').click();
    await page.keyboard.press('l');
    await page.waitForSelector('.engine-speed:has-text("Starting")');
    await page.clock.fastForward(20_000);
    await page.waitForSelector('.engine-speed:has-text("The engine has said nothing for 15 s")');
    assert.deepEqual(await findBarriers(page), []);
    server = 'here';
    await button('Ask again').click();
    await page.waitForSelector('.line-score');
    await page.keyboard.press('l');
  });

  test('a room whose script does not come says so in its place, and the page is loaded again', async () => {
    await page.route(/match-panel-/, (route) => route.abort());
    await page.evaluate("location.hash = 'match'");
    await page.waitForSelector('.obstacle:has-text("A part of the page could not be loaded")');
    await page.unroute(/match-panel-/);
    await button('Load again').click();
    await page.locator('.panel-match').waitFor();
  });

  test('a list of matches that rest is asked for seldom', async () => {
    const own = await tests.createContext();
    const idle = await own.newPage();
    await idle.clock.install();
    let sent = 0;
    idle.on('websocket', (socket) => socket.on('framesent', () => sent++));
    await idle.goto(tests.board.lines.at(-1) ?? tests.board.url);
    await show(idle, 'match');
    await idle.waitForSelector('text=No match yet');
    // From now on no time passes but what the test lets pass.
    await idle.clock.pauseAt(Number(await idle.evaluate('Date.now()')) + 60_000);
    const begun = sent;
    for (let seconds = 0; seconds < 10; seconds++) await idle.clock.runFor(1000);
    assert.ok(sent - begun <= 6, `${sent - begun} requests in ten seconds`);
    await own.close();
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
      const { own, first } = await visit(server);
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
      const { own: again, first: next } = await visit(server);
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
    for (const [width, height] of [
      [390, 844],
      [844, 390],
      [2560, 1440],
    ])
      await resize(page, width, height);
    assert.deepEqual(tests.complaints, []);
  });
});
