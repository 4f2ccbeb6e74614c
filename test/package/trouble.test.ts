/** What happens when something goes wrong: the game goes on, the user is told once, and nothing strange is on stdout. */
import assert from 'node:assert/strict';
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { createLogger } from '#platform/log-file.js';
import { playGame, UciProcess } from '../../uci-tests/uci-process.js';
import { type EvaluatorFaults, plantEvaluatorFaults } from '../support/evaluator-faults.js';
import { repositoryRoot } from '../support/shared-folder.js';

const main = join(repositoryRoot, 'dist', 'cli', 'main.js');
const tiny = `--weights=${join(repositoryRoot, 'models', 'tiny-test.onnx')}`;
let scratch = '';
before(() => {
  scratch = mkdtempSync(join(tmpdir(), 'sardonyx-trouble-'));
});
after(() => {
  UciProcess.killAll();
  rmSync(scratch, { recursive: true, force: true });
});

function start(args: readonly string[], env: NodeJS.ProcessEnv = {}): UciProcess {
  return new UciProcess(process.execPath, [main, tiny, ...args], { cwd: scratch, env: { ...process.env, ...env } });
}

/**
 * NODE_OPTIONS that make the program fail after some time, but not before it is ready for that; worker threads inherit them,
 * only the main thread is to fail.
 */
function plantFailure(delayMs: number): string {
  const check = "if (process.listenerCount('uncaughtException') === 0) return setTimeout(fail, 100)";
  const failure = `const fail = () => { ${check}; throw new Error('planted failure'); }; setTimeout(fail, ${delayMs})`;
  const code = `if ((await import('node:worker_threads')).isMainThread) { ${failure} }`;
  return `--import ${encodeURI(`data:text/javascript,${code}`)}`;
}

/** Plays some moves and returns the sentences that the user has seen. */
async function playWith(
  args: readonly string[],
  plies: number,
  limit: string,
  faults?: EvaluatorFaults,
): Promise<string[]> {
  const engine = start(args, faults === undefined ? {} : plantEvaluatorFaults(faults));
  // Every start says which network plays; a slow machine may say that it is still loading, one that was never tuned that it could be.
  const isShown = (line: string): boolean =>
    /^(error|info string (?!Network |Still loading|Threads and batches are not tuned))/.test(line);
  await engine.ask('uci', 'uciok');
  await engine.ask('isready', 'readyok');
  assert.equal((await playGame(engine, plies, limit)).length, plies);
  assert.equal(await engine.quit(), 0);
  assert.equal(engine.stderr, '');
  return engine.lines.filter(isShown);
}

test('a provider that is not there at start: the processor plays, one message says so', async () => {
  const shown = await playWith(['--backend=tensorrt', '--threads=2'], 4, 'nodes 20');
  if (shown.length === 0) return; // a machine that has TensorRT
  assert.equal(shown.length, 1, shown.join('\n'));
  assert.match(shown[0], /^info string Backend tensorrt failed, going on with cpu: /);
});

test('a provider that fails when it loads the network: the processor plays, one message says so', async () => {
  const shown = await playWith(['--backend=cuda'], 4, 'nodes 20', { backend: 'cuda', loadFails: true });
  assert.equal(shown.length, 1, shown.join('\n'));
  assert.match(shown[0], /^info string Backend cuda failed, going on with cpu: made to fail at loading/);
});

test('a provider that dies in the middle of a search: the game goes on, one message says so', async () => {
  const options = ['--backend=cpu', '--threads=1', '--minibatch-size=4'];
  const shown = await playWith(options, 6, 'nodes 40', { failAfter: 4 });
  assert.equal(shown.length, 1, shown.join('\n'));
  assert.match(shown[0], /^info string Backend cpu failed, going on with cpu: made to fail after 4 runs/);
});

test('a device that dies in the middle of a search: the next one has the processor as without a device', async () => {
  const options = ['--backend=cuda', '--minibatch-size=4'];
  const shown = await playWith(options, 6, 'nodes 60', { backend: 'cuda', playsDevice: true, failAfter: 2 });
  assert.equal(shown.length, 1, shown.join('\n'));
  assert.match(shown[0], /^info string Backend cpu failed, going on with cpu: made to fail after 2 runs/);
});

test('threads of several devices that die in one search give one message together', async () => {
  const options = ['--backend=cpu', '--backend-opts=devices=0;1', '--threads=3', '--minibatch-size=4'];
  const shown = await playWith(options, 6, 'nodes 60', { failAfter: 4 });
  assert.equal(shown.length, 1, shown.join('\n'));
});

