import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { unwrap } from '#sardonyx/base/util/index.js';
import { formatUciMove, Position, parseFen, parseUciMove, START_FEN } from '#sardonyx/chess/rules/index.js';
import type { Opening } from '#sardonyx/games/openings/book.js';
import { createOpeningSequence, openBook } from '#sardonyx/games/openings/book.js';
import { computePolyglotKey } from '#sardonyx/games/openings/polyglot-key.js';
import { readChunks } from '#sardonyx/games/records/index.js';
import { GZIP } from '../../support/packed-games.js';

const folder = mkdtempSync(join(tmpdir(), 'sardonyx-openings-'));
after(() => rmSync(folder, { recursive: true }));

function write(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, name.endsWith('.gz') ? gzipSync(text) : text);
  return path;
}

const listMoves = ({ moves }: Opening): string[] => moves.map((move) => formatUciMove(move, false));

const BOARD = 'rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq';

const PGN = `[Event "A"]
[Result "1-0"]

1. e4 {the best [by test] (1. d4)} e5 (1... c5 2. Nf3 (2. Nc3)) 2. Nf3 $1 Nc6!? ; a remark
3. Bb5 1-0

[FEN "4k3/8/8/8/8/8/8/4K2R w K - 0 1"]

1.O-O Ke7 *
[Event "no moves but a result"]

1/2-1/2
`;

test('a PGN book gives each game’s moves without its comments and variations', async () => {
  const book = unwrap(await openBook(write('book.pgn', PGN)));
  assert.equal(book.size, 3);
  const first = unwrap(book.read(0));
  assert.equal(first.fen, START_FEN);
  assert.deepEqual(listMoves(first), ['e2e4', 'e7e5', 'g1f3', 'b8c6', 'f1b5']);
  assert.deepEqual(listMoves(unwrap(book.read(1))), ['e1g1', 'e8e7']);
  assert.deepEqual(unwrap(book.read(2)).moves, []);
});

test('a line of a PGN book can be cut', async () => {
  const book = unwrap(await openBook(write('cut.pgn', PGN), 2));
  assert.deepEqual(listMoves(unwrap(book.read(0))), ['e2e4', 'e7e5']);
});

test('a gzipped EPD book is read, and an error names its line', async () => {
  const book = unwrap(await openBook(write('book.epd.gz', `# a remark\n${BOARD} - 0 1\r\n\nrubbish\n`)));
  assert.equal(book.size, 2);
  assert.equal(unwrap(book.read(0)).origin, 'book.epd.gz, line 2');
  const damaged = book.read(1);
  assert.match(damaged.ok ? '' : damaged.error, /^book\.epd\.gz: Line 4 is no position: /);
});

test('a missing book and an empty book are errors', async () => {
  assert.equal((await openBook(join(folder, 'none.epd'))).ok, false);
  assert.equal((await openBook(write('empty.epd', '\n\n'))).ok, false);
});

test('the three orders of openings depend on the seed alone', () => {
  const list = (order: 'sequential' | 'shuffled' | 'random', seed: number): number[] => {
    const at = createOpeningSequence(50, order, seed);
    return Array.from({ length: 100 }, (_, n) => at(n));
  };
  assert.deepEqual(list('sequential', 1).slice(48, 52), [48, 49, 0, 1]);
  const shuffled = list('shuffled', 1);
  assert.deepEqual(list('shuffled', 1), shuffled);
  assert.notDeepEqual(list('shuffled', 2), shuffled);
  assert.equal(new Set(shuffled.slice(0, 50)).size, 50);
  assert.deepEqual(shuffled.slice(50), shuffled.slice(0, 50));
  assert.deepEqual(list('random', 3), list('random', 3));
  assert.ok(new Set(list('random', 3).slice(0, 50)).size < 50);
});

