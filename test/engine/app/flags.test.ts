import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { unwrap } from '#sardonyx/base/util/index.js';
import { splitFolders } from '#sardonyx/chess/syzygy/find-tables.js';
import { createOptionStore, listOptionSpecs } from '#sardonyx/engine/app/all-options.js';
import { listConfigPlaces, parseConfig } from '#sardonyx/engine/app/config-files.js';
import { parseFlags } from '#sardonyx/engine/app/flags.js';
import { readSettings } from '#sardonyx/engine/app/settings.js';
import { formatOption } from '#sardonyx/engine/uci/options.js';
import { formatOptionsPage } from '../../support/options-page.js';
import { repositoryRoot } from '../../support/shared-folder.js';

const specs = listOptionSpecs();

test('lc0’s spellings of a flag all mean the same', () => {
  for (const args of [['--threads=2'], ['--threads', '2'], ['-t', '2'], ['-t2'], ['-t=2']]) {
    assert.deepEqual(unwrap(parseFlags(args, specs)).settings, [['Threads', '2']], args.join(' '));
  }
  for (const args of [['--verbose-move-stats'], ['-v'], ['--verbose-move-stats=true']]) {
    assert.deepEqual(unwrap(parseFlags(args, specs)).settings, [['VerboseMoveStats', 'true']], args.join(' '));
  }
  for (const args of [['--no-verbose-move-stats'], ['--verbose-move-stats=false']]) {
    assert.deepEqual(unwrap(parseFlags(args, specs)).settings, [['VerboseMoveStats', 'false']], args.join(' '));
  }
  const long = ['--weights=net=1.onnx', '-b', 'hash', '-o', 'seed=3', '--nncache=1000', '--policy-softmax-temp=1.5'];
  assert.deepEqual(unwrap(parseFlags(long, specs)).settings, [
    ['WeightsFile', 'net=1.onnx'],
    ['Backend', 'hash'],
    ['BackendOptions', 'seed=3'],
    ['NNCacheSize', '1000'],
    ['PolicyTemperature', '1.5'],
  ]);
});

test('flags that are not options are known, others are refused by name', () => {
  assert.equal(unwrap(parseFlags(['--show-hidden', '--preload'], specs)).showHidden, true);
  for (const args of [['--nonsense'], ['--nonsense=1'], ['-q'], ['--no-threads'], ['--threads']]) {
    const result = parseFlags(args, specs);
    assert.ok(!result.ok, args.join(' '));
    assert.match(result.error, new RegExp(args[0]));
  }
});

test('a flag that follows is not taken for a value; a negative number is one', () => {
  for (const args of [
    ['--weights', '--threads=2'],
    ['-w', '-t2'],
  ]) {
    const result = parseFlags(args, specs);
    assert.equal(result.ok ? '' : result.error, `Flag ${args[0]} needs a value`);
  }
  assert.deepEqual(unwrap(parseFlags(['--draw-score', '-0.1'], specs)).settings, [['DrawScore', '-0.1']]);
  assert.deepEqual(unwrap(parseFlags(['--weights=--odd.onnx'], specs)).settings, [['WeightsFile', '--odd.onnx']]);
});

test('what is no flag is a positional', () => {
  assert.deepEqual(unwrap(parseFlags(['uci', '--threads=1', 'x'], specs)).positionals, ['uci', 'x']);
});

test('every flag sets its option', () => {
  for (const spec of specs) {
    if (spec.flag === '' || spec.kind === 'button') continue;
    const { settings } = unwrap(parseFlags([`--${spec.flag}=${spec.default}`], specs));
    assert.ok(createOptionStore().set(settings[0][0], settings[0][1]).ok, spec.uci);
  }
});

test('a config file is a list of flags, dashes optional, with comments', () => {
  const text = '# my settings\n--threads=2\r\nbackend=hash  # no network\n\nverbose-move-stats\n--weights=a#b.onnx\n';
  assert.deepEqual(parseConfig(text), ['--threads=2', '--backend=hash', '--verbose-move-stats', '--weights=a#b.onnx']);
  assert.deepEqual(parseConfig('backend = hash\nthreads 2\n-t 3\n'), ['--backend=hash', '--threads=2', '-t=3']);
});

