#!/usr/bin/env node
// The one gate, behind `npm test` and `npm run check`: types and build, lint, dead code, the Node tests, the Python tests. A step
// that fails stops none of the others, apart from the build, which they need. Each reports; the exit status is that of the worst.
// The Node tests print as they go. Beside them run the steps that use one core, and what those print comes as a whole at the end.
// usage: node scripts/check.mjs [step …]   (build lint knip node python; all by default)
import { spawn } from 'node:child_process';
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
/** @param isKept what the step prints is returned instead of shown */
function runStep(name, isKept) {
  const [program, ...args] = STEPS[name];
  const startedAt = performance.now();
  const shell = process.platform === 'win32' && program === 'npm';
  const child = spawn(program, args, { cwd: root, stdio: isKept ? ['ignore', 'pipe', 'pipe'] : 'inherit', shell });
  let printed = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text) => {
      printed += text;
    });
  }
  return new Promise((resolve) => {
    const end = (status) => {
      rows.push({ name, status: status ?? 1, seconds: (performance.now() - startedAt) / 1000 });
      resolve({ status, printed });
    };
    child.on('error', (error) => {
      console.error(`Cannot run ${program}: ${error.message}`);
      end(1);
    });
    child.on('close', end);
  });
}

const isBuilt = !names.includes('build') || (await runStep('build', false)).status === 0;
const others = names.filter((name) => name !== 'build');
if (isBuilt && others.includes('node')) {
  const reports = [];
  const runBeside = async () => {
    for (const name of others.filter((name) => name !== 'node')) {
      reports.push(`\n===== ${name} =====\n${(await runStep(name, true)).printed}`);
    }
  };
  await Promise.all([runStep('node', false), runBeside()]);
  process.stdout.write(reports.join(''));
} else if (isBuilt) {
  for (const name of others) await runStep(name, false);
}

console.log('');
for (const { name, status, seconds } of rows) {
  console.log(`${name.padEnd(7)}${status === 0 ? 'ok' : `FAILED (status ${status})`}, ${seconds.toFixed(0)} s`);
}
const left = names.filter((name) => !rows.some((row) => row.name === name));
if (left.length > 0) console.log(`not run without a build: ${left.join(', ')}`);
// What is still to be written is written before the process ends.
process.exitCode = Math.max(...rows.map(({ status }) => status));
