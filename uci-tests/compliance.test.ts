/** The forty steps of `fastchess --compliance` (engine/compliance.hpp), as one conversation. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findInfoProblem, openEngine, type UciProcess } from './uci-process.js';

async function go(engine: UciProcess, command: string): Promise<void> {
  const lines = await engine.ask(command, 'bestmove');
  for (const line of lines.slice(0, -1)) assert.equal(findInfoProblem(line), '', `${command}: ${line}`);
  const [, best] = (lines.at(-1) ?? '').split(' ');
  assert.match(lines.at(-2) ?? '', new RegExp(` pv ${best}( |$)`));
  assert.match(lines.at(-1) ?? '', /^bestmove [a-h][1-8][a-h][1-8][qrbn]?( ponder [a-h][1-8][a-h][1-8][qrbn]?)?$/);
}

test('the steps of fastchess --compliance', async (t) => {
  const engine = openEngine(t);
  const identity = await engine.ask('uci', 'uciok');
  const isReady = (): Promise<string[]> => engine.ask('isready', 'readyok');
  await isReady();
  assert.ok(
    identity.some((line) => line.startsWith('id name ')) && identity.some((line) => line.startsWith('id author ')),
  );
  engine.send('ucinewgame');
  await isReady();
  engine.send('position startpos');
  await isReady();
  engine.send('position fen 3r2k1/p5n1/1pq1p2p/2p3p1/2P1P1n1/1P1P2pP/PN1Q2K1/5R2 w - - 0 27');
  await isReady();
  await go(engine, 'go wtime 100');
  engine.send('position fen rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1');
  await go(engine, 'go btime 100');
  await go(engine, 'go wtime 100 winc 100 btime 100 binc 100');
  await go(engine, 'go btime 100 binc 100 wtime 100 winc 100');
  engine.send('ucinewgame');
  await isReady();
  engine.send('position startpos');
  await go(engine, 'go wtime 100 btime 100');
  engine.send('position startpos moves e2e4 e7e5');
  await go(engine, 'go wtime 100 btime 100');
  assert.equal(await engine.quit(), 0);
  assert.equal(engine.stderr, '');
});
