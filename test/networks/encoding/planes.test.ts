import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPrng, unwrap } from '#sardonyx/base/util/index.js';
import { type Move, type Position, parseFen, parseUciMove, START_FEN } from '#sardonyx/chess/rules/index.js';
import {
  createRandomSymmetry,
  expandPlanes,
  getInputEncoding,
  getPolicyEncoding,
  type HistoryFill,
  listInputEncodings,
} from '#sardonyx/networks/encoding/index.js';

const FULL = 0xffffffffffffffffn;

interface Packed {
  readonly masks: bigint[];
  readonly values: Float32Array;
  readonly transform: number;
}

function encode(name: string, position: Position, fill: HistoryFill = 'fen_only'): Packed {
  const encoding = unwrap(getInputEncoding(name));
  const words = new Uint32Array(2 * encoding.planes);
  const values = new Float32Array(encoding.planes);
  const transform = encoding.writePacked(position, fill, words, 0, values, 0);
  const masks = Array.from(
    { length: encoding.planes },
    (_, i) => BigInt(words[2 * i]) | (BigInt(words[2 * i + 1]) << 32n),
  );
  return { masks, values, transform };
}

function play(fen: string, moves: string): Position {
  const position = unwrap(parseFen(fen));
  for (const text of moves.split(' ').filter(Boolean)) position.makeMove(unwrap(parseUciMove(position, text)));
  return position;
}

/** Colours swapped and the board turned upside down: the same position for the other player. */
function mirrorFen(fen: string): string {
  const [board, side, castling, enPassant, ...rest] = fen.split(' ');
  const swapCase = (text: string): string =>
    text.replace(/[a-zA-Z]/g, (letter) => (letter < 'a' ? letter.toLowerCase() : letter.toUpperCase()));
  const ep = enPassant === '-' ? '-' : enPassant[0] + String(9 - Number(enPassant[1]));
  const rights = castling === '-' ? '-' : [...swapCase(castling)].sort().join('');
  return [swapCase(board.split('/').reverse().join('/')), side === 'w' ? 'b' : 'w', rights, ep, ...rest].join(' ');
}

function bits(...squares: string[]): bigint {
  return squares.reduce((sum, name) => sum | (1n << BigInt(name.charCodeAt(0) - 97 + 8 * (Number(name[1]) - 1))), 0n);
}

const RANK = (n: number): bigint => 0xffn << BigInt(8 * (n - 1));

test('the start position has its pieces, all rights, and nothing in the seven older slots', () => {
  const { masks, values } = encode('lc0-112', play(START_FEN, ''));
  assert.deepEqual(masks.slice(0, 13), [
    RANK(2),
    bits('b1', 'g1'),
    bits('c1', 'f1'),
    bits('a1', 'h1'),
    bits('d1'),
    bits('e1'),
    RANK(7),
    bits('b8', 'g8'),
    bits('c8', 'f8'),
    bits('a8', 'h8'),
    bits('d8'),
    bits('e8'),
    0n,
  ]);
  assert.ok(masks.slice(13, 104).every((mask) => mask === 0n));
  assert.deepEqual(masks.slice(104), [FULL, FULL, FULL, FULL, 0n, FULL, 0n, FULL]);
  assert.equal(values[109], 0);
});

test('after 1.e4 black sees its own side at the bottom, also in the history', () => {
  const { masks } = encode('lc0-112', play(START_FEN, 'e2e4'));
  assert.equal(masks[0], RANK(2));
  assert.equal(masks[6], (RANK(7) & ~bits('e7')) | bits('e5'));
  assert.equal(masks[13 + 6], RANK(7), 'the position before, still seen by black');
  assert.equal(masks[108], FULL, 'black to move');
});

test('castling rights are planes of the mover first, queen side before king side', () => {
  const { masks } = encode('lc0-112', play('r3k2r/8/8/8/8/8/8/R3K2R b Kq - 12 40', ''));
  assert.deepEqual(masks.slice(104, 108), [FULL, 0n, 0n, FULL]);
});

