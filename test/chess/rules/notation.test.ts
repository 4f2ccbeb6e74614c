import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Chess } from 'chess.js';
import { createPrng, unwrap } from '#sardonyx/base/util/index.js';
import {
  createMove,
  formatFen,
  formatSan,
  formatSanLine,
  formatUciMove,
  hasChess960Castling,
  isCastling,
  listLegalMoves,
  type Move,
  moveFrom,
  movePromotion,
  moveTo,
  NO_MOVE,
  Position,
  parseFen,
  parseSan,
  parseUciMove,
  QUEEN,
  START_FEN,
} from '#sardonyx/chess/rules/index.js';

const legal = new Uint16Array(256);

test('random games are written as chess.js writes them, and every legal move is read back', () => {
  const prng = createPrng(7);
  for (const fen of [START_FEN, 'r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1']) {
    for (let game = 0; game < 10; game++) {
      const position = unwrap(parseFen(fen));
      const reference = new Chess(fen);
      for (let ply = 0; ply < 60; ply++) {
        const count = position.generateLegalMoves(legal);
        if (count === 0) break;
        const moves = [...legal.subarray(0, count)] as Move[];
        const texts = moves.map((move) => formatSan(position, move));
        assert.equal(new Set(texts).size, count);
        for (let i = 0; i < count; i++) assert.equal(unwrap(parseSan(position, texts[i])), moves[i]);
        const chosen = prng.nextBelow(count);
        assert.equal(texts[chosen], reference.move(formatUciMove(moves[chosen], false)).san);
        position.makeMove(moves[chosen]);
      }
    }
  }
});

test('three queens that reach one square are told apart by their squares', () => {
  const position = unwrap(parseFen('6k1/8/8/8/Q6Q/8/8/K6Q w - - 0 1'));
  const text = (uci: string): string => {
    const count = position.generateLegalMoves(legal);
    const move = [...legal.subarray(0, count)].find((candidate) => formatUciMove(candidate as Move, false) === uci);
    return formatSan(position, move as Move);
  };
  assert.equal(text('h4d4'), 'Qhd4');
  assert.equal(text('h4e4'), 'Qh4e4');
  assert.equal(text('h1e4'), 'Q1e4');
});

test('sloppy spellings are understood', () => {
  const position = unwrap(parseFen('rn2k2r/1P6/8/8/3pP3/8/8/R3K2R b KQkq e3 0 1'));
  assert.equal(formatUciMove(unwrap(parseSan(position, 'dxe3e.p.')), false), 'd4e3');
  assert.equal(formatUciMove(unwrap(parseSan(position, '0-0+!?')), false), 'e8g8');
  position.makeMove(unwrap(parseSan(position, 'd3')));
  for (const text of ['bxa8=Q', 'ba8Q', 'b7xa8=q', 'bxa8(Q)']) {
    assert.equal(formatUciMove(unwrap(parseSan(position, text)), false), 'b7a8q');
  }
  assert.equal(formatUciMove(unwrap(parseSan(position, 'O-O-O')), true), 'e1a1');
});

test('an illegal, ambiguous or senseless move is explained in a sentence', () => {
  const position = new Position();
  const error = (text: string): string => {
    const result = parseSan(position, text);
    return result.ok ? '' : result.error;
  };
  assert.match(error('e5'), /^e5 is illegal in rnbqkbnr/);
  assert.match(error('O-O'), /^O-O is illegal/);
  assert.match(error('Zf3'), /^"Zf3" is not a move/);
  const knights = unwrap(parseFen('4k3/8/8/8/8/8/8/N3K1N1 w - - 0 1'));
  const ambiguous = unwrap(parseFen('4k3/8/8/8/8/4N3/8/N3K3 w - - 0 1'));
  assert.equal(parseSan(knights, 'Nc2').ok, true);
  const result = parseSan(ambiguous, 'Nc2');
  assert.match(result.ok ? '' : result.error, /ambiguous/);
});

