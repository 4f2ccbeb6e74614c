import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Chess } from 'chess.js';
import {
  formatFen,
  formatSan,
  formatSanLine,
  formatUciMove,
  type Move,
  Position,
  parseFen,
  parseSan,
  START_FEN,
} from '#sardonyx/chess/index.js';
import { createPrng, unwrap } from '#sardonyx/util/index.js';

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