test('rule 50 is the ply count as it is, and a hundredth of it in the hectoplies formats', () => {
  const position = play('r3k2r/8/8/8/8/8/8/R3K2R b Kq - 12 40', '');
  assert.equal(encode('lc0-112', position).values[109], 12);
  assert.equal(encode('INPUT_112_WITH_CANONICALIZATION', position).values[109], 12);
  assert.equal(encode('INPUT_112_WITH_CANONICALIZATION_HECTOPLIES', position).values[109], Math.fround(0.12));
});

test('a repeated position has its repetition plane set in its own slot only', () => {
  const { masks } = encode('lc0-112', play(START_FEN, 'g1f3 g8f6 f3g1 f6g8 e2e4'));
  assert.equal(masks[12], 0n);
  assert.equal(masks[13 + 12], FULL);
  assert.ok([2, 3, 4, 5].every((slot) => masks[13 * slot + 12] === 0n));
});

test('history fill: no leaves zeros, fen_only repeats a FEN but not the start position, always repeats both', () => {
  const fen = '4k3/8/8/8/8/8/4P3/4K3 w - - 3 20';
  const older = (fill: HistoryFill, start: string): bigint[] =>
    encode('lc0-112', play(start, ''), fill).masks.slice(13, 104);
  const isEmpty = (masks: bigint[]): boolean => masks.every((mask) => mask === 0n);
  const current = encode('lc0-112', play(fen, '')).masks.slice(0, 13);
  assert.ok(isEmpty(older('no', fen)));
  assert.deepEqual(older('fen_only', fen), Array.from({ length: 7 }, () => current).flat());
  assert.ok(isEmpty(older('fen_only', START_FEN)));
  assert.deepEqual(older('always', START_FEN).slice(78), encode('lc0-112', play(START_FEN, '')).masks.slice(0, 13));
});

test('an en-passant right of the first position says what stood before it: the double push is taken back', () => {
  const fen = '4k3/8/8/8/3pP3/8/8/4K3 b - e3 0 1';
  for (const [fill, slots] of [
    ['no', 1],
    ['fen_only', 7],
  ] as const) {
    const { masks } = encode('lc0-112', play(fen, ''), fill);
    assert.equal(masks[6], bits('e5'));
    for (let slot = 1; slot <= 7; slot++) assert.equal(masks[13 * slot + 6], slot <= slots ? bits('e7') : 0n);
  }
  const { masks } = encode('lc0-112', play(fen, 'd4d3'), 'fen_only');
  assert.deepEqual([masks[0], masks[13], masks[26]], [bits('e4'), bits('e4'), bits('e2')]);
});

test('format 2 marks the rooks that may castle', () => {
  const { masks } = encode('INPUT_112_WITH_CASTLING_PLANE', play('r3k1r1/8/8/8/8/8/8/1R2K2R b Bg - 0 1', ''));
  assert.deepEqual(masks.slice(104, 108), [bits('b8'), bits('g1'), 0n, 0n]);
  assert.equal(masks[108], FULL);
});

test('canonical formats turn the king to files e-h, and without pawns to the lower triangle', () => {
  const withPawn = encode('INPUT_112_WITH_CANONICALIZATION', play('8/1K6/8/8/8/4k3/P7/8 w - - 0 1', ''));
  assert.equal(withPawn.transform, 1);
  assert.deepEqual([withPawn.masks[0], withPawn.masks[5]], [bits('h2'), bits('g7')]);
  const mirrored = encode('INPUT_112_WITH_CANONICALIZATION', play('2K5/8/8/8/8/4k3/8/R7 w - - 0 1', ''));
  assert.equal(mirrored.transform, 3);
  assert.deepEqual([mirrored.masks[5], mirrored.masks[3]], [bits('f1'), bits('h8')]);
  const transposed = encode('INPUT_112_WITH_CANONICALIZATION', play('8/8/8/7K/8/4k3/8/R7 w - - 0 1', ''));
  assert.equal(transposed.transform, 6);
  // h5 -> mirror ranks h4 -> reflect about a8-h1: (3, 7) -> (0, 4) = e1; a1 -> a8 -> itself, on the diagonal.
  assert.deepEqual([transposed.masks[5], transposed.masks[3]], [bits('e1'), bits('a8')]);
});

