/** Games, reviews and the list of moves, in one browser on the hash evaluator. Each test has a browser context of its own. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { type TestContext, test } from 'node:test';
import type { Page } from 'playwright-core';
import {
  choose,
  chooseReview,
  findBarriers,
  loadText,
  openGame,
  setThoroughness,
  show,
  typeMove,
  waitForGames,
} from '../support/board-page.js';
import { describePages, SLOW_ENGINE } from '../support/page-tests.js';

describePages('games, reviews and the list of moves', SLOW_ENGINE, (tests) => {
  async function visit(t: TestContext): Promise<Page> {
    const context = await tests.createContext({ isAlone: true });
    t.after(() => context.close());
    return tests.open(context);
  }

  const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
  const games = (page: Page) => page.locator('.game-open');

  async function openFile(page: Page, pgn: string, index = 0): Promise<void> {
    await loadText(page, pgn);
    await games(page).nth(index).click();
    await page.waitForSelector('.panel-games', { state: 'detached' });
  }

  test('each game of a file has its own place and its own undo, also after a reload', async (t) => {
    const page = await visit(t);
    await openFile(page, '[White "Anna"]\n\n1. e4 e5 2. Nf3 Nc6 3. Bb5 *\n\n[White "Ben"]\n\n1. d4 d5 *\n');
    const current = page.locator('.move[aria-current]');
    const undo = page.getByTitle('Take the last change back');
    await page.locator('.move:has-text("Nf3")').click({ button: 'right' });
    await page.getByRole('menuitem', { name: 'Delete from here' }).click();
    await page.keyboard.press('End');
    await typeMove(page, 'f4');
    await button(page, 'Next game').click();
    await page.waitForSelector('.move:has-text("d4")');
    assert.equal(await undo.isDisabled(), true);
    await typeMove(page, 'Nf3');
    await button(page, 'Previous game').click();
    await page.waitForSelector('.move[aria-current]:has-text("f4")');
    await undo.click();
    await page.waitForSelector('.move:has-text("f4")', { state: 'detached' });
    assert.equal(await current.textContent(), 'e5');
    await undo.click();
    await page.waitForSelector('.move:has-text("Bb5")');
    assert.equal(await undo.isDisabled(), true);
    await button(page, 'Next game').click();
    await page.waitForSelector('.move[aria-current]:has-text("Nf3")');
    await page.reload();
    await page.waitForSelector('.move[aria-current]:has-text("Nf3")');
    await page.keyboard.press('Control+z');
    await page.waitForSelector('.move:has-text("Nf3")', { state: 'detached' });
  });

  /** Of what the click saves. */
  async function download(page: Page, click: () => Promise<void>): Promise<{ name: string; text: string }> {
    const [file] = await Promise.all([page.waitForEvent('download'), click()]);
    return { name: file.suggestedFilename(), text: readFileSync(await file.path(), 'utf8') };
  }

  const sayAll = (text: string) => text.replace(/\s+/g, ' ').trim();

  test('all games of a file are saved, with what the user wants to have in them', async (t) => {
    const page = await visit(t);
    const texts = Array.from(
      { length: 200 },
      (_, i) => `[White "W${i}"]\n\n1. e4 { [%eval 0.3] [%clk 0:01:00] } e5 (1... c5) { text ${i} } *\n`,
    );
    await page.keyboard.press('p');
    const buffer = Buffer.from(texts.join('\n'));
    await page
      .locator('.panel-games input[type=file]')
      .setInputFiles({ name: 'club.pgn', mimeType: 'text/plain', buffer });
    await games(page).nth(7).click();
    await page.waitForSelector('.move:has-text("e4")');
    await typeMove(page, 'd4');
    const whole = await download(page, () => page.keyboard.press('Control+s'));
    assert.equal(whole.name, 'club.pgn');
    assert.equal(whole.text.match(/\[White "W/g)?.length, 200);
    assert.match(sayAll(whole.text), /W7"\].*?\(1\. d4\).*W8"\]/);
    assert.equal(whole.text.match(/\[%eval 0\.3\]/g)?.length, 200);
    await button(page, 'Share').click();
    for (const part of ['Comments', 'Variations', 'Evaluations', 'Clocks'])
      await page.getByRole('menuitemcheckbox', { name: part }).click();
    const bare = await download(page, () => page.getByRole('menuitem', { name: 'Save all 200 games' }).click());
    assert.equal(sayAll(bare.text).match(/1\. e4 e5 \*/g)?.length, 200);
  });

  test('a review lies beside the game: shown, hidden, discarded, and written into it as one change', async (t) => {
    const page = await visit(t);
    await loadText(page, '[White "Anna"]\n[Black "Ben"]\n\n1. e4 { [%clk 0:03:00] } e5 2. Qh5 Ke7 3. Qxe5# 1-0');
    await page.waitForSelector('.panel-games', { state: 'detached' });
    // The address of a room that there was leads to the analysis.
    await page.evaluate('location.hash = "review"');
    await page.locator('.panel-analyse').waitFor();
    await setThoroughness(page, 'Quick');
    const reviewGame = async (): Promise<void> => {
      await chooseReview(page, 'Review the game');
      await page.locator('.chip').waitFor();
      await page.locator('.chip').waitFor({ state: 'detached' });
    };
    const copy = async (): Promise<string> => {
      const { text } = await download(page, () => page.keyboard.press('Control+s'));
      return sayAll(text.split('\n\n')[1]);
    };
    await reviewGame();
    const remark = page.locator('.move-remark');
    await page.waitForSelector('.move-blunder:has-text("Ke7??")');
    assert.match((await remark.allTextContents()).join(), /Blunder\. \S+ was best\./);
    const beside = await copy();
    assert.match(beside, /^1\. e4 \{ \[%eval \S+\] \[%clk 0:03:00\] \} e5 \{ \[%eval/);
    assert.doesNotMatch(beside, /Blunder|\$4|\(/);
    const { length } = await page.locator('.move').all();
    await chooseReview(page, 'Show in the moves');
    await page.waitForSelector('.move-remark', { state: 'detached' });
    assert.ok((await page.locator('.move').all()).length < length);
    await chooseReview(page, 'Show in the moves');
    // Both players' accuracy, and a graph whose bad moves are marked; a press goes to the move, n to the next bad one.
    assert.match((await page.locator('.accuracy').textContent()) ?? '', /^AccuracyWhite \d+ % · Black \d+ %Learn$/);
    assert.match((await page.locator('.accuracy [title]').nth(1).getAttribute('title')) ?? '', /1 blunders$/);
    const graph = page.getByRole('img', { name: 'White’s expected points after each move' });
    await graph.locator('.move-blunder').waitFor({ state: 'attached' });
    const box = await graph.boundingBox();
    assert.ok(box !== null && box.height === 96);
    await page.mouse.click(box.x + box.width * 0.6, box.y + 40);
    await page.waitForSelector('.move[aria-current]:has-text("Qh5")');
    await page.keyboard.press('n');
    await page.waitForSelector('.move[aria-current]:has-text("Ke7")');
    await chooseReview(page, 'Write into the game');
    await page.waitForSelector('.move-remark', { state: 'detached' });
    const written = await copy();
    assert.match(written, /Ke7 \$4 \{ \[%eval #1\] Blunder/);
    assert.equal(written.match(/\(/g)?.length, written.match(/was best/g)?.length);
    // A second review takes the place of the first.
    await reviewGame();
    await chooseReview(page, 'Write into the game');
    const again = await copy();
    assert.equal(again.match(/\(/g)?.length, again.match(/was best/g)?.length);
    assert.doesNotMatch(again, /was best\.[^{}]*was best\./);
    await page.keyboard.press('Control+z');
    assert.equal(await copy(), written);
    await page.keyboard.press('Control+z');
    await remark.first().waitFor();
    assert.equal(await copy(), beside);
    await chooseReview(page, 'Discard');
    await page.waitForSelector('.move-remark', { state: 'detached' });
    await page.waitForSelector('.accuracy', { state: 'detached' });
    assert.equal(await copy(), '1. e4 { [%clk 0:03:00] } e5 2. Qh5 Ke7 3. Qxe5# 1-0');
    await page.keyboard.press('Control+z');
    await remark.first().waitFor();
    assert.deepEqual(await findBarriers(page), []);
  });

  test('the list shows every glyph, clock, evaluation and comment, and a fork begins lines further in', async (t) => {
    const page = await visit(t);
    await loadText(
      page,
      `1. e4 $14 { [%eval 0.31] [%clk 0:09:41] } e5 $201 { [%eval #-3] } ({ before } 1... c5 2. Nf3 d6 (2... Nc6) (2... e6) 3. d4)
      (1... Nf6 2. e5 (2. Nc3 d5) 2... Nd5) 2. Nf3 {-0.25/12 0.5s} *`,
    );
    await page.waitForSelector('.panel-games', { state: 'detached' });
    const move = (san: string) => page.locator(`.move:has(.move-san:text("${san}"))`).first();
    await page.waitForSelector('.move-san:has-text("e4") [title="White has a slight advantage"] svg');
    assert.match((await move('e4').textContent()) ?? '', /9:41\+0\.31$/);
    assert.match((await move('e5').textContent()) ?? '', /\$201/);
    assert.equal(await move('e4').locator('small').getAttribute('title'), 'Evaluation in the file');
    const lines = await page.evaluate(
      '[...document.querySelectorAll(".variation")].map((line) => line.style.getPropertyValue("--depth") + " " + line.textContent)',
    );
    assert.deepEqual(lines, [
      '1 before',
      '1 1…c52.Nf3',
      '2 2…d63.d4',
      '2 2…Nc6',
      '2 2…e6',
      '1 1…Nf62.e5(2.Nc3d5)2…Nd5',
    ]);
    // At a fork the arrows choose, and the choice is said.
    const current = page.locator('.move[aria-current]');
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('ArrowDown');
    await page.waitForSelector('.move-chosen:has-text("c5")');
    await page.waitForSelector('[data-testid=spoken]:text-is("c5, move 2 of 3")', { state: 'attached' });
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('ArrowRight');
    assert.equal(await current.textContent(), 'Nf3');
    await page.keyboard.press('ArrowUp');
    await page.waitForSelector('.move-chosen:has-text("e6")');
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('Shift+ArrowLeft');
    assert.equal(await current.textContent(), 'Nf3');
    await page.keyboard.press('Shift+ArrowLeft');
    assert.match((await current.textContent()) ?? '', /^e4/);
    await page.keyboard.press('ArrowRight');
    // Glyphs by key, comments in place.
    await page.keyboard.press('4');
    await page.waitForSelector('.move-blunder:has-text("e5??")');
    await page.keyboard.press('c');
    await page.getByLabel('Comment').fill('why?');
    await page.keyboard.press('Escape');
    await page.waitForSelector('button.move-comment:has-text("why?")');
    await page.locator('button.move-comment:text-is("before")').click();
    await page.getByLabel('Comment').fill('ahead');
    await page.keyboard.press('Escape');
    const { text } = await download(page, () => choose(page, 'Share', 'Save PGN'));
    assert.match(sayAll(text), /1\.\.\. e5 \$4 \$201 \{ \[%eval #-3\] why\? \} \(\{ ahead \} 1\.\.\. c5/);
  });

  test('texts are pasted, several files are read as one, a FEN is loaded by Enter, and the search knows openings', async (t) => {
    const page = await visit(t);
    const give = (type: 'paste' | 'drop', fill: string) =>
      page.evaluate(`(() => {
        const data = new DataTransfer();
        ${fill};
        const options = { bubbles: true, cancelable: true, ${type === 'paste' ? 'clipboardData' : 'dataTransfer'}: data };
        document.body.dispatchEvent(new ${type === 'paste' ? 'ClipboardEvent' : 'DragEvent'}('${type}', options));
      })()`);
    await give('paste', 'data.setData("text/plain", "1. d4 d5 2. c4 *")');
    await page.waitForSelector('.move:has-text("c4")');
    await give('paste', 'data.setData("text/plain", "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1")');
    await page.waitForSelector('.move-list-empty');
    await give('paste', 'data.setData("text/plain", "Dear reader")');
    await page.waitForSelector('.opening ~ .problem:has-text("no moves")');
    // What is read in part says so beside its moves, and only there.
    await give('paste', 'data.setData("text/plain", "1. e4 e5 { cut off")');
    await page.waitForSelector('.opening ~ .problem:has-text("ends inside a comment")');
    await page.waitForSelector('.problem:has-text("no moves")', { state: 'detached' });
    assert.equal(await page.locator('.notice-error, .notice-warning').count(), 0);
    const files = [
      ['one.pgn', '[White "Müller"]\n[Black "Petrov"]\n[Result "1-0"]\n\n1. e4 e5 2. Nf3 Nc6 3. Bc4 Bc5 4. c3 1-0\n'],
      ['two.pgn', '[White "Anna"]\n[Black "Petrov"]\n[Result "0-1"]\n\n1. d4 d5 0-1\n'],
    ];
    await give('drop', `for (const [name, text] of ${JSON.stringify(files)}) data.items.add(new File([text], name))`);
    await page.waitForSelector('h1:has-text("1 / 2 · Müller")');
    await page.keyboard.press('p');
    for (const [wanted, found] of [
      ['petrov 1-0', 'Müller'],
      ['muller', 'Müller'],
      ['italian', 'Müller'],
      ['C53', 'Müller'],
      ['d00 anna', 'Anna'],
    ] as const) {
      await page.getByLabel('Find a game').fill(wanted);
      await page.locator(`tbody tr:only-child:has-text("${found}")`).waitFor();
    }
    const chosen = files.map(([name, text]) => ({ name, mimeType: 'text/plain', buffer: Buffer.from(text.repeat(2)) }));
    await page.locator('.panel-games input[type=file]').setInputFiles(chosen);
    await page.waitForSelector('[role=status]:text-is("4 games")');
    await page.getByLabel('FEN or PGN').fill('rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1');
    await page.keyboard.press('Enter');
    await page.waitForSelector('.panel-games', { state: 'detached' });
    await page.waitForSelector('.move-list-empty');
  });

  test('all games of a file are reviewed: it is paused, gives way to the live engine, and goes on after a reload', async (t) => {
    const page = await visit(t);
    const moves = '1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 4. Ba4 Nf6 5. O-O Be7 *';
    await openFile(page, ['Anna', 'Ben', 'Carl'].map((name) => `[White "${name}"]\n\n${moves}\n`).join('\n'));
    await setThoroughness(page, 'Thorough');
    await chooseReview(page, 'Review all 3 games');
    const chip = (words: string) => page.locator(`.chip:has-text("${words}")`);
    const chooseOfChip = async (item: string): Promise<void> => {
      await page.locator('.chip').click();
      await page.getByRole('menuitem', { name: item, exact: true }).click();
    };
    await chip('3 games left').waitFor();
    await chooseOfChip('Pause');
    await chip('Paused').waitFor();
    await page.reload();
    await chip('Paused').waitFor();
    await page.waitForSelector('.engine-head');
    await page.keyboard.press('l');
    await page.waitForSelector('.candidate .facts');
    await chooseOfChip('Go on');
    await chip('2 games left').waitFor();
    await page.keyboard.press('l');
    await chip('Waits: the engine analyses the board').waitFor();
    await page.waitForSelector('.candidate .facts');
    await page.keyboard.press('l');
    // A game that is not on the board is under way.
    await chooseOfChip('Pause');
    await page.reload();
    await chooseOfChip('Go on');
    await page.locator('.chip').waitFor({ state: 'detached' });
    await page.waitForSelector('.move:has-text("e4")');
    for (let game = 0; game < 3; game++) {
      await page.waitForSelector('.accuracy:has-text("%")');
      assert.equal(await page.locator('.move-row .move small').count(), 10);
      if (game < 2) await button(page, 'Next game').click();
    }
  });

  test('the room of games: a table that is sorted, filtered and searched; a game opened twice is opened once; deletions are taken back', async (t) => {
    const page = await visit(t);
    const tags = (all: Record<string, string>) =>
      Object.entries(all)
        .map(([name, value]) => `[${name} "${value}"]\n`)
        .join('');
    const [anna, ben, dora] = [
      `${tags({ White: 'Anna', WhiteElo: '2100', Black: 'Ben', BlackElo: '950', Result: '1-0', Date: '2021.05.??', Event: 'Club', ECO: 'C20' })}\n1. e4 e5 2. Qh5 Ke7 3. Qxe5# 1-0\n`,
      `${tags({ White: 'Ben', WhiteElo: '950', Black: 'Carl', Result: '1/2-1/2', Date: '1998.01.02' })}\n1. d4 d5 1/2-1/2\n`,
      `${tags({ White: 'Dora', Black: 'Anna', BlackElo: '2100', Result: '1-0' })}\n1. c4 1-0\n`,
    ];
    const give = async (name: string, text: string): Promise<void> => {
      const file = { name, mimeType: 'text/plain', buffer: Buffer.from(text) };
      await page.locator('.panel-games input[type=file]').setInputFiles(file);
      await waitForGames(page);
    };
    const first = () => page.locator('.game-open').allTextContents();
    await show(page, 'games');
    await give('club.pgn', [anna, ben, dora].join('\n'));
    assert.deepEqual(await first(), ['Anna', 'Ben', 'Dora']);
    assert.deepEqual((await page.locator('tbody tr').first().locator('td').allTextContents()).slice(0, 7), [
      '2100',
      'Ben',
      '950',
      '1-0',
      '2021.05',
      'Club',
      'C20',
    ]);
    assert.deepEqual(await findBarriers(page), []);
    const sort = (title: string) => page.getByTitle(title, { exact: true }).click();
    for (const [title, once, twice] of [
      ['Sort by White’s Elo', 'BenAnnaDora', 'AnnaBenDora'],
      ['Sort by Date', 'BenAnnaDora', 'AnnaBenDora'],
      ['Sort by Moves', 'BenDoraAnna', 'AnnaBenDora'],
    ]) {
      await sort(title);
      assert.equal((await first()).join(''), once, title);
      await sort(title);
      assert.equal((await first()).join(''), twice, title);
    }
    await page.getByLabel('Show', { exact: true }).selectOption('1-0');
    await page.getByLabel('Find a game').fill('dora anna');
    await page.waitForSelector('[role=status]:text-is("1 of 3 games")');
    await openGame(page, 'Dora');
    await page.waitForSelector('h1:has-text("3 / 3 · Dora – Anna")');
    await typeMove(page, 'e5');
    // The search stays while its game is looked at. The same file and the same text come as they were left.
    await show(page, 'games');
    assert.deepEqual(await first(), ['Dora']);
    await loadText(page, anna);
    await page.waitForSelector('.move:has-text("Qxe5#")');
    await typeMove(page, 'f4');
    await loadText(page, ben);
    await page.waitForSelector('.move:has-text("d5")');
    await loadText(page, anna);
    await page.waitForSelector('.variation:has-text("f4"), .move:has-text("f4")');
    await show(page, 'games');
    await give('again.pgn', [anna, ben, dora].join('\n'));
    await page.waitForSelector('.notice:has-text("Opened before")');
    await page.locator('.game-table tr[aria-current=true]:has-text("Dora")').waitFor();
    assert.equal(await page.getByRole('button', { name: /^club\.pgn/ }).count(), 1);
    await page.getByRole('button', { name: /^Kept analyses/ }).click();
    // Their names come first, then their games.
    await page.locator('.game-open:text-is("Ben")').waitFor();
    // Which of the two comes first depends on when the page has saved that Anna was looked at again.
    assert.deepEqual((await first()).slice(0, 2).sort(), ['Anna', 'Ben']);
    // A game of a file, an analysis and a whole file are deleted, and come back.
    const undo = () => page.locator('.notice').getByRole('button', { name: 'Undo' }).last().click();
    const count = (rows: number) =>
      page.waitForSelector(`tbody:not(:has(tr:nth-child(${rows + 1}))) tr:nth-child(${rows})`);
    const deletion = page.getByRole('button', { name: /^Delete Ben – Carl/ });
    await deletion.click();
    await deletion.waitFor({ state: 'detached' });
    await undo();
    await deletion.waitFor();
    await page.getByRole('button', { name: /^club\.pgn/ }).click();
    await count(3);
    await page.getByRole('button', { name: /^Delete Dora/ }).click();
    await count(2);
    await page.waitForSelector('tr[aria-current=true]:has-text("Ben")');
    await undo();
    await count(3);
    await page.reload();
    await count(3);
    await page.getByRole('button', { name: 'Delete club.pgn' }).click();
    await page.waitForSelector('nav :text("club.pgn")', { state: 'detached' });
    await undo();
    await page.getByRole('button', { name: /^club\.pgn/ }).click();
    await count(3);
    // Not on the board: reviewed and saved all the same.
    const { name, text } = await download(page, () => page.keyboard.press('Control+s'));
    assert.equal(name, 'club.pgn');
    assert.match(sayAll(text), /Qxe5# 1-0.*Dora.*1\. c4 (1-0|\(|e5)/);
    await page.getByRole('button', { name: 'Review all' }).click();
    await page
      .getByText(/^\d+ – \d+$/)
      .first()
      .waitFor();
    await page.setViewportSize({ width: 390, height: 844 });
    assert.deepEqual(await page.locator('thead th:visible').allTextContents(), ['White', 'Black', 'Result', 'Date']);
    assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 390);
  });
});