test('when the processor fails too, moves are still legal and the user knows', async () => {
  const shown = await playWith(['--backend=cpu', '--threads=1'], 4, 'nodes 20', { failAfter: 2, fallbackFails: true });
  assert.ok(shown.length >= 1);
  assert.ok(
    shown.some((line) => /No position can be evaluated any more/.test(line)),
    shown.join('\n'),
  );
});

test('an error inside is reported to a file, and the conversation goes on', async () => {
  const cache = join(scratch, 'cache');
  const engine = start(['--threads=1'], { SARDONYX_CACHE: cache, NODE_OPTIONS: plantFailure(1500) });
  await engine.ask('uci', 'uciok');
  const isReport = (line: string): boolean => line.startsWith('info string Internal error');
  const said = engine.lines.find(isReport) ?? (await engine.next('info string Internal error'));
  assert.match(said, /^info string Internal error: planted failure \(report in .*crash-.*\.txt\)$/);
  await engine.ask(['isready', 'position startpos', 'go nodes 10'], 'bestmove');
  assert.equal(await engine.quit(), 0);
  assert.equal(engine.stderr, '');
  const [name] = readdirSync(join(cache, 'crashes'));
  const report = readFileSync(join(cache, 'crashes', name), 'utf8');
  assert.match(report, /^Sardonyx \d/);
  assert.match(report, /Error: planted failure\n +at /);
  assert.match(report, />> uci\n/);
});

test('onnxruntime collects no usage data: it leaves nothing in the temporary folder', async () => {
  const temporary = join(scratch, 'temporary');
  mkdirSync(temporary);
  // On Windows it uses the system's own service, which the user's settings govern.
  const engine = start(['--threads=1'], { TMPDIR: temporary, ORT_DISABLE_TELEMETRY: undefined });
  await engine.ask(['uci', 'position startpos', 'go nodes 10'], 'bestmove');
  await engine.quit();
  assert.deepEqual(readdirSync(temporary), []);
});

test('SARDONYX_LOG and LogFile take the conversation down, with the process number where %p stands', async () => {
  for (const [env, args] of [
    [{ SARDONYX_LOG: join(scratch, 'by-environment-%p.log') }, []],
    [{}, [`--logfile=${join(scratch, 'by-option-%p.log')}`]],
  ] as const) {
    const engine = start([...args, '--threads=1'], env);
    await engine.ask(['uci', 'position startpos', 'go nodes 3'], 'bestmove');
    await engine.quit();
    const name = readdirSync(scratch).find((file) => file.endsWith(`-${engine.child.pid}.log`));
    const log = readFileSync(join(scratch, name ?? ''), 'utf8');
    assert.match(log, />> go nodes 3\n/);
    assert.match(log, /<< bestmove /);
  }
});

test('a log that cannot be written is mentioned once, on stderr too when a flag named it', async () => {
  const path = join(scratch, 'nowhere', 'x.log');
  const sentence = `LogFile ${path} cannot be written: there is no such folder`;
  for (const [args, lines, stderr] of [
    [[`--logfile=${path}`], [], `${sentence}\n`],
    [[], [`setoption name LogFile value ${path}`], ''],
  ] as const) {
    const engine = start([...args, '--threads=1']);
    const answer = await engine.ask(['uci', ...lines, 'isready', 'position startpos', 'go nodes 3'], 'bestmove');
    assert.deepEqual(
      answer.filter((line) => line.includes('LogFile /')),
      [`info string ${sentence}`],
    );
    assert.equal(await engine.quit(), 0);
    assert.equal(engine.stderr, stderr);
  }
});

test('a log that has grown full is renamed, and the oldest go', () => {
  const path = join(scratch, 'small.log');
  const logger = createLogger(path, { maxFileBytes: 400 });
  for (let i = 0; i < 100; i++) logger.log(`line ${i}`);
  const names = readdirSync(scratch).filter((name) => name.startsWith('small.log'));
  assert.deepEqual(names.sort(), ['small.log', 'small.log.1', 'small.log.2', 'small.log.3']);
  for (const name of names) assert.ok(readFileSync(join(scratch, name)).length <= 400);
  const numbers = ['small.log.3', 'small.log.2', 'small.log.1', 'small.log'].flatMap((name) =>
    [...readFileSync(join(scratch, name), 'utf8').matchAll(/line (\d+)/g)].map((match) => Number(match[1])),
  );
  assert.equal(numbers.at(-1), 99);
  assert.ok(numbers.every((number, index) => index === 0 || number === numbers[index - 1] + 1));
});

