/**
 * 1,000 corrupted files: each gives a network or one clear sentence, soon, and without a gigabyte of memory. Most
 * corruptions are made inside the compression, where they reach the parser.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { gzipSync } from 'node:zlib';
import { createPrng, type Prng, unwrap } from '#sardonyx/base/util/index.js';
import {
  convertLeelaToOnnx,
  describeNetworkFile,
  loadLc0Network,
  wrapOnnxModel,
} from '#sardonyx/networks/lc0/index.js';
import { encodeNetworkFile } from '../../support/lc0-network-file.js';
import { createRandomNetwork, type NetworkSpec } from '../../support/lc0-random-network.js';

const FILES = 1000;
const MAX_MEMORY_BYTES = 1e9;
/** Of the processor, which other programs do not use up. */
const MAX_FILE_MS = 5000;

const SPECS: readonly NetworkSpec[] = [
  { blocks: 1, filters: 3, seChannels: 2, policy: 'convolution', value: 'wdl', movesLeft: true },
  { encoders: 1, policy: 'attention', positions: 'map', smolgen: true, gates: true, encodings: ['FLOAT16', 'FLOAT32'] },
  { encoders: 1, policy: 'attention', positions: 'dense', isMultiHead: true, policyEncoders: 1 },
];

type Corrupt = (bytes: Uint8Array, prng: Prng) => Uint8Array;

const CORRUPTIONS: readonly Corrupt[] = [
  // A few bits.
  (bytes, prng) => {
    for (let i = prng.nextBelow(8); i >= 0; i--) bytes[prng.nextBelow(bytes.length)] ^= 1 << prng.nextBelow(8);
    return bytes;
  },
  // A few bytes near the start, where format and structure are.
  (bytes, prng) => {
    for (let i = prng.nextBelow(4); i >= 0; i--) bytes[5 + prng.nextBelow(60)] = prng.nextBelow(256);
    return bytes;
  },
  (bytes, prng) => bytes.slice(0, prng.nextBelow(bytes.length)),
  // A stretch taken out, so that lengths lie.
  (bytes, prng) => {
    const start = prng.nextBelow(bytes.length);
    return Buffer.concat([bytes.subarray(0, start), bytes.subarray(start + 1 + prng.nextBelow(200))]);
  },
  // A stretch repeated.
  (bytes, prng) => {
    const start = prng.nextBelow(bytes.length);
    const end = Math.min(bytes.length, start + 1 + prng.nextBelow(2000));
    return Buffer.concat([bytes.subarray(0, end), bytes.subarray(start, end), bytes.subarray(end)]);
  },
  // Lengths blown up: bytes that end a varint become bytes that go on.
  (bytes, prng) => {
    const start = prng.nextBelow(bytes.length);
    return bytes.fill(0xff, start, start + 1 + prng.nextBelow(12));
  },
  (bytes, prng) => bytes.fill(0, prng.nextBelow(bytes.length)),
  (bytes, prng) => {
    for (let i = 5; i < bytes.length; i++) bytes[i] = prng.nextBelow(256);
    return bytes;
  },
];

describe('corrupted network files', () => {
  it(`${FILES} of them crash nothing, hang nothing and fill no memory`, { timeout: 600_000 }, async () => {
    const prng = createPrng(2024);
    const originals = SPECS.map((spec) => encodeNetworkFile(createRandomNetwork(spec), { compress: false }));
    const onnx = unwrap(await convertLeelaToOnnx(originals[0])).onnx;
    originals.push(new Uint8Array(Buffer.from(unwrap(await wrapOnnxModel(onnx)).file)));
    let loaded = 0;
    for (let i = 0; i < FILES; i++) {
      const corrupt = CORRUPTIONS[i % CORRUPTIONS.length];
      let file = corrupt(originals[prng.nextBelow(originals.length)].slice(), prng);
      if (prng.nextBelow(2) === 0) file = gzipSync(file, { level: 1 });
      if (prng.nextBelow(8) === 0) file = corrupt(file.slice(), prng);
      const before = process.cpuUsage();
      const result = await loadLc0Network(file, { cacheFolder: null });
      if (result.ok) loaded++;
      else assert.match(result.error, /^Cannot load the network: [^\n]+$/);
      if (i % 10 === 0) await describeNetworkFile(file);
      if (i % 10 === 5) await wrapOnnxModel(file);
      const { user, system } = process.cpuUsage(before);
      assert.ok((user + system) / 1000 < MAX_FILE_MS, `file ${i} took more than ${MAX_FILE_MS} ms`);
    }
    assert.ok(process.resourceUsage().maxRSS * 1024 < MAX_MEMORY_BYTES, 'more than 1 GB of memory was used');
    assert.ok(loaded > 0 && loaded < FILES, `${loaded} files were loaded`);
  });
});
