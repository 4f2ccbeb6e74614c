import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  findCircles,
  findFolderCircles,
  findImportViolations,
  findWingArrows,
  readSources,
  type SourceFile,
} from './support/import-rules.js';

test('every import in src goes through a door and points down, between wings and between the rooms of a wing', () => {
  assert.deepEqual(findImportViolations(readSources()), []);
});

test('the picture of the wings has 36 arrows at most', () => {
  const arrows = findWingArrows(readSources());
  assert.ok(arrows.length > 20 && arrows.length <= 36, `${arrows.length}:\n${arrows.join('\n')}`);
});

test('no files import each other in a circle, types included', () => {
  assert.deepEqual(findCircles(readSources()), []);
});

/** The program imports its commands, and they what commands share; the page is one program. */
const ONE_PROGRAM = /^(?:cli|board\/page)\//;

test('no folders of a room import each other in a circle', () => {
  assert.deepEqual(findFolderCircles(readSources().filter(({ path }) => !ONE_PROGRAM.test(path))), []);
});

test('the rule about circles notices one of three files, one of types and one of two folders', () => {
  const circle = [
    { path: 'networks/nn/a.ts', text: "import { b } from './b.js';" },
    { path: 'networks/nn/b.ts', text: "import type { C } from './deep/c.js';" },
    { path: 'networks/nn/deep/c.ts', text: "export { a } from '../a.js';" },
    { path: 'networks/nn/d.ts', text: "import { a } from './a.js';" },
  ];
  assert.deepEqual(findCircles(circle), ['networks/nn/a.ts, networks/nn/b.ts, networks/nn/deep/c.ts']);
  assert.deepEqual(findFolderCircles(circle), ['networks/nn, networks/nn/deep']);
  assert.deepEqual(findCircles(circle.slice(1)), []);
  assert.deepEqual(findFolderCircles(circle.slice(0, 2)), []);
  const door = { path: 'search/index.ts', text: "export { a } from './tree/a.js';" };
  const user = { path: 'search/tree/a.ts', text: "import { b } from '../params.js';" };
  assert.deepEqual(findFolderCircles([door, user]), []);
});

test('arrows are counted between wings, once', () => {
  const files = [
    { path: 'search/a.ts', text: "import { b } from '../networks/leaves/index.js';\nimport { c } from './c.js';" },
    { path: 'search/b.ts', text: "import { b } from '../networks/leaves/index.js';" },
    { path: 'index.ts', text: "import { b } from './engine/app/index.js';" },
  ];
  assert.deepEqual(findWingArrows(files), ['index.ts → engine', 'search → networks']);
});

