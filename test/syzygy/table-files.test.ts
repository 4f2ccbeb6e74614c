import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { findTables, splitFolders } from '#sardonyx/syzygy/table-set.js';
import { createWonTables, withTableFolder } from '../support/table-folder.js';

test('folders are separated by semicolons and, but for Windows, by colons', () => {
  assert.deepEqual(splitFolders('/a b;/c:/d;;', false), ['/a b', '/c', '/d']);
  assert.deepEqual(splitFolders('C:\\tables; D:\\more ', true), ['C:\\tables', 'D:\\more']);
  for (const nothing of ['', ' ', ';']) assert.deepEqual(splitFolders(nothing, false), [], nothing);
});

test('tables of several folders are found once, and other files are passed over', async () => {
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
