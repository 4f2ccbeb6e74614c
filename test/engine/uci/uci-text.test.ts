import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { OptionStore } from '#sardonyx/base/options/index.js';
import { createPrng, isTooLong, LineReader, unwrap } from '#sardonyx/base/util/index.js';
import { type Move, NO_MOVE, Position, parseFen, parseUciMove } from '#sardonyx/chess/rules/index.js';
import { createOptionStore } from '#sardonyx/engine/app/options.js';
import type { ReportLine, SearchReport } from '#sardonyx/engine/core/index.js';
import { formatBestMove, formatInfo } from '#sardonyx/engine/uci/info-text.js';
import { formatMoveStats } from '#sardonyx/engine/uci/move-stats-text.js';
import { formatOption } from '#sardonyx/engine/uci/options.js';
import { parseCommand } from '#sardonyx/engine/uci/parse-command.js';
import { formatBoard, formatEvalAnswer } from '#sardonyx/engine/uci/terminal-text.js';
import type { MoveStats } from '#sardonyx/search/index.js';

function parse(line: string) {
  const result = parseCommand(line);
  assert.notEqual(result, null, line);
  return result === null ? null : unwrap(result);
}

test('every command of the protocol is understood', () => {
  for (const type of ['uci', 'isready', 'ucinewgame', 'stop', 'ponderhit', 'quit', 'd', 'eval', 'wait', 'help']) {
    assert.deepEqual(parse(type), { type });
    assert.deepEqual(parse(`  ${type}\t `), { type });
  }
  assert.deepEqual(parse('debug on'), { type: 'debug', on: true });
  assert.deepEqual(parse('debug off'), { type: 'debug', on: false });
  assert.deepEqual(parse('register later'), { type: 'register' });
  assert.deepEqual(parse('bench 100'), { type: 'bench', words: ['100'] });
});

test('empty lines are no commands', () => {
  assert.equal(parseCommand(''), null);
  assert.equal(parseCommand('   \t'), null);
});

test('setoption takes names and values with blanks', () => {
  const cases: [line: string, option: string, value: string][] = [
    ['setoption name Threads value 4', 'Threads', '4'],
    ['setoption name Move Overhead value 30', 'Move Overhead', '30'],
    ['setoption name Clear Hash', 'Clear Hash', ''],
    ['setoption name WeightsFile value C:\\My Nets\\a value b.onnx', 'WeightsFile', 'C:\\My Nets\\a value b.onnx'],
    ['  setoption  name   Move   Overhead\tvalue   30 ', 'Move Overhead', '30'],
    ['setoption name Contempt value', 'Contempt', ''],
    ['setoption name Contempt value ', 'Contempt', ''],
    ['SETOPTION NAME x VALUE y'.replace('SETOPTION', 'setoption'), 'x', 'y'],
    ['setoption name UCI_Opponent value GM 2800 human Garry Kasparov', 'UCI_Opponent', 'GM 2800 human Garry Kasparov'],
  ];
  for (const [line, option, value] of cases) assert.deepEqual(parse(line), { type: 'setoption', option, value });
});

test('position takes a start and moves', () => {
  assert.deepEqual(parse('position startpos'), { type: 'position', fen: null, moves: [] });
  assert.deepEqual(parse('position startpos moves e2e4 e7e5'), {
    type: 'position',
    fen: null,
    moves: ['e2e4', 'e7e5'],
  });
  assert.deepEqual(parse('position startpos moves'), { type: 'position', fen: null, moves: [] });
  const fen = '8/8/8/8/8/4k3/8/4K2R w K - 0 1';
  assert.deepEqual(parse(`position  fen ${fen}  moves e1g1`), { type: 'position', fen, moves: ['e1g1'] });
});

test('go takes every limit, in any order, also signed and fractional clocks', () => {
  assert.deepEqual(parse('go'), { type: 'go', go: {}, ignored: [] });
  assert.deepEqual(parse('go infinite'), { type: 'go', go: { infinite: true }, ignored: [] });
  assert.deepEqual(parse('go wtime -20 btime 1000.5 winc 0 binc 5 movestogo 0'), {
    type: 'go',
    go: { whiteTimeMs: -20, blackTimeMs: 1000, whiteIncrementMs: 0, blackIncrementMs: 5, movesToGo: 0 },
    ignored: [],
  });
  assert.deepEqual(parse('go depth 3 nodes 0 mate 2 movetime 100 ponder perft 4'), {
    type: 'go',
    go: { depth: 3, nodes: 0, mate: 2, moveTimeMs: 100, ponder: true, perft: 4 },
    ignored: [],
  });
  assert.deepEqual(parse('go searchmoves e2e4 d2d4 nodes 5'), {
    type: 'go',
    go: { searchMoves: ['e2e4', 'd2d4'], nodes: 5 },
    ignored: [],
  });
});

test('a limit that go cannot read is skipped', () => {
  const cases: [line: string, go: object, ignored: string[]][] = [
    ['go nodes 1e3', { nodes: 1000 }, []],
    ['go depth -1', { depth: 0 }, []],
    ['go depth', {}, ['depth without a number']],
    ['go depth x wtime', {}, ['depth x', 'wtime without a number']],
    ['go wtime btime 500 winc', { blackTimeMs: 500 }, ['wtime without a number', 'winc without a number']],
    ['go ponder wtime', { ponder: true }, ['wtime without a number']],
    ['go infinite nodes', { infinite: true }, ['nodes without a number']],
    ['go winc x', {}, ['winc x']],
    ['go faster 3', {}, ['faster', '3']],
    ['go nodes 5 searchmoves', { nodes: 5 }, ['searchmoves without moves']],
  ];
  for (const [line, go, ignored] of cases) assert.deepEqual(parse(line), { type: 'go', go, ignored }, line);
});