const planted: [string, SourceFile, RegExp][] = [
  [
    'an import of a higher wing',
    { path: 'chess/rules/x.ts', text: "import { a } from '../../search/index.js';" },
    /chess\/rules may not import search/,
  ],
  [
    'an import of a wing of the same floor',
    { path: 'games/play/x.ts', text: "import { a } from '../../engine/core/index.js';" },
    /games\/play may not import engine\/core/,
  ],
  [
    'an import of a later room of the same wing',
    { path: 'chess/rules/x.ts', text: "import { a } from '../pgn/index.js';" },
    /chess\/rules may not import chess\/pgn/,
  ],
  [
    'an import past a door of another wing',
    { path: 'networks/encoding/x.ts', text: "import { a } from '../../chess/rules/move.js';" },
    /not the door of chess\/rules/,
  ],
  [
    'an import past a door of the same wing',
    { path: 'networks/onnx/x.ts', text: "import { a } from '../nn/model/model-file.js';" },
    /not the door of networks\/nn/,
  ],
  [
    'a wing in place of a room',
    { path: 'search/x.ts', text: "import { a } from '../base/index.js';" },
    /not the door of base\/index.js/,
  ],
  [
    'a type import upwards',
    { path: 'networks/nn/x.ts', text: "export type { A } from '../../engine/core/index.js';" },
    /networks\/nn may not import engine\/core/,
  ],
  [
    'a dynamic import upwards',
    { path: 'chess/rules/x.ts', text: "await import('../../networks/nn/index.js');" },
    /chess\/rules may not import networks\/nn/,
  ],
  [
    'chess in the search',
    { path: 'search/x.ts', text: "import { a } from '../chess/rules/index.js';" },
    /search may not import chess\/rules/,
  ],
  [
    'an evaluator in the search',
    { path: 'search/x.ts', text: "import { a } from '../networks/nn/index.js';" },
    /search may not import networks\/nn/,
  ],
  [
    'a room of Node in one that runs in a page',
    { path: 'engine/uci/x.ts', text: "import { a } from '../weights/index.js';" },
    /engine\/uci runs in a page too/,
  ],
  [
    'the engine in the page’s own code',
    { path: 'board/page/x.ts', text: "import { a } from '../../engine/core/index.js';" },
    /board may not import engine\/core/,
  ],
  [
    'the network runtime past the platform',
    { path: 'networks/nn/x.ts', text: "import * as ort from 'onnxruntime-node';" },
    /ONNX Runtime/,
  ],
  [
    'threads past the platform',
    { path: 'games/shards/x.ts', text: "import { Worker } from 'node:worker_threads';" },
    /threads/,
  ],
  [
    'files past the platform',
    { path: 'networks/lc0/x.ts', text: "import { readFile } from 'node:fs/promises';" },
    /of Node/,
  ],
  ['a late import of Node', { path: 'engine/core/x.ts', text: "await import('node:zlib');" }, /of Node/],
  ['a global of Node', { path: 'networks/nn/x.ts', text: 'const home = process.env.HOME;' }, /global of Node/],
  [
    'a port that pages lack',
    { path: 'networks/lc0/x.ts', text: "import { createFolder } from '#platform/folders.js';" },
    /only Node has/,
  ],
  ['setImmediate past the platform', { path: 'search/x.ts', text: 'setImmediate(work);' }, /runNextTurn/],
  [
    'the platform imported by a path',
    { path: 'networks/nn/x.ts', text: "import { startThread } from '../../platform/node/threads.js';" },
    /networks\/nn may not import platform/,
  ],
  [
    'a library of game text outside pgn',
    { path: 'games/records/x.ts', text: "import { parsePgn } from 'chessops/pgn';" },
    /chessops/,
  ],
  ['yargs outside cli', { path: 'engine/uci/x.ts', text: "import yargs from 'yargs';" }, /yargs/],
  ['stdout outside uci and cli', { path: 'engine/core/x.ts', text: "process.stdout.write('x');" }, /stdout/],
  ['console.log anywhere', { path: 'networks/nn/x.ts', text: "console.log('x');" }, /stdout/],
  ['randomness outside util', { path: 'chess/rules/x.ts', text: 'const x = Math.random();' }, /Math.random/],
  ['a seed drawn outside util', { path: 'search/x.ts', text: 'crypto.getRandomValues(words);' }, /drawSeed/],
  [
    'a room that imports the package itself',
    { path: 'engine/uci/x.ts', text: "import { createEngine } from '../../index.js';" },
    /engine\/uci may not import index.js/,
  ],
  [
    'a door of the package that reaches behind a room’s',
    { path: 'index.ts', text: "import { a } from './engine/app/settings.js';" },
    /not the door of engine\/app/,
  ],
  ['an unknown wing', { path: 'misc/x.ts', text: '' }, /not a wing/],
  ['an unknown room', { path: 'chess/misc/x.ts', text: '' }, /chess\/misc is not a room/],
  ['a file of a wing itself', { path: 'chess/index.ts', text: '' }, /no files of its own/],
];
for (const [name, file, pattern] of planted) {
  test(`the rule test itself notices ${name}`, () => {
    const violations = findImportViolations([file]);
    assert.equal(violations.length, 1, violations.join('\n'));
    assert.match(violations[0] ?? '', pattern);
  });
}
