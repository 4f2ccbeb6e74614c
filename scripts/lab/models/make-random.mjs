#!/usr/bin/env node
// Writes networks with random weights. Run it after `npm run build`.
// usage: node scripts/lab/models/make-random.mjs tiny
//          writes models/tiny-test.onnx, the network of the tests
//        node scripts/lab/models/make-random.mjs FOLDER SIZE…
//          writes lc0 networks of these sizes, such as 128x10 (filters x blocks), for measuring
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { encodeNetworkFile } from '../../../build/test/support/lc0-network-file.js';
import { createRandomNetwork as createLc0Network } from '../../../build/test/support/lc0-random-network.js';
import { createRandomNetwork, TINY } from '../../../build/test/support/random-network.js';

function writeTinyNetwork() {
  const bytes = createRandomNetwork(TINY);
  writeFileSync(new URL('../../../models/tiny-test.onnx', import.meta.url), bytes);
  console.error(`models/tiny-test.onnx: ${bytes.length} bytes`);
}

function writeLc0Network(folder, size) {
  const [filters, blocks] = size.split('x').map(Number);
  const shape = { filters, blocks, seChannels: 32, policy: 'convolution', value: 'wdl', movesLeft: true };
  writeFileSync(join(folder, `${size}.pb.gz`), encodeNetworkFile(createLc0Network({ seed: 7, ...shape })));
}

const [first, ...sizes] = process.argv.slice(2);
if (first === 'tiny') writeTinyNetwork();
else for (const size of sizes) writeLc0Network(first, size);