test('a line is what its moves are one by one, and leaves the position as it was', () => {
  const position = unwrap(parseFen('r3k2r/P7/8/8/8/8/8/R3K2R w KQkq - 0 1'));
  const before = position.clone();
  const moves = ['O-O', 'O-O-O', 'a8=Q+', 'Kd7'].map((text) => {
    const move = unwrap(parseSan(before, text));
    before.makeMove(move);
    return move;
  });
  assert.deepEqual(formatSanLine(position, moves), ['O-O', 'O-O-O', 'a8=Q+', 'Kd7']);
  assert.equal(formatFen(position), 'r3k2r/P7/8/8/8/8/8/R3K2R w KQkq - 0 1');
});

function parse(fen: string, text: string): Move {
  return unwrap(parseUciMove(unwrap(parseFen(fen)), text));
}

const CASTLING_FEN = 'r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1';

test('A move packs and unpacks its parts', () => {
  const move = createMove(52, 61, QUEEN);
  assert.deepEqual([moveFrom(move), moveTo(move), movePromotion(move), isCastling(move)], [52, 61, QUEEN, false]);
  assert.equal(isCastling(createMove(4, 7, 0, true)), true);
  assert.ok(createMove(63, 63, 7, true) <= 0xffff);
});

test('Castling is understood in both spellings and printed in the one asked for', () => {
  for (const text of ['e1g1', 'e1h1']) {
    const move = parse(CASTLING_FEN, text);
    assert.equal(isCastling(move), true);
    assert.equal(moveTo(move), 7);
    assert.equal(formatUciMove(move, false), 'e1g1');
    assert.equal(formatUciMove(move, true), 'e1h1');
  }
  assert.equal(formatUciMove(parse(CASTLING_FEN, 'e1c1'), true), 'e1a1');
  assert.equal(formatUciMove(parse(CASTLING_FEN.replace('w', 'b'), 'e8a8'), false), 'e8c8');
});

test('A king step that looks like castling is a king step', () => {
  const move = parse('4k3/8/8/8/8/8/8/5K1R w H - 0 1', 'f1g1');
  assert.equal(isCastling(move), false);
  assert.equal(isCastling(parse('4k3/8/8/8/8/8/8/5K1R w H - 0 1', 'f1h1')), true);
  assert.equal(isCastling(parse('4k3/8/8/8/8/8/8/5KR1 w G - 0 1', 'f1g1')), true);
});

test('A castling king that stays on its square may be written so', () => {
  assert.equal(isCastling(parse('4k3/8/8/8/8/8/8/6KR w H - 0 1', 'g1g1')), true);
});

test('Promotions are read in either case and printed in lower case', () => {
  assert.equal(formatUciMove(parse('8/4P2k/8/8/8/8/8/4K3 w - - 0 1', 'e7e8N'), false), 'e7e8n');
});

test('The null move is printed as 0000', () => assert.equal(formatUciMove(NO_MOVE, false), '0000'));

test('Without Chess960 castling is king takes rook where the king is not on the e-file or the rook not in the corner', () => {
  for (const [fen, both] of [
    ['r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1', ['e1c1', 'e1g1']],
    ['r3k2r/8/8/8/8/8/8/R3K2R b KQkq - 0 1', ['e8c8', 'e8g8']],
    ['4k3/8/8/8/8/8/8/1R2K1R1 w GB - 0 1', ['e1b1', 'e1g1']],
    ['4k3/8/8/8/8/8/8/1R1K3R w HB - 0 1', ['d1b1', 'd1h1']],
    ['4k3/8/8/8/8/8/8/R1K4R w HA - 0 1', ['c1a1', 'c1h1']],
    ['4k3/8/8/8/8/8/8/R5KR w HA - 0 1', ['g1a1', 'g1h1']],
  ] as const) {
    const castlings = listLegalMoves(unwrap(parseFen(fen))).filter(isCastling);
    assert.deepEqual(castlings.map((move) => formatUciMove(move, false)).sort(), both, fen);
  }
});

