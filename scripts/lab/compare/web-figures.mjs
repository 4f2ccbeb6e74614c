#!/usr/bin/env node
// The figures of docs/dev/web-log.md: the engine in a page (Chromium) against the engine in Node, and against ONNX Runtime alone. The sides
// of a ratio take turns, so that a busy machine slows both.
// usage: node scripts/lab/compare/web-figures.mjs visits|speed|light|hash|maia|webgpu|load [lc0 network, for maia]   (after npm run build)
import { openAsBlob, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { countVisits, createSpeedMeter, listEvaluations } from './web-measures.mjs';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const importBuilt = (path) => import(join(root, path));
const { launchBrowser } = await importBuilt('build/test/support/browser.js');
const { startWebServer } = await importBuilt('build/test/support/web-server.js');
const { BENCH_POSITIONS } = await importBuilt('dist/cli/commands/bench.js');
const { createEngine } = await importBuilt('dist/index.js');

const MATES = readFileSync(join(root, 'uci-tests/mates-in-2.epd'), 'utf8').split('\n');
const POSITIONS = [...BENCH_POSITIONS, ...MATES.map((line) => `${line.split(' ').slice(0, 4).join(' ')} 0 1`)].slice(
  0,
  30,
);

const [what, lc0] = process.argv.slice(2);
const ROUNDS = 5;
const ROUND_MS = 2000;
/** A GPU in software that Chromium brings along. */
const SWIFTSHADER = ['--enable-unsafe-webgpu', '--use-webgpu-adapter=swiftshader', '--enable-features=Vulkan'];

const server = await startWebServer(
  {
    '': join(root, 'dist/web'),
    models: join(root, 'models'),
    compare: join(root, 'scripts/lab/compare'),
    runtime: join(root, 'node_modules/onnxruntime-web/dist'),
  },
  true,
);
const { browser, reason } = await launchBrowser(what === 'webgpu' ? SWIFTSHADER : []);
if (browser === undefined) throw new Error(reason);
const context = await browser.newContext();
const page = await context.newPage();
await page.goto(server.origin);
await page.evaluate(`
  globalThis.ready = Promise.all([import('/compare/web-measures.mjs'), import('/index.js')])
    .then(([measures, web]) => { globalThis.measures = measures; globalThis.createEngine = web.createEngine; })
`);
/** Code of the page; `question` is a variable of it. */
const inPage = (code, question) =>
  page.evaluate(`ready.then(async () => { const question = ${JSON.stringify(question)}; ${code} })`);

const median = (numbers) => [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)];
const describe = (numbers) =>
  `${Math.round(median(numbers))} (${Math.round(Math.min(...numbers))} to ${Math.round(Math.max(...numbers))})`;

/** Measures two things in turn. */
async function compare(name, first, second) {
  const [a, b] = [[], []];
  for (let round = 0; round < ROUNDS; round++) {
    a.push(await first());
    b.push(await second());
  }
  const ratios = a.map((rate, index) => rate / b[index]);
  console.log(
    `${name}: ${describe(a)} to ${describe(b)} a second; ratio, median of ${ROUNDS} turns: ${median(ratios).toFixed(2)}`,
  );
}

/** One leaf at a time, in both places. */
async function compareVisits(network) {
  const question = { fens: POSITIONS, nodes: 400 };
  const [inNode, there] = await Promise.all([
    countVisits(createEngine, { ...question, weights: join(root, 'models', network) }),
    inPage('return measures.countVisits(createEngine, question)', { ...question, weights: `/models/${network}` }),
  ]);
  const distances = inNode.map(({ visits }, index) => {
    const other = there[index].visits;
    const sum = (counts) => Object.values(counts).reduce((total, count) => total + count, 0);
    const moves = new Set([...Object.keys(visits), ...Object.keys(other)]);
    const share = (counts, move) => (counts[move] ?? 0) / sum(counts);
    return [...moves].reduce((total, move) => total + Math.abs(share(visits, move) - share(other, move)), 0) / 2;
  });
  const same = inNode.filter(({ best }, index) => best === there[index].best).length;
  const mean = distances.reduce((sum, distance) => sum + distance, 0) / distances.length;
  console.log(
    `${network}: ${same} of ${inNode.length} best moves equal, total variation distance of visits ${mean.toFixed(4)} on average, ${Math.max(...distances).toFixed(4)} at most`,
  );
}

