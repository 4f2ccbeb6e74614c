// Makes ONNX Runtime's CUDA provider small enough to travel: 272 MB of a shared library, of which two thirds are machine code of GPUs
// that are not there, and most of the rest kernels of language models.
// usage: node slim-provider.mjs FILE.so ARCHITECTURE   (90 = H100, H200; Node 22, whose zlib knows zstd; rewrites the file)
//
// The section .nv_fatbin holds containers, each with a program for every architecture. No byte moves: what is left out becomes zeros,
// which compress to nothing, and such a program of the wanted architecture is labelled as one for another. So CUDA answers "no kernel
// image" if it is asked for after all. CUDA reads a container only when one of its kernels is first used.
import { readFileSync, writeFileSync } from 'node:fs';
import { zstdDecompressSync } from 'node:zlib';

const MAGIC = 0xba55ed50;
const PROGRAM = { header: 4, payload: 8, compressed: 16, architecture: 28 }; // offsets of its fields
const OTHER_ARCHITECTURE = 75;
const OF_LANGUAGE_MODELS = /flash|cutlass|moe_gemv|attention/i;

const [path, wanted] = process.argv.slice(2);
const file = readFileSync(path);
const { start, end } = findSection('.nv_fatbin');
let kept = 0;
for (let at = start; at < end; ) {
  if (file.readUInt32LE(at) !== MAGIC) at += 8;
  else at = slimContainer(at + file.readUInt16LE(at + 6), Number(file.readBigUInt64LE(at + 8)));
}
if (kept === 0) throw new Error(`${path} holds no program for the architecture ${wanted}`);
writeFileSync(path, file);
console.log(`${path}: ${kept} bytes of GPU programs kept of ${end - start}`);

/** @returns the end of the container */
function slimContainer(first, length) {
  let at = first;
  while (at < first + length) {
    const header = file.readUInt32LE(at + PROGRAM.header);
    const size = Number(file.readBigUInt64LE(at + PROGRAM.payload));
    const isWanted = file.readUInt32LE(at + PROGRAM.architecture) === Number(wanted);
    const payload = file.subarray(at + header, at + header + size);
    if (isWanted && isNeeded(payload.subarray(0, file.readUInt32LE(at + PROGRAM.compressed)))) kept += size;
    else {
      payload.fill(0);
      if (isWanted) file.writeUInt32LE(OTHER_ARCHITECTURE, at + PROGRAM.architecture);
    }
    at += header + size;
  }
  return at;
}

function isNeeded(compressed) {
  const names = zstdDecompressSync(compressed)
    .toString('latin1')
    .matchAll(/\.text\.(\w+)/g);
  const kernels = [...names].map(([, name]) => name).filter((name) => !name.includes('EmptyKernel'));
  return kernels.length === 0 || !kernels.every((name) => OF_LANGUAGE_MODELS.test(name));
}

/** Where a section of a 64-bit ELF file lies. */
function findSection(name) {
  const [table, size, count, strings] = [
    Number(file.readBigUInt64LE(40)),
    ...[58, 60, 62].map((o) => file.readUInt16LE(o)),
  ];
  const rows = Array.from({ length: count }, (_, index) =>
    file.subarray(table + index * size, table + (index + 1) * size),
  );
  const place = (row) => ({
    start: Number(row.readBigUInt64LE(24)),
    end: Number(row.readBigUInt64LE(24) + row.readBigUInt64LE(32)),
  });
  const names = place(rows[strings]).start;
  const found = rows.find((row) => file.toString('latin1', names + row.readUInt32LE(0)).startsWith(`${name}\0`));
  if (found === undefined) throw new Error(`${path} has no section ${name}`);
  return place(found);
}
