#!/usr/bin/env node
// Checks the Python code with ruff and runs its tests, in their own virtual environment (.venv). The first run creates it and installs
// the package scripts/train with what it needs; a stamp with the hash of its pyproject.toml lets later runs start at once. Without Ray,
// the tests that need it are skipped.
// usage: node scripts/test-python.mjs [file or pytest option …]
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const project = join(root, 'scripts/train/pyproject.toml');
const venv = join(root, '.venv');
const python = process.platform === 'win32' ? join(venv, 'Scripts/python.exe') : join(venv, 'bin/python');

function run(command, args) {
  const result = spawnSync(command, args, { cwd: root, stdio: 'inherit' });
  if (result.error !== undefined) {
    console.error(`Cannot run ${command}: ${result.error.message}. The Python tests need Python 3.11 or later.`);
    process.exit(1);
  }
  if (result.status !== 0) process.exit(result.status ?? 1);
}

const stamp = join(venv, 'pyproject.sha256');
const wanted = createHash('sha256').update(readFileSync(project)).digest('hex');
if (!existsSync(stamp) || readFileSync(stamp, 'utf8') !== wanted) {
  console.error('Creating .venv for the Python tests (once)…');
  run(process.env.PYTHON ?? (process.platform === 'win32' ? 'python' : 'python3'), ['-m', 'venv', venv]);
  const install = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check'];
  run(python, [...install, '--editable', 'scripts/train[test]']);
  const cluster = spawnSync(python, [...install, '--editable', 'scripts/train[ray]'], { cwd: root, stdio: 'inherit' });
  if (cluster.status !== 0) console.error('Ray could not be installed: the tests of loops on a cluster are skipped.');
  writeFileSync(stamp, wanted);
}
const ruff = ['-m', 'ruff', '--config', project];
if (process.argv.length === 2) {
  run(python, [...ruff, 'check', '--quiet', 'scripts', 'uci-tests']);
  run(python, [...ruff, 'format', '--quiet', '--check', 'scripts', 'uci-tests']);
}
run(python, [
  '-m',
  'pytest',
  '-q',
  ...(process.argv.length > 2 ? process.argv.slice(2) : ['scripts/train/tests', 'uci-tests']),
]);
