import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPrng, unwrap } from '#sardonyx/base/util/index.js';
import {
  computeOutcome,
  formatFen,
  KING,
  type Move,
  moveTo,
  NO_MOVE,
  Position,
  parseFen,
  parseUciMove,
  START_FEN,
} from '#sardonyx/chess/rules/index.js';

const STARTS = [
  START_FEN,
  'r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1',
  'rk1r1r2/pppppppp/8/8/8/8/PPPPPPPP/RK1R1R2 w DQdq - 0 1',
  'bqnbrnkr/pppppppp/8/8/8/8/PPPPPPPP/NRBKNRQB w FBhe - 0 1',
  '7k/PPPP4/8/8/8/8/4pppp/K7 w - - 0 1',
];

/** Everything that a position shows, as a plain object. */
function snapshot(position: Position): object {
  return {
    fen: formatFen(position, 'shredder'),
    board: [...position.board],
    masks: [...position.masks],
    rooks: [...position.castlingRooks],
    kings: [position.kingSquare(0), position.kingSquare(1)],
    key: [position.keyLow, position.keyHigh],
    historyLength: position.historyLength,
    repetitions: position.repetitions(),
    lastMove: position.lastMove(),
  };
}

function play(position: Position, moves: string): Position {
  for (const text of moves.split(' ')) position.makeMove(unwrap(parseUciMove(position, text)));
  return position;
}

function playRandomMove(position: Position, nextBelow: (bound: number) => number): boolean {
  const moves = new Uint16Array(256);
  const count = position.generateLegalMoves(moves);
  if (count === 0) return false;
  position.makeMove(moves[nextBelow(count)] as Move);
  return true;
}

for (const start of STARTS) {
  test(`In random games from ${start} the incremental key and masks equal those from scratch`, () => {
    const prng = createPrng(7);
    for (let game = 0; game < 20; game++) {
      const position = unwrap(parseFen(start));
      for (let ply = 0; ply < 150 && playRandomMove(position, prng.nextBelow); ply++) {
        const fresh = unwrap(parseFen(formatFen(position)));
        assert.deepEqual([position.keyLow, position.keyHigh], [fresh.keyLow, fresh.keyHigh], formatFen(position));
        assert.deepEqual(position.masks, fresh.masks);
        assert.deepEqual(position.castlingRooks, fresh.castlingRooks);
        assert.equal(position.enPassantSquare, fresh.enPassantSquare);
        assert.equal(position.board[position.kingSquare(0)], KING);
      }
    }
  });

  test(`Taking a random game back from ${start} restores every position on the way`, () => {
    const prng = createPrng(8);
    for (let game = 0; game < 5; game++) {
      const position = unwrap(parseFen(start));
      const trail = [snapshot(position)];
      // Longer than the first capacity of the history.
      while (trail.length < 300 && playRandomMove(position, prng.nextBelow)) trail.push(snapshot(position));
      for (const before of trail.reverse()) {
        assert.deepEqual(snapshot(position), before);
        if (position.historyLength > 0) position.unmakeMove();
      }
    }
  });
}

test('Keys of the positions of a perft differ wherever the positions differ', () => {
  const fenByKey = new Map<string, string>();
  const position = unwrap(parseFen(STARTS[1]));
  const walk = (depth: number): void => {
    const key = `${position.keyLow} ${position.keyHigh}`;
    const fen = formatFen(position).split(' ').slice(0, 4).join(' ');
    assert.equal(fenByKey.get(key) ?? fen, fen);
    fenByKey.set(key, fen);
    if (depth === 0) return;
    const moves = new Uint16Array(256);
    const count = position.generateLegalMoves(moves);
    for (let i = 0; i < count; i++) {
      position.makeMove(moves[i] as Move);
      walk(depth - 1);
      position.unmakeMove();
    }
  };
  walk(2);
  assert.equal(new Set(fenByKey.values()).size, fenByKey.size);
});

test('The key knows side to move, castling rights and a possible en passant capture', () => {
  const fens = [
    'r3k2r/8/8/3pP3/8/8/8/R3K2R w KQkq - 0 1',
    'r3k2r/8/8/3pP3/8/8/8/R3K2R w KQkq d6 0 1',
    'r3k2r/8/8/3pP3/8/8/8/R3K2R b KQkq - 0 1',
    'r3k2r/8/8/3pP3/8/8/8/R3K2R w KQk - 0 1',
    'r3k2r/8/8/3pP3/8/8/8/R3K2R w - - 0 1',
  ];
  const keys = fens.map((fen) => unwrap(parseFen(fen))).map(({ keyLow, keyHigh }) => `${keyLow} ${keyHigh}`);
  assert.equal(new Set(keys).size, fens.length);
});

test('The key of the start position is the same in every run and thread', () => {
  const { keyLow, keyHigh } = new Position();
  assert.deepEqual([keyLow, keyHigh], START_KEY);
});
const START_KEY = [-1031958813, 1903424333];

test('Repetitions count earlier occurrences and the distance to the last', () => {
  const position = new Position();
  const seen: [number, number][] = [];
  for (const text of 'g1f3 g8f6 f3g1 f6g8 g1f3 b8c6 f3g1 c6b8 g1f3'.split(' ')) {
    play(position, text);
    seen.push([position.repetitions(), position.pliesSinceRepetition()]);
  }
  assert.deepEqual(seen, [
    [0, 0],
    [0, 0],
    [0, 0],
    [1, 4],
    [1, 4],
    [0, 0],
    [0, 0],
    [2, 4],
    [2, 4],
  ]);
});

