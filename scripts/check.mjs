#!/usr/bin/env node
// The one gate, behind `npm test` and `npm run check`: types and build, lint, dead code, the Node tests, the Python tests. A step
// that fails stops none of the others, apart from the build, which they need. Each reports; the exit status is that of the worst.
// usage: node scripts/check.mjs [step …]   (build lint knip node python; all by default)
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const STEPS = {
  build: ['npm', 'run', '--silent', 'build'],
  lint: ['npm', 'run', '--silent', 'lint'],
  knip: ['npm', 'run', '--silent', 'knip'],
  node: [process.execPath, 'scripts/test.mjs'],
  python: [process.execPath, 'scripts/test-python.mjs'],
};

const names = process.argv.length > 2 ? process.argv.slice(2) : Object.keys(STEPS);
const unknown = names.find((name) => !Object.hasOwn(STEPS, name));
if (unknown !== undefined) {
  console.error(`There is no step ${unknown}; there are ${Object.keys(STEPS).join(', ')}.`);
  process.exit(2);
}

const rows = [];
for (const name of names) {
  const [program, ...args] = STEPS[name];
  const startedAt = performance.now();
  const shell = process.platform === 'win32' && program === 'npm';
  const { status, error } = spawnSync(program, args, { cwd: root, stdio: 'inherit', shell });
  if (error !== undefined) console.error(`Cannot run ${program}: ${error.message}`);
  rows.push({ name, status: status ?? 1, seconds: (performance.now() - startedAt) / 1000 });
  if (name === 'build' && status !== 0) break;
}

console.log('');
for (const { name, status, seconds } of rows) {
  console.log(`${name.padEnd(7)}${status === 0 ? 'ok' : `FAILED (status ${status})`}, ${seconds.toFixed(0)} s`);
}
const left = names.slice(rows.length);
if (left.length > 0) console.log(`not run without a build: ${left.join(', ')}`);
process.exit(Math.max(...rows.map(({ status }) => status)));
