import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { findCircles, findImportViolations, type SourceFile } from './support/import-rules.js';

const sourceRoot = fileURLToPath(new URL('../../src/', import.meta.url));

function readSources(): SourceFile[] {
  return readdirSync(sourceRoot, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.tsx?$/.test(name))
    .map((name) => ({ path: name.replaceAll('\\', '/'), text: readFileSync(join(sourceRoot, name), 'utf8') }));
}

test('every import in src goes through a door and points down the list of rooms', () => {
  assert.deepEqual(findImportViolations(readSources()), []);
});

test('no files import each other in a circle, types included', () => {
  assert.deepEqual(findCircles(readSources()), []);
});

test('the rule about circles notices one of three files and one of types', () => {
  const circle = [
    { path: 'nn/a.ts', text: "import { b } from './b.js';" },
    { path: 'nn/b.ts', text: "import type { C } from './deep/c.js';" },
    { path: 'nn/deep/c.ts', text: "export { a } from '../a.js';" },
    { path: 'nn/d.ts', text: "import { a } from './a.js';" },
  ];
  assert.deepEqual(findCircles(circle), ['nn/a.ts, nn/b.ts, nn/deep/c.ts']);
  assert.deepEqual(findCircles(circle.slice(1)), []);
});

const planted: [string, SourceFile, RegExp][] = [
  [
    'an import upwards',
    { path: 'chess/x.ts', text: "import { a } from '../search/index.js';" },
    /chess may not import search/,
  ],
  ['an import past a door', { path: 'encoding/x.ts', text: "import { a } from '../chess/move.js';" }, /not the door/],
  [
    'a type import upwards',
    { path: 'nn/x.ts', text: "export type { A } from '../engine/index.js';" },
    /nn may not import engine/,
  ],
  [
    'a dynamic import upwards',
    { path: 'chess/x.ts', text: "await import('../nn/index.js');" },
    /chess may not import nn/,
  ],
  [
    'the network runtime past the platform',
    { path: 'nn/x.ts', text: "import * as ort from 'onnxruntime-node';" },
    /ONNX Runtime/,
  ],
  [
    'threads past the platform',
    { path: 'data/x.ts', text: "import { Worker } from 'node:worker_threads';" },
    /threads/,
  ],
  ['files past the platform', { path: 'lc0/x.ts', text: "import { readFile } from 'node:fs/promises';" }, /of Node/],
  ['a late import of Node', { path: 'engine/x.ts', text: "await import('node:zlib');" }, /of Node/],
  ['a global of Node', { path: 'nn/x.ts', text: 'const home = process.env.HOME;' }, /global of Node/],
  [
    'a port that pages lack',
    { path: 'lc0/x.ts', text: "import { createFolder } from '#platform/folders.js';" },
    /only Node has/,
  ],
  ['setImmediate past the platform', { path: 'search/x.ts', text: 'setImmediate(work);' }, /runNextTurn/],
  [
    'the platform imported by a path',
    { path: 'nn/x.ts', text: "import { startThread } from '../platform/node/threads.js';" },
    /nn may not import platform/,
  ],
  [
    'a library of game text outside pgn',
    { path: 'data/x.ts', text: "import { parsePgn } from 'chessops/pgn';" },
    /chessops/,
  ],
  ['yargs outside cli', { path: 'uci/x.ts', text: "import yargs from 'yargs';" }, /yargs/],
  ['stdout outside uci and cli', { path: 'engine/x.ts', text: "process.stdout.write('x');" }, /stdout/],
  ['console.log anywhere', { path: 'nn/x.ts', text: "console.log('x');" }, /stdout/],
  ['randomness outside util', { path: 'chess/x.ts', text: 'const x = Math.random();' }, /Math.random/],
  ['a seed drawn outside util', { path: 'search/x.ts', text: 'crypto.getRandomValues(words);' }, /drawSeed/],
  [
    'a room that imports the package itself',
    { path: 'uci/x.ts', text: "import { createEngine } from '../index.js';" },
    /uci may not import index.js/,
  ],
  [
    'a door of the package that reaches behind a room’s',
    { path: 'index.ts', text: "import { a } from './app/settings.js';" },
    /not the door of app/,
  ],
  ['an unknown room', { path: 'misc/x.ts', text: '' }, /not a room/],
];
for (const [name, file, pattern] of planted) {
  test(`the rule test itself notices ${name}`, () => {
    const violations = findImportViolations([file]);
    assert.equal(violations.length, 1, violations.join('\n'));
    assert.match(violations[0] ?? '', pattern);
  });
}
