import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { describeFile, findSharedNames, listCodeFiles, MIN_LINES } from './support/file-shape.js';
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

/** Both numbers only fall. */
const MOST_SMALL_FILES = 25;
const MOST_SHARED_NAMES = 0;

test('few files are under 30 lines, doors aside', () => {
  const small = listCodeFiles().filter(({ lines }) => lines < MIN_LINES);
  const list = small.map(({ path, lines }) => `${path} (${lines})`).join('\n');
  assert.ok(small.length <= MOST_SMALL_FILES, `${small.length} files; a helper lives with its only caller:\n${list}`);
});

test('files have names of their own', () => {
  const shared = findSharedNames(listCodeFiles());
  assert.ok(shared.length <= MOST_SHARED_NAMES, `${shared.length} names for two files:\n${shared.join('\n')}`);
});

test('the rule about names notices two files of one name, and passes a command named like what it runs', () => {
  const cache = [describeFile('src/nn/cache.ts', ''), describeFile('src/search/cache.ts', '')];
  assert.deepEqual(findSharedNames(cache), ['cache.ts: src/nn/cache.ts, src/search/cache.ts']);
  const perft = [
    describeFile('src/chess/perft.ts', ''),
    describeFile('src/cli/commands/perft.ts', "command: 'perft <depth>',"),
  ];
  assert.deepEqual(findSharedNames(perft), []);
});

test('workflows and images name what they take from others by digest', () => {
  const folder = join(repositoryRoot, '.github', 'workflows');
  const workflows = readdirSync(folder).map((name) => readFileSync(join(folder, name), 'utf8'));
  const image = readFileSync(join(repositoryRoot, 'docker', 'Dockerfile'), 'utf8');
  const actions = workflows.flatMap((text) => text.match(/uses: .*/g) ?? []);
  assert.ok(actions.length > 5);
  for (const action of actions) assert.match(action, /^uses: [\w-]+\/[\w-]+@[0-9a-f]{40} # v\d/);
  for (const base of image.match(/^FROM .*/gm) ?? []) assert.match(base, /@sha256:[0-9a-f]{64}$/);
  assert.match(workflows.join('\n'), /npm audit /);
});
