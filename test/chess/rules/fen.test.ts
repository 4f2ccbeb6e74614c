import assert from 'node:assert/strict';
import { test } from 'node:test';
import { unwrap } from '#sardonyx/base/util/index.js';
import {
  formatFen,
  looksLikeFen,
  Position,
  parseEpdLine,
  parseFen,
  parseUciMove,
  START_FEN,
} from '#sardonyx/chess/rules/index.js';

/** The FEN as we print it, or the sentence of its error. */
function reprint(fen: string, style?: Parameters<typeof formatFen>[1]): string {
  const parsed = parseFen(fen);
  return parsed.ok ? formatFen(parsed.value, style) : parsed.error;
}

const ROUND_TRIPS = [
  START_FEN,
  'rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1',
  'rnbqkbnr/1pp1pppp/p7/3pP3/8/8/PPPP1PPP/RNBQKBNR w KQkq d6 0 3',
  '8/8/4k3/8/8/3K4/4R3/8 b - - 99 120',
  'r3k2r/8/8/8/8/8/8/R3K2R b Qk - 12 34',
  // X-FEN names the rook's file only where KQkq would mean another rook.
  '4k3/8/8/8/8/8/8/4KRR1 w F - 0 1',
  'rk1r1r2/8/8/8/8/8/8/RK1R1R2 w DQdq - 0 1',
];
for (const fen of ROUND_TRIPS) {
  test(`Parsing and printing is the identity on ${fen}`, () => assert.equal(reprint(fen), fen));
}

test('A new position is the start position', () => assert.equal(formatFen(new Position()), START_FEN));

test('Castling rights print as X-FEN or Shredder-FEN', () => {
  const fen = '1r2k1r1/8/8/8/8/8/8/1R2KRR1 w FBgb - 0 1';
  assert.equal(reprint(fen), '1r2k1r1/8/8/8/8/8/8/1R2KRR1 w FQkq - 0 1');
  assert.equal(reprint(fen, 'shredder'), fen);
  assert.equal(reprint(' startpos '), START_FEN);
  assert.equal(reprint(START_FEN, 'shredder'), START_FEN.replace('KQkq', 'HAha'));
});

test('K and Q mean the outermost rook, and letters may be mixed and in any order', () => {
  const position = unwrap(parseFen('1r2k1rr/8/8/8/8/8/8/1R2KRR1 w qKgB - 0 1'));
  assert.deepEqual([...position.castlingRooks], [6, 1, 62, 57]);
});

test('An en passant square is kept only while a legal capture exists', () => {
  assert.match(reprint('rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq e3 0 1'), / KQkq - 0 1$/);
  assert.match(reprint('8/8/8/K1pP3r/8/8/8/4k3 w - c6 0 1'), / - - 0 1$/);
  assert.match(reprint('8/8/8/K1pP4/7r/8/8/4k3 w - c6 0 1'), / - c6 0 1$/);
});

test('Fields that GUIs leave out take their usual values', () => {
  const board = 'rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR';
  assert.equal(reprint(`${board} w KQkq -`), START_FEN);
  assert.equal(reprint(`${board} w KQkq - 0`), START_FEN);
  assert.equal(reprint(`${board} w KQkq - - -`), START_FEN);
  assert.equal(reprint(`${board} b`), `${board} b - - 0 1`);
  assert.equal(reprint(board), `${board} w - - 0 1`);
  assert.equal(reprint(`  ${board}\tw  KQkq - 0 1\n`), START_FEN);
});

test('A game longer than the counters of a FEN is still written as one that can be read', () => {
  const position = new Position();
  const shuffle = ['g1f3', 'g8f6', 'f3g1', 'f6g8'];
  for (let ply = 0; ply < 24_000; ply++) position.makeMove(unwrap(parseUciMove(position, shuffle[ply % 4])));
  assert.equal(reprint(formatFen(position)), 'rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 9999 9999');
});

test('Move number 0, which some programs write, means 1', () => {
  assert.equal(unwrap(parseFen(START_FEN.replace('0 1', '0 0'))).gamePly, 0);
  assert.equal(unwrap(parseFen(START_FEN.replace('w', 'b').replace('0 1', '0 3'))).gamePly, 5);
});

