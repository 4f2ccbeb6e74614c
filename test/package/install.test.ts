/**
 * The npm package as its users get it, made by `npm run pack` from a copy of the clone in which nothing was built. The slow test
 * (SARDONYX_SLOW_TESTS=1; npm registry needed) installs it in an empty folder and plays.
 */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { playGame, UciProcess } from '../../uci-tests/uci-process.js';
import { repositoryRoot } from '../support/shared-folder.js';

function npm(args: readonly string[], cwd: string): string {
  return execFileSync('npm', args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
}

const scratch = mkdtempSync(join(tmpdir(), 'sardonyx-pack-'));
const clone = join(scratch, 'clone');
const folder = join(clone, 'build', 'npm', 'package');
let packed = '';
let names: string[] = [];

before(() => {
  // What git would clone, with the changes of this working tree; without git (a downloaded archive), all but what is built.
  const listing = spawnSync('git', ['ls-files', '-co', '--exclude-standard', '-z'], {
    cwd: repositoryRoot,
    encoding: 'utf8',
  });
  const entries = readdirSync(repositoryRoot).filter((name) => !/^(node_modules|dist|build|\.git|\.venv)$/.test(name));
  const files = listing.status === 0 ? listing.stdout.split('\0').filter(Boolean) : entries;
  for (const file of files.filter((name) => existsSync(join(repositoryRoot, name)))) {
    cpSync(join(repositoryRoot, file), join(clone, file), { recursive: true });
  }
  symlinkSync(join(repositoryRoot, 'node_modules'), join(clone, 'node_modules'), 'junction');
  // As another commit leaves it behind.
  mkdirSync(join(clone, 'dist', 'cli'), { recursive: true });
  writeFileSync(join(clone, 'dist', 'cli', 'gone.js'), '');
  packed = npm(['run', '-s', 'pack', '--', scratch], clone).trim();
  names = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => statSync(join(folder, name)).isFile())
    .map((name) => name.replaceAll('\\', '/'));
});
after(() => rmSync(scratch, { recursive: true, force: true }));

test('the package holds the program, its library door, its types and a network, and no tests or tools', () => {
  const web = [
    'index.js',
    'create-engine.d.ts',
    'sardonyx.js',
    'ort/ort-wasm-simd-threaded.wasm',
    'models/default.onnx',
    'models/light.onnx',
  ];
  const others = ['dist/cli/main.js', 'dist/index.js', 'dist/index.d.ts', 'scripts/preinstall.mjs', 'README.md'];
  for (const name of [...others, ...web.map((file) => `dist/web/${file}`)]) {
    assert.ok(names.includes(name), name);
  }
  assert.ok(names.some((name) => /^models\/.*\.onnx$/.test(name)));
  const allowed =
    /^(dist\/|models\/[^/]+\.(onnx|json|md)$|docs\/([^/]+\.md$|examples\/))|^(scripts\/preinstall\.mjs|package\.json|README\.md|CHANGELOG\.md|SECURITY\.md|LICENSE)$/;
  assert.deepEqual(
    names.filter((name) => !allowed.test(name) || /\.map$|gone|board-worker/.test(name)),
    [],
  );
  assert.ok(statSync(packed).size <= 26e6, `${statSync(packed).size} bytes`);
  const unpacked = names.reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
  assert.ok(unpacked <= 71e6, `${unpacked} bytes`);
  const { private: hidden, devDependencies, bin } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  assert.deepEqual([hidden, devDependencies, bin], [undefined, undefined, { sardonyx: 'dist/cli/main.js' }]);
});

test('the package holds each network once, and its program finds them all', () => {
  const onnx = names.filter((name) => name.endsWith('.onnx')).map((name) => basename(name));
  assert.deepEqual(onnx.length, new Set(onnx).size, `${onnx}`);
  const main = join(folder, 'dist', 'cli', 'main.js');
  const found = JSON.parse(execFileSync(process.execPath, [main, 'networks', '--json'], { encoding: 'utf8' })) as {
    path: string | null;
    url: string | null;
  }[];
  const bundled = JSON.parse(readFileSync(join(folder, 'models', 'bundled.json'), 'utf8')) as { networks: object[] };
  const paths = found.flatMap(({ url, path }) => (url === null && path !== null ? [path] : []));
  assert.equal(paths.length, bundled.networks.length);
  for (const path of paths) assert.ok(existsSync(path), path);
});

test('every link of the packed pages leads to a file of the package or to the web', () => {
  const pages = names.filter((name) => name.endsWith('.md'));
  assert.ok(pages.includes('docs/options.md') && pages.includes('README.md'));
  for (const page of pages) {
    for (const [, target] of readFileSync(join(folder, page), 'utf8').matchAll(/\]\(([^)\s]+)\)/g)) {
      const path = target.split('#')[0];
      if (path === '' || /^https?:/.test(target)) continue;
      assert.ok(existsSync(join(folder, dirname(page), path)), `${page}: ${target}`);
    }
  }
});

test('every example of the packed pages is a program for the oldest Node', () => {
  let count = 0;
  for (const page of names.filter((name) => name.endsWith('.md'))) {
    for (const [, program] of readFileSync(join(folder, page), 'utf8').matchAll(/^```js\n(.*?)^```/gms)) {
      const file = join(scratch, `example-${count++}.mjs`);
      writeFileSync(file, program);
      const { status, stderr } = spawnSync(process.execPath, ['--check', file], { encoding: 'utf8' });
      assert.equal(status, 0, `${page}: ${stderr}`);
    }
  }
  assert.ok(count >= 4, `${count}`);
});

