import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { createPrng, type Prng, unwrap } from '#sardonyx/base/util/index.js';
import { parseFen } from '#sardonyx/chess/rules/index.js';
import { DamagedTable, FileMemory } from '#sardonyx/chess/syzygy/file-bytes.js';
import { findTables, splitFolders } from '#sardonyx/chess/syzygy/find-tables.js';
import { Tablebases } from '#sardonyx/chess/syzygy/index.js';
import { type Material, parseTableName } from '#sardonyx/chess/syzygy/material.js';
import { PieceList } from '#sardonyx/chess/syzygy/piece-list.js';
import { OTHER_SIDE, Table } from '#sardonyx/chess/syzygy/table.js';
import { createTableFile } from '../../support/syzygy-writer.js';
import { createWonTables, withTableFolder } from '../../support/table-folder.js';

const QUEEN_PIECES = [5, 6, 14];
const SIZE = 31332;

function drawValues(random: Prng, size: number, most: number): Uint8Array {
  const values = new Uint8Array(size);
  for (let i = 0; i < size; ) {
    const value = random.nextBelow(most + 1);
    const run = 1 + random.nextBelow(random.nextBelow(8) === 0 ? 300 : 4);
    values.fill(value, i, i + run);
    i += run;
  }
  return values;
}

function openTable(folder: string, name: string, bytes: Buffer, memory = new FileMemory()): Table {
  const kind = name.endsWith('w') ? 'wdl' : 'dtz';
  writeFileSync(join(folder, name), bytes);
  return new Table(join(folder, name), parseTableName(name.slice(0, -5)) as Material, kind, memory);
}

function* listPositions(
  random: Prng,
  count: number,
): Generator<{ pieces: PieceList; blackToMove: boolean; fen: string }> {
  for (let i = 0; i < count; ) {
    const board = new Array<string>(64).fill('');
    for (const letter of random.nextBelow(2) === 0 ? 'KQk' : 'kqK') board[random.nextBelow(64)] = letter;
    const ranks = Array.from({ length: 8 }, (_, rank) =>
      board
        .slice(8 * rank, 8 * rank + 8)
        .map((letter) => letter || '1')
        .join(''),
    );
    const fen = `${ranks.join('/')} ${random.nextBelow(2) === 0 ? 'w' : 'b'} - - 0 1`;
    const parsed = parseFen(fen);
    if (!parsed.ok || board.filter((letter) => letter !== '').length !== 3) continue;
    const pieces = new PieceList();
    pieces.fill(parsed.value);
    yield { pieces, blackToMove: parsed.value.sideToMove === 1, fen };
    i++;
  }
}

test('every value of a compressed table is read back, whole files and paged ones alike', async () => {
  const random = createPrng(5);
  const white = drawValues(random, SIZE, 4);
  const black = drawValues(random, SIZE, 4);
  const bytes = createTableFile({
    kind: 'wdl',
    parts: [
      [
        { pieces: QUEEN_PIECES, values: white },
        { pieces: QUEEN_PIECES, values: black },
      ],
    ],
  });
  assert.ok(bytes.length > 3000, `${bytes.length} bytes`);
  await withTableFolder({}, (folder) => {
    const memories = [new FileMemory(), new FileMemory({ wholeFileBytes: 0, wholeBytes: 0, pages: 2, openFiles: 1 })];
    for (const memory of memories) {
      const table = openTable(folder, 'KQvK.rtbw', bytes, memory);
      for (const { pieces, blackToMove, fen } of listPositions(createPrng(6), 4000)) {
        const index = table.locate(pieces, blackToMove);
        const isQueenToMove = /Q/.test(fen) !== blackToMove;
        assert.equal(table.read(pieces, blackToMove, 0), (isQueenToMove ? white : black)[index] - 2, fen);
      }
      memory.close();
    }
  });
});