const ODD_COUNTERS: [written: string, read: string, note: RegExp][] = [
  ['-5 1', '0 1', /^The half-move clock -5 was read as 0$/],
  ['0 -3', '0 1', /^The move number -3 was read as 1$/],
  ['12.0 7', '12 7', /clock 12\.0 was read as 12/],
  ['3 7.9', '3 7', /number 7\.9 was read as 7/],
  ['x 1', '0 1', /clock x was read as 0/],
  ['0 x', '0 1', /number x was read as 1/],
  ['? 4', '0 4', /clock \? was read as 0/],
  ['1e3 4', '0 4', /clock 1e3 was read as 0/],
  ['+5 4', '0 4', /clock \+5 was read as 0/],
  [`0 ${'9'.repeat(99)}`, '0 9999', /number 9{60}… was read as 9999/],
  ['0x10', '0 1', /clock 0x10 was read as 0/],
  ['three', '0 1', /clock three was read as 0/],
];
const DROPPED: [fen: string, read: string, note: RegExp][] = [
  [
    '4k3/8/8/8/8/8/8/4K2R w KQ -',
    '4k3/8/8/8/8/8/8/4K2R w K - 0 1',
    /castling right Q was dropped: White has no rook on the a-side/,
  ],
  [
    '4k3/8/8/8/8/8/8/4K2R w HB - 0 1',
    '4k3/8/8/8/8/8/8/4K2R w K - 0 1',
    /castling right B was dropped: White has no rook on b1/,
  ],
  [
    '8/4k2r/8/8/8/8/8/4K3 w k - 0 1',
    '8/4k2r/8/8/8/8/8/4K3 w - - 0 1',
    /right k was dropped: Black's king is not on its first/,
  ],
  [
    '4k3/8/8/8/8/8/8/4K1RR w GH - 0 1',
    '4k3/8/8/8/8/8/8/4K1RR w G - 0 1',
    /castling right H was dropped: White has another rook/,
  ],
  [START_FEN.replace('- 0', 'e3 0'), START_FEN, /en passant square e3 was dropped/],
  [START_FEN.replace('- 0', 'e6 0'), START_FEN, /en passant square e6 was dropped/],
  [START_FEN.replace('0 1', '0 123456'), START_FEN.replace('0 1', '0 9999'), /move number 123456 was read as 9999/],
  ...ODD_COUNTERS.map(([written, read, note]): [string, string, RegExp] => [
    START_FEN.replace('0 1', written),
    START_FEN.replace('0 1', read),
    note,
  ]),
  [`1,${START_FEN},e2e4 e7e5,1500`, START_FEN, /not read: e2e4 e7e5,1500$/],
  [`${START_FEN} bm e4; id "x"`, START_FEN, /^What stands behind the FEN was not read: bm e4; id "x"$/],
];
test('what changes no rule of a position is dropped with a note', () => {
  for (const [fen, read, note] of DROPPED) {
    const notes: string[] = [];
    assert.equal(formatFen(unwrap(parseFen(fen, notes))), read, fen);
    assert.equal(notes.length, 1, fen);
    assert.match(notes[0], note);
    if (note.source.startsWith('^What')) continue;
    // A list of positions reads alike.
    const ofLine: string[] = [];
    assert.equal(unwrap(parseEpdLine(fen, ofLine)).fen, read, fen);
    assert.deepEqual(ofLine, notes);
  }
});

test('a FEN is read as people and programs hand it on, and known for one on a line of a list', () => {
  const fen = 'r3k2r/8/8/8/4P3/8/8/R3K2R b KQkq - 0 7';
  const board = fen.split(' ')[0];
  for (const text of [
    `"${fen}"`,
    `FEN: ${fen}`,
    `fen=${fen}`,
    `[FEN "${fen}"]`,
    `position fen ${fen}`,
    `${fen};`,
    `["${fen}",`,
    `12. ${fen}`,
    ` 3) FEN: "${fen}"`,
    `7\tposition fen ${fen}`,
    `1, '${fen}'`,
    fen.replaceAll(' ', '_'),
    fen.replaceAll(' ', '\u00a0'),
    `${board} B KQkq - 0 7`,
    `${board} black kqKQ - 0 7`,
  ]) {
    const notes: string[] = [];
    assert.equal(formatFen(unwrap(parseFen(text, notes))), fen, text);
    assert.deepEqual(notes, []);
    assert.equal(unwrap(parseEpdLine(text)).fen, fen, text);
    // A tag of PGN begins a game.
    assert.equal(looksLikeFen(text), !text.startsWith('[FEN'), text);
  }
  for (const text of ['2. startpos', 'Startpos']) {
    assert.equal(unwrap(parseEpdLine(text)).fen, START_FEN);
    assert.ok(looksLikeFen(text));
  }
  for (const text of ['1. e4 e5', '1-0', '1 2 3', '{ 1/2-1/2 }', 'fence', '']) assert.ok(!looksLikeFen(text), text);
});

