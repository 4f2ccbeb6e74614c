/** The typed engine in Node, and its examples. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { type ChessEngine, createEngine } from '#sardonyx/index.js';
import { engineCases } from '../library/engine-cases.js';
import { encodeNetworkFile } from '../support/lc0-network-file.js';
import { createRandomNetwork } from '../support/lc0-random-network.js';
import { repositoryRoot } from '../support/shared-folder.js';

const TINY = join(repositoryRoot, 'models', 'tiny-test.onnx');

const folder = mkdtempSync(join(tmpdir(), 'sardonyx-library-'));
const LC0 = join(folder, 'random.pb.gz');

let engine: ChessEngine;
before(async () => {
  writeFileSync(LC0, encodeNetworkFile(createRandomNetwork({ blocks: 1 })));
  engine = await createEngine({ weights: TINY, threads: 1 });
});
after(async () => {
  await engine.dispose();
  rmSync(folder, { recursive: true });
});

for (const { name, run } of engineCases) {
  test(name, { timeout: 120_000 }, () =>
    run({
      engine,
      createEngine,
      missingNetwork: '/nowhere/net.onnx',
      onnxNetwork: pathToFileURL(TINY),
      lc0Network: pathToFileURL(LC0),
      readFile,
    }),
  );
}

for (const [name, args, expected] of [
  ['play.mjs', ['2', '20'], /^Network: .*\n(?:[a-h][1-8][a-h][1-8] .*\n){2}$/],
  ['analyse.mjs', [], /^\d+ nodes: .*\nbest [a-h][1-8][a-h][1-8][qrbn]?, expecting .*\n$/s],
] as const) {
  test(`the example ${name} runs, with nothing on stderr`, () => {
    const script = join(repositoryRoot, 'docs', 'examples', name);
    const output = execFileSync(process.execPath, [script, ...args], { encoding: 'utf8', stdio: 'pipe' });
    assert.match(output, expected);
  });
}
