// Writes models/tiny-test.onnx, the network of the tests. Run after `npm run build`: node scripts/models/make-tiny.mjs
import { writeFileSync } from 'node:fs';
import { createRandomNetwork, TINY } from '../../build/test/support/random-network.js';

const path = new URL('../../models/tiny-test.onnx', import.meta.url);
const bytes = createRandomNetwork(TINY);
writeFileSync(path, bytes);
console.error(`models/tiny-test.onnx: ${bytes.length} bytes`);