test('The last repetition of a game is found behind positions that were new, until a capture or a pawn move', () => {
  const position = new Position();
  const seen = 'g1f3 g8f6 f3g1 f6g8 g1f3 b8c6 b1c3 e7e5 f3e5'
    .split(' ')
    .map((text) => play(position, text).pliesSinceAnyRepetition());
  const none = Number.POSITIVE_INFINITY;
  assert.deepEqual(seen, [none, none, none, 0, 0, 1, 2, none, none]);
});

test('A position whose en passant right or castling right is gone is not a repetition', () => {
  const enPassant = play(unwrap(parseFen('4k3/3p4/8/4P3/8/8/8/4K3 b - - 0 1')), 'd7d5');
  play(enPassant, 'e1e2 e8e7 e2e1 e7e8');
  assert.equal(enPassant.repetitions(), 0);
  const castling = play(unwrap(parseFen('4k3/8/8/8/8/8/8/4K2R w K - 0 1')), 'h1h2 e8e7 h2h1 e7e8');
  assert.equal(castling.repetitions(), 0);
  assert.equal(play(castling, 'h1h2 e8e7 h2h1 e7e8').repetitions(), 1);
});

test('A capture or pawn move ends the search for repetitions', () => {
  const position = play(new Position(), 'g1f3 g8f6 f3g1 f6g8 e2e4 e7e5');
  assert.equal(position.rule50, 0);
  assert.equal(position.repetitions(), 0);
});

test('The half-move clock of the FEN does not reach behind the FEN', () => {
  assert.equal(unwrap(parseFen('4k3/8/8/8/8/8/8/4K2R w - - 40 60')).repetitions(), 0);
});

const OUTCOMES: [string, string][] = [
  [START_FEN, 'ongoing'],
  ['rnb1kbnr/pppp1ppp/8/4p3/6Pq/5P2/PPPPP2P/RNBQKBNR w KQkq - 1 3', 'checkmate'],
  ['7k/5Q2/6K1/8/8/8/8/8 b - - 0 1', 'stalemate'],
  ['7k/5Q2/6K1/8/8/8/8/8 b - - 120 90', 'stalemate'],
  ['7k/6Q1/6K1/8/8/8/8/8 b - - 100 90', 'checkmate'],
  ['4k3/8/8/8/8/8/8/4K2R w - - 99 90', 'ongoing'],
  ['4k3/8/8/8/8/8/8/4K2R w - - 100 90', 'fifty-moves'],
  ['4k3/8/8/8/8/8/8/4K3 w - - 0 1', 'insufficient-material'],
  ['4k3/8/8/8/8/8/8/4KN2 w - - 0 1', 'insufficient-material'],
  ['4k3/8/8/8/8/8/8/4KB2 b - - 0 1', 'insufficient-material'],
  // f1 and c8 are light squares, f8 is dark.
  ['2b1k3/8/8/8/8/8/8/4KB2 w - - 0 1', 'insufficient-material'],
  ['4kb2/8/8/8/8/8/8/4KB2 w - - 0 1', 'ongoing'],
  ['2b1k3/8/b7/1B6/8/8/8/4KB2 b - - 0 1', 'insufficient-material'],
  ['4k3/8/8/8/8/8/8/3NKN2 w - - 0 1', 'ongoing'],
  ['4kn2/8/8/8/8/8/8/4KN2 w - - 0 1', 'ongoing'],
  ['4k3/8/8/8/8/8/8/4KR2 w - - 0 1', 'ongoing'],
  ['4k3/8/8/8/8/8/4P3/4K3 w - - 0 1', 'ongoing'],
];
for (const [fen, outcome] of OUTCOMES) {
  test(`The outcome of ${fen} is ${outcome}`, () => assert.equal(computeOutcome(unwrap(parseFen(fen))), outcome));
}

test('The third occurrence of a position ends the game', () => {
  const position = play(new Position(), 'g1f3 g8f6 f3g1 f6g8 g1f3 g8f6 f3g1');
  assert.equal(computeOutcome(position), 'ongoing');
  assert.equal(computeOutcome(play(position, 'f6g8')), 'threefold');
});

test('The last moves can be looked up and are NO_MOVE before the history begins', () => {
  const position = play(new Position(), 'e2e4 c7c5');
  assert.deepEqual([moveTo(position.lastMove()), moveTo(position.lastMove(1))], [34, 28]);
  assert.equal(position.lastMove(2), NO_MOVE);
});

test('A copy is equal and lives its own life', () => {
  const position = play(unwrap(parseFen(STARTS[2])), 'g2g3 a7a5');
  const before = snapshot(position);
  const copy = new Position();
  play(copy, 'e2e4 e7e5 g1f3 g8f6');
  copy.copyFrom(position);
  assert.deepEqual(snapshot(copy), before);
  assert.deepEqual(snapshot(position.clone()), before);
  play(copy, 'b1c1');
  copy.unmakeMove();
  copy.unmakeMove();
  copy.unmakeMove();
  assert.equal(formatFen(copy), STARTS[2]);
  assert.deepEqual(snapshot(position), before);
});

test('Moves can be written behind others in one array', () => {
  const moves = new Uint16Array(64).fill(9999);
  assert.equal(new Position().generateLegalMoves(moves, 10), 20);
  assert.equal(moves[9], 9999);
  assert.notEqual(moves[29], 9999);
  assert.equal(moves[30], 9999);
});
