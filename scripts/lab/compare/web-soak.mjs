#!/usr/bin/env node
// Runs the engine in a page for a long time: `go movetime 500`, `go infinite` and `stop`, changes of network and threads, the
// tab hidden behind another one and shown again. Prints the memory of the page's process every minute and the slowest answers; no
// answer for a minute is a stall.
// usage: node scripts/lab/compare/web-soak.mjs [minutes] [lc0 network, default none]   (after npm run build)
import { readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const { launchBrowser } = await import(join(root, 'build/test/support/browser.js'));
const { startWebServer } = await import(join(root, 'build/test/support/web-server.js'));

const minutes = Number(process.argv[2] ?? 60);
const lc0 = process.argv[3];
const folders = {
  '': join(root, 'dist/web'),
  models: join(root, 'models'),
  lc0: lc0 === undefined ? root : dirname(lc0),
};
const networks = ['/models/tiny-test.onnx', '<autodiscover>', ...(lc0 === undefined ? [] : [`/lc0/${basename(lc0)}`])];
const STALL_MS = 60_000;

const server = await startWebServer(folders, true);
/** A hidden tab shall be slowed down as it is for users. */
const KEEPS_AWAKE = [
  '--disable-background-timer-throttling',
  '--disable-backgrounding-occluded-windows',
  '--disable-renderer-backgrounding',
];
const { browser, reason } = await launchBrowser([], KEEPS_AWAKE);
if (browser === undefined) throw new Error(reason);
// A page that Playwright made believes that it is always visible, so this one is made without it.
const devTools = await browser.newBrowserCDPSession();
const { targetId } = await devTools.send('Target.createTarget', { url: server.origin });
const { sessionId } = await devTools.send('Target.attachToTarget', { targetId, flatten: false });
const replies = [];
devTools.on('Target.receivedMessageFromTarget', ({ message }) => {
  const { id, result } = JSON.parse(message);
  if (id !== undefined) replies[id](result);
});

/** Rejects with what the page throws. */
async function evaluate(expression) {
  const params = { expression, awaitPromise: true, returnByValue: true };
  const reply = new Promise((resolve) => replies.push(resolve));
  const message = JSON.stringify({ id: replies.length - 1, method: 'Runtime.evaluate', params });
  await devTools.send('Target.sendMessageToTarget', { sessionId, message });
  const answer = await reply;
  if (answer?.exceptionDetails !== undefined) throw new Error(answer.exceptionDetails.exception?.description);
  return answer?.result.value;
}

while ((await evaluate('document.readyState + crossOriginIsolated').catch(() => '')) !== 'completetrue') {
  await new Promise((resolve) => setTimeout(resolve, 100));
}
await evaluate(`
  globalThis.engine = new Worker('/sardonyx.js', { type: 'module' });
  globalThis.waiting = [];
  engine.onmessage = ({ data }) => {
    waiting = waiting.filter(({ start, resolve }) => !data.startsWith(start) || resolve(data));
  };
  globalThis.ask = (lines, start, longestMs) => new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error('no ' + start + ' after ' + lines)), longestMs);
    waiting.push({ start, resolve: (line) => { clearTimeout(timer); resolve(line); } });
    engine.postMessage(lines);
  });
  null
`);
const ask = (lines, start) => evaluate(`ask(${JSON.stringify(lines)}, '${start}', ${STALL_MS})`);

/** Memory of the largest renderer, in MB. */
async function measureMemory() {
  const { processInfo } = await devTools.send('SystemInfo.getProcessInfo');
  const sizes = processInfo.map(({ id }) => {
    const [, kilobytes] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${id}/status`, 'utf8')) ?? [];
    return Number(kilobytes) / 1024;
  });
  return Math.round(Math.max(...processInfo.map(({ type }, index) => (type === 'renderer' ? sizes[index] : 0))));
}

let cover = null;
async function toggleVisibility() {
  if (cover === null) {
    cover = (await devTools.send('Target.createTarget', { url: 'about:blank' })).targetId;
  } else {
    await devTools.send('Target.closeTarget', { targetId: cover });
    cover = null;
  }
  const wanted = cover === null ? 'visible' : 'hidden';
  for (let turn = 0; turn < 50 && (await evaluate('document.visibilityState')) !== wanted; turn++) {
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return evaluate('document.visibilityState');
}

const startedAt = performance.now();
let searches = 0;
let loads = 0;
let slowestStopMs = 0;
let slowestMoveMs = 0;
const states = { visible: 0, hidden: 0 };
await ask(`setoption name WeightsFile value ${networks[0]}\nisready`, 'readyok');
for (let minute = 0; minute < minutes; minute++) {
  const endMs = 60_000 * (minute + 1);
  for (let round = 0; performance.now() - startedAt < endMs; round++) {
    const goAt = performance.now();
    await ask('position startpos moves e2e4 c7c5\ngo movetime 500', 'bestmove');
    slowestMoveMs = Math.max(slowestMoveMs, performance.now() - goAt);
    await evaluate(`engine.postMessage('position startpos moves d2d4\\ngo infinite')`);
    await new Promise((resolve) => setTimeout(resolve, 200));
    const stopAt = performance.now();
    await ask('stop', 'bestmove');
    slowestStopMs = Math.max(slowestStopMs, performance.now() - stopAt);
    searches += 2;
    if (round % 8 === 7) {
      loads++;
      const network = networks[loads % networks.length];
      const lines = [`WeightsFile value ${network}`, `Threads value ${1 + (loads % 2)}`, 'Clear Hash'];
      await ask(`${lines.map((line) => `setoption name ${line}`).join('\n')}\nucinewgame\nisready`, 'readyok');
      states[await toggleVisibility()]++;
    }
  }
  console.log(
    `${minute + 1} min: ${await measureMemory()} MB, ${searches} searches, ${loads} networks loaded, seen ${states.visible} and hidden ${states.hidden} times, slowest answer to movetime 500 ${Math.round(slowestMoveMs)} ms, to stop ${Math.round(slowestStopMs)} ms`,
  );
}
await browser.close();
server.close();
