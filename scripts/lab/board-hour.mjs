#!/usr/bin/env node
import { BoardProcess } from '../../build/test/support/board-process.js';
// Sends a page of `sardonyx board` as many updates as an hour of analysis does, and tells what they cost: DOM nodes, memory after
// a collection, and script time, minute by minute; at the end the trend of each over the hour, with its error (two standard
// errors): minutes differ with what else the processor does, and only a leak has a trend. The messages are the server's own, recorded for a minute of analysis; the page
// gets them again and again, with nodes and times going on, one for each frame that it has painted.
// usage: npm run build && node scripts/lab/board-hour.mjs [--weights=… and other flags of `sardonyx board`]
import { launchBrowser } from '../../build/test/support/browser.js';

const RECORDED_MS = 60_000;
const MINUTES = 60;
/** The compiler of the browser is not done before. */
const WARM_UP_MINUTES = 3;
/** The server sends no more than five a second. */
const UPDATES_A_MINUTE = 300;
const launched = await launchBrowser();
if ('reason' in launched) throw new Error(launched.reason);
const { browser } = launched;
const board = await BoardProcess.start(['--threads=1', ...process.argv.slice(2)]);
try {
  const page = await (await browser.newContext({ viewport: { width: 1400, height: 900 } })).newPage();
  page.setDefaultTimeout(120_000);
  const recorded = [];
  let client;
  let isReplaying = false;
  await page.routeWebSocket(/\/engine$/, (socket) => {
    client = socket;
    const server = socket.connectToServer();
    server.onMessage((text) => {
      const message = JSON.parse(text);
      if (message.type === 'search') recorded.push(message);
      if (!isReplaying || message.type !== 'search') socket.send(text);
    });
  });
  await page.goto(board.url);
  await page.waitForSelector('.engine-head');
  await page.getByRole('button', { name: 'Lines, limits, arrows, numbers' }).click();
  await page.getByLabel('Number of lines').fill('5');
  await page.getByLabel('Number of lines').blur();
  await page.keyboard.press('n');
  await page.keyboard.press('l');
  await page.getByRole('button', { name: 'Columns' }).click();
  await page.waitForSelector('.move-table tbody tr');
  recorded.length = 0;
  await page.waitForTimeout(RECORDED_MS);
  const minute = [...recorded];
  isReplaying = true;
  // The engine rests: what is measured is the page.
  board.child.kill('SIGSTOP');
  const session = await page.context().newCDPSession(page);
  // CPU time of the page's thread: other work on the machine does not count.
  await session.send('Performance.enable', { timeDomain: 'threadTicks' });
  const measure = async () => {
    await session.send('HeapProfiler.collectGarbage');
    const { metrics } = await session.send('Performance.getMetrics');
    return Object.fromEntries(metrics.map(({ name, value }) => [name, value]));
  };
  console.log(`${minute.length} updates recorded, ${UPDATES_A_MINUTE} sent a minute`);
  console.log('minute  DOM nodes  JS heap MB  script ms  script and layout ms');
  const [{ state: first }, { state: last }] = [minute[0], minute.at(-1)];
  let before = await measure();
  const table = [];
  for (let number = 0; number < MINUTES; number++) {
    for (let sent = 0; sent < UPDATES_A_MINUTE; sent++) {
      const count = number * UPDATES_A_MINUTE + sent;
      const { state, ...message } = minute[count % minute.length];
      const round = Math.floor(count / minute.length);
      const timeMs = state.timeMs + round * (last.timeMs - first.timeMs);
      const next = { ...state, timeMs, nodes: state.nodes + round * (last.nodes - first.nodes) };
      client.send(JSON.stringify({ ...message, state: next }));
      await page.evaluate('new Promise((done) => requestAnimationFrame(() => setTimeout(done)))');
    }
    const after = await measure();
    const spent = (name) => (1000 * (after[name] - before[name])).toFixed(0);
    const row = [
      number + 1,
      after.Nodes,
      (after.JSHeapUsedSize / 1e6).toFixed(2),
      spent('ScriptDuration'),
      spent('TaskDuration'),
    ];
    console.log(row.join('\t'));
    table.push(row.map(Number));
    before = after;
  }
  for (const [column, name] of ['minute', 'DOM nodes', 'JS heap', 'script time', 'script and layout time'].entries()) {
    if (column > 0) console.log(`${name}: ${describeTrend(table.slice(WARM_UP_MINUTES).map((row) => row[column]))}`);
  }
} finally {
  await browser.close();
  board.child.kill('SIGCONT');
  await board.stop();
}

/** The line of least squares through equally distant values: how much it rises from end to end, in percent of the mean. */
function describeTrend(values) {
  const count = values.length;
  const middle = (count - 1) / 2;
  const mean = values.reduce((sum, value) => sum + value, 0) / count;
  const spread = values.reduce((sum, _, index) => sum + (index - middle) ** 2, 0);
  const slope = values.reduce((sum, value, index) => sum + (index - middle) * (value - mean), 0) / spread;
  const rest = values.reduce((sum, value, index) => sum + (value - mean - slope * (index - middle)) ** 2, 0);
  const error = Math.sqrt(rest / (count - 2) / spread);
  const [rise, width] = [slope, 2 * error].map((step) => ((100 * step * (count - 1)) / mean).toFixed(1));
  return `${rise} ± ${width} % from the ${WARM_UP_MINUTES + 1}th minute to the last; mean ${mean.toFixed(2)}`;
}