test('canonical history stops behind a pawn move, and V2 holds repeated positions only', () => {
  const moves = 'e2e4 e7e5 g1f3 g8f6 f3g1 f6g8';
  const canonical = encode('INPUT_112_WITH_CANONICALIZATION', play(START_FEN, moves)).masks;
  assert.equal(canonical[13 * 4 + 5], bits('e1'), 'the position after 1...e5 is the fifth and last');
  assert.equal(canonical[13 * 5 + 5], 0n);
  const v2 = encode('INPUT_112_WITH_CANONICALIZATION_V2', play(START_FEN, `${moves} g1f3`)).masks;
  assert.equal(v2[12], FULL, 'the knight move repeats as well');
  assert.equal(v2[13 + 12], FULL, 'slot 1 is the position before, which had occurred');
  assert.equal(v2[26 + 5], 0n, 'no other position had');
});

test('canonical formats show the en-passant file on the eighth rank', () => {
  const { masks } = encode(
    'INPUT_112_WITH_CANONICALIZATION_V2_ARMAGEDDON',
    play('4k3/8/8/8/3pP3/8/8/4K3 b - e3 0 1', ''),
  );
  assert.equal(masks[108], bits('e8'), 'the e pawn, seen by black');
  assert.equal(masks[110], FULL, 'black to move');
});

for (const name of listInputEncodings()) {
  test(`${name}: a position with colours swapped looks the same but for the colour plane; encoding leaves it as it was`, () => {
    const prng = createPrng(7);
    const colourPlanes = name === 'lc0-112' || name === 'INPUT_112_WITH_CASTLING_PLANE' ? [108] : [];
    if (name === 'history-216') colourPlanes.push(212);
    if (name.endsWith('ARMAGEDDON')) colourPlanes.push(110);
    if (name === 'mini-19') colourPlanes.push(12);
    if (name === 'neuralmate-68') colourPlanes.push(48);
    const starts = [
      'r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1',
      '8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 4 9',
      '4k3/8/8/3q4/8/8/8/R3K2N w Q - 0 1',
      '8/8/3k4/8/8/2B5/8/K2R4 b - - 0 1',
    ];
    const legal = new Uint16Array(256);
    for (const fen of starts) {
      const ours = unwrap(parseFen(fen));
      const theirs = unwrap(parseFen(mirrorFen(fen)));
      for (let ply = 0; ply < 60; ply++) {
        const a = encode(name, ours);
        const b = encode(name, theirs);
        for (const plane of colourPlanes) {
          assert.equal(a.masks[plane] ^ b.masks[plane], FULL);
          a.masks[plane] = b.masks[plane];
        }
        // The move number counts Black's moves, so it is not the same a colour swap later.
        if (name === 'neuralmate-68') a.values[49] = b.values[49];
        assert.deepEqual(a, b);
        const key = [ours.keyLow, ours.keyHigh, ours.rule50, ours.historyLength, ours.board.join()];
        encode(name, ours);
        assert.deepEqual([ours.keyLow, ours.keyHigh, ours.rule50, ours.historyLength, ours.board.join()], key);
        const count = ours.generateLegalMoves(legal);
        if (count === 0) break;
        const move = legal[prng.nextBelow(count)];
        ours.makeMove(move as Move);
        theirs.makeMove((move ^ 0b111_000_111_000) as Move);
      }
    }
  });
}

test('neuralmate-68 shows attacks, kings in danger, mobility, pawns, weak squares and the centre', () => {
  const { masks, values } = encode('neuralmate-68', play('4k3/8/8/3n4/8/5p2/P3B2P/1N2K3 w - - 25 30', ''));
  assert.equal(values[49], Math.fround(30 / 200));
  assert.equal(values[54], 0.25);
  assert.equal(masks[58] & RANK(3), bits('a3', 'b3', 'c3', 'd3', 'f3', 'g3'), 'own attacks on the third rank');
  assert.equal(masks[59], bits('e2', 'g2', 'b4', 'b6', 'c3', 'c7', 'e3', 'e7', 'f4', 'f6', 'd7', 'd8', 'f7', 'f8'));
  assert.equal(masks[60], 0n);
  assert.equal(masks[61], bits('b1', 'e2'), 'guards of d1, d2, f1, f2');
  assert.equal(masks[62], bits('a3', 'c3', 'd2'));
  assert.equal(masks[63], bits('d1', 'f1', 'f3', 'd3', 'c4', 'b5', 'a6'));
  assert.equal(masks[64], bits('a2', 'f3', 'h2'));
  assert.equal(masks[65], bits('a2', 'h2', 'f3'));
  assert.equal(masks[66] & RANK(4), RANK(4) & ~bits('c4'));
  assert.equal(masks[67], 0n);
});

