/** Conversations with the page of the board: one board on the hash evaluator, and one browser, for all tests of a file. */
import assert from 'node:assert/strict';
import { after, before, describe } from 'node:test';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { hideOthers } from './board-page.js';
import { BoardProcess } from './board-process.js';
import { launchBrowser } from './browser.js';

/** So slow that a search goes on while a test looks. */
export const SLOW_ENGINE = ['--backend=hash', '--threads=1', '--nps-limit=4000'];

interface ContextSettings {
  readonly width?: number;
  readonly height?: number;
  /** Script that runs before the page's. */
  readonly begin?: string;
  /** It sees only those analyses that it has sent itself. */
  readonly isAlone?: boolean;
}

export class PageTests {
  board!: BoardProcess;
  /** Errors that the pages have thrown. */
  readonly complaints: string[] = [];

  constructor(readonly browser: Browser) {}

  /** A browser with nothing kept. Without motion, drawing what the engine reports takes two thirds of the processor time. */
  async createContext(settings: ContextSettings = {}): Promise<BrowserContext> {
    const { width = 1366, height = 768, begin = '', isAlone = false } = settings;
    const context = await this.browser.newContext({ viewport: { width, height }, reducedMotion: 'reduce' });
    await context.addInitScript(begin);
    if (isAlone) await hideOthers(context);
    return context;
  }

  /** @param url of a board; left out: this one's, with a token for a further browser */
  async open(context: BrowserContext, url = this.board.lines.at(-1) ?? this.board.url): Promise<Page> {
    const page = await context.newPage();
    page.on('pageerror', (error) => this.complaints.push(error.message));
    await page.goto(url);
    // An element that the test holds would stay in memory.
    await page.locator('.engine-head').waitFor();
    return page;
  }
}

const launched = await launchBrowser();

/** A page that throws an error makes the tests fail at their end. @param flags of the board */
export function describePages(name: string, flags: readonly string[], tell: (tests: PageTests) => void): void {
  const skip = 'reason' in launched ? launched.reason : false;
  describe(name, { skip, timeout: 1_800_000 }, () => {
    const tests = new PageTests((launched as { readonly browser: Browser }).browser);
    before(async () => {
      tests.board = await BoardProcess.start(flags);
    });
    after(async () => {
      // What a page has asked for just before may still be under way.
      const contexts = tests.browser.contexts();
      await Promise.all(contexts.map((context) => context.unrouteAll({ behavior: 'ignoreErrors' })));
      await tests.browser.close();
      // Whatever of it there is: the start may have failed.
      await tests.board?.stop();
      assert.deepEqual(tests.complaints, []);
    });
    tell(tests);
  });
}
