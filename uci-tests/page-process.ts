/**
 * The Worker of a web page in the place of the program: the same streams, so that the tests cannot tell. SARDONYX_UCI_PAGE names a
 * running browser and a page (`ws://… http://…`); test/web/uci-conversations.test.ts sets it. One browser serves all tests.
 */
import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { EventEmitter } from 'node:events';
import { PassThrough } from 'node:stream';
import { after } from 'node:test';
import { type Browser, type ConsoleMessage, chromium, type Page } from 'playwright-core';
import { listOptionSpecs } from '#sardonyx/engine/app/all-options.js';

const [browserAddress = '', pageAddress = ''] = (process.env.SARDONYX_UCI_PAGE ?? '').split(' ');
export const isInPage = pageAddress !== '';
/** The engine itself gives up waiting for its threads after five seconds. */
const QUIT_TIMEOUT_MS = 30_000;
/** What the browser says of itself. */
const OF_BROWSER = /^No available adapters\.$/;

let browser: Promise<Browser> | undefined;
// An open connection would keep the process of the test file alive.
if (isInPage) after(async () => (await browser)?.close());

export function openPageProcess(flags: readonly string[]): ChildProcessWithoutNullStreams {
  return new PageProcess(flags) as unknown as ChildProcessWithoutNullStreams;
}

class PageProcess extends EventEmitter {
  readonly stdin = new PassThrough();
  readonly stdout = new PassThrough();
  readonly stderr = new PassThrough();
  private readonly page: Promise<Page>;
  private quitTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(flags: readonly string[]) {
    super();
    this.page = this.open();
    // What is written before the page is open waits for it; later lines wait for earlier ones.
    let sent: Promise<unknown> = this.post(flags.map(translateFlag).join('\n'));
    this.stdin.on('data', (chunk: Buffer) => {
      const lines = chunk.toString().trimEnd();
      sent = sent.then(() => this.post(lines)).catch(() => undefined);
      if (lines.endsWith('quit')) void this.expectEnd();
    });
  }

  kill(): void {
    void this.page.then((page) => page.close()).catch(() => undefined);
  }

  private async open(): Promise<Page> {
    browser ??= chromium.connect(browserAddress);
    const page = await (await browser).newPage();
    page.on('console', (message) => this.reportTrouble(message));
    page.on('pageerror', (error) => this.stderr.write(`${error.message}\n`));
    page.on('crash', () => this.stderr.write('the page crashed\n'));
    // The engine's own Worker comes first, its threads after it.
    page.once('worker', (worker) => worker.on('close', () => this.end(page, 0)));
    await page.exposeFunction('receiveLine', (line: string) => this.stdout.write(`${line}\n`));
    await page.goto(pageAddress);
    await page.evaluate(`
      globalThis.engine = new Worker('/sardonyx.js', { type: 'module' });
      engine.onmessage = ({ data }) => receiveLine(data);
      engine.onerror = ({ message }) => console.error(message);
    `);
    return page;
  }

  private async post(lines: string): Promise<void> {
    await (await this.page).evaluate(`engine.postMessage(${JSON.stringify(lines)})`);
  }

  private async expectEnd(): Promise<void> {
    const page = await this.page;
    this.quitTimer = setTimeout(() => this.end(page, null), QUIT_TIMEOUT_MS);
  }

  private reportTrouble(message: ConsoleMessage): void {
    if (!OF_BROWSER.test(message.text())) this.stderr.write(`${message.text()}\n`);
  }

  /** @param status null when the Worker had to be killed */
  private end(page: Page, status: number | null): void {
    clearTimeout(this.quitTimer);
    void page.close().finally(() => this.emit('close', status));
  }
}

/** A flag of the command line as a line for the Worker. */
function translateFlag(flag: string): string {
  const [, name = '', value = ''] = /^--([\w-]+)=(.*)$/.exec(flag) ?? [];
  const option = listOptionSpecs().find((spec) => spec.flag === name);
  if (option === undefined) throw new Error(`A page has no ${flag}: mark the test with needsProcess`);
  const isModel = name === 'weights' && value.includes('/models/');
  return `setoption name ${option.uci} value ${isModel ? value.replace(/^.*\/models\//, '/models/') : value}`;
}
