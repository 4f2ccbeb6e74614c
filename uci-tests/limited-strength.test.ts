/** Games against a weakened engine: it answers as quickly as it should, with an info line, and never plays nonsense syntax. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { findInfoProblem, withEngine } from './uci-process.js';

test('a limited move comes soon, from few nodes, after an info line', async () => {
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
      assert.match(infos.at(-1) ?? '', /multipv 3/);
      assert.ok(Number(/ nodes (\d+)/.exec(infos.at(-1) ?? '')?.[1]) < 100);
      assert.ok(Number(/ time (\d+)/.exec(infos.at(-1) ?? '')?.[1]) < 5000);
      moves.add(lines.at(-1) ?? '');
    }
    for (const move of moves) assert.match(move, /^bestmove [a-h][1-8][a-h][1-8]/);
  });
});

test('a limited engine that ponders waits, quietly, for ponderhit or stop', async () => {
  await withEngine(['Skill Level value 5', 'Ponder value true'], async (engine) => {
    for (const end of ['ponderhit', 'stop']) {
      const from = engine.lines.length;
      engine.send('position startpos moves e2e4 e7e5', 'go ponder wtime 60000 btime 60000');
      await sleep(300);
      assert.ok(!engine.lines.slice(from).some((line) => line.startsWith('bestmove') || line.includes('WARNING')));
      const lines = await engine.ask(end, 'bestmove');
      assert.match(lines.at(-1) ?? '', /^bestmove [a-h]/);
    }
  });
});
