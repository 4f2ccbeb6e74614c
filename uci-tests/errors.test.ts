/** Whatever a user gets wrong: one line that says so, nothing changed, and the next command works. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { test } from 'node:test';
import { plantEvaluatorFaults } from '../test/support/evaluator-faults.js';
import { DEFAULT_NETWORK, needsProcess, openEngine, PROGRAM, UciProcess } from './uci-process.js';

const BUNDLED = existsSync(DEFAULT_NETWORK);

test(
  'a network or backend option that is wrong costs one sentence, and the bundled network plays',
  needsProcess,
  async (t) => {
    for (const args of [
      ['--weights=/nowhere/no.onnx'],
      [`--weights=${import.meta.filename ?? process.argv[1]}`],
      ['--backend=cpu', '--backend-opts=tf32=true'],
    ]) {
      const engine = openEngine(t, args);
      await engine.ask('uci', 'uciok');
      const lines = await engine.ask(['isready'], 'readyok');
      const errors = lines.filter((line) => /^info string .*(no\.onnx|errors\.test|tf32)/.test(line));
      assert.ok(!lines.some((line) => line.startsWith('error')));
      assert.equal(errors.length, 1);
      assert.match(errors[0], /(no\.onnx|errors\.test|tf32)/);
      if (BUNDLED) assert.match(errors[0], /; .* on .* plays instead$/);
      const answer = await engine.ask(['position startpos', 'go movetime 50'], 'bestmove');
      assert.match(answer.at(-1) ?? '', /^bestmove [a-h][1-8]/);
      assert.match(answer.at(-2) ?? '', BUNDLED ? /^info .* nodes [1-9].* score / : /^info .* score /);
      // Another choice repairs it.
      const changes = ['setoption name BackendOptions value <empty>', 'setoption name Backend value random'];
      const repaired = await engine.ask([...changes, 'isready', 'go nodes 5'], 'bestmove');
      assert.doesNotMatch(repaired.join('\n'), /error/);
      assert.equal(await engine.quit(), 0);
    }
  },
);

test('a wrong flag ends the program with one sentence and status 1', needsProcess, async (t) => {
  const engine = openEngine(t, ['--nonsense']);
  engine.child.stdin.end();
  assert.equal(await engine.exited, 1);
  assert.match(engine.stderr, /^[^\n]+\n$/);
  assert.deepEqual(engine.lines, []);
});

test('where files cannot be opened the engine plays, or says so and ends', needsProcess, async (t) => {
  if (process.platform === 'win32') return t.skip('needs ulimit');
  for (const limit of [40, 64, 96]) {
    const script = `ulimit -n ${limit}; exec "$0" "$@"`;
    const engine = new UciProcess('sh', ['-c', script, process.execPath, PROGRAM, '--backend=random']);
    engine.child.stdin.write('uci\nisready\ngo nodes 1\nwait\nquit\n');
    const status = await engine.exited;
    const last = engine.lines.at(-1) ?? '';
    assert.match(last, status === 0 ? /^bestmove [a-h]/ : /^info string Internal error: EMFILE: too many open files/);
    assert.ok(status === 0 || status === 70, `${status}`);
    assert.equal(engine.stderr, '');
  }
});

test('evaluator threads that fail give way to others during a search', needsProcess, async (t) => {
  const engine = openEngine(t, ['--backend=random'], plantEvaluatorFaults({ failAfter: 3 }));
  await engine.start();
  const lines = await engine.ask(['position startpos', 'go nodes 2000'], 'bestmove');
  assert.match(lines.at(-1) ?? '', /^bestmove [a-h][1-8]/);
  assert.equal(await engine.quit(), 0);
});
