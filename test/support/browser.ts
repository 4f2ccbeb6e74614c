/**
 * A real Chromium for tests: the one that SARDONYX_BROWSER names, else one of the PATH, else the one of the npm package
 * @sparticuz/chromium. Its default flags switch web security off, so that only flags of our own are used.
 */
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { type Browser, chromium } from 'playwright-core';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
/** No sandbox: tests may run as root. */
const FLAGS = ['--no-sandbox', '--disable-dev-shm-usage', '--hide-scrollbars'];

function findOnPath(): string | null {
  for (const folder of (process.env.PATH ?? '').split(delimiter)) {
    for (const name of NAMES) {
      try {
        accessSync(join(folder, name), constants.X_OK);
        return join(folder, name);
      } catch {
        // Not there; the next one.
      }
    }
  }
  return null;
}

/** The browser, or why there is none. */
export async function launchBrowser(): Promise<{ readonly browser: Browser } | { readonly reason: string }> {
  try {
    const named = process.env.SARDONYX_BROWSER ?? findOnPath();
    const executablePath = named ?? (await (await import('@sparticuz/chromium')).default.executablePath());
    return { browser: await chromium.launch({ executablePath, args: FLAGS }) };
  } catch (error) {
    const [sentence] = (error as Error).message.split('\n');
    return { reason: `no Chromium can be started: ${sentence}` };
  }
}
