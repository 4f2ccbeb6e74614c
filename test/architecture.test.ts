import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { test } from 'node:test';
import { ROOMS, readSources } from './support/import-rules.js';
import { repositoryRoot } from './support/shared-folder.js';

const architecture = readFileSync(join(repositoryRoot, 'ARCHITECTURE.md'), 'utf8');

function listFolders(...path: string[]): string[] {
  return readdirSync(join(repositoryRoot, ...path), { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && readdirSync(join(repositoryRoot, ...path, entry.name)).length > 0)
    .map((entry) => entry.name);
}

test('ARCHITECTURE.md has one sentence for each wing of src, and names exactly the rooms that the wings have', () => {
  const wings = [...architecture.matchAll(/^\d\. \*\*`(\w+)`\*\*/gm)].map(([, wing = '']) => wing);
  assert.deepEqual(
    wings.toSorted(),
    listFolders('src')
      .filter((name) => name !== 'platform')
      .sort(),
  );
  const withRooms = Object.keys(ROOMS);
  const rooms = withRooms.flatMap((wing) => listFolders('src', wing).map((room) => `${wing}/${room}`));
  const named = [...architecture.matchAll(/`(\w+)\/(\w+)`/g)].filter(([, wing = '']) => withRooms.includes(wing));
  assert.deepEqual([...new Set(named.map(([, wing, room]) => `${wing}/${room}`))].sort(), rooms.sort());
});

test('every compiled file has a source: tsc deletes nothing, so code of an older layout would go on resolving', () => {
  const madeByBundlers = /^(?:board\/page|web\/(?:ort|models|(?:index|sardonyx|board-worker)\.js))/;
  const compiled = readdirSync(join(repositoryRoot, 'dist'), { recursive: true, encoding: 'utf8' })
    .map((name) => name.replaceAll('\\', '/'))
    .filter((name) => /\.(?:d\.ts|js)$/.test(name) && !madeByBundlers.test(name));
  const orphans = compiled.filter((name) => {
    const source = join(repositoryRoot, 'src', name.replace(/\.(?:d\.ts|js)$/, ''));
    return !existsSync(`${source}.ts`) && !existsSync(`${source}.tsx`);
  });
  assert.ok(compiled.length > 300);
  assert.deepEqual(orphans, [], 'Remove the folders dist and build, then run `npm run build`.');
});

test('ARCHITECTURE.md stays under two pages', () => {
  assert.ok(architecture.split('\n').length <= 110);
});

/** The two doors of the npm package, for Node and for pages, offer the same; so do the two sides of each port of `platform`. */
const DOORS_OF_THE_PACKAGE = ['createEngine', 'createEnginePool'];
const EXPORTED = /^export (?:abstract |async )*(?:const|let|function\*?|class|interface|type|enum) (\w+)/gm;

test('no two files of src export one name', () => {
  const owners = new Map<string, Set<string>>();
  for (const { path, text } of readSources().filter((file) => !file.path.startsWith('platform/'))) {
    for (const [, name] of text.matchAll(EXPORTED)) owners.set(name, (owners.get(name) ?? new Set()).add(path));
  }
  const shared = [...owners].filter(([name, paths]) => paths.size > 1 && !DOORS_OF_THE_PACKAGE.includes(name));
  assert.deepEqual(
    shared.map(([name, paths]) => `${name}: ${[...paths].join(', ')}`),
    [],
  );
});

test('ten files at most compute addresses in the tree; the others read it through tree/read-tree.ts', () => {
  const files = readSources().filter(({ text }) => /\* (?:NODE|RECORD)_(?:WORDS|DOUBLES)\b/.test(text));
  assert.ok(files.length <= 10, files.map(({ path }) => path).join('\n'));
});

/** Names of thread entries that two files have: the threads of a page and of an executable are found by the name of their file. */
function findSharedThreads(paths: readonly string[]): string[] {
  const names = paths.map((path) => basename(path)).filter((name) => /-(?:worker|thread)\.ts$/.test(name));
  return names.filter((name, index) => names.indexOf(name) !== index);
}

test('every thread entry has a name of its own', () => {
  assert.deepEqual(findSharedThreads(readSources().map(({ path }) => path)), []);
  assert.deepEqual(findSharedThreads(['a/x-worker.ts', 'a/y.ts', 'b/x-worker.ts', 'b/y.ts']), ['x-worker.ts']);
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
