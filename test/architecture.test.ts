import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { repositoryRoot } from './support/shared-folder.js';

const architecture = readFileSync(join(repositoryRoot, 'ARCHITECTURE.md'), 'utf8');

test('ARCHITECTURE.md lists exactly the rooms that src has', () => {
  const listed = [...architecture.matchAll(/^\| `(\w+)` \|/gm)].map((match) => match[1]);
  const rooms = readdirSync(join(repositoryRoot, 'src'), { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && readdirSync(join(repositoryRoot, 'src', entry.name)).length > 0)
    .map((entry) => entry.name);
  assert.deepEqual(listed.sort(), rooms.sort());
});

test('ARCHITECTURE.md stays under two pages', () => {
  assert.ok(architecture.split('\n').length <= 110);
});
