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
    for (let round = 0; round < 3; round++) {
      await engine.begin('position startpos', 'go infinite');
      const meanwhile = await engine.ask('isready', 'readyok');
      assert.ok(!meanwhile.some((line) => line.startsWith('bestmove')));
      const lines = await engine.ask('stop', 'bestmove');
      assert.equal(lines.filter((line) => line.startsWith('bestmove')).length, 1);
    }
    // Stop without a search is silent.
    assert.deepEqual(await engine.ask(['stop', 'stop', 'isready'], 'readyok'), ['readyok']);
  });
});

test('go infinite answers only after stop, also on a finished game', async () => {
  await withEngine([], async (engine) => {
    const fens = [
      'R5k1/5ppp/8/8/8/8/8/6K1 b - - 0 1',
      '7k/5Q2/6K1/8/8/8/8/8 b - - 0 1',
      '8/8/8/4k3/8/4K3/8/8 w - - 0 1',
    ];
    for (const fen of fens) {
      const from = engine.lines.length;
      engine.send(`position fen ${fen}`, 'go infinite');
      assert.ok(!(await engine.listSince(from)).some((line) => line.startsWith('bestmove')), fen);
      await engine.ask('stop', 'bestmove');
    }
  });
});

test('finished games are answered with (none), mate 0 or a draw', async () => {
  await withEngine([], async (engine) => {
    const mated = await engine.ask(['position fen R5k1/5ppp/8/8/8/8/8/6K1 b - - 0 1', 'go nodes 10'], 'bestmove');
    assert.match(mated.at(-2) ?? '', /score mate 0/);
    assert.equal(mated.at(-1), 'bestmove (none)');
    const stalemate = await engine.ask(
      ['position fen 7k/5Q2/6K1/8/8/8/8/8 b - - 0 1', 'go wtime 100 btime 100'],
      'bestmove',
    );
    assert.match(stalemate.at(-2) ?? '', /score cp 0/);
    assert.equal(stalemate.at(-1), 'bestmove (none)');
    const share = await engine.ask(['setoption name ScoreType value win_percentage', 'go nodes 10'], 'bestmove');
    assert.match(share.at(-2) ?? '', /score cp 5000/);
  });
});

test('a second go stops the first; each gets one bestmove', async () => {
  await withEngine([], async (engine) => {
    const from = engine.lines.length;
    const first = engine.next('bestmove');
    engine.send('position startpos', 'go infinite', 'position startpos moves e2e4', 'go nodes 10');
    await first;
    // The second answer is of the other player's move.
    if (engine.lines.slice(from).filter((line) => line.startsWith('bestmove')).length < 2)
      await engine.next('bestmove');
    await engine.ask('isready', 'readyok');
    const answers = engine.lines.slice(from).filter((line) => line.startsWith('bestmove'));
    assert.equal(answers.length, 2);
    assert.match(answers[0], /^bestmove [a-h][12]/);
    assert.match(answers[1], /^bestmove [a-h][78]/);
  });
});

test('stop ends a perft, and isready is answered while it counts', async () => {
  await withEngine([], async (engine) => {
    const meanwhile = await engine.ask(['position startpos', 'go perft 8', 'isready'], 'readyok');
    assert.ok(!meanwhile.some((line) => line.startsWith('Nodes searched')));
    await engine.ask('stop', 'Nodes searched');
    const lines = await engine.ask('go perft 3', 'Nodes searched');
    assert.equal(lines.at(-1), 'Nodes searched: 8902');
  });
});

test('ponder: no bestmove before ponderhit or stop', async () => {
  await withEngine(['Ponder value true'], async (engine) => {
    for (const end of ['ponderhit', 'stop']) {
      const from = engine.lines.length;
      await engine.begin('position startpos moves e2e4 e7e5', 'go ponder wtime 100 btime 100 winc 0 binc 0');
      assert.ok(!(await engine.listSince(from)).some((line) => line.startsWith('bestmove')));
      const lines = await engine.ask(end, 'bestmove');
      assert.match(lines.at(-1) ?? '', /^bestmove [a-h][1-8]/);
    }
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

for (const state of ['idle', 'searching', 'perft', 'starting'] as const) {
  for (const how of ['quit', 'end of input', 'SIGTERM', 'closed stdout'] as const) {
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
      assert.equal(engine.stderr, '');
    });
  }
}

for (const before of [['uci'], ['uci', 'isready'], ['uci', 'isready', 'position startpos', 'go nodes 100']]) {
  test(`quit while the network loads, after ${before.join(', ')}, ends in order`, async (t) => {
    const engine = openEngine(t, ['--threads=2']);
    await engine.ask('uci', 'uciok');
    engine.send(...before.slice(1), 'quit');
    assert.equal(await engine.exited, 0);
    assert.equal(engine.stderr, '');
  });
}

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

test('a search that runs at the end of input still gives its answer', needsProcess, async (t) => {
  const engine = await openEngine(t, NO_NETWORK).start();
  await engine.begin('position startpos', 'go infinite');
  engine.child.stdin.end();
  assert.equal(await engine.exited, 0);
  assert.match(engine.lines.at(-1) ?? '', /^bestmove /);
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
