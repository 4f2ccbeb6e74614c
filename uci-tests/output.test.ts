/** What GUIs read: MultiPV, WDL, castling, move statistics. */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { findInfoProblem, needsProcess, withEngine } from './uci-process.js';

test('every info line before bestmove is sound, and the last one names the move played', async () => {
  await withEngine([], async (engine) => {
    const lines = await engine.ask(['position startpos', 'go nodes 300'], 'bestmove');
    for (const line of lines.slice(0, -1)) assert.equal(findInfoProblem(line), '', line);
    const [, best] = (lines.at(-1) ?? '').split(' ');
    assert.match(lines.at(-2) ?? '', new RegExp(` pv ${best}( |$)`));
  });
});

test('MultiPV shows as many lines as asked for, ranked; at most as many as there are moves', async () => {
  await withEngine(['MultiPV value 3', 'UCI_ShowWDL value true', 'UCI_ShowMovesLeft value true'], async (engine) => {
    const lines = await engine.ask(['position startpos', 'go nodes 200'], 'bestmove');
    const last = lines.slice(-4, -1);
    assert.deepEqual(
      last.map((line) => / multipv (\d+) /.exec(line)?.[1]),
      ['1', '2', '3'],
    );
    assert.equal(new Set(last.map((line) => / pv (\S+)/.exec(line)?.[1])).size, 3);
    for (const line of last) {
      const [win, draw, loss] = (/ wdl (\d+) (\d+) (\d+) /.exec(line) ?? []).slice(1).map(Number);
      assert.equal(win + draw + loss, 1000, line);
    }
    const few = await engine.ask(['position fen 7k/8/8/8/8/8/r7/1K6 w - - 0 1', 'go nodes 50'], 'bestmove');
    const ranks = few.slice(0, -1).map((line) => Number(/ multipv (\d+) /.exec(line)?.[1]));
    assert.equal(Math.max(...ranks), 2);
  });
});

test('searchmoves restricts the answer', async () => {
  await withEngine([], async (engine) => {
    const lines = await engine.ask(['position startpos', 'go searchmoves a2a3 h2h3 nodes 100'], 'bestmove');
    assert.match(lines.at(-1) ?? '', /^bestmove (a2a3|h2h3)/);
    const single = await engine.ask('go searchmoves g1h3 nodes 100', 'bestmove');
    assert.match(single.at(-1) ?? '', /^bestmove g1h3/);
  });
});

test('castling is written as the GUI expects it and read in both spellings', async () => {
  const fen = 'r3k2r/pppppppp/8/8/8/8/PPPPPPPP/R3K2R w KQkq - 0 1';
  await withEngine([], async (engine) => {
    for (const move of ['e1g1', 'e1h1']) {
      const lines = await engine.ask([`position fen ${fen}`, `go searchmoves ${move} nodes 10`], 'bestmove');
      assert.match(lines.at(-1) ?? '', /^bestmove e1g1/);
      assert.match(lines.at(-2) ?? '', / pv e1g1/);
    }
    await engine.ask(['setoption name UCI_Chess960 value true', 'isready'], 'readyok');
    for (const start of [fen, fen.replace('KQkq', 'HAha')]) {
      const lines = await engine.ask([`position fen ${start} moves e1h1`, 'go searchmoves e8h8 nodes 10'], 'bestmove');
      assert.match(lines.at(-1) ?? '', /^bestmove e8h8/);
    }
    const chess960 = 'bnrbkrqn/pppppppp/8/8/8/8/PPPPPPPP/BNRBKRQN w FCfc - 0 1';
    const lines = await engine.ask([`position fen ${chess960}`, 'go nodes 20'], 'bestmove');
    assert.match(lines.at(-1) ?? '', /^bestmove [a-h][1-8][a-h][1-8]/);
  });
});

