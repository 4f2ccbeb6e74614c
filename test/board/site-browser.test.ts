/** The site, built by `npm run site`, in a real Chromium: in a folder of a host that sets no headers, with the engine in the page. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, type TestContext, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import type { Browser, BrowserContext, BrowserContextOptions, Locator, Page } from 'playwright-core';
import { unwrap } from '#sardonyx/base/util/index.js';
import { formatSan, parseFen, parseUciMove, START_FEN } from '#sardonyx/chess/rules/index.js';
import {
  choose,
  chooseReview,
  dragPiece,
  findBarriers,
  loadText,
  openGame,
  readFen,
  setThoroughness,
  show,
  typeMove,
} from '../support/board-page.js';
import { findFirefox, launchBrowser, openInFirefox } from '../support/browser.js';
import { encodeNetworkFile } from '../support/lc0-network-file.js';
import { createRandomNetwork } from '../support/lc0-random-network.js';
import { A, B, BZIP2, GZIP, tar, ZIPS, ZSTD, zip } from '../support/packed-games.js';
import { runCommand } from '../support/run-command.js';
import { repositoryRoot } from '../support/shared-folder.js';
import { silenceWorkers } from '../support/silent-workers.js';
import { type Content, startWebServer, type WebServer } from '../support/web-server.js';

const launched = await launchBrowser();
const skip = 'reason' in launched ? launched.reason : false;
const site = join(repositoryRoot, 'build', 'site');
const FOLDERS = { '': repositoryRoot, chess: site };
const TINY = join(repositoryRoot, 'models', 'tiny-test.onnx');

function encodeLc0(compress: boolean): Uint8Array {
  return encodeNetworkFile(createRandomNetwork({ blocks: 1, filters: 16, value: 'wdl' }), { compress });
}

type Edit = (path: string, content: Buffer) => Content | Promise<string>;

/** A file of the site, with code before its own. */
function prepend(file: string, code: string): Edit {
  return (path, content) => (path.endsWith(`/${file}`) ? code + content.toString() : content);
}

