#!/usr/bin/env node
// Reads kind and contents of an executable from its bytes, so that executables for other systems can be checked too.
// usage: node scripts/package/inspect.mjs FILE…     prints JSON: kind, size, assets (name → size and SHA-256)
// The blob has Node 22's layout: magic, flags, one byte, then strings as a 64-bit length and their bytes (src/node_sea.cc).
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

const MAGIC = Buffer.from([0x20, 0xda, 0x43, 0x01]);
const HEADER_BYTES = 9;
const INCLUDES_ASSETS = 8;

function describeKind(bytes) {
  if (bytes.readUInt32BE(0) === 0x7f454c46) return `ELF machine ${bytes.readUInt16LE(18)}`;
  if (bytes.readUInt32LE(0) === 0xfeedfacf) return `Mach-O cpu ${bytes.readUInt32LE(4).toString(16)}`;
  if (bytes.toString('latin1', 0, 2) === 'MZ') {
    const header = bytes.readUInt32LE(0x3c);
    if (bytes.toString('latin1', header, header + 2) === 'PE')
      return `PE machine ${bytes.readUInt16LE(header + 4).toString(16)}`;
  }
  return 'unknown';
}

function readBlob(bytes, start) {
  let at = start + HEADER_BYTES;
  const flags = bytes.readUInt32LE(start + 4);
  const readLength = () => {
    if (at + 8 > bytes.length) return -1;
    const length = Number(bytes.readBigUInt64LE(at));
    at += 8;
    return length;
  };
  const readPart = () => {
    const length = readLength();
    if (length < 0 || at + length > bytes.length) return null;
    at += length;
    return bytes.subarray(at - length, at);
  };
  if ((flags & INCLUDES_ASSETS) === 0 || readPart() === null) return null;
  const main = readPart();
  if (main === null) return null;
  const assets = {};
  for (let count = readLength(); count > 0; count--) {
    const name = readPart();
    const content = readPart();
    if (name === null || content === null) return null;
    assets[name.toString()] = { bytes: content.length, sha256: createHash('sha256').update(content).digest('hex') };
  }
  return { mainBytes: main.length, assets };
}

function inspect(file) {
  const bytes = readFileSync(file);
  for (let at = bytes.lastIndexOf(MAGIC); at > 0; at = bytes.lastIndexOf(MAGIC, at - 1)) {
    const blob = readBlob(bytes, at);
    if (blob !== null) return { file, kind: describeKind(bytes), bytes: bytes.length, ...blob };
  }
  return { file, kind: describeKind(bytes), bytes: bytes.length, mainBytes: 0, assets: {} };
}

for (const file of process.argv.slice(2)) console.log(JSON.stringify(inspect(file)));