test('a config file may be UTF-16, as PowerShell writes it; a line that is no flag is named; a device is refused', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'sardonyx-config-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'my.config');
  const text = '\uFEFFthreads = 3\r\nbackend = hash\r\n';
  for (const bytes of [Buffer.from(text), Buffer.from(text, 'utf16le'), Buffer.from(text, 'utf16le').swap16()]) {
    writeFileSync(path, bytes);
    const { options } = unwrap(readSettings([`--config=${path}`]));
    assert.deepEqual([options.getNumber('Threads'), options.getString('Backend')], [3, 'hash']);
  }
  const readError = (name: string): string => {
    const settings = readSettings([`--config=${name}`]);
    return settings.ok ? '' : settings.error;
  };
  writeFileSync(path, '=hash\n');
  assert.match(readError(path), /my\.config: "--=hash" is not of the form name=value/);
  writeFileSync(path, ' '.repeat(2 ** 20 + 1));
  assert.match(readError(path), /64 kB at most/);
  if (process.platform !== 'win32') assert.match(readError('/dev/zero'), /no text file/);
});

test('a path that was copied with its quotes is meant without them', () => {
  const store = createOptionStore();
  for (const [name, text] of [
    ['WeightsFile', '"C:\\Program Files\\net.onnx"'],
    ['LogFile', "'/tmp/my log'"],
    ['SyzygyPath', '"C:\\a b"'],
  ]) {
    unwrap(store.set(name, text));
    assert.equal(store.getString(name), text.slice(1, -1));
  }
  assert.deepEqual(splitFolders('"C:\\a b";"C:\\c"', true), ['C:\\a b', 'C:\\c']);
});

test('the command line wins over the config file, and a named file must exist', () => {
  const folder = mkdtempSync(join(tmpdir(), 'sardonyx-config-'));
  const path = join(folder, 'my.config');
  writeFileSync(path, '--threads=3\n--cpuct=2\n');
  const { options } = unwrap(readSettings([`--config=${path}`, '--cpuct=3']));
  assert.equal(options.getNumber('Threads'), 3);
  assert.equal(options.getNumber('CPuct'), 3);
  writeFileSync(path, '--threads=many\n');
  const wrong = readSettings([`--config=${path}`]);
  assert.ok(!wrong.ok);
  assert.match(wrong.error, /my\.config: Option Threads/);
  rmSync(folder, { recursive: true });
  const missing = readSettings([`--config=${path}`]);
  assert.ok(!missing.ok);
  assert.match(missing.error, /no config file/);
});

test('a config file that is found by itself is told of, and a line that is wrong costs only itself', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'sardonyx-config-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const [lc0, own] = ['lc0.config', 'sardonyx.config'].map((name) => join(folder, name));
  writeFileSync(lc0, 'threads=3\nno-such-flag=1\ncpuct=many\nminibatch-size=17\n');
  writeFileSync(own, 'threads=4\n');
  const places = [lc0, own];
  const { options, found, faults } = unwrap(readSettings(['--cpuct=3'], places));
  assert.equal(options.getNumber('MinibatchSize'), 17);
  assert.equal(options.getNumber('Threads'), 4, 'our own file has the last word');
  assert.equal(options.getNumber('CPuct'), 3);
  assert.deepEqual(found, places);
  assert.equal(faults.length, 2);
  assert.match(faults[0], /lc0\.config: Unknown flag --no-such-flag=1/);
  assert.match(faults[1], /lc0\.config: Option CPuct/);
  const empty = unwrap(readSettings(['--config='], places));
  assert.deepEqual(empty.found, []);
  assert.equal(empty.options.getNumber('MinibatchSize'), 0);
});

test('a config file of the current folder sets no file and no address, and one line says what was read', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'sardonyx-config-'));
  const before = process.cwd();
  process.chdir(folder);
  t.after(() => {
    process.chdir(before);
    rmSync(folder, { recursive: true });
  });
  const lines = [
    'threads=3',
    'weights=https://example.org/x.pb.gz',
    '-w /etc/passwd',
    '-w=/etc/passwd',
    'logfile=/tmp/x',
  ];
  const others = ['syzygy-paths=/', 'backend-opts=path=/x', 'config=/etc/passwd', 'time-manager=smooth'];
  writeFileSync('lc0.config', [...lines, ...others].join('\n'));
  const { options, faults } = unwrap(readSettings([], ['lc0.config']));
  assert.deepEqual([options.getNumber('Threads'), options.getString('TimeManager')], [3, 'smooth']);
  for (const name of ['LogFile', 'SyzygyPath', 'BackendOptions']) assert.equal(options.getString(name), '', name);
  assert.equal(options.getString('WeightsFile'), '<autodiscover>');
  assert.match(faults.join('\n'), /^Read from lc0\.config of the current folder: --threads=3 .*; not --weights=https/);
  writeFileSync('named.config', 'logfile=/tmp/x');
  const named = unwrap(readSettings(['--config=named.config'], []));
  assert.equal(named.options.getString('LogFile'), '/tmp/x');
  writeFileSync('lc0.config', 'x'.repeat(100_000));
  assert.match(unwrap(readSettings([], ['lc0.config'])).faults[0], /no text file of 64 kB/);
});

