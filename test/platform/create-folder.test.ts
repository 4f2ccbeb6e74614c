import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { createFolder } from '#platform/folders.js';

const scratch = mkdtempSync(join(tmpdir(), 'sardonyx-folders-'));
after(() => rmSync(scratch, { recursive: true }));
const isPosix = process.platform !== 'win32';

test('a folder is made with all above it, and may be there already', () => {
  const folder = join(scratch, 'a', 'b', 'c');
  for (const path of [folder, `${folder}/`, join(scratch, 'a'), '.', '/']) {
    createFolder(path);
    assert.ok(statSync(path).isDirectory());
  }
});

test('all that are made get the mode', { skip: !isPosix }, () => {
  createFolder(join(scratch, 'own', 'kind'), 0o700);
  for (const name of ['own', 'own/kind']) assert.equal(statSync(join(scratch, name)).mode & 0o777, 0o700);
});

test('a link to a folder is as good as the folder', { skip: !isPosix }, () => {
  createFolder(join(scratch, 'real'));
  symlinkSync(join(scratch, 'real'), join(scratch, 'link'));
  createFolder(join(scratch, 'link'));
  createFolder(join(scratch, 'link', 'inner'));
  assert.ok(statSync(join(scratch, 'real', 'inner')).isDirectory());
});

test('what is in the way is one sentence', () => {
  const file = join(scratch, 'file');
  writeFileSync(file, '');
  for (const path of [file, join(file, 'inner'), join(file, 'inner', 'most')]) {
    assert.throws(() => createFolder(path), {
      message: `Cannot create the folder ${path}: there is a file of that name`,
    });
  }
  assert.throws(() => createFolder(''), { message: 'Cannot create the folder : the name is empty' });
});

test('a link into nowhere ends the search for a parent', { skip: !isPosix }, () => {
  const link = join(scratch, 'dangling');
  symlinkSync(join(scratch, 'nowhere'), link);
  for (const path of [link, join(link, 'inner')])
    assert.throws(() => createFolder(path), /^Error: Cannot create the folder/);
});

test('below /proc no folder can be made, and nobody waits for one', { skip: process.platform !== 'linux' }, () => {
  for (const path of ['/proc/x', '/proc/x/y/z']) {
    assert.throws(() => createFolder(path), {
      message: `Cannot create the folder ${path}: no folder can be created there`,
    });
  }
});
