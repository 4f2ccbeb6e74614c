/** How the program starts: which network it takes, where nobody has a home, and by which words. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { test } from 'node:test';
import { NO_NETWORK, needsProcess, openEngine, TINY_NETWORK, type UciProcess, withEngine } from './uci-process.js';

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
