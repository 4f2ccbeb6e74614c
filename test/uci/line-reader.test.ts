import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LineReader } from '#sardonyx/util/index.js';

function read(chunks: (string | Buffer)[]): string[] {
  const lines: string[] = [];
  const reader = new LineReader((line) => lines.push(line));
  for (const chunk of chunks) reader.push(Buffer.from(chunk as string));
  reader.end();
  return lines;
}

test('lines come out whole, however the chunks are cut', () => {
  const text = 'uci\r\nisready\nposition startpos\n\nquit';
  const expected = ['uci', 'isready', 'position startpos', '', 'quit'];
  for (let size = 1; size <= text.length; size++) {
    const chunks: string[] = [];
    for (let i = 0; i < text.length; i += size) chunks.push(text.slice(i, i + size));
    assert.deepEqual(read(chunks), expected);
  }
});

test('a letter cut in two chunks is one letter', () => {
  const bytes = Buffer.from('setoption name WeightsFile value é\n');
  assert.deepEqual(read([bytes.subarray(0, -2), bytes.subarray(-2)]), ['setoption name WeightsFile value é']);
});
