/**
 * A real Chromium for tests: the one that SARDONYX_BROWSER names, else one of the PATH, else the one of the npm package
 * @sparticuz/chromium. Its default flags switch web security off, so that only flags of our own are used.
 */
import { accessSync, chmodSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Browser, type BrowserServer, chromium, firefox, type LaunchOptions } from 'playwright-core';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
/** No sandbox: tests may run as root. A language: some builds take an invalid one from the environment (C.UTF-8). */
const FLAGS = ['--no-sandbox', '--accept-lang=en-US', '--disable-dev-shm-usage', '--hide-scrollbars'];

function findOnPath(names: readonly string[]): string | null {
  for (const folder of (process.env.PATH ?? '').split(delimiter)) {
    for (const name of names) {
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

type Unavailable = { readonly reason: string };

/**
 * The browser, or why there is none.
 * @param headless false: with windows, on the X server that DISPLAY names
 * @param flags further flags
 * @param without flags of Playwright to leave out
 */
export function launchBrowser(
  headless = true,
  flags: readonly string[] = [],
  without: readonly string[] = [],
): Promise<{ readonly browser: Browser } | Unavailable> {
  return tryToLaunch(async (options) => {
    const args = [...FLAGS, ...flags];
    return { browser: await chromium.launch({ ...options, args, headless, ignoreDefaultArgs: [...without] }) };
  });
}

/** A browser that other processes connect to. */
export function launchBrowserServer(): Promise<{ readonly server: BrowserServer } | Unavailable> {
  return tryToLaunch(async (options) => ({ server: await chromium.launchServer(options) }));
}

/** A Firefox as it is released (Debian's firefox-esr, say): the one that SARDONYX_FIREFOX names, else one of the PATH. */
export async function launchFirefox(): Promise<{ readonly browser: Browser } | Unavailable> {
  const program = process.env.SARDONYX_FIREFOX ?? findOnPath(['firefox', 'firefox-esr']);
  if (program === null) return { reason: 'no Firefox is installed' };
  const executablePath = fileURLToPath(new URL('./firefox-shim.js', import.meta.url));
  chmodSync(executablePath, 0o755);
  try {
    const env = { ...process.env, SARDONYX_FIREFOX: program };
    return { browser: await firefox.launch({ executablePath, channel: 'moz-firefox', env }) };
  } catch (error) {
    return { reason: `no Firefox can be started: ${(error as Error).message.split('\n')[0]}` };
  }
}

async function tryToLaunch<Launched>(
  launch: (options: LaunchOptions) => Promise<Launched>,
): Promise<Launched | Unavailable> {
  try {
    const named = process.env.SARDONYX_BROWSER ?? findOnPath(NAMES);
    const executablePath = named ?? (await (await import('@sparticuz/chromium')).default.executablePath());
    return await launch({ executablePath, args: FLAGS });
  } catch (error) {
    const [sentence] = (error as Error).message.split('\n');
    return { reason: `no Chromium can be started: ${sentence}` };
  }
}
