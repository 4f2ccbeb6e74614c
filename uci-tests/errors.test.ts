/** Whatever a user gets wrong: one line that says so, nothing changed, and the next command works. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { test } from 'node:test';
import { plantEvaluatorFaults } from '../test/support/evaluator-faults.js';
import { DEFAULT_NETWORK, needsProcess, openEngine, PROGRAM, UciProcess, withEngine } from './uci-process.js';

const BUNDLED = existsSync(DEFAULT_NETWORK);

test('bad commands, options and positions cost one error line each', async () => {
  await withEngine([], async (engine) => {
    await engine.ask(['position startpos moves d2d4', 'isready'], 'readyok');
    const before = (await engine.ask(['d', 'isready'], 'readyok')).join('\n');
    const bad = [
      'foo',
      'setoption name Foo value 1',
      'setoption name MultiPV value 1000000',
      'setoption name MultiPV value x',
      'setoption name Backend value abacus',
      'setoption name BackendOptions value threads',
      'setoption name BackendOptions value abacus-beads=512',
      'setoption name TimeManager value sundial',
      'position fen',
      'position fen 9/8/8/8/8/8/8/8 w - - 0 1',
      'position fen rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQ1BNR w kq - 0 1',
      'position fen 4k3/8/8/8/8/8/8/4KR2 b - - 0 1 e8e7',
      'position startpos moves e2e4 e7e6 e1e3',
      'position startpos moves e2e4 hello',
      'go perft x',
      'ponderhit',
    ];
    for (const line of bad) {
      const answer = await engine.ask([line, 'isready'], 'readyok');
      assert.equal(answer.length, 2, `${line}: ${answer.join('\n')}`);
      assert.match(answer[0], /^(error|info string) .+/, line);
    }
    assert.equal((await engine.ask(['d', 'isready'], 'readyok')).join('\n'), before);
  });
});

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
  for (const args of [
    ['--nonsense'],
    ['--threads=-1'],
    ['--config=/nowhere/sardonyx.config'],
    ['--time-manager=sundial'],
    ['--backend-opts=abacus-beads=512'],
  ]) {
    const engine = openEngine(t, args);
    engine.child.stdin.end();
    assert.equal(await engine.exited, 1, args[0]);
    assert.match(engine.stderr, /^[^\n]+\n$/);
    assert.deepEqual(engine.lines, []);
  }
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
