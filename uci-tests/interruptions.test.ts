/** Stop, quit, signals, closed pipes, and questions during a search. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { NO_NETWORK, needsProcess, openEngine, withEngine } from './uci-process.js';

test('stop ends a search with one bestmove; isready is answered meanwhile', async (t) => {
  await withEngine([], async (engine) => {
    let slowestStopMs = 0;
    let slowestReadyMs = 0;
    for (let round = 0; round < 5; round++) {
      engine.send('position startpos', 'go infinite');
      await sleep(60);
      const askedAt = performance.now();
      await engine.ask('isready', 'readyok');
      slowestReadyMs = Math.max(slowestReadyMs, performance.now() - askedAt);
      const stoppedAt = performance.now();
      const lines = await engine.ask('stop', 'bestmove');
      slowestStopMs = Math.max(slowestStopMs, performance.now() - stoppedAt);
      assert.equal(lines.filter((line) => line.startsWith('bestmove')).length, 1);
    }
    t.diagnostic(`slowest isready ${slowestReadyMs.toFixed(1)} ms, slowest stop ${slowestStopMs.toFixed(1)} ms`);
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
      await sleep(100);
      assert.ok(!engine.lines.slice(from).some((line) => line.startsWith('bestmove')), fen);
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
  });
});

test('a second go stops the first; each gets one bestmove', async () => {
  await withEngine([], async (engine) => {
    const from = engine.lines.length;
    engine.send('position startpos', 'go infinite', 'position startpos moves e2e4', 'go nodes 10');
    while (engine.lines.slice(from).filter((line) => line.startsWith('bestmove')).length < 2) await sleep(10);
    await engine.ask('isready', 'readyok');
    const answers = engine.lines.slice(from).filter((line) => line.startsWith('bestmove'));
    assert.equal(answers.length, 2);
    assert.match(answers[0], /^bestmove [a-h][12]/);
    assert.match(answers[1], /^bestmove [a-h][78]/);
  });
});

test('stop ends a perft, and isready is answered while it counts', async (t) => {
  await withEngine([], async (engine) => {
    engine.send('position startpos', 'go perft 8');
    await sleep(100);
    const askedAt = performance.now();
    await engine.ask('isready', 'readyok');
    t.diagnostic(`isready during perft: ${(performance.now() - askedAt).toFixed(1)} ms`);
    await engine.ask('stop', 'Nodes searched');
    const lines = await engine.ask('go perft 3', 'Nodes searched');
    assert.equal(lines.at(-1), 'Nodes searched: 8902');
  });
});

test('ponder: no bestmove before ponderhit or stop', async () => {
  await withEngine(['Ponder value true'], async (engine) => {
    for (const end of ['ponderhit', 'stop']) {
      const from = engine.lines.length;
      engine.send('position startpos moves e2e4 e7e5', 'go ponder wtime 100 btime 100 winc 0 binc 0');
      await sleep(300);
      assert.ok(!engine.lines.slice(from).some((line) => line.startsWith('bestmove')));
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
      for (const pauseMs of [300, 0]) {
        engine.send('ucinewgame', 'position startpos');
        const first = await engine.ask(`go ${clock}`, 'bestmove');
        // Without a reply to ponder on, as after a search of one node, any other reply is a wrong guess too.
        const [, move = '', guess = 'b8c6'] = /^bestmove (\S+)(?: ponder (\S+))?/.exec(first.at(-1) ?? '') ?? [];
        const reply = guess === 'g8f6' ? 'b8c6' : 'g8f6';
        engine.send(`position startpos moves ${move} ${guess}`, `go ponder ${clock}`);
        await sleep(pauseMs);
        await engine.ask('stop', 'bestmove');
        engine.send(`position startpos moves ${move} ${reply}`);
        const second = await engine.ask(`go ${clock}`, 'bestmove');
        // The first move has a bonus that no later move may have.
        const [firstMs, secondMs] = [readBudgetMs(first), readBudgetMs(second)];
        assert.ok(secondMs < firstMs / 2, `${firstMs} ms, then ${secondMs} ms after ${pauseMs} ms`);
      }
    });
  });
}

for (const state of ['idle', 'searching', 'perft', 'starting'] as const) {
  for (const how of ['quit', 'end of input', 'SIGTERM', 'closed stdout'] as const) {
    test(`${how} while ${state} ends the process`, how === 'quit' ? {} : needsProcess, async (t) => {
      const engine = openEngine(t, NO_NETWORK);
      if (state !== 'starting') await engine.start();
      if (state === 'searching') engine.send('position startpos', 'go infinite');
      // The end of input waits for an answer that comes by itself.
      if (state === 'perft') engine.send('position startpos', `go perft ${how === 'end of input' ? 4 : 8}`);
      if (state !== 'starting') await sleep(100);
      const startedAt = performance.now();
      if (how === 'quit') engine.send('quit');
      else if (how === 'SIGTERM') engine.child.kill('SIGTERM');
      else if (how === 'end of input') engine.child.stdin.end();
      else {
        engine.child.stdout.destroy();
        // It learns of it with the next line it writes.
        engine.send('uci');
      }
      const status = await Promise.race([engine.exited, sleep(10000, 'still running')]);
      engine.child.kill('SIGKILL');
      // A signal during start-up may come before there is anybody to handle it.
      if (state !== 'starting') assert.equal(status, 0, `after ${(performance.now() - startedAt).toFixed(0)} ms`);
      assert.notEqual(status, 'still running');
      assert.equal(engine.stderr, '');
    });
  }
}

for (const delayMs of [0, 150, 300, 450]) {
  test(`quit ${delayMs} ms into loading the network ends in order, as when a GUI only looks at an engine`, async (t) => {
    const engine = openEngine(t, ['--threads=2']);
    await engine.ask('uci', 'uciok');
    engine.send('isready');
    await sleep(delayMs);
    engine.send('quit');
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
  engine.send('position startpos', 'go infinite');
  await sleep(50);
  engine.child.stdin.end();
  assert.equal(await engine.exited, 0);
  assert.match(engine.lines.at(-1) ?? '', /^bestmove /);
});