test('of files that are read by pages the one unused for longest is closed; one that became shorter is damaged', async () => {
  await withTableFolder({}, (folder) => {
    const memory = new FileMemory({ wholeFileBytes: 0, wholeBytes: 0, pages: 1, openFiles: 2 });
    const paths = ['a', 'b', 'c'].map((name) => join(folder, name));
    for (const path of paths) writeFileSync(path, 'table');
    const [a, b, c] = paths;
    for (const path of [a, b, a, c]) memory.getPage(path, 0, 5);
    // A file that is still open is read although its name is gone.
    rmSync(a);
    rmSync(b);
    memory.getPage(a, 0, 5);
    assert.throws(() => memory.getPage(b, 0, 5), /no such file/);
    assert.throws(() => memory.getPage(c, 0, 6), DamagedTable);
    memory.close();
  });
});

test('distances are looked up in their list, counted in moves or plies, and only for the side that is stored', async () => {
  const lists = [
    [7, 300, 9],
    [5, 11, 40],
    [1, 2, 3],
    [4, 8, 12],
  ];
  const values = drawValues(createPrng(9), SIZE, 2);
  await withTableFolder({}, (folder) => {
    for (const flags of [2, 2 + 16, 2 + 4 + 16, 2 + 8 + 16 + 1, 2 + 4 + 8 + 16]) {
      const isWide = (flags & 16) !== 0;
      const shown = isWide ? lists : lists.map((list) => list.map((value) => value & 255));
      const bytes = createTableFile({
        kind: 'dtz',
        parts: [[{ pieces: QUEEN_PIECES, values, flags, lists: shown }]],
      });
      const table = openTable(folder, 'KQvK.rtbz', bytes);
      for (const { pieces, blackToMove, fen } of listPositions(createPrng(flags), 300)) {
        const side = /Q/.test(fen) !== blackToMove ? 0 : 1;
        if (side !== (flags & 1)) {
          assert.equal(table.read(pieces, blackToMove, 2), OTHER_SIDE);
          continue;
        }
        const stored = values[table.locate(pieces, blackToMove)];
        const read = (wdl: number): number => table.read(pieces, blackToMove, wdl);
        assert.equal(read(2), shown[0][stored] * ((flags & 4) !== 0 ? 1 : 2) + 1);
        assert.equal(read(-2), shown[1][stored] * ((flags & 8) !== 0 ? 1 : 2) + 1);
        assert.equal(read(1), shown[2][stored] * 2 + 1);
        assert.equal(read(-1), shown[3][stored] * 2 + 1);
      }
    }
  });
});

test('captures count beside the table: a queen that hangs does not win', async () => {
  await withTableFolder({ ...createWonTables('Q'), ...createWonTables('R') }, (folder) => {
    const tables = new Tablebases(folder, assert.fail);
    assert.deepEqual(tables.counts, { wdl: 2, dtz: 2 });
    assert.equal(tables.mostMen, 3);
    const probe = (fen: string): number[] => {
      const position = unwrap(parseFen(fen));
      return [tables.probeWdl(position), tables.probeDtz(position)];
    };
    assert.deepEqual(probe('8/8/8/4k3/8/8/3QK3/8 w - - 0 1'), [2, 1]);
    assert.deepEqual(probe('8/8/8/8/8/3k4/3Q4/7K b - - 0 1'), [0, 0]);
    assert.deepEqual(probe('7k/8/8/8/8/3K4/3q4/8 w - - 0 1'), [0, 0]);
    assert.deepEqual(probe('8/8/8/3k4/8/8/8/3QK3 b - - 0 1'), [-2, -2]);
  });
});