test('comments wrapped over lines do not split a game', async () => {
  const text = '[Event "A"]\n\n1. e4 { so far so good\n[%clk 0:01:00] } e5 { again\n[%eval 0.3] } 2. Nf3 *\n';
  const book = unwrap(await openBook(write('wrapped.pgn', text)));
  assert.equal(book.size, 1);
  assert.deepEqual(listMoves(unwrap(book.read(0))), ['e2e4', 'e7e5', 'g1f3']);
});

test('games without tags are told apart by their results, and a byte order mark is no move', async () => {
  const book = unwrap(
    await openBook(write('bare.pgn', '\ufeff1. e4 e5 *\r\n\r\n1. d4\r\nd5 1/2-1/2\r\n\r\n1. c4 c5\r\n')),
  );
  const games = Array.from({ length: book.size }, (_, game) => listMoves(unwrap(book.read(game))));
  assert.deepEqual(games, [
    ['e2e4', 'e7e5'],
    ['d2d4', 'd7d5'],
    ['c2c4', 'c7c5'],
  ]);
});

/** Keys of the format's description. */
const POLYGLOT_KEYS: readonly (readonly [fen: string, key: bigint])[] = [
  [START_FEN, 0x463b96181691fc9cn],
  ['rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq e3 0 1', 0x823c9b50fd114196n],
  ['rnbqkbnr/ppp1pppp/8/3p4/4P3/8/PPPP1PPP/RNBQKBNR w KQkq d6 0 2', 0x0756b94461c50fb0n],
  ['rnbqkbnr/ppp1pppp/8/3pP3/8/8/PPPP1PPP/RNBQKBNR b KQkq - 0 2', 0x662fafb965db29d4n],
  ['rnbqkbnr/ppp1p1pp/8/3pPp2/8/8/PPPP1PPP/RNBQKBNR w KQkq f6 0 3', 0x22a48b5a8e47ff78n],
  ['rnbqkbnr/ppp1p1pp/8/3pPp2/8/8/PPPPKPPP/RNBQ1BNR b kq - 0 3', 0x652a607ca3f242c1n],
  ['rnbq1bnr/ppp1pkpp/8/3pPp2/8/8/PPPPKPPP/RNBQ1BNR w - - 0 4', 0x00fdd303c946bdd9n],
  ['rnbqkbnr/p1pppppp/8/8/PpP4P/8/1P1PPPP1/RNBQKBNR b KQkq c3 0 3', 0x3c8123ea7b067637n],
  ['rnbqkbnr/p1pppppp/8/8/P6P/R1p5/1P1PPPP1/1NBQKBNR b Kkq - 0 4', 0x5c3f9b829b279560n],
];

test('the keys of Polyglot books are those of the format', () => {
  for (const [fen, key] of POLYGLOT_KEYS) assert.equal(computePolyglotKey(unwrap(parseFen(fen))), key, fen);
});

/** Entries of moves in UCI notation after the moves of a line. */
function createPolyglotFile(lines: readonly (readonly [line: string, move: string, weight: number])[]): Buffer {
  const entries = lines.map(([line, move, weight]) => {
    const position = new Position();
    for (const text of line.split(' ').filter(Boolean)) position.makeMove(unwrap(parseUciMove(position, text)));
    const square = (text: string): number => text.charCodeAt(0) - 97 + 8 * (Number(text[1]) - 1);
    const entry = Buffer.alloc(16);
    entry.writeBigUInt64BE(computePolyglotKey(position));
    entry.writeUInt16BE(square(move.slice(2)) | (square(move) << 6), 8);
    entry.writeUInt16BE(weight, 10);
    return entry;
  });
  return Buffer.concat(entries.sort((a, b) => Buffer.compare(a, b)));
}