/** In equal parts, with a pause after each; the last waits for `end`. */
async function* trickle(content: Buffer, parts: number, pauseMs: number, end?: Promise<void>): AsyncGenerator<Buffer> {
  for (let part = 0; part < parts; part++) {
    if (part === parts - 1) await end;
    yield content.subarray((part * content.length) / parts, ((part + 1) * content.length) / parts);
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}

function hash(content: Buffer | string): string {
  return createHash('sha256').update(content).digest('hex');
}

async function openPage(context: BrowserContext, { origin }: WebServer): Promise<Page> {
  const page = await context.newPage();
  await page.goto(`${origin}/chess/`);
  return page;
}

async function waitForEngine(page: Page, network: string): Promise<void> {
  await page.waitForSelector(`.engine-name:has-text("${network}")`);
}

/** In the dialog that is open. */
async function setNetworkFile(page: Page, name: string, content: Uint8Array): Promise<void> {
  const file = { name, mimeType: 'application/octet-stream', buffer: Buffer.from(content) };
  await page.getByLabel('Open a network file').setInputFiles(file);
}

async function openNetwork(page: Page, name: string, content: Uint8Array): Promise<void> {
  await choose(page, 'Settings', 'Engine');
  await setNetworkFile(page, name, content);
  await page.waitForSelector(`dialog option:checked:has-text("${name}")`, { state: 'attached' });
  await page.keyboard.press('Escape');
  await page.waitForSelector('dialog', { state: 'detached' });
}

/** SAN and prior of every move of the initial position, as Node computes them of the network of lc0's. */
const nodePriors = evaluateInNode();

async function evaluateInNode(): Promise<[string, number][]> {
  const folder = mkdtempSync(join(tmpdir(), 'sardonyx-site-'));
  const network = join(folder, 'lc0.pb.gz');
  writeFileSync(network, encodeLc0(true));
  const { stdout, stderr } = await runCommand(['eval', '--json', `--weights=${network}`, '--threads=1']);
  rmSync(folder, { recursive: true });
  assert.match(stdout, /^\{/, stderr);
  const position = unwrap(parseFen(START_FEN));
  const { policy } = JSON.parse(stdout) as { policy: { move: string; prior: number }[] };
  return policy.map(({ move, prior }) => [formatSan(position, unwrap(parseUciMove(position, move))), prior]);
}

/** @param shown percentages in the table of moves */
function comparePriors(shown: readonly [string, string][], wanted: readonly [string, number][]): void {
  const told = new Map(shown.map(([san, prior]) => [san, Number(prior)]));
  for (const [san, prior] of wanted) {
    assert.ok(Math.abs((told.get(san) ?? 0) - 100 * prior) < 0.11, `${san}: ${told.get(san)}, ${prior}`);
  }
}

/** With a network of lc0's, at the initial position. */
async function readPriors(page: Page): Promise<[string, string][]> {
  await openNetwork(page, 'lc0.pb.gz', encodeLc0(true));
  await page.keyboard.press('l');
  await page.getByRole('button', { name: 'Columns' }).click();
  await page.waitForSelector('.move-table tbody tr:nth-child(20)');
  // In one look: the rows change places.
  const priors = await page.evaluate(
    `[...document.querySelectorAll('.move-table tbody tr')].map((row) => [row.querySelector('.table-move').textContent, row.cells[2].textContent])`,
  );
  await page.getByRole('button', { name: 'Columns' }).click();
  await page.keyboard.press('l');
  return priors as [string, string][];
}

before(() => {
  execFileSync(process.execPath, [join(repositoryRoot, 'scripts', 'build-site.mjs')], { stdio: 'ignore' });
});

/** What the page does by itself in Firefox, and reports step by step: opens a network of lc0's, reads its priors, plays a move. */
const FIREFOX_SCRIPT = `
const report = (step) => fetch(REPORTS, { method: 'POST', body: JSON.stringify(step) });
addEventListener('error', ({ error, message }) => error && report({ error: message }));
/** What \`find\` finds, as soon as it finds something. */
const until = (find) => new Promise((resolve) => {
  const observer = new MutationObserver(look);
  observer.observe(document, { subtree: true, childList: true, characterData: true, attributes: true });
  look();
  function look() {
    const found = find();
    if (!found) return;
    observer.disconnect();
    resolve(found);
  }
});
const $ = (selector) => document.querySelector(selector);
const labelled = (selector, text) => [...document.querySelectorAll(selector)].find(({ textContent }) => textContent.trim() === text);
const click = async (find) => (await until(find)).click();
await until(() => / on /.test($('.engine-name')?.textContent ?? ''));
await click(() => labelled('[role=menuitem]', 'Engine'));
const input = await until(() => $('dialog input[type=file]'));
const files = new DataTransfer();
files.items.add(new File([await (await fetch('/own/lc0.pb.gz')).blob()], 'lc0.pb.gz'));
input.files = files.files;
input.dispatchEvent(new Event('change', { bubbles: true }));
await until(() => $('dialog option:checked')?.textContent.includes('lc0.pb.gz'));
await click(() => $('dialog [aria-label="Close"]'));
await click(() => $('.switch input'));
await click(() => labelled('button', 'Columns'));
const rows = await until(() => {
  const found = [...document.querySelectorAll('.move-table tbody tr')];
  return found.length === 20 && found;
});
const priors = rows.map((row) => [row.querySelector('.table-move').textContent, row.cells[2].textContent]);
await click(() => $('.switch input'));
location.hash = 'play';
for (const text of ['White', 'No clock', '0.2 s']) await click(() => labelled('label', text));
await click(() => labelled('button', 'Play'));
await click(() => labelled('[role=menuitem]', 'Type a move'));
const move = await until(() => $('textarea[aria-label="Type a move"]'));
move.value = 'e4';
move.dispatchEvent(new Event('input', { bubbles: true }));
move.form.requestSubmit();
await until(() => document.querySelectorAll('.move').length === 2);
const said = [...document.querySelectorAll('.unsaved, .notice')].map(({ textContent }) => textContent);
await report({ isIsolated: crossOriginIsolated, priors, said });
`;

interface FirefoxReport {
  readonly error?: string;
  readonly isIsolated: boolean;
  readonly priors: [string, string][];
  /** Marks in the header, and notices. */
  readonly said: readonly string[];
}

/** Receives one report of the page. */
async function startReports(): Promise<{ readonly server: Server; readonly report: Promise<FirefoxReport> }> {
  const server = createServer();
  const report = new Promise<FirefoxReport>((resolve) => {
    server.on('request', async (request, response) => {
      const text = (await request.toArray()).join('');
      response.setHeader('access-control-allow-origin', '*').end();
      resolve(JSON.parse(text));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { server, report };
}

const firefox = findFirefox();
/** Storage, caches, locks and service workers throw SecurityErrors. */
const REFUSES_ALL = { 'network.cookie.cookieBehavior': 2 };
for (const [name, settings] of [
  ['the site in Firefox: a network of lc0’s plays, with the priors it has in Node', {}],
  ['the site in a Firefox that keeps nothing does the same, and says that nothing is saved', REFUSES_ALL],
] as const)
  test(name, {
    skip: firefox === null && 'no Firefox is installed',
    timeout: 600_000,
  }, async () => {
    const own = mkdtempSync(join(tmpdir(), 'sardonyx-site-'));
    const { server, report } = await startReports();
    const { port } = server.address() as AddressInfo;
    writeFileSync(join(own, 'act.js'), FIREFOX_SCRIPT.replace('REPORTS', `'http://localhost:${port}'`));
    writeFileSync(join(own, 'lc0.pb.gz'), encodeLc0(true));
    const index = readFileSync(join(site, 'index.html'), 'utf8');
    const acting = index.replace('</head>', '<script type="module" src="/own/act.js"></script></head>');
    const edit: Edit = (path, content) => {
      if (path.endsWith('/index.html')) return acting;
      return path.endsWith('/service-worker.js') ? content.toString().replaceAll(hash(index), hash(acting)) : content;
    };
    const host = await startWebServer({ ...FOLDERS, own }, settings === REFUSES_ALL, edit);
    const browser = openInFirefox(firefox ?? '', `${host.origin}/chess/`, settings);
    try {
      const early = browser.ended.then(() => assert.fail('Firefox has ended'));
      const { error, isIsolated, priors, said } = await Promise.race([report, early]);
      assert.deepEqual([error, isIsolated], [undefined, true]);
      comparePriors(priors, await nodePriors);
      assert.equal(
        said.filter((words) => words === '● not saved').length,
        settings === REFUSES_ALL ? 1 : 0,
        said.join(),
      );
    } finally {
      await browser.close();
      host.close();
      server.close();
      rmSync(own, { recursive: true });
    }
  });

describe('the site in Chromium', { skip, timeout: 600_000 }, () => {
  const browser = (launched as { browser: Browser }).browser;

  after(() => browser.close());

  /** A host and a browser of its own. */
  async function visit(
    t: TestContext,
    { isIsolated = false, edit, ...options }: { isIsolated?: boolean; edit?: Edit } & BrowserContextOptions = {},
  ): Promise<{ readonly host: WebServer; readonly context: BrowserContext; readonly page: Page }> {
    const host = await startWebServer(FOLDERS, isIsolated, edit);
    const context = await browser.newContext(options);
    t.after(async () => {
      await context.close();
      host.close();
    });
    return { host, context, page: await openPage(context, host) };
  }

  /** Playwright's own waitForFunction needs eval, which the page forbids. */
  async function waitUntil(page: Page, condition: string): Promise<void> {
    // A page that loads itself again has no answer for a moment.
    while (!(await page.evaluate(condition).catch(() => false))) {
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  const keptNetworks = (page: Page): Locator => page.getByRole('list', { name: 'Networks kept in this browser' });

  test('without headers of the host the page is isolated, analyses, plays, reviews, and comes again without the host', async (t) => {
    const { host, context, page } = await visit(t);
    const requests: string[] = [];
    const complaints: string[] = [];
    context.on('request', (request) => requests.push(request.url()));
    page.on('console', (message) => {
      if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text());
    });
    page.on('pageerror', (error) => complaints.push(error.message));

    await waitForEngine(page, 'Sardonyx');
    assert.equal(await page.evaluate('crossOriginIsolated'), true);
    assert.equal(await page.evaluate('history.state?.sardonyxReloads'), undefined);
    assert.deepEqual(await page.locator('.nav a').allTextContents(), ['Board', 'Games']);

    await page.keyboard.press('l');
    await page.waitForSelector('.line-move');
    await page.waitForSelector('.candidate .facts');
    await page.waitForSelector('.engine-arrow', { state: 'attached' });
    assert.deepEqual(await findBarriers(page), []);
    await page.locator('.candidate .fold').first().click();
    await page.waitForSelector('.tree-row');
    await page.locator('.candidate-menu').first().click();
    await page.getByRole('menuitem', { name: 'Explain' }).click();
    await page.waitForSelector('.weights li');
    await page.waitForSelector('cg-board [class*="explain-"]', { state: 'attached' });
    assert.deepEqual(await findBarriers(page), []);
    await page.getByRole('button', { name: 'Clear' }).click();
    await page.waitForSelector('cg-board [class*="explain-"]', { state: 'hidden' });
    await page.locator('.line-move').nth(1).click();
    await page.waitForSelector('.move-list .move:nth-of-type(2)');
    await page.keyboard.press('l');

    // One of lc0's, in both forms; a damaged one is refused with its reason, and is not kept.
    await openNetwork(page, 'lc0.pb', encodeLc0(false));
    await page.keyboard.press('ArrowUp');
    comparePriors(await readPriors(page), await nodePriors);
    await choose(page, 'Settings', 'Engine');
    await setNetworkFile(page, 'half.pb', encodeLc0(false).subarray(0, 3000));
    await page.waitForSelector('.notice-error:has-text("half.pb"):has-text("the file is cut off")');
    await keptNetworks(page).filter({ hasNotText: 'half.pb' }).waitFor();
    await page.keyboard.press('Escape');

    // A network by file; one that is none is refused.
    await openNetwork(page, 'tiny-test.onnx', readFileSync(TINY));
    await waitForEngine(page, 'random 16x2');
    await choose(page, 'Settings', 'Engine');
    await page.getByLabel('Open a network file').setInputFiles(join(repositoryRoot, 'package.json'));
    await page.waitForSelector('.notice-error:has-text("package.json is no network")');
    // One by its address.
    for (const name of ['nothing.onnx', 'tiny-test.onnx']) {
      await page.getByLabel('Address of a network').fill(`${host.origin}/models/${name}`);
      await page.getByRole('button', { name: 'Open', exact: true }).click();
    }
    await page.waitForSelector('.notice-error:has-text("/models/nothing.onnx: the server answered 404")');
    assert.deepEqual(await findBarriers(page), []);
    await page.keyboard.press('Escape');
    await waitForEngine(page, 'random 16x2');

    // A game to mate: every reply is forced.
    await loadText(page, 'k7/8/2K5/8/8/8/8/7Q w - - 0 1');
    await show(page, 'play');
    await page.getByText('White', { exact: true }).click();
    await page.getByLabel('The position on the analysis board').check();
    await page.getByRole('button', { name: 'Play', exact: true }).click();
    await typeMove(page, 'Kb6');
    await page.waitForSelector('.move:has-text("Kb8")');
    await typeMove(page, 'Qb7');
    await page.waitForSelector('.result:has-text("You win by checkmate")');
    assert.deepEqual(await findBarriers(page), []);

    // It is reviewed with one click.
    await page.getByRole('button', { name: 'Review', exact: true }).click();
    await page.waitForSelector('.panel-analyse .move:has-text("Qb7")');
    await page.waitForSelector('.accuracy:has-text("%")');
    await page.waitForSelector('.chip', { state: 'detached' });

    await page.setViewportSize({ width: 390, height: 844 });
    for (const name of ['analyse', 'play']) {
      await show(page, name);
      assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 390, name);
    }
    assert.deepEqual(complaints, []);

    // The second visit, with no host at all: files and networks are there, and the one that ran last runs.
    host.close();
    await page.close();
    const again = await openPage(context, host);
    await waitForEngine(again, 'random 16x2');
    await choose(again, 'Settings', 'Engine');
    await again.locator('dialog select').first().selectOption('bundled');
    await waitForEngine(again, 'Sardonyx');
    const remove = keptNetworks(again).getByRole('button', { name: /^Remove / });
    const count = await remove.count();
    assert.ok(count > 0);
    assert.deepEqual(await findBarriers(again), []);
    for (let left = count; left > 0; left--) {
      await remove.first().click();
      await waitUntil(again, `document.querySelectorAll('.kept-networks li').length === ${left - 1}`);
    }
    assert.equal(
      await again.evaluate(
        "caches.open('sardonyx-opened-networks').then(async (cache) => (await cache.keys()).length)",
      ),
      0,
    );
    await again.keyboard.press('Escape');
    await show(again, 'analyse');
    await again.keyboard.press('l');
    await again.waitForSelector('.candidate .facts');
    assert.deepEqual(
      requests.filter((url) => !url.startsWith(`${host.origin}/`) && !/^(data|blob):/.test(url)),
      [],
    );
  });

  test('packed files of every kind give their games; of one that is cut off, those before the cut, and a sentence', async (t) => {
    const { page } = await visit(t, { isIsolated: true, serviceWorkers: 'block' });
    const names = ['Müller – b', 'c – d', 'e – f'];
    const cut = 'The rest of the file cannot be read: it is cut off: its packed data end too early';
    const files: readonly (readonly [
      name: string,
      buffer: Buffer,
      players: readonly string[],
      problem: string | null,
    ])[] = [
      ['games.pgn.zst', ZSTD, names, null],
      ['games.pgn.bz2', BZIP2, names, null],
      ['games.zip', ZIPS[1], names, null],
      [
        'nested.zip',
        zip(
          'games.tgz',
          gzipSync(
            tar([
              ['a.pgn', A],
              ['b.pgn', B],
            ]),
          ),
        ),
        names,
        null,
      ],
      ['games.pgn.gz', GZIP.subarray(0, -20), names, cut],
      [
        'games.pgn.xz',
        Buffer.from('fd377a585a000004', 'hex'),
        [],
        'The file cannot be read: it is packed with xz, which is not read: unpack it with "xz -d" first',
      ],
    ];
    for (const [name, buffer, players, problem] of files) {
      await choose(page, 'New', 'Paste or open …');
      await page.getByLabel('Open files').setInputFiles({ name, mimeType: 'application/octet-stream', buffer });
      for (const player of players) await page.locator(`.game-open[title^="${player}"]`).waitFor();
      if (problem !== null) await page.waitForSelector(`.panel-games .problem:has-text('${problem}')`);
      await page.waitForSelector('.panel-games progress', { state: 'detached' });
      assert.equal(await page.locator('.panel-games .problem').count(), problem === null ? 0 : 1, name);
    }
  });

  test('a page in use is not loaded again without being asked, and loses nothing', async (t) => {
    let release: () => void = () => undefined;
    const isReleased = new Promise<void>((resolve) => {
      release = resolve;
    });
    const edit: Edit = (path, content) =>
      path.endsWith('/service-worker.js') ? isReleased.then(() => content.toString()) : content;
    const { page } = await visit(t, { edit });
    await dragPiece(page, 'e2', 'e4');
    await page.waitForSelector('.move:has-text("e4")');
    release();
    await page.waitForSelector('.obstacle:has-text("The engine starts when this page is loaded again")');
    await page.getByRole('button', { name: 'Load again' }).click();
    await waitForEngine(page, 'Sardonyx');
    await page.waitForSelector('.move:has-text("e4")');
  });

  test('on a host with headers, without a service worker, an analyst’s day: own games, null moves, numbers, mistakes, colours of one’s own', async (t) => {
    const { page } = await visit(t, { isIsolated: true, serviceWorkers: 'block' });
    const button = (name: string) => page.getByRole('button', { name, exact: true });
    await waitForEngine(page, 'Sardonyx');
    await exploreOwnGames();
    await passTheTurn();
    await learnFromMistakes();
    await useOwnColors();
    await page.evaluate('location.hash = "#match"');
    await page.waitForSelector('text=Matches need the program');

    async function passTheTurn(): Promise<void> {
      await page.evaluate('location.hash = "#fen=4k3/8/8/8/8/8/4P3/4K3_w_-_-_0_1&moves=e2e4,e8d7"');
      await page.locator('.move[aria-current]:has-text("Kd7")').click();
      await page.keyboard.press('-');
      await page.waitForSelector('.move[aria-current]:has-text("--")');
      await typeMove(page, 'e3');
      await page.keyboard.press('Escape');
      await typeMove(page, '--');
      await page.waitForSelector('.move[aria-current]:has-text("--")');
      assert.match(await readFen(page), /^8\/3k4\/8\/8\/4P3\/8\/8\/4K3 w - - /);
      await loadText(page, '4k3/8/8/8/8/8/4q3/4K2R w K - 0 1');
      await typeMove(page, '--');
      await page.waitForSelector('.typed .problem:has-text("In check nobody can pass")');
      await loadText(page, '4k3/8/8/8/8/8/4P3/4K3 w - - 0 1');
      await page.waitForSelector('.panel-games', { state: 'detached' });
      await page.keyboard.press('x');
      await page.keyboard.press('l');
      await page.waitForSelector('.candidate .facts');
      await page.locator('.line-score').first().click();
      await page.waitForSelector('.move-list .move:has-text("--") + .move[aria-current]');
      // The numbers of the candidates stand on their squares.
      await page.waitForSelector('.candidate .facts');
      await page.keyboard.press('s');
      await page.waitForSelector('.square-numbers.square-best text:nth-of-type(2)', { state: 'attached' });
      await page.keyboard.press('s');
      await page.waitForSelector('.square-numbers', { state: 'detached' });
      await page.keyboard.press('l');
    }

    async function exploreOwnGames(): Promise<void> {
      const games = [
        ['Anna', '1-0', '1. e4 e5 2. Nf3'],
        ['Ben', '0-1', '1. Nf3 e5 2. e4'],
        ['Carl', '1/2-1/2', '1. e4 c5'],
      ].map(
        ([white, result, moves]) => `[White "${white}"]\n[Black "X"]\n[Result "${result}"]\n\n${moves} ${result}\n`,
      );
      await loadText(page, games.join('\n'));
      await openGame(page, 'Anna');
      await page.getByText('Games with this position', { exact: true }).click();
      await page.waitForSelector(
        '.explorer-moves tr:has-text("e4"):has([aria-label="White 50 %, draws 50 %, Black 0 %"])',
      );
      assert.deepEqual(await findBarriers(page), []);
      await page.locator('.explorer-moves .table-move').first().click();
      await page.locator('.explorer-moves .table-move:text-is("e5")').click();
      await typeMove(page, 'Nf3');
      // Another order of moves, the same position.
      await page.getByRole('list', { name: 'Games with this position' }).getByRole('button', { name: /^Ben/ }).click();
      await page.waitForSelector('h1:has-text("2 / 3 · Ben – X")');
      await page.waitForSelector('.move[aria-current]:has-text("e4")');
      // A change is kept although another game comes at once.
      await page.keyboard.press('c');
      await page.getByLabel('Comment').fill('Kept');
      await button('Next game').click();
      await page.getByText('All that are kept', { exact: true }).click();
      await page.waitForSelector('.explorer-moves tr:has-text("All"):has([aria-label^="White"])');
      await page.reload();
      await page.waitForSelector('h1:has-text("3 / 3 · Carl – X")');
      await button('Previous game').click();
      await page.waitForSelector('.move-comment:has-text("Kept")');
      const stored = (await page.evaluate(`new Promise((resolve) => {
        indexedDB.open('sardonyx').onsuccess = ({ target: { result } }) => {
          const games = result.transaction('games').objectStore('games');
          games.getAll().onsuccess = ({ target }) => resolve(target.result.map((value) => JSON.stringify(value)));
        };
      })`)) as string[];
      assert.equal(stored.filter((text) => text.includes('Kept')).length, 1, 'the changed game is stored once');
      await page.getByText('Games with this position', { exact: true }).click();
    }

    async function learnFromMistakes(): Promise<void> {
      await loadText(page, '[White "Anna"]\n[Black "Ben"]\n\n1. e4 e5 2. Qh5 Ke7 3. Qxe5# 1-0');
      await setThoroughness(page, 'Quick');
      await chooseReview(page, 'Review the game');
      await page.keyboard.press('f');
      await page.getByTitle('Find better moves than Black’s mistakes').click();
      await page.waitForSelector('.mistake-asked:has-text("Find a better move for Black")');
      assert.deepEqual(await findBarriers(page), []);
      while ((await page.locator('.mistake-asked:has-text("Ke7")').count()) === 0) await button('Skip').click();
      await typeMove(page, 'Ke7');
      await page.waitForSelector('.mistake-failed:has-text("Ke7 is not good enough")');
      await button('Try again').click();
      await button('Show the solution').click();
      const [solution] = (await page.locator('.mistake-shown').textContent())?.split(' ') ?? [];
      await button('Back to the review').click();
      await button('Learn').click();
      while ((await page.locator('.mistake-asked:has-text("Ke7")').count()) === 0) await button('Skip').click();
      await typeMove(page, solution);
      await page.waitForSelector('.mistake-solved:has-text("is best")');
      await page.keyboard.press('Escape');
      await page.waitForSelector('.accuracy');
      // They belong to the game on the board.
      await button('Learn').click();
      await page.waitForSelector('.mistake-asked');
      await page.evaluate('location.hash = "#fen=4k3/8/8/8/8/8/4P3/4K3_w_-_-_0_1&moves=e2e4"');
      await page.waitForSelector('.panel-analyse .move:has-text("e4")');
      assert.equal(await page.locator('.mistake-asked').count(), 0);
      await page.keyboard.press('f');
    }

    async function useOwnColors(): Promise<void> {
      await choose(page, 'Settings', 'Board and sounds');
      await page.getByText('Own colours', { exact: true }).click();
      await page.getByLabel('Dark squares').fill('#123456');
      assert.deepEqual(await findBarriers(page), []);
      await page.keyboard.press('Escape');
      // Who had pictures of an earlier version reads once that they are not shown any more.
      await page.evaluate(`localStorage.setItem('sardonyx.pieces', '{"wK":"data:"}')`);
      await page.reload();
      await page.waitForSelector('.notice:has-text("choose one of the three sets")');
      await page.reload();
      await page.waitForSelector('piece.king.white', { state: 'attached' });
      assert.equal(await page.locator('.notice').count(), 0);
      const background = "getComputedStyle(document.querySelector('cg-board')).backgroundImage";
      assert.match(String(await page.evaluate(background)), /rgb\(18, 52, 86\)/);
      await choose(page, 'Settings', 'Board and sounds');
      await page.getByText('Brown', { exact: true }).click();
      await page.keyboard.press('Escape');
    }
  });

  test('a network on the host that is not the one of this build is refused', async (t) => {
    const edit: Edit = (path, content) => (path.endsWith('.onnx') ? Buffer.concat([content, Buffer.of(0)]) : content);
    const { page } = await visit(t, { edit });
    await page.waitForSelector('.notice-error:has-text("is not the one of this version: reload the page")');
    await page.waitForSelector('.engine-name:has-text("is not the one of this version")');
  });

  test('a script on the host that is not of this build is never run', async (t) => {
    const { page } = await visit(t, { edit: prepend('board-worker.js', '/* newer */') });
    await page.waitForSelector('.obstacle:has-text("the files of the page could not be stored")');
  });

  test('a newer build waits until the older page is left, and then takes over as a whole', async (t) => {
    const read = (name: string): string => readFileSync(join(site, name), 'utf8');
    const index = read('index.html');
    const build = /sardonyx-build" content="(\w+)"/.exec(index)?.[1] ?? '';
    const newIndex = index.replace(build, 'newer');
    let isNew = false;
    const edit: Edit = (path, content) => {
      if (!isNew) return content;
      if (path.endsWith('/index.html')) return newIndex;
      if (!path.endsWith('/service-worker.js')) return content;
      return content.toString().replaceAll(hash(index), hash(newIndex)).replaceAll(build, 'newer');
    };
    const { host, page } = await visit(t, { edit });
    const readBuild = 'document.querySelector("meta[name=sardonyx-build]").content';
    await waitForEngine(page, 'Sardonyx');
    assert.equal(await page.evaluate(readBuild), build);
    isNew = true;
    const hasWaiting = 'navigator.serviceWorker.ready.then(({ waiting }) => waiting?.state === "installed")';
    await page.evaluate('navigator.serviceWorker.ready.then((registration) => registration.update())');
    await waitUntil(page, hasWaiting);
    // Another tab keeps the older build.
    const tab = await openPage(page.context(), host);
    await waitForEngine(tab, 'Sardonyx');
    assert.equal(await tab.evaluate(readBuild), build);
    await tab.close();
    await page.reload();
    await waitUntil(page, `${readBuild} === 'newer' && crossOriginIsolated`);
    await waitForEngine(page, 'Sardonyx');
  });

  test('what keeps the engine from running is one sentence in the page', async (t) => {
    const { page } = await visit(t, { serviceWorkers: 'block' });
    await page.waitForSelector('.obstacle:has-text("needs a cross-origin isolated page"):has-text("service worker")');
    await page.waitForSelector('.lost:has-text("No engine")');
    await page.getByRole('button', { name: 'Try again' }).waitFor();
    await page.keyboard.press('l');
    assert.deepEqual(await findBarriers(page), []);

    const cases = [
      ['delete globalThis.SharedArrayBuffer;', '.obstacle:has-text("needs a cross-origin isolated page")'],
      ['WebAssembly.validate = () => false;', '.obstacle:has-text("WebAssembly with SIMD, which this browser lacks")'],
      ['throw new Error("planted");', '.obstacle:has-text("The engine does not start: Uncaught Error: planted")'],
    ] as const;
    for (const [code, selector] of cases) {
      const edit = prepend('board-worker.js', code);
      const { page: other } = await visit(t, { isIsolated: true, serviceWorkers: 'block', edit });
      await other.waitForSelector(selector);
    }
  });

  const plain = { isIsolated: true, serviceWorkers: 'block' } as const;

  test('the network comes although the browser does not start the first Worker of each kind', async (t) => {
    const { page } = await visit(t, { ...plain, edit: prepend('board-worker.js', silenceWorkers(1)) });
    await page.addInitScript(silenceWorkers(1));
    await page.reload();
    await waitForEngine(page, 'Sardonyx');
    await page.keyboard.press('l');
    await page.waitForSelector('.candidate .facts');
  });

  test('where no Worker is started or nothing comes, the page says so once, and tries again when asked to', async (t) => {
    const hang =
      "globalThis.fetch = () => { postMessage({ type: 'progress', isDone: true }); return new Promise(() => {}); };";
    const cases = [
      [silenceWorkers(4, 50), '', /^The engine does not start: the browser has started none of 4 Workers$/],
      ['', silenceWorkers(1e9, 50), /^Cannot evaluate with .*: the browser has started none of 4 Workers$/],
      ['', hang, /^The engine does not start: it has said nothing for 75 s$/],
    ] as const;
    for (const [ofPage, ofWorker, sentence] of cases) {
      let isBad = true;
      const edit: Edit = (path, content) => (isBad ? prepend('board-worker.js', ofWorker)(path, content) : content);
      const { page } = await visit(t, { ...plain, edit });
      await page.addInitScript(ofPage);
      if (ofWorker === hang) await page.clock.install();
      await page.reload();
      if (ofWorker === hang) {
        await page.waitForSelector('.engine-name:has-text("Loading the network")');
        await page.clock.fastForward(80_000);
      }
      await page.getByRole('button', { name: 'Try again' }).waitFor();
      assert.match((await page.locator('.obstacle').textContent())?.replace(/\. .*/, '') ?? '', sentence);
      assert.deepEqual(await findBarriers(page), []);
      isBad = false;
      await page.getByRole('button', { name: 'Try again' }).click();
      await waitForEngine(page, 'Sardonyx');
      assert.equal(await page.locator('.obstacle').count(), 0);
    }
  });

  test('a script that comes slowly is waited for, and the page says how much of the engine has come', async (t) => {
    for (const options of [plain, {}]) {
      let release: () => void = () => undefined;
      const isReleased = new Promise<void>((resolve) => {
        release = resolve;
      });
      const edit: Edit = (path, content) => {
        if (path.endsWith('/board-worker.js') && options === plain) return trickle(content, 5, 2500);
        return path.endsWith('threaded.wasm') ? trickle(content, 5, 150, isReleased) : content;
      };
      const { page } = await visit(t, { ...options, edit });
      await page.waitForSelector('.engine-name:text-matches("^Engine [0-9.]+ (of 14.2 )?MB$")');
      release();
      await waitForEngine(page, 'Sardonyx');
    }
  });

  test('a page without a server asks once to keep the games for good, and says what the browser answered', async (t) => {
    for (const answer of [true, false]) {
      const { page } = await visit(t, { ...plain, edit: prepend('board-worker.js', '') });
      await page.addInitScript(
        `navigator.storage.persist = async () => { globalThis.asked = (globalThis.asked ?? 0) + 1; return ${answer}; };`,
      );
      await page.reload();
      await typeMove(page, 'e4');
      await page.waitForSelector(
        answer ? '.notice-note:has-text("promised to keep")' : '.notice-warning:has-text("may delete your games")',
      );
      await typeMove(page, 'e5');
      await page.waitForSelector('.move:has-text("e5")');
      assert.equal(await page.evaluate('globalThis.asked'), 1);
      await page.reload();
      await page.waitForSelector('.move:has-text("e5")');
      await typeMove(page, 'Nf3');
      await page.waitForSelector('.move:has-text("Nf3")');
      assert.equal(await page.evaluate('globalThis.asked'), undefined);
    }
  });

  test('a browser that keeps nothing, and one without memory', async (t) => {
    const unstored = 'caches.open = () => Promise.reject(new DOMException("no storage", "SecurityError"));';
    const noMemory = 'WebAssembly.Memory = function () { throw new RangeError("could not allocate memory"); };';
    const { page } = await visit(t, { ...plain, edit: prepend('board-worker.js', unstored) });
    await waitForEngine(page, 'Sardonyx');
    await openNetwork(page, 'tiny-test.onnx', readFileSync(TINY));
    await page.waitForSelector('.notice-warning:has-text("no room to keep this network: open it again")');
    await waitForEngine(page, 'random 16x2');
    const { page: poor } = await visit(t, { ...plain, edit: prepend('sardonyx.js', noMemory) });
    await poor.waitForSelector('.engine-name:has-text("memory")');
    await poor.locator('.obstacle').getByRole('button', { name: 'Try again' }).waitFor();
  });
});
