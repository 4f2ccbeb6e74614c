// The step `prove` of gpu.sh; it runs beside the unpacked program. usage: node prove.mjs OUT BACKEND SIZE SECONDS
// Does the provider load, does it agree with the CPU, does the search evaluate as fast as the device can, what do starts and stops
// cost, and what happens when the device is lost? What matters most comes first, and every result is on disk before the next begins:
// what is left when the time is up says so.
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const [out, backend, size, seconds] = process.argv.slice(2);
const program = import.meta.dirname;
const main = join(program, 'dist', 'cli', 'main.js');
const { createEngine } = await import(join(program, 'dist', 'index.js'));
const endsMs = Date.now() + 1000 * Number(seconds);
const plan =
  size === 'tiny'
    ? {
        networks: ['96x8', '8x1'],
        batches: [4, 8],
        rawSeconds: 0.2,
        searchMs: 300,
        starts: 2,
        stops: 2,
        loseAfter: 3,
        loseNodes: 100,
      }
    : {
        networks: ['96x8', '96x12', '128x10', '256x20'],
        batches: [32, 64, 128, 256, 512],
        rawSeconds: 1,
        searchMs: 2000,
        starts: 10,
        stops: 10,
        loseAfter: 30,
        loseNodes: 20_000,
      };
const BUNDLED = { '96x8': 'default.onnx', '96x12': 'default-large.onnx' };
const POSITIONS = [
  'rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1',
  'r1bqkbnr/pppp1ppp/2n5/4p3/2B1P3/5N2/PPPP1PPP/RNBQK2R b KQkq - 3 3',
  'r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1',
  '8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1',
  'r4rk1/1pp1qppp/p1np1n2/2b1p1B1/2B1P1b1/P1NP1N2/1PP1QPPP/R4RK1 b - - 4 11',
  '2r2rk1/1bqnbppp/1p1ppn2/p7/P1PNP3/1PN1BP2/1B2Q1PP/2R2RK1 w - - 2 16',
  '8/8/1p1k4/p1p2p1p/P1P2P1P/1P1K4/8/8 w - - 12 44',
  '3r1rk1/pp3ppp/2n1b3/q1p1p3/2P1P3/P1P1BP2/2Q1B1PP/R2R2K1 w - - 1 18',
];
const WATCHED = `--import=${join(program, 'watch.mjs')}`;
const half = backend === 'cpu' ? 'f32' : 'f16';

const results = {};
/** Runs one check and keeps what it returns, or the sentence with which it failed. */
async function check(name, run) {
  if (Date.now() > endsMs) results[name] = 'no time was left';
  else {
    const begunMs = Date.now();
    try {
      results[name] = await run();
    } catch (error) {
      results[name] = { failed: String(error.message ?? error).slice(0, 2000) };
    }
    console.log(`${name}, ${((Date.now() - begunMs) / 1000).toFixed(1)} s: ${JSON.stringify(results[name])}`);
  }
  writeFileSync(join(out, 'prove.json'), `${JSON.stringify(results, null, 1)}\n`);
  return results[name];
}

function sardonyx(args, environment = {}) {
  const left = Math.max(10_000, endsMs - Date.now());
  const options = { encoding: 'utf8', maxBuffer: 1 << 26, timeout: left, env: { ...process.env, ...environment } };
  const { status, stdout, stderr } = spawnSync(process.execPath, [main, ...args, '--json'], options);
  if (status !== 0) throw new Error(`sardonyx ${args[0]} ended with status ${status}: ${stderr}`);
  return { answer: JSON.parse(stdout.trim().split('\n').at(-1)), notes: stderr.trim() };
}