test('a Polyglot book gives lines by the weights of its moves, and leaves out what is illegal', async () => {
  const path = join(folder, 'book.bin');
  writeFileSync(
    path,
    createPolyglotFile([
      ['', 'e2e4', 300],
      ['', 'd2d4', 100],
      ['', 'e2e5', 900],
      ['', 'a2a3', 0],
      ['e2e4', 'e7e5', 1],
      ['e2e4 e7e5', 'g1f3', 1],
      ['d2d4', 'd7d5', 1],
    ]),
  );
  const book = unwrap(await openBook(path));
  const lines = Array.from({ length: 400 }, (_, n) => listMoves(unwrap(book.read(n))).join(' '));
  const king = lines.filter((line) => line === 'e2e4 e7e5 g1f3').length;
  const queen = lines.filter((line) => line === 'd2d4 d7d5').length;
  assert.equal(king + queen, 400);
  assert.ok(king > 260 && king < 340, `${king} of 400`);
  assert.equal(unwrap(book.read(7)).origin, 'book.bin, line 8');
  assert.equal(unwrap(unwrap(await openBook(path, 1)).read(0)).moves.length, 1);
  for (const [name, bytes, sentence] of [
    ['short.bin', Buffer.alloc(20), /^short\.bin is not a Polyglot book: its size is not a multiple of 16 bytes$/],
    [
      'zeros.bin',
      Buffer.alloc(32),
      /^zeros\.bin is not a Polyglot book: its entries are not moves, sorted by position\./,
    ],
  ] as const) {
    writeFileSync(join(folder, name), bytes);
    const opened = await openBook(join(folder, name));
    assert.match(opened.ok ? '' : opened.error, sentence);
  }
});

test('files that are no books are named, with what to do about them, and never read as text', async () => {
  const rows: [name: string, bytes: Uint8Array, sentence: RegExp][] = [
    [
      'a.abk',
      Buffer.from(`ABK\0${'x'.repeat(60)}\n1. e4 *\n`),
      /: it is an opening book of Arena \(\.abk\), which is not read: save its lines as PGN/,
    ],
    ['a.bin', Buffer.from('ABK\0xxxxxxxxxxxx'), /: it is an opening book of Arena/],
    ...['ctg', 'cto', 'ctb'].map(
      (ending) =>
        [
          `a.${ending}`,
          Buffer.alloc(4096),
          new RegExp(`: it is an opening book of ChessBase \\(\\.${ending}\\), which is not read`),
        ] as [string, Uint8Array, RegExp],
    ),
    ['a.BKT', Buffer.alloc(64, 1).fill(0, 8, 20), /: it is an opening book of Shredder \(\.bkt\), which is not read/],
    [
      'other.bin',
      Buffer.from('ff00'.repeat(64), 'hex'),
      /^other\.bin is not a Polyglot book: its entries are not moves, sorted by position\. Books of other programs are not read/,
    ],
    [
      'lfs.bin',
      Buffer.from('version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n'),
      /: it is a pointer of Git LFS, not the file itself: fetch the file with "git lfs pull"$/,
    ],
    ['empty.bin', Buffer.alloc(0), /^The book .*empty\.bin cannot be read: it is empty$/],
    ['empty.pgn', Buffer.alloc(0), /cannot be read: it is empty$/],
    [
      'old.pgn.lzma',
      Buffer.from('5d00008000ffffffffffffffff002d'.repeat(2), 'hex'),
      /: it is packed with lzma, which is not read: unpack it with "xz -d" first$/,
    ],
  ];
  for (const [name, bytes, sentence] of rows) {
    writeFileSync(join(folder, name), bytes);
    const opened = await openBook(join(folder, name));
    assert.match(opened.ok ? 'it was opened' : opened.error, sentence, name);
  }
});

test('what a book holds says which it is, whatever its name says', async () => {
  const polyglot = createPolyglotFile([['', 'e2e4', 1]]);
  for (const [name, bytes] of [
    ['book.abk', polyglot],
    ['book', polyglot],
    ['pgn.bin', Buffer.from('1. e4 *\n')],
  ] as const) {
    writeFileSync(join(folder, name), bytes);
    assert.deepEqual(listMoves(unwrap(unwrap(await openBook(join(folder, name))).read(0))), ['e2e4'], name);
  }
});

