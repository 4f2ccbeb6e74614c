import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseCommand } from '#sardonyx/uci/index.js';
import { createPrng, LineReader, unwrap } from '#sardonyx/util/index.js';

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

test('a limit that go cannot read is passed over; if none remains, the search ends at once', () => {
  const cases: [line: string, go: object, ignored: string[]][] = [
    ['go nodes 1e3', { nodes: 1000 }, []],
    ['go depth -1', { depth: 0 }, []],
    ['go depth', { nodes: 1 }, ['depth without a number']],
    ['go depth x wtime', { nodes: 1 }, ['depth x', 'wtime without a number']],
    ['go wtime btime 500 winc', { blackTimeMs: 500 }, ['wtime without a number', 'winc without a number']],
    ['go ponder wtime', { ponder: true, nodes: 1 }, ['wtime without a number']],
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
