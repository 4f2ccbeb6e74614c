import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BrokenInput, decodeText, readLines } from '#sardonyx/util/index.js';

const LATIN = (text: string): Uint8Array => Buffer.from(text, 'latin1');

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

/** Cuts the bytes at every place in turn, so that no result may depend on where chunks end. */
async function decodeAnyhow(bytes: Uint8Array): Promise<string> {
  const whole = (await collect(decodeText([bytes]))).join('');
  for (let cut = 0; cut <= bytes.length; cut++) {
    const pieces = await collect(decodeText([bytes.subarray(0, cut), bytes.subarray(cut)]));
    assert.equal(pieces.join(''), whole, `cut at ${cut}`);
  }
  const single = await collect(decodeText(Array.from(bytes, (byte) => Uint8Array.of(byte))));
  assert.equal(single.join(''), whole);
  return whole;
}

const UTF32 = (text: string): ArrayBuffer => Uint32Array.from([...text], (letter) => letter.codePointAt(0) ?? 0).buffer;

test('text of every encoding and with every line end is read as one text', async () => {
  const text = 'Müller – Çelik\n\n♘f3 😀\nend';
  const rows: [bytes: Uint8Array, expected: string][] = [
    [Buffer.from(text), text],
    [Buffer.from(`\ufeff${text}`), text],
    [Buffer.from(`a\n\ufeff${text}`), `a\n${text}`],
    [Buffer.from(text.replaceAll('\n', '\r\n')), text],
    [Buffer.from(text.replaceAll('\n', '\r')), text],
    [Buffer.from(`\ufeff${text}`, 'utf16le'), text],
    [Buffer.from(`\ufeff${text}`, 'utf16le').swap16(), text],
    [Buffer.from('\ufeff', 'utf16le'), ''],
    [Buffer.from(UTF32(`\ufeff${text}`)), text],
    [Buffer.from(UTF32(`\ufeff${text}`)).swap32(), text],
    [Buffer.from(Uint32Array.of(0xfeff, 0x110000, 65).buffer), '\ufffdA'],
    [
      Buffer.concat([LATIN('M\xfcller\n'), Buffer.from('Müller\n'), LATIN('plain\n\x93x\x94')]),
      'Müller\nMüller\nplain\n“x”',
    ],
    [LATIN('\xed\xa0\x80\n\xc0\x80\n\xe2\x99'), 'í\xa0€\nÀ€\nâ™'],
    [LATIN(''), ''],
  ];
  for (const [bytes, expected] of rows) assert.equal(await decodeAnyhow(bytes), expected);
});

test('pieces end with a line, and only a line over a megabyte comes in parts', async () => {
  const chunks = ['one\ntw', 'o\nthr', 'ee'].map((text) => Buffer.from(text));
  assert.deepEqual(await collect(decodeText(chunks)), ['one\n', 'two\n', 'three']);
  const long = `é${'ü'.repeat(1_500_000)}`;
  const bytes = Buffer.from(`${long}\nend`);
  const pieces = await collect(decodeText([bytes.subarray(0, 1_999_999), bytes.subarray(1_999_999)]));
  assert.equal(pieces.join(''), `${long}\nend`);
  assert.ok(pieces.length > 1 && pieces.every((piece) => piece.length <= 1 << 21));
});

test('text before an error of the source is handed on', async () => {
  function* breaking(): Generator<Uint8Array> {
    yield Buffer.from('one\ntwo');
    throw new BrokenInput('it is cut off');
  }
  const seen: string[] = [];
  await assert.rejects(async () => {
    for await (const { text, number } of readLines(decodeText(breaking()))) seen.push(`${number} ${text}`);
  }, /it is cut off/);
  // Half a line may say something else than the whole one.
  assert.deepEqual(seen, ['1 one']);
  const pieces: string[] = [];
  await assert.rejects(async () => {
    for await (const piece of decodeText(breaking())) pieces.push(piece);
  }, BrokenInput);
  assert.deepEqual(pieces, ['one\n', 'two']);
});

test('lines keep their numbers, blank ones are passed over, and an endless one is refused', async () => {
  const lines = await collect(readLines(decodeText([Buffer.from('a\n\n \t\r\nb\r\n\r\nc')])));
  assert.deepEqual(lines, [
    { text: 'a', number: 1 },
    { text: 'b', number: 4 },
    { text: 'c', number: 6 },
  ]);
  let chunks = 0;
  function* endless(): Generator<Uint8Array> {
    yield Buffer.from('first\n');
    for (; ; chunks++) yield new Uint8Array(1 << 18).fill(120);
  }
  await assert.rejects(collect(readLines(decodeText(endless()))), /line 2 is longer than any line/);
  assert.ok(chunks < 100);
});
