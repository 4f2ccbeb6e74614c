import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { after, before, beforeEach, test } from 'node:test';
import { CUDA_ARCHIVES } from '#sardonyx/cli/commands/doctor/cuda-provider.js';
import { type CommandResult, runCommand } from '../support/run-command.js';
import { repositoryRoot } from '../support/shared-folder.js';
import { createZip } from './zip-writer.js';

const isLinux = process.platform === 'linux' && process.arch === 'x64';
const skip = isLinux ? false : 'the CUDA provider is for Linux on x64';
const archive = CUDA_ARCHIVES['linux-x64'];
const archiveName = archive.name;
const libraries = archive.files.map((name, index) => ({ name, content: Buffer.alloc(5000 + index, name) }));
const wheel = createZip([
  { name: 'onnxruntime_gpu.dist-info/METADATA', content: Buffer.from('Name: onnxruntime-gpu\n'), isDeflated: false },
  ...libraries.map(({ name, content }, index) => ({
    name: `onnxruntime/capi/${name}`,
    content,
    isDeflated: index !== 1,
  })),
]);
const sha256 = createHash('sha256').update(wheel).digest('hex');

let server: Server;
let mirror = '';
/** Comes first in PATH. */
let programs = '';
let scratch = '';
let folder = '';
const asked: string[] = [];

before(async () => {
  server = createServer((request, response) => {
    asked.push(request.url ?? '');
    if (basename(request.url ?? '') === archiveName) response.end(wheel);
    else response.writeHead(404).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  mirror = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  scratch = mkdtempSync(join(tmpdir(), 'sardonyx-doctor-'));
  programs = mkdtempSync(join(scratch, 'programs-'));
});
after(() => {
  server.close();
  rmSync(scratch, { recursive: true, force: true });
});
beforeEach(() => {
  folder = mkdtempSync(join(scratch, 'native-'));
});

function doctor(...args: string[]): Promise<CommandResult> {
  const PATH = `${programs}:${process.env.PATH}`;
  return runCommand(['doctor', ...args], { env: { PATH, SARDONYX_NATIVE_FOLDER: folder } });
}

function readInstalled(): Record<string, string> {
  return Object.fromEntries(readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), 'latin1')]));
}

const complete = Object.fromEntries(libraries.map(({ name, content }) => [name, content.toString('latin1')]));

test('the CUDA provider is that of the onnxruntime in package.json', () => {
  const manifest = JSON.parse(readFileSync(join(repositoryRoot, 'package.json'), 'utf8')) as {
    dependencies: Record<string, string>;
  };
  for (const { onnxRuntime, name, requirement } of Object.values(CUDA_ARCHIVES)) {
    assert.equal(onnxRuntime, manifest.dependencies['onnxruntime-node']);
    assert.ok(name.includes(`-${onnxRuntime}-`) && requirement[0].endsWith(`==${onnxRuntime}`));
  }
});

test('doctor --install-cuda takes the archive from a mirror, checks its hash and lays the libraries down', {
  skip,
}, async () => {
  const { status, stdout, stderr } = await doctor('--install-cuda', `--from=${mirror}/simple/`, `--sha256=${sha256}`);
  assert.equal(status, 0, stderr);
  assert.equal(stderr, '');
  assert.equal(stdout.split('\n').filter((line) => line.startsWith('Installed ')).length, archive.files.length);
  assert.deepEqual(asked, [`/simple/${archiveName}`]);
  assert.deepEqual(readInstalled(), complete);
});

test('without --from, pip fetches the archive, and what it says is one sentence', { skip }, async () => {
  const path = join(scratch, 'for-pip.whl');
  writeFileSync(path, wheel);
  writeFileSync(
    join(programs, 'python3'),
    `#!/bin/sh\necho "$@" > '${scratch}/asked'\ncp '${path}' "\${7#--dest=}/${archiveName}"\n`,
  );
  chmodSync(join(programs, 'python3'), 0o755);
  assert.equal((await doctor('--install-cuda', `--sha256=${sha256}`)).status, 0);
  assert.deepEqual(readInstalled(), complete);
  const words = readFileSync(join(scratch, 'asked'), 'utf8').trim();
  assert.match(
    words,
    /^-m pip download --quiet --no-deps --only-binary=:all: --dest=\S+ onnxruntime-gpu==[\d.]+ --impl/,
  );
  writeFileSync(join(programs, 'python3'), '#!/bin/sh\necho "first" >&2\necho "ERROR: no such version" >&2\nexit 1\n');
  const { status, stderr } = await doctor('--install-cuda');
  rmSync(join(programs, 'python3'));
  assert.deepEqual(
    [status, stderr],
    [1, `pip cannot fetch ${archiveName} (ERROR: no such version); --from takes a mirror or a downloaded file\n`],
  );
});

test('an archive with another hash is refused, and nothing is installed', { skip }, async () => {
  const { status, stdout, stderr } = await doctor('--install-cuda', `--from=${mirror}`);
  assert.equal(status, 1);
  assert.equal(stdout, '');
  assert.match(stderr, new RegExp(`^The archive has the SHA-256 ${sha256}, not ${archive.sha256}.*\n$`));
  assert.deepEqual(readInstalled(), {});
});

test('a file, or the folder that holds it, is as good as a mirror; JSON names what was installed', {
  skip,
}, async () => {
  const path = join(scratch, archiveName);
  writeFileSync(path, wheel);
  for (const from of [path, scratch]) {
    const { status, stdout, stderr } = await doctor('--install-cuda', '--json', `--from=${from}`, `--sha256=${sha256}`);
    assert.equal(status, 0, stderr);
    assert.deepEqual(JSON.parse(stdout), { installed: archive.files.map((name) => join(folder, name)) });
    assert.deepEqual(readInstalled(), complete);
  }
});

test('what cannot be had is one sentence', { skip }, async () => {
  const noZip = join(scratch, 'no-zip.whl');
  writeFileSync(noZip, 'not a zip archive at all, but long enough to look for the end of one');
  const hash = createHash('sha256').update(readFileSync(noZip)).digest('hex');
  const cases: [string[], RegExp][] = [
    [[`--from=${mirror}/other.whl`], /answers 404; --from takes/],
    [['--from=http://127.0.0.1:1/'], /^Cannot reach http:\/\/127\.0\.0\.1:1\//],
    [['--from=/nowhere/file.whl'], /^There is no file \/nowhere\/file\.whl/],
    [[`--from=${noZip}`, `--sha256=${hash}`], /is not a zip archive/],
  ];
  for (const [args, sentence] of cases) {
    const { status, stderr } = await doctor('--install-cuda', ...args);
    assert.equal(status, 1);
    assert.match(stderr, sentence);
    assert.equal(stderr.trim().split('\n').length, 1);
  }
});

test('doctor finds what is needed to play, and says so as JSON too', async () => {
  const { stdout } = await runCommand(['doctor', '--json', '--providers=cpu']);
  const findings = JSON.parse(stdout) as { what: string; isFine: boolean; text: string }[];
  for (const what of ['node', 'machine', 'onnxruntime', 'network', 'cpu', 'config', 'caches']) {
    const finding = findings.find((found) => found.what === what);
    assert.ok(finding?.isFine, `${what}: ${finding?.text}`);
  }
  assert.match(findings.find((found) => found.what === 'onnxruntime')?.text ?? '', /\d+\.\d+\.\d+ with cpu/);
});
