import assert from 'node:assert/strict';
import { linkSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import yargs from 'yargs';
import { leela2OnnxCommand } from '#sardonyx/cli/commands/network-file-commands.js';
import { encodeNetworkFile } from '../../support/lc0-network-file.js';
import { createRandomNetwork } from '../../support/lc0-random-network.js';

const folder = mkdtempSync(join(tmpdir(), 'sardonyx-leela2onnx-'));
after(() => rmSync(folder, { recursive: true, force: true }));

/** Rejects with the sentence for the user. */
async function convert(...args: readonly string[]): Promise<void> {
  const parser = yargs(['leela2onnx', ...args]);
  leela2OnnxCommand.addTo(parser);
  await parser.exitProcess(false).fail(false).parseAsync();
}

test('the converter does not write over the network that it reads', async () => {
  const network = encodeNetworkFile(createRandomNetwork({ blocks: 1, filters: 4 }));
  const path = join(folder, 'net.pb.gz');
  writeFileSync(path, network);
  // As on Windows, where case does not matter: another name of the same file.
  linkSync(path, join(folder, 'NET.pb.gz'));
  const running = convert(`--input=${path}`, `--output=${folder}/./NET.pb.gz`);
  await assert.rejects(async () => running, /^Error: --output names the file that is read: give another name$/);
  assert.deepEqual(new Uint8Array(readFileSync(path)), new Uint8Array(network));
});

test('two tensors of one name are refused, and WDL and value are one tensor', async () => {
  const path = join(folder, 'small.pb.gz');
  writeFileSync(path, encodeNetworkFile(createRandomNetwork({ blocks: 1, filters: 4 })));
  const files = [`--input=${path}`, `--output=${join(folder, 'small.onnx')}`, '--json'];
  await assert.rejects(
    async () => convert(...files, '--policy-head-name=/output/wdl'),
    /The tensor name "\/output\/wdl" is given twice/,
  );
  await assert.rejects(
    async () => convert(...files, '--input-planes-name=a', '--mlh-head-name=a'),
    /"a" is given twice/,
  );
  await assert.rejects(async () => convert(...files, '--policy-head-name='), /A tensor name is empty/);
  await convert(...files, '--wdl-head-name=v', '--value-head-name=v');
});
