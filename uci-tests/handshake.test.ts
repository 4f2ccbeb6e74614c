import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { test } from 'node:test';
import { NO_NETWORK, needsProcess, openEngine, TINY_NETWORK, type UciProcess, withEngine } from './uci-process.js';

const FORBIDDEN_WORDS = /\b(name|type|default|min|max|var)\b/i;

test('the handshake: name, author, well-formed options, uciok; then readyok', async (t) => {
  const engine = openEngine(t);
  const lines = await engine.ask('uci', 'uciok');
  await engine.ask('isready', 'readyok');
  assert.match(lines[0], /^id name Sardonyx \d/);
  assert.match(lines[1], /^id author \S/);
  const names = new Set<string>();
  for (const line of lines.slice(2, -1)) {
    const option =
      /^option name (.+?) type (check|spin|combo|string|button)(?: default(?: (.*?))?)?((?: (?:min|max|var) \S+)*)$/.exec(
        line,
      );
    assert.ok(option !== null, line);
    const [, name, type, value, rest] = option;
    assert.doesNotMatch(name, FORBIDDEN_WORDS);
    assert.ok(!names.has(name.toLowerCase()), `${name} is listed twice`);
    names.add(name.toLowerCase());
    if (type === 'check') assert.match(value, /^(true|false)$/);
    if (type === 'combo') assert.ok(rest.split(' var ').slice(1).includes(value), line);
    if (type === 'spin') {
      const [, min, max] = / min (-?\d+) max (-?\d+)/.exec(rest) ?? [];
      assert.match(value, /^-?\d+$/);
      assert.ok(Number(min) <= Number(value) && Number(value) <= Number(max), line);
    }
  }
  const wanted = [
    'Hash',
    'Threads',
    'Move Overhead',
    'MoveOverheadMs',
    'Ponder',
    'MultiPV',
    'UCI_Chess960',
    'UCI_ShowWDL',
  ];
  wanted.push('UCI_AnalyseMode', 'UCI_Opponent', 'Clear Hash', 'SyzygyPath', 'WeightsFile', 'Backend', 'NNCacheSize');
  for (const name of wanted) assert.ok(names.has(name.toLowerCase()), `${name} is not listed`);
  assert.equal(await engine.quit(), 0);
  assert.equal(engine.stderr, '');
});

test('which network plays, on which backend, and why, is told in one info string', needsProcess, async (t) => {
  for (const [args, sentence] of [
    [
      [`--weights=${TINY_NETWORK}`],
      /^info string Network .+ on cpu, \d+ threads?: \S*tiny-test.onnx, as WeightsFile says$/,
    ],
    [['--weights=default'], /^info string Network .+ on cpu, .*: (default-int8|light-48x5), the .*bundled network/],
    // On Linux and Windows CoreML cannot be used, so the CPU plays with its own network.
    [
      ['--weights=default', process.platform === 'darwin' ? '--backend=cpu' : '--backend=coreml'],
      /^info string Network .+ on cpu, .*: (default-int8|light-48x5), the .*bundled network/,
    ],
    [['--weights=default', '--limit-strength'], /^info string Network .+ on cpu, .*: light, with which/],
  ] as const) {
    const engine = openEngine(t, ['--config=', ...args]);
    const lines = await engine.ask(['isready', 'go nodes 1'], 'bestmove');
    const told = lines.filter((line) => line.includes('info string Network'));
    assert.equal(told.length, 1, lines.join('\n'));
    assert.match(told[0], sentence);
    assert.equal(await engine.quit(), 0);
  }
});

test('a user without a home, as in many containers, plays like any other', needsProcess, async (t) => {
  const patch = "os.homedir = () => { throw new Error('no entry in /etc/passwd'); }; syncBuiltinESMExports();";
  const code = `import os from 'node:os'; import { syncBuiltinESMExports } from 'node:module'; ${patch}`;
  const noEntry = `--import ${encodeURI(`data:text/javascript,${code}`)}`;
  for (const environment of [{ HOME: undefined, NODE_OPTIONS: noEntry }, { HOME: '/' }, { HOME: '/nonexistent' }]) {
    const engine = openEngine(t, undefined, environment);
    await engine.start();
    assert.match((await engine.ask('go nodes 5', 'bestmove')).at(-1) ?? '', /^bestmove [a-h]/);
    assert.equal(await engine.quit(), 0);
    assert.equal(engine.stderr, '');
  }
  assert.ok(!existsSync('/nonexistent'));
});

test('uci may be asked again, and hidden options are listed on request', needsProcess, async (t) => {
  const engine = openEngine(t, ['--show-hidden', '--backend=random']);
  const first = await engine.ask('uci', 'uciok');
  const second = await engine.ask('uci', 'uciok');
  assert.deepEqual(second, first);
  assert.ok(first.some((line) => line.startsWith('option name Temperature type string default 0.000000')));
  assert.equal(await engine.quit(), 0);
});

test('a session without uci, isready or ucinewgame works as well', async (t) => {
  const engine = openEngine(t);
  const lines = await engine.ask(['position startpos', 'go nodes 5'], 'bestmove');
  assert.match(lines.at(-1) ?? '', /^bestmove [a-h][1-8][a-h][1-8]/);
  assert.equal(await engine.quit(), 0);
});

test('commands that come in one write are answered in order', async (t) => {
  const engine = openEngine(t);
  const text = ['uci', 'isready', 'position startpos moves e2e4', 'go nodes 5', 'wait', 'd'];
  const lines = await engine.ask(text, 'Legal moves');
  const order = ['uciok', 'readyok', 'bestmove', 'Fen: '].map((start) =>
    lines.findIndex((line) => line.startsWith(start)),
  );
  assert.deepEqual(
    [...order].sort((a, b) => a - b),
    order,
  );
  assert.ok(!order.includes(-1));
  assert.equal(await engine.quit(), 0);
});

test('options of every kind are taken, in any case', async () => {
  await withEngine([], async (engine) => {
    const options = [
      'Threads value 1',
      'hash value 16',
      'Move Overhead value 50',
      'cpuct value 2.5',
      'UCI_ShowWDL value true',
      'ScoreType value Q',
      'Ponder value true',
      'UCI_Opponent value none none computer Stockfish 15',
      'UCI_AnalyseMode value true',
      'Clear Hash',
      'ClearTree',
      'TaskWorkers value 2',
    ];
    const lines = await engine.ask([...options.map((option) => `setoption name ${option}`), 'isready'], 'readyok');
    assert.deepEqual(
      lines.filter((line) => !/Still loading|info string Network /.test(line)),
      ['readyok'],
    );
    const info = await engine.ask(['position startpos', 'go nodes 20'], 'bestmove');
    assert.match(info[0], / wdl \d+ \d+ \d+ /);
  });
});

test('lc0’s words for a search stand where a command does', needsProcess, async () => {
  for (const [word, nodes] of [
    ['policyhead', 1],
    ['valuehead', 21],
    ['dag-preview', 40],
  ] as const) {
    const check = async (engine: UciProcess): Promise<void> => {
      const lines = await engine.ask(['position startpos', 'go nodes 40'], 'bestmove');
      assert.match(lines.at(-2) ?? '', new RegExp(`^info .* nodes ${nodes} `));
    };
    await withEngine([], check, [word, ...NO_NETWORK]);
  }
});
