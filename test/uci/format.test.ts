import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Move, NO_MOVE, Position, parseFen, parseUciMove } from '#sardonyx/chess/index.js';
import type { ReportLine, RootMoveStats, SearchReport } from '#sardonyx/engine/index.js';
import {
  formatBestMove,
  formatBoard,
  formatEvalAnswer,
  formatInfo,
  formatMoveStats,
  formatOption,
  type InfoStyle,
} from '#sardonyx/uci/index.js';
import { unwrap } from '#sardonyx/util/index.js';

const start = new Position();
const E2E4 = unwrap(parseUciMove(start, 'e2e4'));
const castling = unwrap(parseFen('r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1'));
const CASTLE = unwrap(parseUciMove(castling, 'e1g1'));

const STYLE: InfoStyle = {
  chess960: false,
  showWdl: false,
  showMovesLeft: false,
  showEps: false,
  multiPv: 1,
  perPvCounters: false,
};
const LINE: ReportLine = {
  rank: 1,
  visits: 800,
  score: { kind: 'cp', value: 25 },
  wdl: { win: 350, draw: 400, loss: 250 },
  movesLeft: 41,
  pv: [E2E4],
};
const REPORT: SearchReport = {
  depth: 4,
  seldepth: 11,
  timeMs: 105,
  nodes: 1234,
  hashFull: 12,
  nps: 11752,
  eps: 9000,
  tbHits: 0,
  gathering: null,
  lines: [LINE],
};

test('an info line has its fields in lc0’s order', () => {
  assert.equal(
    formatInfo(REPORT, LINE, STYLE),
    'info depth 4 seldepth 11 time 105 nodes 1234 score cp 25 hashfull 12 nps 11752 tbhits 0 pv e2e4',
  );
  const everything = {
    chess960: false,
    showWdl: true,
    showMovesLeft: true,
    showEps: true,
    multiPv: 2,
    perPvCounters: false,
  };
  assert.equal(
    formatInfo(REPORT, { ...LINE, rank: 2, score: { kind: 'mate', value: -3 } }, everything),
    'info depth 4 seldepth 11 time 105 nodes 1234 score mate -3 wdl 350 400 250 movesleft 41 hashfull 12 nps 11752 eps 9000 tbhits 0 multipv 2 pv e2e4',
  );
});

test('with PerPVCounters a line counts its own visits', () => {
  assert.match(formatInfo(REPORT, LINE, { ...STYLE, perPvCounters: true }), / nodes 800 score /);
});

test('what is unknown is left out', () => {
  const line = { ...LINE, movesLeft: null, pv: [] };
  const style = { ...STYLE, showMovesLeft: true, showEps: true };
  assert.equal(
    formatInfo({ ...REPORT, hashFull: null, nps: null, eps: null }, line, style),
    'info depth 4 seldepth 11 time 105 nodes 1234 score cp 25 tbhits 0',
  );
});

test('bestmove names a ponder move when there is one, and (none) when the game is over', () => {
  assert.equal(formatBestMove(E2E4, NO_MOVE, false), 'bestmove e2e4');
  assert.equal(formatBestMove(E2E4, CASTLE, false), 'bestmove e2e4 ponder e1g1');
  assert.equal(formatBestMove(CASTLE, NO_MOVE, true), 'bestmove e1h1');
  assert.equal(formatBestMove(NO_MOVE, NO_MOVE, false), 'bestmove (none)');
});

test('options are listed as lc0 lists them', () => {
  const common = { flag: '', help: '' };
  assert.equal(
    formatOption({ ...common, uci: 'CPuct', kind: 'float', default: 1.745, min: 0, max: 100 }),
    'option name CPuct type string default 1.745000',
  );
  assert.equal(
    formatOption({ ...common, uci: 'MultiPV', kind: 'int', default: 1, min: 1, max: 500 }),
    'option name MultiPV type spin default 1 min 1 max 500',
  );
  assert.equal(
    formatOption({ ...common, uci: 'Ponder', kind: 'bool', default: false }),
    'option name Ponder type check default false',
  );
  assert.equal(
    formatOption({ ...common, uci: 'FpuStrategy', kind: 'choice', default: 'a', choices: ['a', 'b'] }),
    'option name FpuStrategy type combo default a var a var b',
  );
  assert.equal(
    formatOption({ ...common, uci: 'LogFile', kind: 'string', default: '' }),
    'option name LogFile type string default ',
  );
  assert.equal(formatOption({ ...common, uci: 'ClearTree', kind: 'button' }), 'option name ClearTree type button');
});

