import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  BrokenInput,
  createPrng,
  decodeFloat16,
  decodeText,
  encodeFloat16,
  FLOAT16_INFINITY,
  FLOAT16_LARGEST,
  readLines,
  runSideBySide,
} from '#sardonyx/base/util/index.js';

const encode = (value: number): number => encodeFloat16(value, FLOAT16_INFINITY);

test('every half survives decoding and encoding, -0 and infinity included', () => {
  for (let half = 0; half < 0x10000; half++) {
    const value = decodeFloat16(half);
    if (Number.isNaN(value)) assert.ok(Number.isNaN(decodeFloat16(encode(value))));
    else assert.equal(encode(value), half, `${half}`);
  }
});

test('rounding is to the nearest half, and to the even one in the middle', () => {
  for (let half = 0; half < FLOAT16_LARGEST; half++) {
    const low = decodeFloat16(half);
    const high = decodeFloat16(half + 1);
    assert.equal(encode((low + high) / 2), half % 2 === 0 ? half : half + 1);
    assert.equal(encode(low + (high - low) * 0.25), half);
    assert.equal(encode(-(low + (high - low) * 0.75)), 0x8000 | (half + 1));
  }
  const prng = createPrng(9);
  for (let i = 0; i < 10_000; i++) {
    const value = Math.fround((prng.nextFloat() - 0.5) * 2 ** (prng.nextBelow(40) - 25));
    const half = encode(value);
    const error = Math.abs(decodeFloat16(half) - value);
    const below = half & 0x7fff ? Math.abs(decodeFloat16(half - 1) - value) : error;
    assert.ok(error <= below && error <= Math.abs(decodeFloat16(half + 1) - value), `${value}`);
  }
});

test('what is too large becomes infinity or the largest number, as the caller wants', () => {
  for (const value of [65520, 1e9, Number.POSITIVE_INFINITY]) {
    for (const sign of [1, -1]) {
      assert.equal(decodeFloat16(encodeFloat16(sign * value, FLOAT16_INFINITY)), sign * Number.POSITIVE_INFINITY);
      assert.equal(decodeFloat16(encodeFloat16(sign * value, FLOAT16_LARGEST)), sign * 65504);
    }
  }
  assert.equal(encodeFloat16(65519, FLOAT16_INFINITY), FLOAT16_LARGEST);
});

test('a generator that is restarted goes on as a new one of that seed', () => {
  const random = createPrng(1);
  const draw = (): number[] => Array.from({ length: 5 }, () => random.next32());
  const first = draw();
  random.restart(2);
  const second = draw();
  assert.notDeepEqual(second, first);
  random.restart(1);
  assert.deepEqual(draw(), first);
  const other = createPrng(2);
  assert.deepEqual(
    second,
    second.map(() => other.next32()),
  );
});

test('all work is done, each with its number', async () => {
  const done: number[] = [];
  await runSideBySide(4, async (index) => void done.push(index), assert.fail);
  assert.deepEqual(done, [0, 1, 2, 3]);
  await runSideBySide(0, async () => assert.fail(), assert.fail);
});

test('the first error ends the others and is thrown when all have ended', async () => {
  const stop = new AbortController();
  let ends = 0;
  let working = 3;
  const work = async (index: number): Promise<void> => {
    try {
      if (index === 1) throw new Error('the first');
      if (!stop.signal.aborted) await once(stop.signal, 'abort');
      for (let turn = 0; turn < 10 * index; turn++) await nextTurn();
      if (index === 2) throw new Error('a later one');
    } finally {
      working--;
    }
  };
  const end = (): void => {
    ends++;
    stop.abort();
  };
  await assert.rejects(runSideBySide(3, work, end), /the first/);
  assert.deepEqual([working, ends], [0, 1]);
});

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

test('lines keep their numbers, blank ones are skipped, and an endless one is refused', async () => {
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