test('what is wrong with a line is said in one sentence', () => {
  const wrong: [line: string, sentence: RegExp][] = [
    ['foo bar', /^Unknown command: foo bar$/],
    ['constructor', /^Unknown command/],
    ['UCI', /^Unknown command/],
    ['setoption', /The format is: setoption name/],
    ['setoption Threads 4', /The format is: setoption name/],
    ['setoption name', /The format is: setoption name/],
    ['position', /The format is: position/],
    ['position fen', /lacks the FEN/],
    ['position startpos e2e4', /Only moves can follow position startpos, not e2e4/],
    ['go perft', /needs a whole number/],
    ['go perft x', /needs a whole number/],
    ['debug maybe', /on or off/],
  ];
  for (const [line, sentence] of wrong) {
    const result = parseCommand(line);
    assert.ok(result !== null && !result.ok, line);
    assert.match(result.error, sentence);
    assert.doesNotMatch(result.error, /\n/);
  }
});

test('no line makes the parser throw', () => {
  const prng = createPrng(3);
  const words = [
    'go',
    'position',
    'setoption',
    'name',
    'value',
    'fen',
    'moves',
    '-1',
    'infinite',
    '\u0000',
    'é',
    'wtime',
  ];
  for (let i = 0; i < 5000; i++) {
    const count = prng.nextBelow(8);
    parseCommand(Array.from({ length: count }, () => words[prng.nextBelow(words.length)]).join(' '));
  }
});

function read(chunks: (string | Buffer)[]): string[] {
  const lines: string[] = [];
  const reader = new LineReader((line) => lines.push(line));
  for (const chunk of chunks) reader.push(Buffer.from(chunk as string));
  reader.end();
  return lines;
}

test('lines come out whole, however the chunks are cut', () => {
  const text = 'uci\r\nisready\nposition startpos\n\nquit';
  const expected = ['uci', 'isready', 'position startpos', '', 'quit'];
  for (let size = 1; size <= text.length; size++) {
    const chunks: string[] = [];
    for (let i = 0; i < text.length; i += size) chunks.push(text.slice(i, i + size));
    assert.deepEqual(read(chunks), expected);
  }
});

test('a letter cut in two chunks is one letter', () => {
  const bytes = Buffer.from('setoption name WeightsFile value é\n');
  assert.deepEqual(read([bytes.subarray(0, -2), bytes.subarray(-2)]), ['setoption name WeightsFile value é']);
});

test('of a line over a megabyte the beginning comes, once, and its end is no line of its own', () => {
  const long = 'position startpos moves e2e4 '.padEnd((1 << 20) + 7, 'e7e5 ');
  const chunks = Array.from({ length: 20 }, (_, i) => `${i === 0 ? 'uci\n' : ''}${long}`);
  for (const pieces of [
    [`${chunks.join('')}quit\nisready\n`],
    [...chunks, 'quit', '\nisready\n'],
    [...chunks, '\nisready'],
  ]) {
    const [uci, cut, ready, ...rest] = read(pieces);
    assert.deepEqual([uci, ready, rest], ['uci', 'isready', []]);
    assert.ok(isTooLong(cut) && long.startsWith(cut.slice(0, 1 << 20)));
  }
  assert.deepEqual(read([long]).map(isTooLong), [true]);
});

test('byte order marks before lines are no part of them', () => {
  assert.deepEqual(read(['\ufeff{"id":"a"}\n', '\ufeffuci\r\n']), ['{"id":"a"}', 'uci']);
});

const start = new Position();
const E2E4 = unwrap(parseUciMove(start, 'e2e4'));
const castling = unwrap(parseFen('r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1'));
const CASTLE = unwrap(parseUciMove(castling, 'e1g1'));

function createOptions(settings: Readonly<Record<string, string>> = {}): OptionStore {
  const options = createOptionStore();
  for (const [name, text] of Object.entries(settings)) unwrap(options.set(name, text));
  return options;
}
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
    formatInfo(REPORT, LINE, createOptions()),
    'info depth 4 seldepth 11 time 105 nodes 1234 score cp 25 hashfull 12 nps 11752 tbhits 0 pv e2e4',
  );
  const everything = createOptions({
    UCI_ShowWDL: 'true',
    UCI_ShowMovesLeft: 'true',
    UCI_ShowEPS: 'true',
    MultiPV: '2',
  });
  assert.equal(
    formatInfo(REPORT, { ...LINE, rank: 2, score: { kind: 'mate', value: -3 } }, everything),
    'info depth 4 seldepth 11 time 105 nodes 1234 score mate -3 wdl 350 400 250 movesleft 41 hashfull 12 nps 11752 eps 9000 tbhits 0 multipv 2 pv e2e4',
  );
});

test('with PerPVCounters a line counts its own visits', () => {
  assert.match(formatInfo(REPORT, LINE, createOptions({ PerPVCounters: 'true' })), / nodes 800 score /);
});

test('what is unknown is left out', () => {
  const line = { ...LINE, movesLeft: null, pv: [] };
  const options = createOptions({ UCI_ShowMovesLeft: 'true', UCI_ShowEPS: 'true' });
  assert.equal(
    formatInfo({ ...REPORT, hashFull: null, nps: null, eps: null }, line, options),
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

function createRow(changes: Partial<MoveStats>): MoveStats {
  return {
    move: E2E4,
    index: 322,
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
