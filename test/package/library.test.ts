/** The typed engine in Node, and its examples. */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { type ChessEngine, createEngine, createEnginePool } from '#sardonyx/index.js';
import { engineCases } from '../engine/library/engine-cases.js';
import { encodeNetworkFile } from '../support/lc0-network-file.js';
import { createRandomNetwork } from '../support/lc0-random-network.js';
import { repositoryRoot } from '../support/shared-folder.js';

const TINY = join(repositoryRoot, 'models', 'tiny-test.onnx');

const folder = mkdtempSync(join(tmpdir(), 'sardonyx-library-'));
const LC0 = join(folder, 'random.pb.gz');

let engine: ChessEngine;
before(async () => {
  writeFileSync(LC0, encodeNetworkFile(createRandomNetwork({ blocks: 1 })));
  engine = await createEngine({ weights: TINY, threads: 1 });
});
after(async () => {
  await engine.dispose();
  rmSync(folder, { recursive: true });
});

for (const { name, run } of engineCases) {
  test(name, { timeout: 900_000 }, () =>
    run({
      engine,
      createEngine,
      createEnginePool,
      missingNetwork: '/nowhere/net.onnx',
      onnxNetwork: pathToFileURL(TINY),
      lc0Network: pathToFileURL(LC0),
      readFile,
    }),
  );
}

for (const [name, args, expected] of [
  ['play.mjs', ['2', '20'], /^Network: .*\n(?:[a-h][1-8][a-h][1-8] .*\n){2}$/],
  ['analyse.mjs', [], /^\d+ nodes: .*\nbest [a-h][1-8][a-h][1-8][qrbn]?, expecting .*\n$/s],
] as const) {
  test(`the example ${name} runs, with nothing on stderr`, () => {
    const script = join(repositoryRoot, 'docs', 'examples', name);
    const output = execFileSync(process.execPath, [script, ...args], { encoding: 'utf8', stdio: 'pipe' });
    assert.match(output, expected);
  });
}

/** Runs a program in a process of its own. The moment differs from run to run, by the number of infos before it. */
function runProgram(moment: number, end: string): { readonly status: number | null; readonly stderr: string } {
  const program = `
    import { createEngine } from ${JSON.stringify(pathToFileURL(join(repositoryRoot, 'dist', 'index.js')))};
    const engine = await createEngine({ threads: 2 });
    let infos = 0;
    const ends = () => { ${end} };
    if (${moment} === 0) setImmediate(ends);
    for await (const _ of engine.go()) if (++infos === ${moment}) ends();`;
  const { status, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', program], { encoding: 'utf8' });
  return { status, stderr };
}

test('process.exit in the middle of a search ends the process with its status, and without a word', () => {
  for (const moment of [0, 1, 2, 5]) {
    assert.deepEqual(runProgram(moment, 'process.exit(3)'), { status: 3, stderr: '' });
  }
});

test('a call of onnxruntime that never returns does not keep the process from ending', () => {
  const module = new URL('../../../dist/platform/node/node-onnx-runtime.js', import.meta.url).href;
  const call = `const { callNative, prepareRuntime } = await import('${module}');
    prepareRuntime(false);
    void callNative(() => new Promise(() => undefined));`;
  const other = `import { Worker } from 'node:worker_threads';
    ${call}
    const thread = \`${call}
      (await import('node:worker_threads')).parentPort.postMessage('called');\`;
    const worker = new Worker(new URL(\`data:text/javascript,\${encodeURIComponent(thread)}\`));
    await new Promise((resolve) => worker.once('message', resolve));`;
  // A call of the thread that ends the process has not begun, or is over: there is nothing to wait for.
  for (const [program, end] of [
    [call, [3, null, '']],
    [other, [null, 'SIGKILL', '']],
  ] as const) {
    const args = ['--input-type=module', '-e', `${program}\nprocess.exit(3);`];
    const { status, signal, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
    assert.deepEqual([status, signal, stderr], end);
  }
});

test('an exception in the middle of a search ends the process with status 1', () => {
  for (const moment of [0, 2]) {
    const { status, stderr } = runProgram(moment, 'setImmediate(() => { throw new Error("on purpose"); })');
    assert.equal(status, 1);
    assert.match(stderr, /on purpose/);
    assert.doesNotMatch(stderr, /Napi|terminate/);
  }
});

test('a thread that is terminated in the middle of a search ends its engine and nothing else', () => {
  const thread = `
    import { parentPort } from 'node:worker_threads';
    import { createEngine } from ${JSON.stringify(pathToFileURL(join(repositoryRoot, 'dist', 'index.js')))};
    const engine = await createEngine({ threads: 2 });
    const { move, moves } = await engine.go({ nodes: 30 }).bestMove;
    if (move === null || moves.length !== 20) throw new Error('no answer');
    for await (const _ of engine.go()) parentPort.postMessage('info');`;
  writeFileSync(join(folder, 'thread.mjs'), thread);
  const program = `
    import { Worker } from 'node:worker_threads';
    for (let moment = 1; moment <= 2; moment++) {
      const worker = new Worker(${JSON.stringify(join(folder, 'thread.mjs'))});
      for (let infos = 0; infos < moment; infos++) await new Promise((resolve) => worker.once('message', resolve));
      await worker.terminate();
    }
    console.log('alive');`;
  writeFileSync(join(folder, 'program.mjs'), program);
  const run = spawnSync(process.execPath, [join(folder, 'program.mjs')], { encoding: 'utf8' });
  const { status, stdout, stderr } = run;
  assert.deepEqual({ status, stdout, stderr }, { status: 0, stdout: 'alive\n', stderr: '' });
});