test('damaged files are left out with one sentence and never throw or hang', async () => {
  const random = createPrng(3);
  const values = drawValues(random, SIZE, 4);
  const list = [1, 2, 3, 4, 5];
  const sides = [
    { pieces: QUEEN_PIECES, values },
    { pieces: QUEEN_PIECES, values },
  ];
  const files = {
    'KQvK.rtbw': createTableFile({ kind: 'wdl', parts: [sides] }),
    'KQvK.rtbz': createTableFile({
      kind: 'dtz',
      parts: [[{ pieces: QUEEN_PIECES, values, flags: 2, lists: [list, list, list, list] }]],
    }),
  };
  const fens = Array.from(listPositions(createPrng(8), 20), ({ fen }) => fen);
  await withTableFolder({}, (folder) => {
    const probeAll = (changed: Record<string, Buffer>): string[] => {
      const warnings: string[] = [];
      for (const [name, bytes] of Object.entries({ ...files, ...changed })) writeFileSync(join(folder, name), bytes);
      const tables = new Tablebases(folder, (text) => warnings.push(text));
      for (const fen of fens) {
        const position = unwrap(parseFen(fen));
        const key = position.keyLow;
        tables.probeWdl(position);
        tables.probeDtz(position);
        assert.equal(position.keyLow, key);
      }
      tables.close();
      return [...tables.warnings, ...warnings];
    };
    assert.deepEqual(probeAll({}), []);
    for (const name of ['KQvK.rtbw', 'KQvK.rtbz'] as const) {
      const whole = files[name];
      const isNamed = (warnings: string[], reason: RegExp): void => {
        assert.equal(warnings.length, 1, warnings.join('\n'));
        assert.match(warnings[0], new RegExp(`^Tablebase .*${name} left out: `));
        assert.match(warnings[0], reason);
      };
      isNamed(probeAll({ [name]: whole.subarray(0, 0) }), /not complete/);
      isNamed(probeAll({ [name]: whole.subarray(0, 1000) }), /not complete/);
      isNamed(probeAll({ [name]: whole.subarray(0, 64 * 3 + 16) }), /it ends/);
      isNamed(probeAll({ [name]: Buffer.concat([Buffer.from('PK\x03\x04'), whole.subarray(4)]) }), /does not begin/);
      isNamed(probeAll({ [name]: Buffer.alloc(whole.length) }), /does not begin/);
      const otherPieces = Buffer.from(whole);
      otherPieces[6] = 0x44;
      isNamed(probeAll({ [name]: otherPieces }), /other pieces than its name says/);
      for (let round = 0; round < 150; round++) {
        const flipped = Buffer.from(whole);
        for (let i = 0; i < 1 + random.nextBelow(4); i++) {
          // Mostly in the head, where it hurts.
          const at = 4 + random.nextBelow(round % 3 === 0 ? whole.length - 4 : 150);
          flipped[at] ^= 1 << random.nextBelow(8);
        }
        assert.ok(probeAll({ [name]: flipped }).length <= 1);
      }
      writeFileSync(join(folder, name), whole);
    }
  });
});

test('folders are separated by semicolons and, but for Windows, by colons', () => {
  assert.deepEqual(splitFolders('/a b;/c:/d;;', false), ['/a b', '/c', '/d']);
  assert.deepEqual(splitFolders('C:\\tables; D:\\more ', true), ['C:\\tables', 'D:\\more']);
  for (const nothing of ['', ' ', ';']) assert.deepEqual(splitFolders(nothing, false), [], nothing);
});

test('tables of several folders are found once, and other files are skipped', async () => {
  const other = { 'KQvK.txt': Buffer.alloc(80), 'notes.rtbw': Buffer.alloc(80), 'KvK.rtbw': Buffer.alloc(80) };
  await withTableFolder({ ...createWonTables('Q'), ...other }, async (first) => {
    await withTableFolder({ ...createWonTables('Q'), ...createWonTables('P') }, (second) => {
      const { files, warnings } = findTables([first, second]);
      const queen = ['KQvK.rtbw', 'KQvK.rtbz'].map((name) => join(first, name));
      const pawn = ['KPvK.rtbw', 'KPvK.rtbz'].map((name) => join(second, name));
      assert.deepEqual(files.map(({ path }) => path).sort(), [...queen, ...pawn].sort());
      assert.deepEqual(warnings, []);
    });
  });
});

test('what is wrong with folders and sizes is said in one sentence each', async () => {
  await withTableFolder({}, (folder) => {
    assert.deepEqual(findTables([folder]).warnings, [`SyzygyPath: no tables (.rtbw, .rtbz) in ${folder}`]);
    const missing = join(folder, 'nowhere');
    assert.deepEqual(findTables([missing]).warnings, [`SyzygyPath: the folder ${missing} cannot be read`]);
  });
  const cut = { 'KQvK.rtbw': Buffer.alloc(100), 'KRvK.rtbw': Buffer.alloc(0) };
  await withTableFolder(cut, (folder) => {
    const { files, warnings } = findTables([folder]);
    assert.deepEqual(files, []);
    assert.equal(warnings.length, 1);
    assert.match(warnings[0], /and 1 more left out: the size is wrong, the file is not complete$/);
  });
});