test('attacks-50 shows attacks by piece, what lies behind, checking squares, passed pawns and material', () => {
  const { masks, values } = encode('attacks-50', play('4k3/8/8/3n4/8/5p2/P3B2P/1N2K3 w - - 25 30', ''));
  const own = [bits('b3', 'g3'), bits('a3', 'c3', 'd2'), bits('d1', 'f1', 'f3', 'd3', 'c4', 'b5', 'a6'), 0n, 0n];
  const theirs = [bits('e2', 'g2'), bits('b4', 'b6', 'c3', 'c7', 'e3', 'e7', 'f4', 'f6'), 0n, 0n, 0n];
  assert.deepEqual(masks.slice(12, 18), [...own, bits('d1', 'd2', 'e2', 'f1', 'f2')]);
  assert.deepEqual(masks.slice(18, 24), [...theirs, bits('d7', 'd8', 'e7', 'f7', 'f8')]);
  assert.deepEqual(masks.slice(24, 26), [bits('d1', 'd2', 'f1'), bits('e7')], 'attacked twice');
  assert.deepEqual(masks.slice(26, 30), [bits('g4', 'h5'), 0n, 0n, 0n], 'behind the pawn on f3');
  const files = ['a', 'b', 'c', 'd', 'f', 'g', 'h'];
  const lines = [...files.map((file) => `${file}8`), ...[2, 3, 4, 5, 6, 7].map((rank) => `e${rank}`)];
  assert.deepEqual(masks.slice(30, 34), [
    bits('d7', 'f7'),
    bits('c7', 'd6', 'f6', 'g7'),
    bits('d7', 'c6', 'b5', 'a4', 'f7', 'g6', 'h5'),
    bits(...lines),
  ]);
  assert.deepEqual(masks.slice(34, 38), [
    bits('d2', 'f2'),
    bits('c2', 'd3', 'f3', 'g2'),
    bits('d2', 'c3', 'b4', 'a5', 'f2', 'g3', 'h4'),
    bits('b1', 'c1', 'd1', 'f1', 'g1', 'h1', 'e2'),
  ]);
  assert.deepEqual(masks.slice(38, 46), [bits('a2', 'h2'), bits('f3'), 0n, 0n, 0n, 0n, 0n, 0n]);
  assert.deepEqual(masks.slice(46), [FULL, FULL, FULL, FULL]);
  assert.deepEqual([...values.slice(46)], [0.25, 0.5, 0, Math.fround(9 / 62)]);
});

test('attacks-50 marks a repeated position', () => {
  assert.equal(encode('attacks-50', play(START_FEN, 'g1f3 g8f6 f3g1')).masks[45], 0n);
  assert.equal(encode('attacks-50', play(START_FEN, 'g1f3 g8f6 f3g1 f6g8')).masks[45], FULL);
});

test('mini-19, neuralmate-68 and attacks-50 turn the en-passant square to the mover and count rights king side first', () => {
  const position = play('4k2r/8/8/8/3pP3/8/8/R3K3 b Qk e3 0 1', '');
  assert.deepEqual(encode('mini-19', position).masks.slice(12), [0n, FULL, 0n, 0n, FULL, bits('e6'), FULL]);
  assert.deepEqual(encode('neuralmate-68', position).masks.slice(50, 56), [FULL, 0n, 0n, FULL, FULL, bits('e6')]);
  assert.deepEqual(encode('attacks-50', position).masks.slice(40, 45), [FULL, 0n, 0n, FULL, bits('e6')]);
});

