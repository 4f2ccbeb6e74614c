import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import yargs, { type CommandModule } from 'yargs';
import { leela2OnnxCommand } from '#sardonyx/cli/leela2onnx.js';
import { encodeNetworkFile } from '../support/lc0-network-file.js';
import { createRandomNetwork } from '../support/lc0-random-network.js';

const folder = mkdtempSync(join(tmpdir(), 'sardonyx-leela2onnx-'));
after(() => rmSync(folder, { recursive: true, force: true }));

test('the converter does not write over the network that it reads', async () => {
  const network = encodeNetworkFile(createRandomNetwork({ blocks: 1, filters: 4 }));
  const path = join(folder, 'net.pb.gz');
  writeFileSync(path, network);
  const args = [`--input=${path}`, `--output=${folder}/./net.pb.gz`];
  const parser = yargs(args).command({ ...(leela2OnnxCommand as CommandModule), command: '$0' });
  const running = parser.exitProcess(false).fail(false).parseAsync();
  await assert.rejects(async () => running, /^Error: --output names the file that is read: give another name$/);
  assert.deepEqual(new Uint8Array(readFileSync(path)), new Uint8Array(network));
});
