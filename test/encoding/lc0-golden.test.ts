/**
 * lc0's own encoder (September 2025) run over these positions, all formats: transform, FNV-1a of the planes written in
 * hex, FNV-1a of the sorted policy indices.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { type Move, parseFen, parseUciMove } from '#sardonyx/chess/index.js';
import { getInputEncoding, getPolicyEncoding, type HistoryFill, LC0_FORMATS } from '#sardonyx/encoding/index.js';
import { unwrap } from '#sardonyx/util/index.js';
import { repositoryRoot } from '../support/shared-folder.js';

interface GoldenRow {
  readonly fen: string;
  readonly moves: string;
  readonly fill: HistoryFill;
  readonly formats: Readonly<Record<string, [transform: number, planes: number, indices: number]>>;
}

const golden = JSON.parse(
  readFileSync(join(repositoryRoot, 'test', 'encoding', 'golden', 'lc0-planes.json'), 'utf8'),
) as GoldenRow[];

const TRANSPOSE = 4;
const legal = new Uint16Array(256);

function hash(text: string): number {
  let h = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 0x01000193);
  return h >>> 0;
}

for (const format of LC0_FORMATS) {
  test(`${format.name}: planes, transforms and move numbers are lc0's`, () => {
    const encoding = unwrap(getInputEncoding(format.name));
    const policy = unwrap(getPolicyEncoding('lc0-1858'));
    const words = new Uint32Array(224);
    const values = new Float32Array(112);
    for (const { fen, moves, fill, formats } of golden) {
      const position = unwrap(parseFen(fen));
      for (const text of moves.split(' ').filter(Boolean)) position.makeMove(unwrap(parseUciMove(position, text)));
      const [transform, planes, indices] = formats[format.id];
      assert.equal(encoding.writePacked(position, fill, words, 0, values, 0), transform, `${fen} ${moves}`);
      const masks = Array.from({ length: 112 }, (_, i) => (BigInt(words[2 * i + 1]) << 32n) | BigInt(words[2 * i]));
      assert.equal(hash(masks.map((mask) => mask.toString(16)).join(' ')), planes, `${fen} ${moves} ${fill}`);
      // lc0's move table no longer fits its planes when they are transposed (planes.ts).
      if (transform >= TRANSPOSE) continue;
      const count = position.generateLegalMoves(legal);
      const numbers = Array.from(legal.subarray(0, count), (move) =>
        policy.moveToIndex(position, move as Move, transform),
      );
      assert.equal(hash(numbers.sort((a, b) => a - b).join(' ')), indices, `${fen} ${moves}`);
    }
  });
}