test('config files are looked for where lc0 looks', { skip: process.platform !== 'linux' }, () => {
  const home = mkdtempSync(join(tmpdir(), 'sardonyx-home-'));
  const environment = { HOME: home, XDG_CONFIG_DIRS: '/etc/one:/etc/two' };
  assert.deepEqual(listConfigPlaces('/opt/sardonyx', environment), [
    [
      'lc0.config',
      '/opt/sardonyx/lc0.config',
      join(home, '.config/lc0/lc0.config'),
      '/etc/one/lc0/lc0.config',
      '/etc/two/lc0/lc0.config',
    ],
    ['sardonyx.config', '/opt/sardonyx/sardonyx.config', join(home, '.config/sardonyx/sardonyx.config')],
  ]);
  const [[, , user]] = listConfigPlaces('/', { XDG_CONFIG_HOME: '/cfg' });
  assert.equal(user, '/cfg/lc0/lc0.config');
  const [relative] = listConfigPlaces('/', { HOME: home, XDG_CONFIG_HOME: 'cfg', XDG_CONFIG_DIRS: './one:/two' });
  assert.deepEqual(relative.slice(2), [join(home, '.config/lc0/lc0.config'), '/two/lc0/lc0.config']);
});

test('a folder in the place of a config file is named as one', () => {
  const result = readSettings([`--config=${tmpdir()}`]);
  assert.ok(!result.ok);
  assert.match(result.error, /^Cannot read the config file .*: it is a folder$/);
});

test('a value that is out of range or unknown on the command line is refused in one sentence', () => {
  for (const [flag, sentence] of [
    ['--threads=1000', /^[^\n]*between 0 and 128[^\n]*$/],
    ['--threads=-1', /^[^\n]*between 0 and 128[^\n]*$/],
    ['--time-manager=sundial', /^[^\n]*sundial[^\n]*$/],
    ['--backend-opts=abacus-beads=512', /^[^\n]*abacus-beads[^\n]*$/],
  ] as const) {
    const result = readSettings([flag]);
    assert.ok(!result.ok, flag);
    assert.match(result.error, sentence);
  }
});

/** ScoreType has one choice more than lc0's. */
function normalise(line: string): string {
  return line.trim().replace(' var centipawn_leela', '');
}

const PAGE = join(repositoryRoot, 'docs', 'options.md');

// UPDATE_DOCS=1 writes the page instead of comparing it.
test('docs/options.md is what the options say of themselves', () => {
  if (process.env.UPDATE_DOCS !== undefined) writeFileSync(PAGE, formatOptionsPage());
  assert.ok(existsSync(PAGE));
  assert.equal(readFileSync(PAGE, 'utf8'), formatOptionsPage(), 'run the test with UPDATE_DOCS=1');
});

test('every option of lc0 is there, with its default and range', (t) => {
  const file = join(repositoryRoot, '..', 'shared', 'reference', 'lc0-uci-options.txt');
  if (!existsSync(file)) {
    t.skip('the list of lc0’s options is not in the shared folder beside the checkout');
    return;
  }
  // Backends differ by nature.
  const ownWay = new Set(['Backend', 'WeightsFile']);
  const ours = new Map(listOptionSpecs().map((spec) => [spec.uci, formatOption(spec)]));
  for (const line of readFileSync(file, 'utf8').trim().split('\n')) {
    const name = /^option name (.+?) type /.exec(line)?.[1] ?? '';
    if (ownWay.has(name)) continue;
    assert.equal(normalise(ours.get(name) ?? `${name} is missing`), normalise(line));
  }
});