const figures = {
  visits: async () => {
    for (const network of ['default.onnx', 'light.onnx']) await compareVisits(network);
  },
  /** The search for short mates is a thread of its own, which competes with the evaluators: measured with it and without. */
  speed: async () => {
    const question = { fens: BENCH_POSITIONS.slice(0, 3), ms: ROUND_MS };
    for (const weights of ['/models/default.onnx', '/models/light.onnx']) {
      for (const workers of [1, 2]) {
        await inPage('globalThis.raw = await measures.createRawMeter(question)', { weights, batch: 8, workers });
        for (const MateSearch of [true, false]) {
          const settings = { weights, threads: workers, options: { MinibatchSize: 8, MateSearch } };
          await inPage('globalThis.speed = await measures.createSpeedMeter(createEngine, question)', settings);
          // As for ONNX Runtime: what was compiled just now is slower.
          await inPage('await speed.measure(question.fens, question.ms)', question);
          await compare(
            `${weights}, search to ONNX Runtime alone, ${workers} workers, MateSearch ${MateSearch ? 'on' : 'off'}`,
            () => inPage('return speed.measure(question.fens, question.ms)', question),
            () => inPage('return raw.measure(question)', ROUND_MS),
          );
          await inPage('await speed.dispose()');
        }
        await inPage('raw.dispose()');
      }
    }
  },
  light: async () => {
    for (const [name, weights] of Object.entries({ light: '/models/light.onnx', bundled: '/models/default.onnx' })) {
      const settings = { weights, threads: 1 };
      await inPage(`globalThis.${name} = await measures.createSpeedMeter(createEngine, question)`, settings);
    }
    const question = { fens: BENCH_POSITIONS.slice(0, 3), ms: ROUND_MS };
    await compare(
      'light network to 96x8, one evaluator, nodes',
      () => inPage('return light.measure(question.fens, question.ms)', question),
      () => inPage('return bundled.measure(question.fens, question.ms)', question),
    );
  },
  hash: async () => {
    const settings = { threads: 1, options: { Backend: 'hash' } };
    const speed = await createSpeedMeter(createEngine, settings);
    await inPage('globalThis.speed = await measures.createSpeedMeter(createEngine, question)', settings);
    const fens = BENCH_POSITIONS.slice(0, 2);
    await compare(
      'hash evaluator, page to Node',
      () => inPage('return speed.measure(question.fens, question.ms)', { fens, ms: ROUND_MS }),
      () => speed.measure(fens, ROUND_MS),
    );
  },
  maia: async () => {
    const fens = POSITIONS;
    const inNode = await listEvaluations(createEngine, { weights: lc0, fens });
    const bytes = Buffer.from(await (await openAsBlob(lc0)).arrayBuffer()).toString('base64');
    const there = await inPage(
      `const bytes = Uint8Array.from(atob(question.bytes), (letter) => letter.charCodeAt(0));
       const weights = new File([bytes], 'maia.pb.gz');
       return measures.listEvaluations(createEngine, { weights, fens: question.fens })`,
      { bytes, fens },
    );
    report(inNode, there, 100, 'percentage points');
  },
  webgpu: async () => {
    const fens = POSITIONS.slice(0, 5);
    const evaluate = (backend) =>
      inPage('return measures.listEvaluations(createEngine, question)', {
        weights: '/models/tiny-test.onnx',
        fens,
        options: { Backend: backend },
      });
    report(await evaluate('wasm'), await evaluate('webgpu'), 1, 'of 1');
  },
  load: async () => {
    for (const visit of ['first', 'second']) {
      const started = performance.now();
      const tab = visit === 'first' ? page : await context.newPage();
      await tab.goto(server.origin);
      const milliseconds = await tab.evaluate(`new Promise((resolve) => {
        const startedAt = performance.now();
        const engine = new Worker('/sardonyx.js', { type: 'module' });
        engine.onmessage = ({ data }) => data === 'readyok' && resolve(performance.now() - startedAt);
        engine.postMessage('uci\\nisready');
      })`);
      console.log(
        `${visit} load: readyok after ${Math.round(milliseconds)} ms (${Math.round(performance.now() - started)} with the page)`,
      );
    }
  },
};

/** Prints the largest differences between evaluations. */
function report(inNode, there, scale, unit) {
  let prior = 0;
  let value = 0;
  for (const [index, evaluation] of inNode.entries()) {
    value = Math.max(value, Math.abs(evaluation.value - there[index].value));
    for (const [move, own] of Object.entries(evaluation.priors)) {
      prior = Math.max(prior, Math.abs(own - there[index].priors[move]) * scale);
    }
  }
  console.log(
    `${inNode.length} positions: priors differ by at most ${prior.toPrecision(2)} ${unit}, values by ${value.toPrecision(2)}`,
  );
}

await figures[what]();
await browser.close();
server.close();
process.exit();