/** One engine process that talks UCI. */
class Engine {
  constructor(network, options = {}) {
    this.beganMs = performance.now();
    this.lines = [];
    const flags = [`--weights=${network}`, `--backend=${backend}`, '--smart-pruning-factor=0'];
    this.process = spawn(process.execPath, [main, ...flags], {
      env: { ...process.env, ...options },
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    createInterface({ input: this.process.stdout }).on('line', (line) => {
      this.lines.push(line);
      this.resolve?.();
    });
  }

  /** @returns the first line from the `from`th on that fits */
  async line(pattern, from = 0) {
    for (;;) {
      const found = this.lines.slice(from).find((line) => pattern.test(line));
      if (found !== undefined) return found;
      if (Date.now() > endsMs + 20_000) throw new Error(`no ${pattern} came: ${this.lines.slice(-3).join('; ')}`);
      await Promise.race([
        new Promise((resolve) => (this.resolve = resolve)),
        new Promise((resolve) => setTimeout(resolve, 1000)),
      ]);
    }
  }

  send(...lines) {
    this.process.stdin.write(`${lines.join('\n')}\n`);
  }

  async ready() {
    this.send('uci', 'isready');
    await this.line(/^readyok/);
    return performance.now() - this.beganMs;
  }

  async quit() {
    this.send('quit');
    await new Promise((resolve) => this.process.once('exit', resolve));
  }
}

function readMemoryMb() {
  try {
    const flags = ['--query-gpu=memory.used', '--format=csv,noheader,nounits'];
    return Number(execFileSync('nvidia-smi', flags, { encoding: 'utf8' }).split('\n')[0]);
  } catch {
    return null;
  }
}

async function evaluate(network, on) {
  const notes = [];
  const options = { Backend: on, BackendOptions: on === 'cpu' ? '' : `datatype=${half}` };
  const engine = await createEngine({
    weights: network,
    threads: 1,
    options,
    onWarning: (sentence) => notes.push(sentence),
  });
  const evaluations = [];
  for (const fen of POSITIONS) {
    engine.position({ fen });
    evaluations.push(await engine.evaluate());
  }
  await engine.dispose();
  if (notes.length > 0) throw new Error(notes.join(' '));
  return evaluations;
}

/** Largest differences to the CPU: 1e-2 in half precision is the bar. */
async function compare(network) {
  const there = await evaluate(network, backend);
  const here = await evaluate(network, 'cpu');
  const worst = { prior: 0, value: 0, sameTopMoves: 0 };
  here.forEach(({ policy, value }, index) => {
    const priors = new Map(there[index].policy.map(({ move, prior }) => [move, prior]));
    for (const { move, prior } of policy)
      worst.prior = Math.max(worst.prior, Math.abs(prior - (priors.get(move) ?? 0)));
    worst.value = Math.max(worst.value, Math.abs(value - there[index].value));
    if (policy[0].move === there[index].policy[0].move) worst.sameTopMoves++;
  });
  return { ...worst, of: POSITIONS.length, isWithinBar: worst.prior <= 1e-2 && worst.value <= 1e-2 };
}

function measureRaw(network) {
  const range = [`--start-batch-size=${plan.batches[0]}`, `--max-batch-size=${plan.batches.at(-1)}`, '--batch-step=0'];
  const { answer, notes } = sardonyx([
    'backendbench',
    ...range,
    `--seconds=${plan.rawSeconds}`,
    ...flags(network, plan.batches.at(-1)),
  ]);
  const running = answer[0].backend;
  if (running !== backend) throw new Error(`it ran on ${running}, not on ${backend}: ${notes}`);
  return Object.fromEntries(answer.map((row) => [row.batch, row.evaluationsPerSecond]));
}

function flags(network, batch) {
  return [
    `--weights=${network}`,
    `--backend=${backend}`,
    `--backend-opts=datatype=${half}`,
    `--minibatch-size=${batch}`,
  ];
}

function measureSearch(network, name, batch) {
  const folder = join(program, 'watched', `${name}-${batch}`);
  mkdirSync(folder, { recursive: true });
  const limits = [`--movetime=${plan.searchMs}`, '--num-positions=2'];
  const { answer, notes } = sardonyx(['bench', ...flags(network, batch), ...limits], {
    NODE_OPTIONS: WATCHED,
    WATCH_FOLDER: folder,
  });
  const { nps, evaluationsPerSecond } = answer;
  return {
    nodesPerSecond: Math.round(nps),
    evaluationsPerSecond: Math.round(evaluationsPerSecond),
    profile: describeProfile(folder),
    notes,
  };
}

/** Of each thread in the last search: calls by batch size, and the shares of its time inside calls and waiting; the rest is its own work. */
function describeProfile(folder) {
  const threads = readdirSync(folder).map((file) => {
    const rows = readFileSync(join(folder, file), 'utf8').trim().split('\n');
    return { thread: file.replace('.csv', ''), rows: rows.map((row) => row.split(',').map(Number)) };
  });
  const endMs = Math.max(...threads.flatMap(({ rows }) => rows.filter(([, , batch]) => batch > 0).map(([, to]) => to)));
  const beginMs = endMs - plan.searchMs;
  const share = (numbers) => Number((numbers.reduce((total, number) => total + number, 0) / plan.searchMs).toFixed(3));
  return threads.map(({ thread, rows }) => {
    const inside = rows.filter(([from, to]) => from >= beginMs && to <= endMs);
    const bySize = Object.groupBy(inside, ([, , batch]) => batch);
    const sizes = Object.entries(bySize).filter(([batch]) => batch !== '0');
    const ms = ([from, to]) => to - from;
    return {
      thread,
      calls: Object.fromEntries(
        sizes.map(([batch, calls]) => [batch, { calls: calls.length, medianMs: median(calls.map(ms)) }]),
      ),
      inCalls: share(sizes.flatMap(([, calls]) => calls.map(ms))),
      waiting: share(inside.map(([, , , waitedMs]) => waitedMs)),
    };
  });
}

function median(numbers) {
  return Number(numbers.toSorted((a, b) => a - b)[numbers.length >> 1].toFixed(2));
}

async function measureStarts(network) {
  const ms = [];
  for (let start = 0; start < plan.starts && Date.now() < endsMs; start++) {
    const engine = new Engine(network);
    ms.push(Math.round(await engine.ready()));
    await engine.quit();
  }
  return ms;
}

async function measureStops(network) {
  const engine = new Engine(network);
  await engine.ready();
  const ms = [];
  for (let stop = 0; stop < plan.stops; stop++) {
    const from = engine.lines.length;
    engine.send('position startpos', 'go infinite');
    await engine.line(/ nodes [1-9]\d\d/, from);
    const beganMs = performance.now();
    engine.send('stop');
    await engine.line(/^bestmove/, from);
    ms.push(Number((performance.now() - beganMs).toFixed(1)));
  }
  const memoryMb = readMemoryMb();
  await engine.quit();
  return { ms, memoryMb };
}

/** The device fails in the middle of a search, or is not there at the start: one sentence each, and the CPU plays on. */
async function loseDevice(network) {
  const answers = {};
  const ways = {
    inSearch: { NODE_OPTIONS: WATCHED, LOSE_AFTER: String(plan.loseAfter) },
    atStart: { CUDA_VISIBLE_DEVICES: '-1' },
  };
  for (const [way, environment] of Object.entries(ways)) {
    const engine = new Engine(network, environment);
    await engine.ready();
    engine.send('position startpos', `go nodes ${plan.loseNodes}`);
    const move = await engine.line(/^bestmove/);
    answers[way] = {
      move,
      said: engine.lines.filter((line) => line.startsWith('info string') && /failed|cpu/i.test(line)),
    };
    await engine.quit();
  }
  return answers;
}

/** A bundled network, or one of random weights that is made now. */
function findNetwork(name) {
  if (BUNDLED[name] !== undefined) return join(program, 'models', BUNDLED[name]);
  execFileSync(process.execPath, [join(program, 'scripts', 'lab', 'models', 'make-random.mjs'), program, name]);
  return join(program, `${name}.pb.gz`);
}

const idleMb = readMemoryMb();
const [firstNetwork] = plan.networks;
await check('provider', () => sardonyx(['doctor', `--providers=${backend}`]).answer);
const rows = [];
for (const name of plan.networks) {
  const network = findNetwork(name);
  const parity = await check(`${name} against the CPU`, () => compare(network));
  const raw = await check(`${name} raw evaluations/s`, () => measureRaw(network));
  for (const batch of plan.batches.slice(-2).toReversed()) {
    const search = await check(`${name} search, minibatch ${batch}`, () => measureSearch(network, name, batch));
    const ratio = search.evaluationsPerSecond / raw[batch];
    rows.push([
      name,
      batch,
      raw[batch],
      search.nodesPerSecond,
      search.evaluationsPerSecond,
      ratio.toFixed(2),
      parity.prior?.toExponential(1),
    ]);
  }
  if (name !== firstNetwork) continue;
  await check('lost device', () => loseDevice(network));
  await check('stop to bestmove, ms', () => measureStops(network));
  await check('starts to readyok, ms', () => measureStarts(network));
}
const head = [
  'network',
  'minibatch',
  'raw evaluations/s',
  'nodes/s',
  'search evaluations/s',
  'ratio (bar 0.90)',
  'prior off by',
];
const table = [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
writeFileSync(join(out, 'prove.md'), `${table}\n\nMB of the device's memory before: ${idleMb}\n`);
console.log(table);