test('an en passant square is none of the operations c3 and c6', () => {
  const fen = 'rnbqkbnr/ppp1pppp/8/8/2Pp4/8/PP1PPPPP/RNBQKBNR b KQkq c3 0 1';
  assert.equal(unwrap(parseEpdLine(fen)).fen, fen);
  assert.equal(unwrap(parseEpdLine(`${fen.slice(0, -4)} bm c5; c0 "x";`)).fen, fen);
});

test('EPD operations are read in every form that suites have', () => {
  const board = 'rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq';
  const rows: [line: string, counters: string, operations: Record<string, string[]>][] = [
    [`${board} -  `, '0 1', {}],
    [`${board} - 0 7`, '0 7', {}],
    [`${board} -;`, '0 1', {}],
    [`${board} - bm e5; hmvc 3; fmvn 12; id "x";`, '3 12', { bm: ['e5'], hmvc: ['3'], fmvn: ['12'], id: ['x'] }],
    [`${board}\t-\tbm\te5\tc5;\tid\tWAC.001`, '0 1', { bm: ['e5', 'c5'], id: ['WAC.001'] }],
    [`${board} - bm e5; bm c5; am f6`, '0 1', { bm: ['e5', 'c5'], am: ['f6'] }],
    [`${board} - 3 12 id "a \\"b\\"; c"; bm e5`, '3 12', { id: ['a "b"; c'], bm: ['e5'] }],
    [`${board} - id "BK.01; bm e5`, '0 1', { id: ['BK.01; bm e5'] }],
    [`"${board} - 0 7"`, '0 7', {}],
    [`["${board} - 0 7",`, '0 7', {}],
    [`12. ${board} - 0 7`, '0 7', {}],
    [`7\t${board} - 0 7,0.35`, '0 7', { '0.35': [] }],
    [`${board} - 0 7 | 12 | 0.5`, '0 7', { '12': ['|', '0.5'] }],
    [`${board} - BM e5; ID: "x [y]";`, '0 1', { bm: ['e5'], id: ['x [y]'] }],
    [`${board} bm e5; id "x"`, '0 1', { bm: ['e5'], id: ['x'] }],
    [`${board} - 4 bm e5; id "x"`, '4 1', { bm: ['e5'], id: ['x'] }],
    [`${board} - bm e5`, '0 1', { bm: ['e5'] }],
    [`position fen ${board} - 0 7 moves e7e5 g1f3`, '0 7', { moves: ['e7e5', 'g1f3'] }],
  ];
  for (const [line, counters, operations] of rows) {
    const read = unwrap(parseEpdLine(line));
    assert.equal(read.fen, `${board} - ${counters}`, line);
    assert.deepEqual(Object.fromEntries(read.operations), operations, line);
  }
  for (const line of ['rubbish', 'rubbish bm e4', '']) assert.equal(parseEpdLine(line).ok, false);
  assert.equal(unwrap(parseEpdLine('4k3/8/8/8/8/8/8/4K3')).fen, '4k3/8/8/8/8/8/8/4K3 w - - 0 1');
  assert.equal(unwrap(parseEpdLine('position startpos moves e2e4')).fen, START_FEN);
  assert.equal(unwrap(parseEpdLine(START_FEN.replace('QKB', 'Q~KB'))).fen, START_FEN);
});