const HEAD = String.raw`\( *\d+ *\) N: +\d+ \(\+ ?\d+\) \(P: [ \d]\d\.\d\d%\)`;
const AVERAGES = String.raw`\(WL: [ -][\d-]\.[\d-]{5}\) \(D: [\d-]\.[\d-]{3}\) \(M: +[\d-]+\.[\d-]\) \(Q: [ -]\d\.\d{5}\)`;
const MOVE_LINE = new RegExp(
  String.raw`^info string [a-h][1-8][a-h][1-8][qrb ] ${HEAD} ${AVERAGES} \(U: \d\.\d{5}\) \(S: [ -]\d\.\d{5}\) \(V: [ -] ?[\d-]\.[\d-]{4}\) (\([TWL]\) )?$`,
);
const NODE_LINE = new RegExp(
  String.raw`^info string node {2}\( *\d+\) N: +\d+ \(\+ ?\d+\) \(P: [ \d]*\d\.\d\d?%\) ${AVERAGES} \(V: [ -] ?[\d-]\.[\d-]{4}\) (\([TWL]\) )?$`,
);

test('VerboseMoveStats prints one line a move, ascending by visits, then the node, then bestmove', async () => {
  await withEngine(['VerboseMoveStats value true'], async (engine) => {
    const lines = await engine.ask(['position startpos', 'go nodes 100'], 'bestmove');
    const stats = lines.filter((line) => line.startsWith('info string'));
    assert.equal(stats.length, 21);
    for (const line of stats.slice(0, -1)) assert.match(line, MOVE_LINE);
    assert.match(stats.at(-1) ?? '', NODE_LINE);
    const visits = stats.slice(0, -1).map((line) => Number(/N: +(\d+)/.exec(line)?.[1]));
    assert.deepEqual(
      visits,
      [...visits].sort((a, b) => a - b),
    );
    const node = Number(/N: +(\d+)/.exec(stats.at(-1) ?? '')?.[1]);
    assert.equal(
      visits.reduce((sum, count) => sum + count, 1),
      node,
    );
    assert.match(lines.at(-1) ?? '', /^bestmove/);
    assert.match(lines.at(-23) ?? '', /^info depth/);
  });
});

test('LogLiveStats fills the log alone, unless VerboseMoveStats is on', needsProcess, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'sardonyx-live-'));
  t.after(() => rmSync(folder, { recursive: true, maxRetries: 5 }));
  const path = join(folder, 'live.log');
  await withEngine([`LogFile value ${path}`, 'LogLiveStats value true'], async (engine) => {
    const quiet = await engine.ask(['position startpos', 'go nodes 60'], 'bestmove');
    assert.deepEqual(
      quiet.filter((line) => line.startsWith('info string')),
      [],
    );
    assert.match(readFileSync(path, 'utf8'), /Z e2e4 +\(/);
    const loud = await engine.ask(
      ['setoption name VerboseMoveStats value true', 'ucinewgame', 'go nodes 60'],
      'bestmove',
    );
    assert.ok(loud.filter((line) => line.startsWith('info string')).length > 21);
  });
});

test('the same position twice gives the same answer, also after ucinewgame', async () => {
  await withEngine(['Threads value 1', 'SmartPruningFactor value 0'], async (engine) => {
    const search = async (): Promise<string> => {
      const lines = await engine.ask(
        ['ucinewgame', 'isready', 'position startpos moves e2e4', 'go nodes 200'],
        'bestmove',
      );
      return `${/ score .* pv .*/.exec(lines.at(-2) ?? '')?.[0].replace(/nps \d+/, '')} ${lines.at(-1)}`;
    };
    const first = await search();
    assert.equal(await search(), first);
    assert.equal(await search(), first);
  });
});

test('a tree is kept from move to move', async () => {
  await withEngine([], async (engine) => {
    const lines = await engine.ask(['position startpos', 'go nodes 400'], 'bestmove');
    const [, best, , reply] = (lines.at(-1) ?? '').split(' ');
    const next = await engine.ask([`position startpos moves ${best} ${reply}`, 'go nodes 1'], 'bestmove');
    const nodes = Number(/ nodes (\d+)/.exec(next.at(-2) ?? '')?.[1]);
    assert.ok(nodes > 1, next.at(-2));
  });
});
