/** Conversations of uci-tests/ with the Worker of a page, in a real browser: the same test file as for the program. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { BrowserServer } from 'playwright-core';
import { launchBrowserServer } from '../support/browser.js';
import { repositoryRoot } from '../support/shared-folder.js';
import { startWebServer, type WebServer } from '../support/web-server.js';

/** What a page does in its own way: threads, stop, questions during a search, the end. Text and search are the program's. */
const FILES = ['interruptions'];

let browser: BrowserServer | null = null;
let reason = '';
let pages: WebServer;

before(async () => {
  const launched = await launchBrowserServer();
  if ('server' in launched) browser = launched.server;
  else reason = launched.reason;
  const folders = { '': join(repositoryRoot, 'dist', 'web'), models: join(repositoryRoot, 'models') };
  pages = await startWebServer(folders, true);
});

after(async () => {
  await browser?.close();
  pages.close();
});

/** @returns the exit status and what the test runner wrote */
function runFile(file: string, endpoint: string): Promise<{ status: number | null; output: string }> {
  const { NODE_TEST_CONTEXT: _, ...environment } = process.env;
  const path = join(repositoryRoot, 'build', 'uci-tests', `${file}.test.js`);
  const child = spawn(process.execPath, ['--test', '--test-reporter=tap', path], {
    env: { ...environment, SARDONYX_UCI_PAGE: `${endpoint} ${pages.origin}` },
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      output += chunk.toString();
    });
  }
  return new Promise((resolve) => child.on('close', (status) => resolve({ status, output })));
}

for (const file of FILES) {
  test(`the Worker of a page passes ${file}.test.ts`, async (t) => {
    if (browser === null) return t.skip(reason);
    const { status, output } = await runFile(file, browser.wsEndpoint());
    const count = (what: string): number => Number(new RegExp(`^# ${what} (\\d+)`, 'm').exec(output)?.[1]);
    t.diagnostic(`${count('pass')} conversations, ${count('skipped')} only for the program`);
    assert.equal(status, 0, output);
    assert.ok(count('pass') > 0, output);
  });
}
