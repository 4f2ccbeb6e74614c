/** Stop, quit, signals, closed pipes, and questions during a search. */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { NO_NETWORK, needsProcess, openEngine, PROGRAM, withEngine } from './uci-process.js';

test('stop ends a search with one bestmove; isready is answered meanwhile', async () => {
  await withEngine([], async (engine) => {
    // Bare kings are a draw, but not the end of a search.
    for (const position of ['startpos', 'startpos', 'fen 8/8/8/4k3/8/4K3/8/8 w - - 0 1']) {
      await engine.begin(`position ${position}`, 'go infinite');
      const meanwhile = await engine.ask('isready', 'readyok');
      assert.ok(!meanwhile.some((line) => line.startsWith('bestmove')));
      const lines = await engine.ask('stop', 'bestmove');
      assert.equal(lines.filter((line) => line.startsWith('bestmove')).length, 1);
    }
    // Stop without a search is silent.
    assert.deepEqual(await engine.ask(['stop', 'stop', 'isready'], 'readyok'), ['readyok']);
  });
});

for (const search of ['tree', 'graph']) {
  test(`ponder: after a wrong guess the game and its clock go on, ${search}`, async () => {
    await withEngine(['Ponder value true', `SearchAlgorithm value ${search}`], async (engine) => {
      const clock = 'wtime 2000 btime 2000 winc 10 binc 10';
      const readBudgetMs = (lines: readonly string[]): number =>
        Number(/Budget for this move: ([\d.]+) ms/.exec(lines.join('\n'))?.[1]);
      engine.send('debug on');
      for (const ponders of [true, false]) {
        engine.send('ucinewgame', 'position startpos');
        const first = await engine.ask(`go ${clock}`, 'bestmove');
        // Without a reply to ponder on, as after a search of one node, any other reply is a wrong guess too.
        const [, move = '', guess = 'b8c6'] = /^bestmove (\S+)(?: ponder (\S+))?/.exec(first.at(-1) ?? '') ?? [];
        const reply = guess === 'g8f6' ? 'b8c6' : 'g8f6';
        const pondering = [`position startpos moves ${move} ${guess}`, `go ponder ${clock}`];
        if (ponders) await engine.begin(...pondering);
        else engine.send(...pondering);
        await engine.ask('stop', 'bestmove');
        engine.send(`position startpos moves ${move} ${reply}`);
        const second = await engine.ask(`go ${clock}`, 'bestmove');
        // The first move has a bonus that no later move may have.
        const [firstMs, secondMs] = [readBudgetMs(first), readBudgetMs(second)];
        assert.ok(secondMs < firstMs / 2, `${firstMs} ms, then ${secondMs} ms`);
      }
    });
  });
}

/**
 * States and what ends the process. Every other test here quits while idle, and the commands from a pipe below end while the engine
 * starts and when it is idle.
 */
const ENDS = [
  ['quit', ['searching', 'perft', 'starting']],
  ['end of input', ['searching', 'perft']],
  ['SIGTERM', ['idle', 'searching', 'perft', 'starting']],
  ['closed stdout', ['idle', 'searching', 'perft', 'starting']],
] as const;

for (const [how, states] of ENDS) {
  for (const state of states) {
    test(`${how} while ${state} ends the process`, how === 'quit' ? {} : needsProcess, async (t) => {
      const engine = openEngine(t, NO_NETWORK);
      if (state !== 'starting') await engine.start();
      if (state === 'searching') await engine.begin('position startpos', 'go infinite');
      // The end of input waits for an answer that comes by itself.
      const depth = how === 'end of input' ? 4 : 8;
      if (state === 'perft') await engine.ask(['position startpos', `go perft ${depth}`, 'isready'], 'readyok');
      if (how === 'quit') engine.send('quit');
      else if (how === 'SIGTERM') engine.child.kill('SIGTERM');
      else if (how === 'end of input') engine.child.stdin.end();
      else {
        engine.child.stdout.destroy();
        // It learns of it with the next line it writes.
        engine.send('uci');
      }
      const status = await engine.exited;
      // A signal during start-up may come before there is anybody to handle it.
      if (state !== 'starting') assert.equal(status, 0);
      // The answers of a search and of a perft are given.
      if (how === 'end of input') assert.match(engine.lines.at(-1) ?? '', /^(bestmove|Nodes searched) ?/);
      assert.equal(engine.stderr, '');
    });
  }
}

test('quit while the network loads, with a search behind it, ends in order', async (t) => {
  const engine = openEngine(t, ['--threads=2']);
  await engine.ask('uci', 'uciok');
  engine.send('isready', 'position startpos', 'go nodes 100', 'quit');
  assert.equal(await engine.exited, 0);
  assert.equal(engine.stderr, '');
});

test('commands from a pipe are all answered before the program ends', needsProcess, async (t) => {
  const engine = openEngine(t);
  engine.child.stdin.end('uci\nisready\nposition startpos\ngo nodes 50');
  assert.equal(await engine.exited, 0);
  const answers = engine.lines.filter((line) => /^(uciok|readyok|bestmove|error)/.test(line));
  assert.deepEqual(
    answers.map((line) => line.split(' ')[0]),
    ['uciok', 'readyok', 'bestmove'],
  );
  assert.match(engine.lines.at(-2) ?? '', / nodes 50 /);
});

test(
  'when the terminal is closed the engine and the board end by the hang-up, without a crash of Node',
  needsProcess,
  async (t) => {
    if (spawnSync('script', ['--version']).status !== 0) return t.skip('script (util-linux) is not installed');
    const folder = mkdtempSync(join(tmpdir(), 'sardonyx-terminal-'));
    t.after(() => rmSync(folder, { recursive: true }));
    for (const [command, lines] of [
      ['', 'isready'],
      ['', 'isready\ngo infinite'],
      [`board --no-open --config= --matches="${folder}"`, ''],
    ]) {
      const status = join(folder, `${lines.length}`);
      const program = `"${process.execPath}" "${PROGRAM}" ${command} --backend=random`;
      // As a shell that a user types in does, this one hands the hang-up on, and the terminal too, which some keep from the background.
      const wait = 'while kill -0 $! 2> /dev/null; do wait $!; status=$?; done';
      const shell = `trap 'kill -HUP $!' HUP; exec 3<&0; ${program} <&3 & ${wait}; echo $status > "${status}"`;
      const terminal = spawn('script', ['-qec', shell, '/dev/null']);
      t.after(() => terminal.kill('SIGKILL'));
      const isReady = new Promise<void>((resolve) => {
        let text = '';
        terminal.stdout.on('data', (chunk) => {
          text += chunk;
          if (/(readyok|token=.*)\r?\n/.test(text)) resolve();
        });
      });
      terminal.stdin.write(`${lines}\n`);
      await isReady;
      terminal.kill('SIGKILL');
      while (!existsSync(status) || readFileSync(status, 'utf8') === '')
        await new Promise((resolve) => setTimeout(resolve, 20));
      assert.equal(readFileSync(status, 'utf8'), '129\n');
    }
  },
);