test('history-216 is the classical format with 16 boards', () => {
  const moves = 'e2e4 e7e5 g1f3 g8f6 f3g1 f6g8 g1f3 g8f6 f3g1 f6g8 d2d4 e5d4 d1d4 b8c6 d4d1 d7d6 c2c4';
  const words = moves.split(' ');
  const { masks, values } = encode('history-216', play(START_FEN, moves));
  assert.equal(masks.length, 216);
  const classical = encode('lc0-112', play(START_FEN, moves));
  assert.deepEqual(masks.slice(0, 104), classical.masks.slice(0, 104));
  assert.deepEqual(masks.slice(208), classical.masks.slice(104));
  assert.equal(values[213], classical.values[109]);
  const older = encode('lc0-112', play(START_FEN, words.slice(0, -8).join(' ')));
  assert.deepEqual(masks.slice(104, 208), older.masks.slice(0, 104), 'the same player moved eight plies before');
  const short = encode('history-216', play('4k3/8/8/8/8/8/4P3/4K3 w - - 3 20', 'e2e3'), 'no').masks;
  assert.ok(short[13 + 5] !== 0n && short.slice(26, 208).every((mask) => mask === 0n));
});

test('a random symmetry mirrors the files of half the positions that have no castling right, moves included', () => {
  const names = ['lc0-112', 'history-216', 'mini-19', 'neuralmate-68'];
  const put = (letter: string, file: number): string => `${file || ''}${letter}${7 - file || ''}`;
  const fens = Array.from(
    { length: 64 },
    (_, i) => `4k3/${put('n', i >> 3)}/8/${put('p', i & 7)}/8/8/P7/4K2N w - - 0 ${40 + i}`,
  );
  const mirrorFiles = (mask: bigint): bigint => {
    let turned = 0n;
    for (let square = 0n; square < 64n; square++) if ((mask >> square) & 1n) turned |= 1n << (square ^ 7n);
    return turned;
  };
  for (const name of names) {
    const inner = unwrap(getInputEncoding(name));
    const symmetric = createRandomSymmetry(inner, 5);
    const policy = unwrap(getPolicyEncoding(name === 'mini-19' ? 'from-to-4096' : 'alphazero-4672'));
    let mirrored = 0;
    for (const fen of fens) {
      const position = unwrap(parseFen(fen));
      const words = new Uint32Array(2 * inner.planes);
      const values = new Float32Array(inner.planes);
      const transform = symmetric.writePacked(position, 'fen_only', words, 0, values, 0);
      const plain = encode(name, position);
      const masks = plain.masks.map((_, i) => BigInt(words[2 * i]) | (BigInt(words[2 * i + 1]) << 32n));
      assert.deepEqual(masks, transform === 0 ? plain.masks : plain.masks.map(mirrorFiles));
      assert.deepEqual(values, plain.values);
      const move = unwrap(parseUciMove(position, 'a2a4'));
      const expected = transform === 0 ? 'a2a4' : 'h2h4';
      const other = unwrap(parseFen('4k3/8/8/8/8/8/P6P/4K3 w - - 0 1'));
      const index = policy.moveToIndex(other, unwrap(parseUciMove(other, expected)), 0);
      assert.equal(policy.moveToIndex(position, move, transform), index);
      mirrored += transform;
    }
    assert.ok(mirrored > 12 && mirrored < 52, `${mirrored} of 64`);
    const castles = play('4k3/8/8/8/8/8/8/4K2R w K - 0 1', '');
    assert.equal(symmetric.writePacked(castles, 'no', new Uint32Array(512), 0, new Float32Array(256), 0), 0);
  }
  const canonical = unwrap(getInputEncoding('INPUT_112_WITH_CANONICALIZATION'));
  assert.equal(createRandomSymmetry(canonical, 5), canonical);
});

test('expandPlanes spreads masks times values, squares a1 to h8', () => {
  const encoding = unwrap(getInputEncoding('lc0-112'));
  const position = play('4k3/8/8/8/8/8/4P3/4K3 w - - 3 20', 'e2e4 e8e7');
  const words = new Uint32Array(2 * encoding.planes + 4);
  const values = new Float32Array(encoding.planes + 3);
  encoding.writePacked(position, 'fen_only', words, 4, values, 3);
  const out = new Float32Array(encoding.planes * 64 + 5).fill(9);
  expandPlanes(words, 4, values, 3, encoding.planes, out, 5);
  for (let plane = 0; plane < encoding.planes; plane++) {
    for (let square = 0; square < 64; square++) {
      const isSet = (words[4 + 2 * plane + (square >> 5)] >>> (square & 31)) & 1;
      assert.equal(out[5 + plane * 64 + square], isSet ? values[3 + plane] : 0);
    }
  }
  assert.ok(out.subarray(0, 5).every((x) => x === 9));
});
