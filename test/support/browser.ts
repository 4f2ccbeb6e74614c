/**
 * A real Chromium for tests: the one that SARDONYX_BROWSER names, else the one of the npm package @sparticuz/chromium, else one of the
 * PATH. The package's has no windows and takes two thirds of the processor time of a whole Chromium. Its default flags switch web
 * security off, so that only flags of our own are used.
 */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  accessSync,
  constants,
  existsSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { type Browser, type BrowserServer, chromium, type LaunchOptions } from 'playwright-core';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
/**
 * No sandbox: tests may run as root. A language: some builds take an invalid one from the environment (C.UTF-8). No watchdog: on a
 * busy machine drawing may take longer than it waits.
 */
const FLAGS = [
  '--no-sandbox',
  '--accept-lang=en-US',
  '--disable-dev-shm-usage',
  '--disable-gpu-watchdog',
  '--hide-scrollbars',
];
/** Whatever a page is waited for: a busy machine takes long. */
const LONGEST_MS = 240_000;
/** What a new profile of Firefox would do first. */
const QUIET_FIREFOX = {
  'app.normandy.enabled': false,
  'browser.aboutwelcome.enabled': false,
  'browser.shell.checkDefaultBrowser': false,
  'datareporting.policy.dataSubmissionEnabled': false,
  'toolkit.telemetry.enabled': false,
};

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
 * @param flags further flags
 * @param without flags of Playwright to leave out
 */
export function launchBrowser(
  flags: readonly string[] = [],
  without: readonly string[] = [],
): Promise<{ readonly browser: Browser } | Unavailable> {
  return tryToLaunch(async (options) => {
    const args = [...FLAGS, ...flags];
    const browser = await chromium.launch({ ...options, args, ignoreDefaultArgs: [...without] });
    const { newContext } = browser;
    browser.newContext = async (settings) => {
      const context = await newContext.call(browser, settings);
      context.setDefaultTimeout(LONGEST_MS);
      return context;
    };
    return { browser };
  });
}

/** A browser that other processes connect to. */
export function launchBrowserServer(): Promise<{ readonly server: BrowserServer } | Unavailable> {
  return tryToLaunch(async (options) => ({ server: await chromium.launchServer(options) }));
}

/** A Firefox as it is released (Debian's firefox-esr, say): the one that SARDONYX_FIREFOX names, else one of the PATH; null = none. */
export function findFirefox(): string | null {
  return process.env.SARDONYX_FIREFOX ?? findOnPath(['firefox', 'firefox-esr']);
}

/**
 * Opens an address in a Firefox of its own, which nothing drives: where a driver watches its Workers, a Worker that starts two
 * others sometimes waits for ever (Firefox 153). The page must act and report by itself.
 * @param settings of its profile, as about:config names them
 * @returns a function that ends it, and a promise of its end
 */
export function openInFirefox(
  program: string,
  url: string,
  settings: Readonly<Record<string, number>> = {},
): { readonly ended: Promise<unknown>; close(): Promise<void> } {
  const profile = mkdtempSync(join(tmpdir(), 'sardonyx-firefox-'));
  const lines = Object.entries({ ...QUIET_FIREFOX, ...settings }).map(
    ([name, value]) => `user_pref("${name}", ${value});\n`,
  );
  writeFileSync(join(profile, 'user.js'), lines.join(''));
  const child = spawn(program, ['--headless', '--no-remote', '--profile', profile, url], { stdio: 'ignore' });
  const ended = once(child, 'exit');
  return {
    ended,
    close: async () => {
      child.kill();
      await ended;
      rmSync(profile, { recursive: true, force: true, maxRetries: 10 });
    },
  };
}

async function tryToLaunch<Launched>(
  launch: (options: LaunchOptions) => Promise<Launched>,
): Promise<Launched | Unavailable> {
  const named = process.env.SARDONYX_BROWSER;
  const places = named === undefined ? [unpackBrowser, () => findOnPath(NAMES)] : [() => named];
  let reason = 'there is none';
  for (const find of places) {
    try {
      const executablePath = await find();
      if (executablePath !== null) return await launch({ executablePath, args: FLAGS });
    } catch (error) {
      [reason] = (error as Error).message.split('\n');
    }
  }
  return { reason: `no Chromium can be started: ${reason}` };
}

/** The package writes its files where others may already be reading them, so each process unpacks into a folder of its own first. */
function unpackBrowser(): string {
  const found = import.meta.resolve('@sparticuz/chromium');
  const { version } = JSON.parse(readFileSync(new URL('../../package.json', found), 'utf8')) as { version: string };
  const folder = join(tmpdir(), `sardonyx-chromium-${version}`);
  const program = join(folder, 'chromium');
  if (existsSync(program)) return program;
  const own = mkdtempSync(`${folder}-`);
  const unpack = `await (await import('${found}')).default.executablePath()`;
  const env = { ...process.env, TMPDIR: own };
  execFileSync(process.execPath, ['--input-type=module', '--eval', unpack], { env });
  try {
    renameSync(own, folder);
  } catch {
    rmSync(own, { recursive: true }); // another process was faster
  }
  return program;
}