test('a plain npm pack fails and names the command that makes the package; a package without the program refuses to be installed', () => {
  const plain = spawnSync('npm', ['pack'], { cwd: clone, encoding: 'utf8' });
  assert.notEqual(plain.status, 0);
  assert.match(plain.stderr, /npm-pack-makes-no-package--use--npm-run-pack/);
  const bare = join(scratch, 'bare', 'scripts');
  mkdirSync(bare, { recursive: true });
  copyFileSync(join(repositoryRoot, 'scripts', 'preinstall.mjs'), join(bare, 'preinstall.mjs'));
  const { status, stderr } = spawnSync(process.execPath, [join(bare, 'preinstall.mjs')], { encoding: 'utf8' });
  assert.equal(status, 1);
  assert.match(stderr, /^This package holds no program\. .*`npm run pack`[^\n]*\n$/);
});

test('a strict program compiles against the packed types alone: no skipLibCheck, no lib.dom, no @types/node', () => {
  // Below it lies no node_modules/@types, so no types but its own are found.
  const scratch = mkdtempSync(join(tmpdir(), 'sardonyx-types-'));
  try {
    for (const path of names.filter((name) => name.endsWith('.d.ts') || name === 'package.json')) {
      const copy = join(scratch, 'node_modules', 'sardonyx', path);
      mkdirSync(dirname(copy), { recursive: true });
      copyFileSync(join(folder, path), copy);
    }
    const program = `
      export async function play(create: typeof createEngine): Promise<string | null> {
        const engine = await create({ threads: 1, options: { MultiPV: 2 }, onWarning: () => {}, onProgress: () => {} });
        engine.position({ moves: ['e2e4'] });
        const search = engine.go({ nodes: 10, ponder: true });
        search.ponderHit();
        for await (const { hashFull, tablebaseHits, lines } of search) void [hashFull, tablebaseHits, lines[0]?.pv];
        const { move, end, moves } = await search.bestMove;
        const evaluation: Evaluation | null = await engine.evaluate();
        void [end, moves[0]?.value, evaluation?.policy, engine.options, engine.legalMoves, engine.status];
        await engine[Symbol.asyncDispose]();
        // @ts-expect-error An unknown key.
        engine.go({ movetime: 100 });
        await using pool = await createEnginePool({ engines: 2 });
        return (await pool.go({}, { nodes: 1 }).bestMove).move ?? move;
      }`;
    for (const door of ['sardonyx', 'sardonyx/web']) {
      const names = 'createEngine, createEnginePool, type Evaluation';
      writeFileSync(join(scratch, `${door.length}.mts`), `import { ${names} } from '${door}';${program}`);
    }
    for (const lib of ['es2022,esnext.disposable', 'es2022,dom,esnext.disposable']) {
      const flags = ['--noEmit', '--strict', '--exactOptionalPropertyTypes', '--noUncheckedIndexedAccess'];
      const files = ['8.mts', '12.mts'];
      const tsc = join(repositoryRoot, 'node_modules', 'typescript', 'bin', 'tsc');
      const settings = ['--module', 'nodenext', '--target', 'es2022', '--lib', lib];
      execFileSync(process.execPath, [tsc, ...flags, ...settings, ...files], { cwd: scratch, encoding: 'utf8' });
    }
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
});

test('the program can be run by its name, and an old Node gets one sentence', () => {
  const main = join(repositoryRoot, 'dist', 'cli', 'main.js');
  if (process.platform !== 'win32') assert.notEqual(statSync(main).mode & 0o100, 0);
  const old = `data:text/javascript,Object.defineProperty(process.versions,'node',{value:'18.20.8'});process.getBuiltinModule=undefined`;
  const { status, stderr } = spawnSync(process.execPath, ['--import', encodeURI(old), main], { encoding: 'utf8' });
  assert.equal(status, 1);
  assert.match(stderr, /^Sardonyx needs Node 20\.19 or later; this is v[^\n]*\n$/);
});

test('the door for pages may be imported in Node, as servers that render pages do: it refuses by a sentence, and the process ends', () => {
  const program = `const { createEngine } = await import('sardonyx/web'); await createEngine().catch(({ message }) => console.log(message));`;
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', program], {
    cwd: repositoryRoot,
    encoding: 'utf8',
  });
  assert.deepEqual([status, stderr], [0, '']);
  assert.match(stdout, /^sardonyx\/web is the engine of web pages and needs a browser[^\n]*\n$/);
});

const isSlow = process.env.SARDONYX_SLOW_TESTS === '1';

test('installed in an empty folder it plays, and its examples run', {
  skip: !isSlow && 'set SARDONYX_SLOW_TESTS=1',
}, async () => {
  const scratch = mkdtempSync(join(tmpdir(), 'sardonyx-install-'));
  try {
    const project = join(scratch, 'project');
    mkdirSync(project);
    npm(['install', '--no-audit', '--no-fund', packed], project);
    const engine = new UciProcess('npx', ['sardonyx'], { cwd: project, env: process.env });
    await engine.ask('uci', 'uciok');
    assert.equal((await playGame(engine, 6, 'nodes 20')).length, 6);
    assert.equal(await engine.quit(), 0);
    for (const example of ['play.mjs', 'analyse.mjs']) {
      copyFileSync(join(repositoryRoot, 'docs', 'examples', example), join(project, example));
      execFileSync(process.execPath, [example], { cwd: project, stdio: 'pipe' });
    }
    const types = readFileSync(join(project, 'node_modules', 'sardonyx', 'dist', 'index.d.ts'), 'utf8');
    assert.match(types, /export declare function createEngine/);
  } finally {
    UciProcess.killAll();
    rmSync(scratch, { recursive: true, force: true });
  }
});
