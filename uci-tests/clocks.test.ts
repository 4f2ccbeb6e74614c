/** Clocks that servers and GUIs really send, and some they should not. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findInfoProblem, withEngine } from './uci-process.js';

test('every clock is answered with a score and a move', async () => {
  await withEngine([], async (engine) => {
    const clocks = [
      'wtime 1 btime 1',
      'wtime 0 btime 0',
      'wtime -50 btime 1000',
      'wtime 100',
      'btime 100',
      'winc 100 binc 100 movetime 20',
      'wtime 100 btime 100 movestogo 0',
      'wtime 100 btime 100 movestogo 1',
      'wtime 100 btime 100 movestogo -3',
      'wtime 50 btime 50 winc 1000 binc 1000',
      'wtime 200 btime 200 winc -10 binc -10',
      'movetime 0',
      'movetime 1',
      'movetime 50',
      'nodes 0',
      'nodes 1',
      'depth 0',
      'depth 1',
      'wtime 100 btime 100 nodes 10',
      'mate 1 nodes 50',
    ];
    for (const moves of ['', ' moves e2e4']) {
      for (const clock of clocks) {
        const lines = await engine.ask([`position startpos${moves}`, `go ${clock}`], 'bestmove');
        assert.equal(findInfoProblem(lines.at(-2) ?? ''), '', `${clock}: ${lines.join('\n')}`);
        assert.doesNotMatch(lines.join('\n'), /error|Internal/);
      }
    }
  });
});
