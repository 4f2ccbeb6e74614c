/** What `sardonyx board` was told to use and cannot: it ends with one sentence, before an address is printed. */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { runCommand } from '../support/run-command.js';
import { repositoryRoot } from '../support/shared-folder.js';

const folder = mkdtempSync(join(tmpdir(), 'sardonyx-start-'));
let hasStarted = false;
after(() => {
  rmSync(folder, { recursive: true });
  // A board that has started would keep this process for ever.
  if (hasStarted) process.exit(1);
});
writeFileSync(join(folder, 'file'), 'x');
writeFileSync(join(folder, 'none.onnx'), 'x');
writeFileSync(
  join(folder, 'half.onnx'),
  readFileSync(join(repositoryRoot, 'models', 'tiny-test.onnx')).subarray(0, 90_000),
);
mkdirSync(join(folder, 'loop'));

const HASH = '--backend=hash';
for (const [what, args, sentence] of [
  [
    'a network that is missing',
    ['--weights=nofile.onnx'],
    /^Cannot (load|read) (the network )?nofile\.onnx: there is no such file$/,
  ],
  ['a network that is none', ['--weights=none.onnx'], /none\.onnx/],
  ['a network of no name', ['--weights=nosuchname'], /nosuchname/],
  ['a network that is cut off', ['--weights=half.onnx'], /half\.onnx/],
  [
    'an engine that is missing',
    [HASH, '--engine=nosuch'],
    /^The engine nosuch cannot be started: there is no program nosuch$/,
  ],
  [
    'an engine of no folder',
    [HASH, '--engine=cmd=./no/engine name=Ghost'],
    /^The engine Ghost cannot be started: there is no program \.\/no\/engine$/,
  ],
  ['an engine in a folder of its own that is missing', [HASH, '--engine=cmd=./file dir=/nodir'], /there is no program/],
  ...(process.platform === 'win32'
    ? []
    : [
        [
          'an engine that is no program',
          [HASH, '--engine=./file'],
          /^The engine file cannot be started: \.\/file is no program$/,
        ] as const,
      ]),
  [
    'an engine that is a folder',
    [HASH, '--engine=./loop'],
    /^The engine loop cannot be started: there is no program \.\/loop$/,
  ],
  [
    'a network in place of an engine',
    [HASH, '--engine=light'],
    /^--engine light: light is a network; an engine that plays it is "cmd=sardonyx option\.WeightsFile=light"$/,
  ],
  ['words that are no engine', [HASH, '--engine=name=x'], /^--engine name=x: An engine needs cmd=PROGRAM$/],
  ['words without an end', [HASH, '--engine=cmd="x'], /quotation mark is not closed/],
  ['a book that is missing', [HASH, '--book=nobook.pgn'], /nobook\.pgn/],
  ['a loop that is missing', [HASH, '--loop=nodir'], /^There is no training loop in nodir: it is no folder$/],
  [
    'a loop that is a file',
    [HASH, '--loop=file', '--loop-config=file'],
    /^There is no training loop in file: it is no folder$/,
  ],
  [
    'a configuration that is missing',
    [HASH, '--loop=loop', '--loop-config=no.yaml'],
    /^There is no configuration no\.yaml$/,
  ],
  [
    'a folder of networks that is missing',
    [HASH, '--networks=/nodir'],
    /^The networks of \/nodir cannot be listed: there is no such folder$/,
  ],
  [
    'a folder of networks that is a file',
    [HASH, '--networks=file'],
    /^The networks of file cannot be listed: it is no folder$/,
  ],
  ['a folder of matches that is a file', [HASH, '--matches=file'], /^No matches can be kept in file: it is no folder$/],
] as const) {
  test(`${what} ends the board with one sentence and status 1, before it prints an address`, async () => {
    const { status, stdout, stderr } = await runCommand(['board', '--no-open', '--config=', ...args], { cwd: folder });
    hasStarted ||= stdout !== '';
    assert.deepEqual([status, stdout], [1, '']);
    assert.match(stderr.trimEnd(), sentence);
    assert.doesNotMatch(stderr.trimEnd(), /\n|plays instead|ENOENT/);
  });
}