test('Every legal move survives printing and parsing, in both spellings', () => {
  const moves = new Uint16Array(256);
  for (const fen of [
    CASTLING_FEN,
    '1r2k1r1/8/8/8/8/8/1P6/1R2KRR1 w FBgb - 0 1',
    'rnbqrbnr/PPPPPPPP/8/8/8/8/7k/K7 w - - 0 1',
  ]) {
    const position = unwrap(parseFen(fen));
    const count = position.generateLegalMoves(moves);
    for (const move of moves.subarray(0, count)) {
      assert.equal(unwrap(parseUciMove(position, formatUciMove(move as Move, true))), move);
      assert.equal(unwrap(parseUciMove(position, formatUciMove(move as Move, false))), move);
    }
  }
});

const ILLEGAL: [string, string, RegExp][] = [
  [CASTLING_FEN, 'e2', /^"e2" is not a move such as e2e4 or e7e8q$/],
  [CASTLING_FEN, '0000', /^"0000" is not a move/],
  [CASTLING_FEN, 'e2e4', /^e2e4 is illegal in r3k2r.* - 0 1: there is no piece on e2$/],
  [CASTLING_FEN, 'e8e7', /: it is White's turn to move$/],
  [CASTLING_FEN, 'a1b2', /: the rook on a1 cannot go to b2$/],
  [CASTLING_FEN, 'a1b1q', /: this move does not promote$/],
  ['4k3/8/8/8/8/8/8/4KB1r w - - 0 1', 'f1e2', /: it would leave White's king in check$/],
  ['4k3/8/8/8/8/8/8/4K2R w - - 0 1', 'e1g1', /: the king on e1 cannot go to g1$/],
  ['4k3/P7/8/8/8/8/8/4K3 w - - 0 1', 'a7a8', /: the promotion piece is missing$/],
  ['4k3/P7/8/8/8/8/8/4K3 w - - 0 1', 'a7a8k', /: a pawn promotes to q, r, b or n$/],
  ['4k3/8/8/8/8/4p3/4P3/4K3 w - - 0 1', 'e2e4', /: the pawn on e2 cannot go to e4$/],
  ['4k3/8/8/8/8/8/4P3/4K3 w - - 0 1', 'e2d3', /: the pawn on e2 cannot go to d3$/],
];
for (const [fen, text, sentence] of ILLEGAL) {
  test(`"${text}" in ${fen} is refused with ${sentence}`, () => {
    const parsed = parseUciMove(unwrap(parseFen(fen)), text);
    assert.equal(parsed.ok, false);
    assert.match(parsed.ok ? '' : parsed.error, sentence);
  });
}

test('Parsing a move leaves the position alone', () => {
  const position = new Position();
  const { keyLow, keyHigh } = position;
  parseUciMove(position, 'e2e4');
  parseUciMove(position, 'e2e5');
  assert.deepEqual([position.keyLow, position.keyHigh, position.historyLength], [keyLow, keyHigh, 0]);
});

test('castling asks for Chess960 where a king or rook that may castle stands elsewhere than in standard chess', () => {
  const cases: [string, boolean][] = [
    [START_FEN, false],
    ['r3k2r/8/8/8/8/8/8/R3K2R b Kq - 0 1', false],
    ['4k3/8/8/8/8/8/8/RK5R w - - 0 1', false],
    ['4k3/8/8/8/8/8/8/RK5R w A - 0 1', true],
    ['4k3/8/8/8/8/8/8/4K1R1 w K - 0 1', true],
    ['rk6/8/8/8/8/8/8/4K2R w Kq - 0 1', true],
  ];
  for (const [fen, expected] of cases) assert.equal(hasChess960Castling(unwrap(parseFen(fen))), expected, fen);
});