test('lichess’s table of openings is a book, each row with its line', async () => {
  const rows = ['A00\tAmar "Paris" Opening\t1. Nh3', '', "B00\tKing's Pawn\t1. e4", 'B00\tDamaged\t1. e5'];
  for (const [name, lines] of [
    ['openings.tsv', ['eco\tname\tpgn', ...rows]],
    ['bare.tsv', ['', ...rows]],
    ['all.tsv', ['eco-volume\teco\tname\tpgn\tuci\tepd', ...rows.map((row) => (row === '' ? '' : `A\t${row}\tx\ty`))]],
  ] as const) {
    const book = unwrap(await openBook(write(name, `${lines.join('\n')}\n`)));
    assert.equal(book.size, 3);
    assert.deepEqual(
      [0, 1].map((index) => listMoves(unwrap(book.read(index)))),
      [['g1h3'], ['e2e4']],
    );
    const damaged = book.read(2);
    assert.match(damaged.ok ? '' : damaged.error, /^[a-z]*\.tsv, game 3, line 5, move 1\.e5: e5 is illegal/);
  }
});

test('castling in a Polyglot book is the king onto its rook, or its two steps', async () => {
  const moves = ['e2e4', 'e7e5', 'g1f3', 'g8f6', 'f1c4', 'f8c5'];
  for (const [index, castling] of ['e1h1', 'e1g1'].entries()) {
    const entries = [...moves, castling].map((move, ply) => [moves.slice(0, ply).join(' '), move, 1] as const);
    const path = join(folder, `castling-${index}.bin`);
    writeFileSync(path, createPolyglotFile(entries));
    assert.deepEqual(listMoves(unwrap(unwrap(await openBook(path)).read(0))), [...moves, 'e1g1']);
  }
});

/** `1. e4 e5 *\n\n`, packed by the programs zstd (one raw block) and bzip2. */
const PACKED_BOOKS = {
  zst: Buffer.concat([Buffer.from('28b52ffd200c610000', 'hex'), Buffer.from('1. e4 e5 *\n\n')]),
  bz2: Buffer.from(
    '425a6839314159265359690aaddb000003d9000010401126000200200021a0cd410c08cb1909cb578bb9229c2848348556ed80',
    'hex',
  ),
};

test('a damaged book is refused whole, and the sentence says how many openings begin before the damage', async () => {
  const path = join(folder, 'cut.pgn.gz');
  writeFileSync(path, GZIP.subarray(0, -20));
  const opened = await openBook(path);
  assert.match(
    opened.ok ? '' : opened.error,
    /^The book .* cannot be read: it is cut off: its packed data end too early \(3 openings begin before that place\)$/,
  );
});

for (const [ending, bytes] of Object.entries(PACKED_BOOKS)) {
  test(`books packed as .${ending} are read, and damaged ones are a sentence`, async () => {
    const path = join(folder, `packed.pgn.${ending}`);
    writeFileSync(path, bytes);
    assert.deepEqual(listMoves(unwrap(unwrap(await openBook(path)).read(0))), ['e2e4', 'e7e5']);
    writeFileSync(path, bytes.subarray(0, 12));
    const damaged = await openBook(path);
    assert.match(damaged.ok ? '' : damaged.error, /^The book .*packed\.pgn\.\w+ cannot be read: /);
  });

  test(`a file packed as .${ending} is read as a stream, up to its damage`, async () => {
    const path = join(folder, `stream.pgn.${ending}`);
    const readAll = async (): Promise<string> => {
      let text = '';
      for await (const chunk of readChunks(path)) text += Buffer.from(chunk).toString();
      return text;
    };
    writeFileSync(path, bytes);
    assert.equal(await readAll(), '1. e4 e5 *\n\n');
    writeFileSync(path, Buffer.concat([bytes, bytes]));
    assert.equal(await readAll(), '1. e4 e5 *\n\n1. e4 e5 *\n\n');
    writeFileSync(path, bytes.subarray(0, 12));
    await assert.rejects(readAll());
  });
}
