/**
 * The single-file executables. The quick tests hold on to what packaging relies on in dist/ and onnxruntime-node; the slow
 * ones (SARDONYX_SLOW_TESTS=1; minutes, npm registry needed) make the executables, play with one and look into the others.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { playGame, UciProcess } from '../../uci-tests/uci-process.js';
import { repositoryRoot } from '../support/shared-folder.js';

const natives = join(repositoryRoot, 'node_modules', 'onnxruntime-node', 'bin', 'napi-v6');
const out = join(repositoryRoot, 'build', 'package');
const tiny = join(repositoryRoot, 'models', 'tiny-test.onnx');
const MAX_BYTES = 190e6;

interface Target {
  readonly output: string;
  readonly natives: { readonly folder: string; readonly files: readonly string[] };
}

const { targets } = (await import(join(repositoryRoot, 'scripts', 'package', 'targets.mjs'))) as {
  targets: Record<string, Target>;
};
const { THREAD_SCRIPT, NATIVE_BINDING } = (await import(join(repositoryRoot, 'scripts', 'package', 'bundle.mjs'))) as {
  THREAD_SCRIPT: RegExp;
  NATIVE_BINDING: RegExp;
};

const { fetchArchive } = (await import(join(repositoryRoot, 'scripts', 'package', 'tools.mjs'))) as {
  fetchArchive(specifier: string, folder: string): string;
};

test('npm packs what packaging asks for into a folder of the repository', (t) => {
  const folder = join(repositoryRoot, 'build', `archive-${process.pid}`);
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  mkdirSync(join(folder, 'own'), { recursive: true });
  writeFileSync(join(folder, 'own', 'package.json'), '{"name":"own","version":"1.0.0"}');
  assert.equal(fetchArchive('./own', folder), join(folder, 'own-1.0.0.tgz'));
  assert.ok(existsSync(join(folder, 'own-1.0.0.tgz')));
});

test('every thread that the program starts is one that packaging finds', () => {
  const dist = join(repositoryRoot, 'dist');
  const names = readdirSync(dist, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.js'));
  const starts = names.flatMap((name) => {
    const text = readFileSync(join(dist, name), 'utf8');
    // The library's engine on a worker thread is a process; its script has the form that packaging finds, too.
    const started = text.match(/(?<!function )startThread\(|(?<![\w.])fork\(/g)?.length ?? 0;
    assert.equal(text.match(THREAD_SCRIPT)?.length ?? 0, started, name);
    return text.match(THREAD_SCRIPT) ?? [];
  });
  assert.ok(starts.length >= 3);
});

test('onnxruntime-node has the files that packaging takes, and loads them as packaging expects', () => {
  for (const target of Object.values(targets)) {
    for (const file of target.natives.files) assert.ok(existsSync(join(natives, target.natives.folder, file)), file);
  }
  const binding = join(repositoryRoot, 'node_modules', 'onnxruntime-node', 'dist', 'binding.js');
  assert.match(readFileSync(binding, 'utf8'), NATIVE_BINDING);
});

const isSlow = process.env.SARDONYX_SLOW_TESTS === '1';

describe('the executables', { skip: isSlow ? false : 'set SARDONYX_SLOW_TESTS=1', timeout: 1_200_000 }, () => {
  let scratch = '';
  let executable = '';
  let cache = '';
  /** No Node, no home folder to lean on. */
  const environment = (): NodeJS.ProcessEnv => ({ PATH: '/nonexistent', HOME: scratch, SARDONYX_CACHE: cache });
  const start = (args: readonly string[] = [], cwd = '/'): UciProcess =>
    new UciProcess(executable, args, { cwd, env: environment() });
  const run = (args: readonly string[], cwd = '/'): string =>
    execFileSync(executable, args, { cwd, env: environment(), encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });

  before(() => {
    execFileSync(process.execPath, [join(repositoryRoot, 'scripts', 'package', 'package.mjs')], { stdio: 'ignore' });
    scratch = realpathSync(mkdtempSync(join(tmpdir(), 'sardonyx-')));
    cache = join(scratch, 'cache');
    const folder = join(scratch, 'Schäch ♞ engines');
    mkdirSync(folder);
    executable = join(folder, 'sardonyx');
    copyFileSync(join(out, targets['linux-x64'].output), executable);
    chmodSync(executable, 0o555);
    chmodSync(folder, 0o555);
  });
  after(() => {
    UciProcess.killAll();
    chmodSync(join(scratch, 'Schäch ♞ engines'), 0o755);
    rmSync(scratch, { recursive: true, force: true });
  });

  for (const [name, target] of Object.entries(targets)) {
    test(`${target.output} is of its kind and size and holds the natives of its system only`, () => {
      const inspector = join(repositoryRoot, 'scripts', 'package', 'inspect.mjs');
      const printed = execFileSync(process.execPath, [inspector, join(out, target.output)], { encoding: 'utf8' });
      const found = JSON.parse(printed) as {
        kind: string;
        bytes: number;
        assets: Record<string, { bytes: number; sha256: string }>;
      };
      const kinds: Record<string, string> = {
        'linux-x64': 'ELF machine 62',
        'win-x64': 'PE machine 8664',
        'macos-arm64': 'Mach-O cpu 100000c',
      };
      assert.equal(found.kind, kinds[name]);
      assert.ok(found.bytes <= MAX_BYTES, `${found.bytes} bytes`);
      const packed = Object.keys(found.assets).filter((asset) => asset.startsWith('native/'));
      const expected = target.natives.files.map((file) => `native/${file}`).concat('native/files.json');
      assert.deepEqual(packed.sort(), expected.sort());
      for (const file of target.natives.files) {
        const source = readFileSync(join(natives, target.natives.folder, file));
        assert.equal(found.assets[`native/${file}`]?.sha256, createHash('sha256').update(source).digest('hex'));
      }
      assert.ok(Object.keys(found.assets).some((asset) => asset.startsWith('models/')));
    });
  }

  test('it plays from a read-only folder with blanks and other letters in its name, silent on stderr', async () => {
    const engine = start();
    await engine.ask('uci', 'uciok');
    const moves = await playGame(engine, 24, 'nodes 12');
    assert.ok(moves.length >= 20, moves.join(' '));
    assert.equal(await engine.quit(), 0);
    assert.equal(engine.stderr, '');
    assert.deepEqual(readdirSync(join(executable, '..')), ['sardonyx']);
  });

  test('two that start at the same moment with an empty cache both play', async () => {
    rmSync(cache, { recursive: true, force: true });
    const engines = [start(), start()];
    const games = await Promise.all(
      engines.map(async (engine) => {
        await engine.ask('uci', 'uciok');
        return playGame(engine, 4, 'nodes 5');
      }),
    );
    for (const game of games) assert.equal(game.length, 4);
    for (const engine of engines) assert.equal(await engine.quit(), 0);
    assert.ok(readdirSync(cache, { recursive: true, encoding: 'utf8' }).every((name) => !name.endsWith('.draft')));
  });

  test('a damaged file in its cache is replaced', async () => {
    const [library] = readdirSync(cache, { recursive: true, encoding: 'utf8' }).filter((name) => /\.so/.test(name));
    const path = join(cache, library);
    const size = statSync(path).size;
    truncateSync(path, 1000);
    const engine = start();
    await engine.ask('uci', 'uciok');
    assert.equal((await playGame(engine, 2, 'nodes 5')).length, 2);
    await engine.quit();
    assert.equal(statSync(path).size, size);
  });

  test('networks are found by a relative name, beside it, and in its folder networks', () => {
    const folder = join(scratch, 'with networks');
    mkdirSync(join(folder, 'networks'), { recursive: true });
    mkdirSync(join(folder, 'elsewhere'));
    const own = join(folder, 'sardonyx');
    linkSync(executable, own);
    copyFileSync(tiny, join(folder, 'elsewhere', 'relative.onnx'));
    copyFileSync(tiny, join(folder, 'beside.onnx'));
    const describeNet = (args: readonly string[], cwd: string): string =>
      execFileSync(own, ['describenet', ...args], { cwd, env: environment(), encoding: 'utf8' }).split('\n')[0];
    assert.equal(describeNet([], '/'), 'File: <built in>');
    assert.equal(describeNet(['--weights=relative.onnx'], join(folder, 'elsewhere')), 'File: relative.onnx');
    assert.equal(describeNet(['--weights=beside.onnx'], '/'), `File: ${join(folder, 'beside.onnx')}`);
    // Discovery takes files of half a megabyte and more, as lc0's does.
    copyFileSync(join(repositoryRoot, 'models', 'default.onnx'), join(folder, 'networks', 'newest.onnx'));
    assert.equal(describeNet([], '/'), `File: ${join(folder, 'networks', 'newest.onnx')}`);
    assert.equal(describeNet(['<built in>'], '/'), 'File: <built in>');
  });

  test('commands work in it', () => {
    assert.match(run(['--version']), /^\d+\.\d+\.\d+/);
    assert.match(run(['--help']), /backendbench/);
    assert.match(run(['perft', '3']), /8902/);
  });

  test('it plays where neither the home nor the temporary folder can be written to', async () => {
    const nowhere = '/dev/null/nowhere';
    const env = { PATH: nowhere, HOME: nowhere, TMPDIR: nowhere, SARDONYX_CACHE: nowhere };
    const engine = new UciProcess(executable, [], { cwd: '/', env });
    // Shared memory is the last resort; where that fails too, the engine says so and still gives a legal move.
    const lines = await engine.ask(['uci', 'isready', 'position startpos', 'go nodes 3'], 'bestmove');
    assert.match(lines.at(-1) ?? '', /^bestmove [a-h]/);
    await engine.quit();
    assert.equal(engine.stderr, '');
  });
});