test('a log that cannot be renamed grows, and loses no line', () => {
  const path = join(scratch, 'held.log');
  mkdirSync(join(`${path}.1`, 'inside'), { recursive: true });
  mkdirSync(join(`${path}.2`, 'inside'), { recursive: true });
  mkdirSync(join(`${path}.3`, 'inside'), { recursive: true });
  const problems: string[] = [];
  const logger = createLogger(path, { maxFileBytes: 400, onFailure: (sentence) => problems.push(sentence) });
  for (let i = 0; i < 100; i++) logger.log(`line ${i}`);
  assert.equal(readFileSync(path, 'utf8').match(/line \d+/g)?.length, 100);
  createLogger(scratch, { onFailure: (sentence) => problems.push(sentence) }).log('line');
  assert.deepEqual(problems, [`LogFile ${scratch} cannot be written: it is a folder`]);
});

test('in a folder that is gone the engine plays, and says where it looks for files', () => {
  const lines = 'uci\nposition startpos\ngo nodes 20\n';
  const script = `mkdir gone && cd gone && rmdir ../gone && "$0" "$@"`;
  const args = ['-c', script, process.execPath, main, tiny];
  for (const HOME of [process.env.HOME, main]) {
    const env = { ...process.env, HOME };
    const { status, stdout, stderr } = spawnSync('sh', args, { cwd: scratch, input: lines, encoding: 'utf8', env });
    assert.match(stdout, /info depth .*\nbestmove [a-h]/s);
    assert.match(stderr, /^The current folder is gone; files are looked for in [^\n]*\n$/);
    assert.equal(status, 0);
  }
});

test('a closed stderr ends neither the engine nor a command', async () => {
  const run = async (...args: string[]): Promise<[status: unknown, stdout: string]> => {
    const child = spawn(process.execPath, [main, ...args], { cwd: scratch });
    child.stderr.destroy();
    let stdout = '';
    child.stdout.on('data', (chunk) => {
      stdout += chunk;
    });
    child.stdin.end('uci\nposition startpos\ngo nodes 20\n');
    const [status] = await once(child, 'close');
    return [status, stdout];
  };
  const [status, stdout] = await run(tiny, '--logfile=<stderr>');
  assert.match(stdout, /bestmove [a-h]/);
  assert.equal(status, 0);
  assert.deepEqual(await run('match', '-rounds', '5'), [1, '']);
});

test('a device or a pipe in place of a network is refused', () => {
  execFileSync('sh', ['-c', 'mkfifo "$0"', join(scratch, 'pipe')]);
  for (const weights of ['/dev/zero', join(scratch, 'pipe')]) {
    const args = [main, 'describenet', `--weights=${weights}`];
    const { status, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
    assert.deepEqual([status, stderr], [1, `The network ${weights} is no regular file\n`]);
  }
});

test('a disk that is full ends the conversation with one sentence', () => {
  const command = `"$0" "$@" > /dev/full`;
  for (const [input, ...args] of [['uci\n'], ['{}\n', 'analyse', '--stdio', '--backend=hash']]) {
    const run = spawnSync('sh', ['-c', command, process.execPath, main, ...args], { input, encoding: 'utf8' });
    assert.deepEqual([run.status, run.stderr], [1, 'Cannot write the output: the disk is full\n']);
  }
});

test('--version names the program, the runtime and the network', () => {
  const [program, runtime, network] = execFileSync(process.execPath, [main, '--version'], { encoding: 'utf8' }).split(
    '\n',
  );
  assert.match(program, /^\d+\.\d+\.\d+/);
  assert.match(runtime, /^onnxruntime \d+\.\d+\.\d+, Node v/);
  assert.match(network, /^network .*\.onnx$/);
});

test('exit status: 0 for a conversation that ends, 1 for a mistake of the user', () => {
  const run = (args: readonly string[], input: string): number | null =>
    spawnSync(process.execPath, [main, ...args], { cwd: scratch, input }).status;
  assert.equal(run([tiny], 'quit\n'), 0);
  assert.equal(run([tiny], ''), 0);
  assert.equal(run(['--nonsense'], ''), 1);
  assert.equal(run(['describenet', 'nowhere.onnx'], ''), 1);
});

test('exit status 70 and a report in a file for an error of ours in a command', () => {
  const cache = join(scratch, 'command-cache');
  const args = [main, 'bench', '--backend=random', '--threads=1', '--nodes=50000000', '--num-positions=1'];
  const env = { ...process.env, SARDONYX_CACHE: cache, NODE_OPTIONS: plantFailure(500) };
  const { status, stderr, stdout } = spawnSync(process.execPath, args, { cwd: scratch, env, encoding: 'utf8' });
  assert.equal(status, 70, stderr);
  assert.match(stderr, /Internal error: planted failure \(report in .*crash-.*\.txt\)\n$/);
  assert.doesNotMatch(stdout, /planted/);
  assert.equal(readdirSync(join(cache, 'crashes')).length, 1);
});
