/** Games against a weakened engine: it answers from few nodes, with an info line, and never plays nonsense syntax. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findInfoProblem, withEngine } from './uci-process.js';

test('a limited move comes from few nodes, after an info line', async () => {
  await withEngine(['UCI_LimitStrength value true', 'UCI_Elo value 1400', 'MultiPV value 3'], async (engine) => {
    const moves = new Set<string>();
    for (let round = 0; round < 12; round++) {
      const lines = await engine.ask(
        ['position startpos moves e2e4', 'go wtime 60000 btime 60000 winc 500 binc 500'],
        'bestmove',
      );
      const infos = lines.filter((line) => line.startsWith('info'));
      assert.ok(infos.length > 0);
      for (const line of infos) assert.equal(findInfoProblem(line), '', line);
      assert.ok(Number(/ nodes (\d+)/.exec(infos.at(-1) ?? '')?.[1]) < 100);
      moves.add(lines.at(-1) ?? '');
    }
    for (const move of moves) assert.match(move, /^bestmove [a-h][1-8][a-h][1-8]/);
  });
});

test('a level draws among searchmoves, and MultiPV shows all of them', async () => {
  const options = ['UCI_LimitStrength value true', 'UCI_Elo value 1350', 'MultiPV value 4'];
  await withEngine(options, async (engine) => {
    const asked = ['d2d4', 'e2e4', 'g1f3'];
    const played = new Set<string>();
    for (let round = 0; round < 30; round++) {
      const go = `go wtime 60000 btime 60000 searchmoves ${asked.join(' ')}`;
      const lines = await engine.ask(['position startpos', go], 'bestmove');
      const shown = lines.slice(-4, -1).map((line) => / pv (\S+)/.exec(line)?.[1] ?? line);
      assert.deepEqual(shown.toSorted(), asked);
      assert.equal(lines.at(-1)?.split(' ')[1], shown[0]);
      played.add(shown[0]);
    }
    assert.ok(played.size > 1, [...played].join());
  });
});

test('a limited engine that ponders waits, quietly, for ponderhit or stop', async () => {
  await withEngine(['Skill Level value 5', 'Ponder value true'], async (engine) => {
    for (const end of ['ponderhit', 'stop']) {
      const from = engine.lines.length;
      engine.send('position startpos moves e2e4 e7e5', 'go ponder wtime 60000 btime 60000');
      const lines = await engine.listSince(from);
      assert.ok(!lines.some((line) => line.startsWith('bestmove') || line.includes('WARNING')));
      const answer = await engine.ask(end, 'bestmove');
      assert.match(answer.at(-1) ?? '', /^bestmove [a-h]/);
    }
  });
});
