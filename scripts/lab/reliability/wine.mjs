#!/usr/bin/env node
// Runs conversations and commands with the packed Windows executable under wine, and says which went wrong. It makes a wine prefix of its
// own, set to Windows 10, in a folder that it removes.
// usage: npm run package -- win-x64 && node scripts/lab/reliability/wine.mjs [executable] [--keep]
import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = resolve(fileURLToPath(import.meta.url), '..', '..', '..', '..');
const words = process.argv.slice(2);
const executable = resolve(
  words.find((word) => !word.startsWith('-')) ?? join(root, 'build/package/sardonyx-win-x64.exe'),
);
const TIMEOUT_MS = 180_000;

if (spawnSync('wine', ['--version']).error !== undefined) {
  console.log('wine is not installed; nothing was tried');
  process.exit(0);
}
if (!existsSync(executable)) {
  console.error(`There is no ${executable}: npm run package -- win-x64 makes it`);
  process.exit(1);
}

const scratch = mkdtempSync(join(tmpdir(), 'sardonyx-wine-'));
const prefix = join(scratch, 'prefix');
const env = { ...process.env, WINEPREFIX: prefix, WINEDEBUG: '-all', WINEDLLOVERRIDES: 'mscoree,mshtml=', DISPLAY: '' };
/** Through a shell, with files for input and output: wine gives Node no pipes that it can open. */
function wine(args, input = '', cwd = folder) {
  const [from, to] = ['input', 'output'].map((name) => join(scratch, name));
  writeFileSync(from, input);
  const script = 'in="$1"; out="$2"; shift 2; wine "$@" < "$in" > "$out" 2>&1; echo $? > "$out.status"';
  spawnSync('sh', ['-c', script, 'sh', from, to, ...args], { cwd, env, stdio: 'ignore', timeout: TIMEOUT_MS });
  return { said: readFileSync(to, 'utf8'), status: Number(readFileSync(`${to}.status`, 'utf8')) };
}
const folder = join(scratch, 'games and nets');
mkdirSync(folder);
wine(['reg', 'add', 'HKCU\\Software\\Wine', '/v', 'Version', '/d', 'win10', '/f'], '', scratch);
mkdirSync(join(folder, 'a folder'));
copyFileSync(join(root, 'models', 'tiny-test.onnx'), join(folder, 'tiny net.onnx'));
const PGN = '[Event "?"]\n[Result "1-0"]\n\n1. e4 e5 2. Qh5 Nc6 3. Bc4 Nf6 4. Qxf7# 1-0\n';
writeFileSync(join(folder, 'spiel.pgn'), PGN);
writeFileSync(join(folder, 'no program.exe'), 'This is no program.');
writeFileSync(join(folder, 'utf16.config'), Buffer.from('\uFEFFbackend = hash\r\nthreads = 1\r\n', 'utf16le'));
const windows = (name) => `Z:${join(folder, name).replaceAll('/', '\\')}`;
writeFileSync(join(folder, 'engine.bat'), `@"Z:${executable.replaceAll('/', '\\')}" --backend=hash --threads=1 %*\r\n`);

const tiny = '--weights=tiny net.onnx';
const play = 'uci\nisready\nposition startpos\ngo nodes 20\n';
/** name, arguments, input, what the output must hold, status, what must not be there */
const conversations = [
  ['it plays and quits', [tiny, '--threads=1'], `${play}isready\n`, /uciok[\s\S]*readyok[\s\S]*bestmove [a-h]/, 0],
  ['input that ends while the network loads', [tiny], 'position startpos\ngo nodes 20\n', /bestmove [a-h]/, 0],
  [
    'a path in quotes',
    ['--threads=1'],
    `setoption name WeightsFile value "${windows('tiny net.onnx')}"\n${play}`,
    /bestmove [a-h]/,
    0,
  ],
  [
    'a path with slashes',
    ['--threads=1'],
    `setoption name WeightsFile value ${windows('tiny net.onnx').replaceAll('\\', '/')}\n${play}`,
    /bestmove [a-h]/,
    0,
  ],
  ['a config in UTF-16', ['--config=utf16.config'], 'uci\nposition startpos\ngo nodes 20\n', /bestmove [a-h]/, 0],
  ['a log at a folder', [tiny, '--logfile=a folder'], play, /LogFile .* cannot be written: it is a folder/, 0, /EBADF/],
  [
    'a network that is not there',
    [],
    `setoption name WeightsFile value C:\\no\\net.onnx\n${play}`,
    /net\.onnx[\s\S]*bestmove [a-h]/,
    0,
  ],
  [
    'a device that is not there',
    [tiny, '--backend=dml'],
    play,
    /bestmove [a-h]/,
    0,
    /HRESULT|\.cc|\.cpp|[0-9A-F]{8}[\s\S]*GetLastError/,
  ],
  [
    'output over the input',
    ['analyse', tiny, '--nodes=2', '--pgn=SPIEL.pgn', 'spiel.pgn'],
    '',
    /names the file that is read/,
    1,
  ],
  [
    'an engine that is no program',
    ['match', '--games=1', '--engine', 'cmd="no program.exe" name=Wrong nodes=5', '--engine', 'random'],
    '',
    /Wrong cannot be started: .*no program/,
    1,
  ],
  [
    'a batch file as an engine',
    ['match', '--games=1', '--engine', `"${windows('engine.bat')}" name=Batch nodes=5`, '--engine', 'random'],
    '',
    /Batch/,
    0,
    /EINVAL/,
  ],
  [
    'a program in quotes',
    [
      'match',
      '--games=1',
      '--engine',
      `"Z:${executable.replaceAll('/', '\\')}" args="--backend=hash --threads=1" name=Quoted nodes=5`,
      '--engine',
      'random',
    ],
    '',
    /Quoted/,
    0,
    /quotation mark/,
  ],
  ['perft', ['perft', '3'], '', /8902/, 0],
  ['doctor', ['doctor'], '', /onnxruntime/, null, /HRESULT/],
];

let failures = 0;
for (const [name, args, input, expected, status, forbidden] of conversations) {
  const run = wine([executable, ...args], input);
  const { said } = run;
  const problems = [
    ...(expected.test(said) ? [] : [`${expected} is missing`]),
    ...(status === null || run.status === status ? [] : [`status ${run.status}, not ${status}`]),
    ...(forbidden?.test(said) ? [`${forbidden} is there`] : []),
  ];
  console.log(
    `${problems.length === 0 ? 'ok    ' : 'FAILED'} ${name}${problems.length === 0 ? '' : `: ${problems.join('; ')}`}`,
  );
  if (problems.length === 0) continue;
  failures++;
  console.log(said.slice(-1500).replace(/^/gm, '       '));
}
if (readFileSync(join(folder, 'spiel.pgn'), 'utf8') !== PGN) {
  failures++;
  console.log('FAILED the game was overwritten');
}
spawnSync('wineserver', ['-k'], { env });
if (!words.includes('--keep')) rmSync(scratch, { recursive: true, force: true });
console.log(`${conversations.length - failures} of ${conversations.length} as expected`);
process.exitCode = failures === 0 ? 0 : 1;