function createRow(changes: Partial<RootMoveStats>): RootMoveStats {
  return {
    move: E2E4,
    index: 322,
    edgeCount: 0,
    visits: 0,
    inFlight: 0,
    prior: 0.0139,
    wl: null,
    d: null,
    m: null,
    mu: null,
    q: -0.308012,
    u: 0.133191,
    s: -0.174821,
    v: null,
    bound: 'none',
    ...changes,
  };
}

test('move statistics are printed character for character as lc0 prints them', () => {
  const unvisited = createRow({ move: unwrap(parseUciMove(start, 'b1a3')), index: 34 });
  const visited = createRow({
    visits: 28,
    inFlight: 2,
    prior: 0.6771,
    wl: 0.12345,
    d: 0.25,
    m: 88.44,
    q: 0.12345,
    u: 0.5,
    s: 0.62345,
    v: 0.0987,
    bound: 'drawOrWin',
  });
  const node = createRow({ move: 0, index: 20, visits: 31, prior: 1, wl: 0.1, d: 0.3, m: 90, q: 0.1, v: -0.01 });
  assert.deepEqual(formatMoveStats({ moves: [unvisited, visited], node, hasMovesLeft: true }), [
    'b1a3  (34  ) N:       0 (+ 0) (P:  1.39%) (WL:  -.-----) (D: -.---) (M:  -.-) (Q: -0.30801) (U: 0.13319) (S: -0.17482) (V:  -.----) ',
    'e2e4  (322 ) N:      28 (+ 2) (P: 67.71%) (WL:  0.12345) (D: 0.250) (M: 88.4) (Q:  0.12345) (U: 0.50000) (S:  0.62345) (V:  0.0987) (W) ',
    'node  (  20) N:      31 (+ 0) (P: 100.0%) (WL:  0.10000) (D: 0.300) (M: 90.0) (Q:  0.10000) (V: -0.0100) ',
  ]);
});

test('the example line of lc0 comes out of its own numbers', () => {
  const row = createRow({ move: 0x0 as Move, index: 1332 });
  const [line] = formatMoveStats({ moves: [{ ...row, move: E2E4 }], node: row, hasMovesLeft: true });
  const expected =
    'g6e4  (1332) N:       0 (+ 0) (P:  1.39%) (WL:  -.-----) (D: -.---) (M:  -.-) (Q: -0.30801) (U: 0.13319) (S: -0.17482) (V:  -.----) ';
  assert.equal(line.replace('e2e4', 'g6e4'), expected);
});

test('the classic format shows Q+U', () => {
  const row = createRow({
    visits: 11,
    inFlight: 2,
    prior: 0.0281,
    wl: -0.08,
    d: 0.2,
    q: -0.08786,
    u: 0.1964,
    v: -0.0652,
  });
  assert.equal(
    formatMoveStats({ moves: [row], node: row, hasMovesLeft: true }, 'classic')[0],
    'e2e4  (322 ) N:      11 (+ 2) (P:  2.81%) (Q: -0.08786) (U: 0.19640) (Q+U:  0.10854) (V: -0.0652) ',
  );
});

test('eval says how long the game will last only where the network does', () => {
  const row = createRow({ visits: 1, wl: 0.1, d: 0.3, m: 59 });
  const stats = { moves: [row], node: row };
  assert.ok(formatEvalAnswer({ ...stats, hasMovesLeft: true }, 'centipawn', false).includes('Moves left: 30.0'));
  const without = formatEvalAnswer({ ...stats, hasMovesLeft: false }, 'centipawn', false);
  assert.ok(without.every((line) => !line.startsWith('Moves left')));
});

test('d shows the board, the FEN and the legal moves', () => {
  const text = formatBoard(castling, true).join('\n');
  assert.match(text, /\| r \| {3}\| {3}\| {3}\| k \|/);
  assert.match(text, /Fen: r3k2r\/8\/8\/8\/8\/8\/8\/R3K2R w HAha - 0 1/);
  assert.match(text, /Legal moves: 26 .*e1h1/);
  assert.match(text, /Key: [0-9a-f]{16}/);
});
