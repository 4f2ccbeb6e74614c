/**
 * The npm package as its users get it. The quick test looks at what would be packed; the slow one (SARDONYX_SLOW_TESTS=1; npm
 * registry needed) installs it in an empty folder and plays.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { playGame, UciProcess } from '../../uci-tests/uci-process.js';
import { repositoryRoot } from '../support/shared-folder.js';

interface Packed {
  readonly filename: string;
  readonly files: readonly { readonly path: string }[];
}

function npm(args: readonly string[], cwd: string): string {
  return execFileSync('npm', args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
}

function pack(...flags: string[]): Packed {
  const [packed] = JSON.parse(npm(['pack', '--json', '--ignore-scripts', ...flags], repositoryRoot)) as Packed[];
  return packed;
}

test('the package holds the program, its library door, its types and a network, and no tests or tools', () => {
  const names = pack('--dry-run').files.map((file) => file.path);
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
  const allowed = /^(dist|models)\/|^(scripts\/preinstall\.mjs|package\.json|README\.md|CHANGELOG\.md|LICENSE)$/;
  assert.deepEqual(
    names.filter((name) => !allowed.test(name)),
    [],
  );
});

const isSlow = process.env.SARDONYX_SLOW_TESTS === '1';

test('installed in an empty folder it plays, and its examples run', {
  skip: !isSlow && 'set SARDONYX_SLOW_TESTS=1',
}, async () => {
  const scratch = mkdtempSync(join(tmpdir(), 'sardonyx-install-'));
  try {
    const { filename } = pack('--pack-destination', scratch);
    const project = join(scratch, 'project');
    mkdirSync(project);
    npm(['install', '--no-audit', '--no-fund', join(scratch, filename)], project);
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
