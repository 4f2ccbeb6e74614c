// Random lc0 networks for measuring, by size: node make-networks.mjs FOLDER "128x10 256x20"    (filters x blocks)
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { encodeNetworkFile } from '../../build/test/support/lc0-network-file.js';
import { createRandomNetwork } from '../../build/test/support/lc0-random-network.js';

const [folder, sizes] = process.argv.slice(2);
for (const size of sizes.split(' ')) {
  const [filters, blocks] = size.split('x').map(Number);
  const shape = { filters, blocks, seChannels: 32, policy: 'convolution', value: 'wdl', movesLeft: true };
  const file = encodeNetworkFile(createRandomNetwork({ seed: 7, ...shape }));
  writeFileSync(join(folder, `${size}.pb.gz`), file);
}
