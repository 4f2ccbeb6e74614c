import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { unwrap } from '#sardonyx/base/util/index.js';
import { parseFen } from '#sardonyx/chess/rules/index.js';
import { FileMemory } from '#sardonyx/chess/syzygy/file-bytes.js';
import { type Material, parseTableName } from '#sardonyx/chess/syzygy/material.js';
import { PieceList } from '#sardonyx/chess/syzygy/piece-list.js';
import { computePositionIndex, createPieceGroups } from '#sardonyx/chess/syzygy/position-index.js';
import { BELOW_DIAGONAL, KING_PAIRS, PAWN_ORDER, TRIANGLE } from '#sardonyx/chess/syzygy/square-numbers.js';
import { Table } from '#sardonyx/chess/syzygy/table.js';
import { repositoryRoot } from '../../support/shared-folder.js';
import { withTableFolder } from '../../support/table-folder.js';

interface IndexedTable {
  readonly name: string;
  /** Single-value table that says the order of its pieces and groups, base64. */
  readonly file: string;
  readonly positions: readonly (readonly [fen: string, index: number])[];
}

function getMaterial(name: string): Material {
  const material = parseTableName(name);
  assert.ok(material !== null, name);
  return material;
}

test('numbers of squares are the ranges that the format counts on', () => {
  const sorted = (numbers: ArrayLike<number>): number[] =>
    Array.from(numbers)
      .filter((number) => number >= 0)
      .sort((a, b) => a - b);
  const range = (length: number): number[] => Array.from({ length }, (_, i) => i);
  assert.deepEqual(sorted(TRIANGLE), range(10));
  assert.deepEqual(sorted(BELOW_DIAGONAL), range(28));
  assert.deepEqual(sorted(PAWN_ORDER), range(48));
  assert.deepEqual(sorted(KING_PAIRS), range(462));
});

test('indices of 3 to 7 men are those of python-chess, whatever order a table gives its pieces', async () => {
  const path = join(repositoryRoot, 'test', 'chess', 'syzygy', 'golden', 'indices.json');
  const tables = JSON.parse(readFileSync(path, 'utf8')) as IndexedTable[];
  const files = Object.fromEntries(
    tables.map(({ name, file }, i) => [`${i}-${name}.rtbw`, Buffer.from(file, 'base64')]),
  );
  const pieces = new PieceList();
  await withTableFolder(files, (folder) => {
    tables.forEach(({ name, positions }, i) => {
      const table = new Table(join(folder, `${i}-${name}.rtbw`), getMaterial(name), 'wdl', new FileMemory());
      for (const [fen, index] of positions) {
        const position = unwrap(parseFen(fen));
        pieces.fill(position);
        assert.equal(table.locate(pieces, position.sideToMove === 1), index, `${name} ${fen}`);
      }
    });
  });
});

test('three different pieces: turned boards share an index, others do not, and every index is in range', () => {
  const material = getMaterial('KQvK');
  const groups = createPieceGroups(material, [5, 6, 14], 0, 15, 0);
  const turns: ((square: number) => number)[] = [
    (square) => square,
    (square) => square ^ 7,
    (square) => square ^ 56,
    (square) => ((square >> 3) | (square << 3)) & 63,
  ];
  const owner = new Map<number, string>();
  for (let a = 0; a < 64; a++) {
    for (let b = 0; b < 64; b++) {
      for (let c = 0; c < 64; c++) {
        if (a === b || b === c || a === c) continue;
        const index = computePositionIndex(material, groups, Int32Array.of(a, b, c), 3);
        assert.ok(index >= 0 && index < groups.size);
        // A class of positions is named by the smallest of its eight images.
        if (!owner.has(index)) owner.set(index, nameClass([a, b, c]));
        else if ((a + 7 * b + 13 * c) % 97 === 0) assert.equal(owner.get(index), nameClass([a, b, c]));
        if (a === 11)
          for (const turn of turns) {
            const image = computePositionIndex(material, groups, Int32Array.of(turn(a), turn(b), turn(c)), 3);
            assert.equal(image, index);
          }
      }
    }
  }
  assert.equal(owner.size, new Set(owner.values()).size);
  assert.equal(owner.size, groups.size);
});

function nameClass(squares: readonly number[]): string {
  const images: string[] = [];
  for (let turn = 0; turn < 8; turn++) {
    const image = squares.map((square) => {
      const mirrored = square ^ ((turn & 1) !== 0 ? 7 : 0) ^ ((turn & 2) !== 0 ? 56 : 0);
      return (turn & 4) === 0 ? mirrored : ((mirrored >> 3) | (mirrored << 3)) & 63;
    });
    images.push(image.map((square) => String(square).padStart(2, '0')).join());
  }
  return images.sort()[0];
}

test('names of tables are read, and nothing else is', () => {
  assert.equal(parseTableName('KRPvKR')?.codes.length, 5);
  assert.equal(parseTableName('KPvKPP')?.leadingPawns, 1);
  assert.equal(parseTableName('KPPvKP')?.leadingPawns, 1);
  assert.equal(parseTableName('KQvK')?.hasUniquePiece, true);
  assert.equal(parseTableName('KNNvK')?.hasUniquePiece, false);
  assert.equal(parseTableName('KRvKR')?.isSymmetric, true);
  for (const name of ['', 'KvK', 'KQ', 'QvK', 'KQvKx', 'KQQQQvKQQ', 'kqvk', 'KQvKQ ']) {
    assert.equal(parseTableName(name), null, name);
  }
});
