#!/usr/bin/env node
// Gives networks that would take gigabytes or never end (test/support/hostile-networks.ts) to `analyse`: each must be refused with one
// sentence within 300 MB and a second of CPU time beyond what an empty file takes. Sound networks of the same kinds must work. Needs a build with its tests, and GNU time.
// usage: node scripts/lab/reliability/hostile-networks.mjs [WORD…] [--main=dist/cli/main.js]   (words choose networks)
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { listHostileNetworks, listSoundNetworks } from '../../../build/test/support/hostile-networks.js';

const { values: flags, positionals: words } = parseArgs({
  allowPositionals: true,
  options: { main: { type: 'string', default: 'dist/cli/main.js' } },
});
const LIMITS = { seconds: 1, megabytes: 300, timeoutSeconds: 60 };
const work = mkdtempSync(join(tmpdir(), 'hostile-networks-'));

function run(file) {
  const report = join(work, 'time');
  const command = [process.execPath, resolve(flags.main), 'analyse', 'startpos', `--weights=${file}`];
  const guard = ['timeout', '-s', 'KILL', `${LIMITS.timeoutSeconds}`];
  const { stderr, status } = spawnSync(
    '/usr/bin/time',
    ['-q', '-f', '%U %S %M', '-o', report, ...guard, ...command, '--nodes=1', '--threads=1'],
    { encoding: 'utf8', cwd: work },
  );
  const [user, system, kilobytes] = readFileSync(report, 'utf8').trim().split('\n').at(-1).split(' ').map(Number);
  return { status, stderr: stderr.trim(), seconds: user + system, megabytes: Math.round(kilobytes / 1024) };
}

writeFileSync(join(work, 'empty.onnx'), '');
const start = run('empty.onnx');
let faults = 0;
const rows = [...listHostileNetworks(), ...listSoundNetworks()].filter(({ name }) =>
  words.every((word) => name.includes(word)),
);
for (const { name, bytes, sentence } of rows) {
  const file = join(work, 'network.onnx');
  writeFileSync(file, bytes);
  const { status, stderr, seconds, megabytes } = run(file);
  const isRight =
    sentence === undefined
      ? status === 0
      : status === 1 &&
        sentence.test(stderr) &&
        seconds <= start.seconds + LIMITS.seconds &&
        megabytes <= LIMITS.megabytes;
  if (!isRight) faults++;
  console.log(
    `${isRight ? 'ok   ' : 'WRONG'} ${name}: status ${status}, ${seconds.toFixed(2)} s, ${megabytes} MB | ${stderr.slice(0, 200)}`,
  );
}
rmSync(work, { recursive: true, force: true });
console.log(`${rows.length - faults} of ${rows.length} as they must be`);
process.exitCode = faults > 0 ? 1 : 0;