const REFUSED: [string, string][] = [
  ['', 'The FEN is empty'],
  ['8/8/8/8/8/8/8 w - - 0 1', 'The board of the FEN has 7 ranks instead of 8'],
  [
    'start',
    '"start" is not a FEN: one begins with eight ranks and a / between them, as in rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1',
  ],
  ['4k3/8/8/8/7/8/8/4K3 w - - 0 1', 'Rank 4 of the FEN has 7 squares instead of 8'],
  ['4k3/8/8/8/ppppppppp/8/8/4K3 w - - 0 1', 'Rank 4 of the FEN has 9 squares instead of 8'],
  ['4k3/8/8/8/8p/8/8/4K3 w - - 0 1', 'Rank 4 of the FEN has 9 squares instead of 8'],
  ['4k3/8/8/8/3x4/8/8/4K3 w - - 0 1', '"x" on rank 4 of the FEN is neither a piece nor a number from 1 to 8'],
  ['4k3/8/8/8/9/8/8/4K3 w - - 0 1', '"9" on rank 4 of the FEN is neither a piece nor a number from 1 to 8'],
  ['8/8/8/8/8/8/8/4K3 w - - 0 1', 'Black has no king'],
  ['4k3/8/8/8/8/8/8/8 w - - 0 1', 'White has no king'],
  ['4k3/8/8/8/8/8/8/K3K3 w - - 0 1', 'White has 2 kings'],
  ['4k3/8/8/8/P7/8/PPPPPPPP/4K3 w - - 0 1', 'White has 9 pawns, more than 8'],
  ['qqqqqqqq/qq2k3/8/8/8/8/8/4K3 b - - 0 1', 'Black has 10 queens, more than 9'],
  ['4k3/8/8/8/8/NNNNNNNN/NNNNNNNN/4K3 w - - 0 1', 'White has 17 pieces, more than 16'],
  ['P3k3/8/8/8/8/8/8/4K3 w - - 0 1', 'A pawn stands on a8, which no pawn can reach'],
  ['4k3/8/8/8/8/8/8/4K2p w - - 0 1', 'A pawn stands on h1, which no pawn can reach'],
  ['4k3/8/8/8/8/8/8/4K3 x - - 0 1', 'The side to move must be w or b, not "x"'],
  ['4k3/8/8/8/8/8/4R3/4K3 w - - 0 1', "Black is in check although it is White's turn to move"],
  ['8/8/8/8/8/8/4k3/4K3 b - - 0 1', "White is in check although it is Black's turn to move"],
  [
    START_FEN.replace('KQkq', 'KQxq'),
    'The castling field "KQxq" contains "x"; allowed are K, Q and A to H in either case, or a single -',
  ],
  [START_FEN.replace('- 0', 'e9 0'), 'The en passant field must be - or a square, not "e9"'],
  [`${START_FEN} moves e2e4`, 'Moves stand behind the FEN, where it must end'],
  [`${START_FEN} e2e4 e7e5`, 'Moves stand behind the FEN, where it must end'],
  [`${START_FEN.slice(0, -4)} e2e4`, 'Moves stand behind the FEN, where it must end'],
  ['startpos e7e8q', 'Moves stand behind the FEN, where it must end'],
];
for (const [fen, sentence] of REFUSED) {
  test(`"${fen}" is refused: ${sentence}`, () => assert.equal(reprint(fen), sentence));
}

test('a semicolon that was forgotten, counters before operations, and zeros at the end of a line', () => {
  const board = 'rnbqkbnr/ppppp2p/5p2/6p1/3PP3/8/PPP2PPP/RNBQKBNR w KQkq -';
  for (const [line, fen, ...operations] of [
    [`${board} bm Qh5# id "x"; c0 "y z"`, `${board} 0 1`, 'bm=Qh5#', 'id=x', 'c0=y z'],
    [`${board} 3 9 bm c4 c5 c0 "y" id a;`, `${board} 3 9`, 'bm=c4,c5', 'c0=y', 'id=a'],
    [`${board} 3 9; dm 5 am Nf3 hmvc 7;`, `${board} 3 9`, 'dm=5', 'am=Nf3', 'hmvc=7'],
    [`${board} c0 I am id 5; bm Qh5;`, `${board} 0 1`, 'c0=I,am,id,5', 'bm=Qh5'],
    [`${board} ; bm Qh5\0\0`, `${board} 0 1`, 'bm=Qh5'],
    [`${board} 2 3\0`, `${board} 2 3`],
  ]) {
    const notes: string[] = [];
    const epd = unwrap(parseEpdLine(line, notes));
    assert.deepEqual(
      [epd.fen, ...Array.from(epd.operations, ([name, words]) => `${name}=${words}`)],
      [fen, ...operations],
    );
    assert.deepEqual(notes, [], line);
  }
});

test('operations in the place of the counters of a FEN are its counters', () => {
  const board = 'rnbqkbnr/ppppp2p/5p2/6p1/3PP3/8/PPP2PPP/RNBQKBNR w KQkq -';
  for (const [text, counters, ...expected] of [
    ['hmvc 1; fmvn 7;', '1 7'],
    ['fmvn 7; hmvc 1', '1 7'],
    ['hmvc 1 fmvn 7', '1 7'],
    ['hmvc 1; fmvn 7; id "x";', '1 7', 'What stands behind the FEN was not read: id "x"'],
  ]) {
    const notes: string[] = [];
    assert.equal(formatFen(unwrap(parseFen(`${board} ${text}`, notes))), `${board} ${counters}`);
    assert.deepEqual(notes, expected, text);
  }
});
