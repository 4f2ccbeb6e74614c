import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { deflateRawSync, gzipSync } from 'node:zlib';
import { rolldown } from 'rolldown';
import type * as util from '#sardonyx/base/util/index.js';
import { BrokenInput, createPrng } from '#sardonyx/base/util/index.js';
import type * as unpack from '#sardonyx/chess/archives/index.js';
import { readGameFile } from '#sardonyx/chess/archives/index.js';
import { findInputKind, readChunks } from '#sardonyx/games/records/index.js';
import { A, B, BZIP2, createTarHead, decode, GZIP, tar, ZIPS, ZSTD, zip } from '../../support/packed-games.js';
import { runCommand } from '../../support/run-command.js';
import { repositoryRoot } from '../../support/shared-folder.js';

const folder = mkdtempSync(join(tmpdir(), 'sardonyx-unpack-'));
after(() => rmSync(folder, { recursive: true }));

interface Outcome {
  readonly text: string;
  readonly error: string | null;
  /** The largest piece. */
  readonly most: number;
}

/** Everything that is read, and the sentence at its end. Other errors than BrokenInput are thrown. */
async function readAll(chunks: AsyncIterable<Uint8Array>): Promise<Outcome> {
  const parts: Uint8Array[] = [];
  let error: string | null = null;
  let total = 0;
  let most = 0;
  try {
    for await (const part of chunks) {
      most = Math.max(most, part.length);
      total += part.length;
      if (total < 1 << 24) parts.push(part);
    }
  } catch (thrown) {
    if (!(thrown instanceof BrokenInput || thrown instanceof page.BrokenInput)) throw thrown;
    error = thrown.message;
  }
  return { text: Buffer.concat(parts).toString(), error, most };
}

/** As the page reads files: the room as it is built for browsers. */
async function bundleForPages(): Promise<Pick<typeof unpack & typeof util, 'readGameFile' | 'BrokenInput'>> {
  const source = (...path: string[]): string => join(repositoryRoot, 'src', ...path);
  const bundle = await rolldown({
    input: 'both',
    platform: 'browser',
    resolve: { extensionAlias: { '.js': ['.ts'] } },
    plugins: [
      {
        name: 'both',
        resolveId: (specifier) => {
          const port = /^#platform\/(.+)\.js$/.exec(specifier)?.[1];
          if (port !== undefined) return source('platform', 'browser', `browser-${port}.ts`);
          return specifier === 'both' ? '\0both' : null;
        },
        load: (id) =>
          id === '\0both'
            ? ['chess/archives', 'base/util']
                .map((room) => `export * from ${JSON.stringify(source(room, 'index.ts'))};`)
                .join('\n')
            : null,
      },
    ],
  });
  const file = join(folder, 'page.mjs');
  await bundle.write({ file, format: 'esm' });
  return (await import(pathToFileURL(file).href)) as typeof unpack & typeof util;
}

const page = await bundleForPages();

/** What the command line reads of a file, which is what the page reads. */
async function read(name: string, bytes: Uint8Array): Promise<Outcome> {
  const path = join(folder, name);
  writeFileSync(path, bytes);
  const outcome = await readAll(readChunks(path));
  async function* stream(): AsyncGenerator<Uint8Array> {
    for (let at = 0; at < bytes.length; at += 1 << 17) yield new Uint8Array(bytes.subarray(at, at + (1 << 17)));
  }
  const shown = await readAll(page.readGameFile(stream(), name));
  assert.deepEqual([shown.error, shown.text], [outcome.error, outcome.text], name);
  return { ...outcome, most: Math.max(outcome.most, shown.most) };
}

test('a file of every packing gives the text that was packed', async () => {
  const plainA = A.replace('ü', 'u');
  const archive = tar([
    ['readme.txt', 'read me'],
    ['a.pgn', plainA],
    ['b.pgn', B],
  ]);
  const rows: [name: string, bytes: Uint8Array, text: string][] = [
    ['plain.pgn', Buffer.from(A + B), A + B],
    ['a.pgn.gz', GZIP, A + B],
    ['a.pgn.zst', ZSTD, A + B],
    ['a.pgn.bz2', BZIP2, A + B],
    ['a.zip', ZIPS[0], `${A}\n${B}\n`],
    ['piped.zip', ZIPS[1], `${A}\n${B}\n`],
    ['a.tar', archive, `${plainA}\n${B}\n`],
    ['a.tgz', gzipSync(archive), `${plainA}\n${B}\n`],
    // The content decides, not the name.
    ['zstd.pgn', ZSTD, A + B],
    ['twice.pgn.gz.gz', gzipSync(gzipSync(A)), A],
    ['twice.pgn.zst.gz', gzipSync(ZSTD), A + B],
    ['text.pgn.zip', zip('games.TXT', Buffer.from(A)), `${A}\n`],
    ['padded.pgn.gz', Buffer.concat([GZIP, Buffer.alloc(600)]), A + B],
    // Archives in archives.
    ['nested.zip', zip('games.pgn.gz', GZIP), `${A}${B}\n`],
    ['tar.zip', zip('games.tar', archive), `${plainA}\n${B}\n\n`],
    ['zip.zip', zip('inner.zip', zip('more.tgz', gzipSync(archive))), `${plainA}\n${B}\n\n\n`],
    // The content of files without an ending of ours decides, and what macOS adds is no game.
    [
      'notes.zip',
      zips(['README.txt', 'read me'], ['games.txt', A], ['__MACOSX/._b.pgn', '\0\x05'], ['b', B]),
      `${A}\n${B}\n`,
    ],
    ['utf16.zip', zips(['a.pgn', plainA], ['b.pgn', Buffer.from(`\ufeff${B}`, 'utf16le')]), `${plainA}\n${B}\n`],
  ];
  for (const [name, bytes, text] of rows)
    assert.deepEqual({ ...(await read(name, bytes)), most: 0 }, { text, error: null, most: 0 }, name);
  for (const name of ['a.zip', 'piped.zip', 'a.tar', 'a.tgz', 'a.pgn.zst']) {
    assert.equal(await findInputKind(join(folder, name)), 'pgn', name);
  }
});

test('a name that does not say what a file holds is no matter where its text does', async () => {
  const rows: [name: string, bytes: Uint8Array, kind: string | null][] = [
    ['games.txt', Buffer.from(`Games of 1972\n\n${A}`), 'pgn'],
    ['games', GZIP, 'pgn'],
    ['list.zst', gzipSync('# openings\n4k3/8/8/8/8/8/4P3/4K3 w - - 0 1\n'), 'positions'],
    ['labels.json', Buffer.from('{"fen": "startpos"}\n'), 'labels'],
    ['bare.txt', Buffer.from('d4 Nf6 c4\n'), 'pgn'],
    ['uci.txt', Buffer.from('e2e4 e7e5\n'), 'pgn'],
    ['letter.txt', Buffer.from('Dear reader'), null],
    ['paper.txt', Buffer.from('a4 paper, d6 die\n'), null],
    ['training.1.gz', gzipSync(Buffer.from('\u0006\0\0\0\u0001\0\0\0{"a"\n{\n1. e4\n')), null],
    ['empty', Buffer.alloc(0), null],
    // The text decides against the name; the name decides where the text says nothing.
    ['games.epd', Buffer.from(A), 'pgn'],
    ['games.jsonl.gz', GZIP, 'pgn'],
    ['labels.pgn', Buffer.from('{"fen": "startpos"}\n'), 'labels'],
    ['positions.pgn', Buffer.from('4k3/8/8/8/8/8/4P3/4K3 w - - 0 1\n'), 'positions'],
    ['games.bin', Buffer.from(A), 'pgn'],
    ['book', Buffer.from(`${'00'.repeat(8)}0103000100000000`.repeat(3), 'hex'), 'polyglot'],
    ['openings.txt', Buffer.from('eco\tname\tpgn\nA00\tAmar Opening\t1. Nh3\n'), 'pgn'],
    ['zeros.epd', Buffer.from('4k3/8/8/8/8/8/4P3/4K3 w - - 0 1\0\n8/8/4k3/8/8/8/4P3/4K3 w - - 0 1\0\n'), 'positions'],
    ['remarks.epd', Buffer.from('# none yet\n'), 'positions'],
    ['empty.pgn', Buffer.alloc(0), 'pgn'],
    ['cut.pgn.gz', GZIP.subarray(0, 15), 'pgn'],
    ['games.pgn.zip', zips(['a.epd', '4k3/8/8/8/8/8/4P3/4K3 w - -'], ['a.pgn', A]), 'pgn'],
  ];
  for (const [name, bytes, kind] of rows) {
    writeFileSync(join(folder, name), bytes);
    assert.equal(await findInputKind(join(folder, name)), kind, name);
  }
  assert.equal(await findInputKind(folder), null);
  writeFileSync(join(folder, 'games.7z'), decode('N3q8ryccAAQ='));
  await assert.rejects(findInputKind(join(folder, 'games.7z')), /7z archive, which is not read: unpack it first/);
  await assert.rejects(findInputKind(join(folder, 'none')), { code: 'ENOENT' });
  for (const ending of ['xz', 'tar.xz', '7z', 'Z']) assert.equal(await findInputKind(`games.pgn.${ending}`), 'pgn');
});

test('books and labelled games are named by the page and by analyse in the same words, and never read as text', async () => {
  const polyglot = Buffer.from(`${'00'.repeat(8)}0103000100000000`.repeat(3), 'hex');
  const arena = / is an opening book of Arena \(\.abk\), which is not read/;
  const chessBase = / is an opening book of ChessBase \(\.ctg\), which is not read/;
  const rows: [name: string, bytes: Uint8Array, sentence: RegExp][] = [
    ['polyglot.bin', polyglot, /it holds an opening book, not games or positions$/],
    ['polyglot', polyglot, /it holds an opening book, not games or positions$/],
    ['other.bin', Buffer.from('ff00'.repeat(64), 'hex'), /it holds an opening book, not games or positions$/],
    ['labels.jsonl', Buffer.from('{"fen": "startpos"}\n'), /it holds labelled games, not games or positions$/],
    ['polyglot.zip', zips(['book.bin', polyglot]), /its archive holds no file of this kind$/],
    ['arena.bin', Buffer.from('ABK\0xxxxxxxxxxxx'), arena],
    ['base.ctg.gz', gzipSync(Buffer.alloc(4096)), chessBase],
    ['base.zip', zips(['a.ctg', Buffer.alloc(64)]), chessBase],
    ['arena.zip', zips(['a.abk', Buffer.from('ABK\0xxxx')]), arena],
    ['empty.bin', Buffer.alloc(0), /it is empty$/],
    ['lfs.bin', Buffer.from('version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n'), /Git LFS/],
  ];
  for (const [name, bytes, sentence] of rows) {
    const { text, error } = await read(name, bytes);
    assert.match(error ?? '', sentence, name);
    assert.equal(text, '', name);
    const { stderr } = await runCommand(['analyse', join(folder, name), '--backend=hash', '--nodes=1']);
    assert.ok(stderr.trim().endsWith(error ?? '?'), `${name}: ${stderr}`);
  }
  assert.equal((await read('quoted.pgn', Buffer.from('{"The Immortal"} 1. e4 *'))).error, null);
});

test('a file of an archive that cannot be read does not hide those behind it', async () => {
  const others = [zip('a.pgn', Buffer.from(A)), zip('b.pgn', Buffer.from(B))].map((archive) =>
    archive.subarray(0, -22),
  );
  const encrypted = flip(others[0], 6);
  const unknown = Buffer.from(others[0]);
  unknown[8] = 12;
  const wrongSum = flip(others[0], 14);
  const brokenGzip = zip('a.pgn.gz', GZIP.subarray(0, 30)).subarray(0, -22);
  const end = ZIPS[0].subarray(-22);
  const rows: [name: string, first: Buffer, error: RegExp][] = [
    ['encrypted.zip', encrypted, /^a\.pgn in it is encrypted$/],
    ['unknown.zip', unknown, /^a\.pgn in it is packed by a method that is not read$/],
    ['sum.zip', wrongSum, /^a\.pgn in it does not match its checksum$/],
    ['gzip.zip', brokenGzip, /^a\.pgn\.gz in it: it is cut off/],
  ];
  for (const [name, first, error] of rows) {
    const outcome = await read(name, Buffer.concat([first, others[1], end]));
    assert.match(outcome.error ?? '', error, name);
    assert.ok(outcome.text.endsWith(`${B}\n`), name);
  }
});

test('what precedes damage is read, and one sentence says what is not', async () => {
  const packedTar = gzipSync(tar([['b.pgn', B]]));
  const rows: [name: string, bytes: Uint8Array, text: string, error: RegExp][] = [
    [
      'behind.pgn.gz',
      Buffer.concat([GZIP, Buffer.from('rubbish')]),
      A + B,
      /what follows the end of its gzip data is not gzip/,
    ],
    ['behind.pgn.zst', Buffer.concat([ZSTD, Buffer.from('rubbish')]), A + B, /what follows the end of its zstd data/],
    ['behind.pgn.bz2', Buffer.concat([BZIP2, Buffer.from('rubbish')]), A + B, /what follows the end of its bzip2 data/],
    ['sum.pgn.gz', flip(GZIP, GZIP.length - 6), A + B, /does not match its checksum/],
    ['sum.pgn.bz2', flip(BZIP2, 12), A, /does not match its checksum/],
    ['sum.tgz', flip(packedTar, packedTar.length - 6), B, /read at its end: its content does not match its checksum/],
    ['cut.tgz', packedTar.subarray(0, -4), B, /^the archive is cut off at its end$/],
    ['cut.pgn.zst', ZSTD.subarray(0, -9), A, /it is cut off/],
    ['cut.pgn.bz2', BZIP2.subarray(0, -30), A, /it is cut off/],
    ['cut.pgn.gz', GZIP.subarray(0, -20), A, /it is cut off/],
    ['cut.zip', ZIPS[1].subarray(0, 330), `${A}\n`, /it is cut off/],
    ['damaged.pgn.bz2', flip(BZIP2, 80), '', /its bzip2 data are damaged|checksum/],
    ['damaged.pgn.zst', flip(ZSTD, 40), '', /its zstd data are damaged|checksum/],
    [
      'a.pgn.xz',
      decode('/Td6WFoAAATm1rRGAgAhARYAAAB0L+Wj'),
      '',
      /packed with xz, which is not read: unpack it with "xz -d" first/,
    ],
    ['a.pgn.Z', decode('H52Qabc='), '', /packed with compress/],
    ['a.7z', decode('N3q8ryccAAQ='), '', /7z archive/],
    ['none.zip', zip('notes.txt', Buffer.from('no game')), '', /holds no file of this kind/],
  ];
  for (const [name, bytes, text, error] of rows) {
    const outcome = await read(name, bytes);
    assert.match(outcome.error ?? '', error, name);
    if (text !== '') assert.ok(outcome.text.startsWith(text.slice(0, -1)), `${name}: ${outcome.text}`);
  }
});

test('what the disk gave before it failed is read as of a file that ends there, and the error is the disk’s', async () => {
  const failure = new Error('EIO: i/o error, read');
  const files: [name: string, bytes: Buffer][] = [
    ['a.pgn.gz', gzipSync(NOISE.subarray(512))],
    ['a.pgn.zst', ZSTD],
    ['a.pgn.bz2', BZIP2],
    ['a.zip', ZIPS[0]],
    ['a.tar', tar([['b.pgn', B]])],
    ['a.pgn', Buffer.from(A + B)],
  ];
  for (const [name, bytes] of files) {
    const half = bytes.subarray(0, (2 * bytes.length) / 3);
    const texts = [false, true].map(async (isBroken) => {
      async function* stream(): AsyncGenerator<Uint8Array> {
        yield half;
        if (isBroken) throw failure;
      }
      let text = '';
      const readTo = async (): Promise<void> => {
        for await (const part of readGameFile(stream(), name)) text += Buffer.from(part).toString('latin1');
      };
      if (isBroken) await assert.rejects(readTo(), failure, name);
      else await readTo().catch(() => undefined);
      return text.trim();
    });
    const [cut, broken] = await Promise.all(texts);
    assert.notEqual(cut, '', name);
    assert.equal(broken, cut, name);
  }
});

function flip(bytes: Buffer, at: number): Buffer {
  const flipped = Buffer.from(bytes);
  flipped[at] ^= 1;
  return flipped;
}

/** A frame of blocks that repeat one byte 128 KiB long. */
function zstdBomb(blocks: number): Buffer {
  const head = Buffer.from('28b52ffd0088', 'hex');
  const body = Buffer.alloc(4 * blocks, Buffer.from([0x02, 0x00, 0x10, 0x0a]));
  return Buffer.concat([head, body]);
}

/** A member of a tar archive that does not pack. */
const NOISE = tar([
  ['noise.txt', Array.from({ length: 300 }, (_, i) => `${(i * 2_654_435_761) % 4_294_967_291}`).join(' ')],
]).subarray(0, -1024);

/** Packs of one unit again and again, in every packing. */
function createBombs(unit: string, ending: string): [name: string, bytes: Buffer][] {
  const text = Buffer.alloc(4 << 20, unit);
  const archive = Buffer.concat([tar([['a.pgn', 'x']]).subarray(0, 512), text]);
  archive.write(`a.${ending}\0`, 0);
  archive.write(`${text.length.toString(8).padStart(11, '0')}\0`, 124);
  archive.fill(' ', 148, 156);
  const sum = archive.subarray(0, 512).reduce((total, byte) => total + byte, 0);
  archive.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return [
    [`bomb.${ending}.gz`, gzipSync(text)],
    [`bomb-${ending}.zip`, zip(`a.${ending}`, text)],
    // What precedes the bomb does not pack, so that the bomb is met within its file.
    [`bomb.${ending}.tgz`, gzipSync(Buffer.concat([tar([['readme.txt', 'x']]).subarray(0, 1024), NOISE, archive]))],
    [`twice.${ending}.gz`, Buffer.concat(Array(8).fill(gzipSync(text.subarray(0, 1 << 19))))],
  ];
}

test('a file that unpacks to a hundred times its size ends with one sentence, in small pieces', async () => {
  const rows = [
    ...createBombs('\n', 'pgn'),
    ...createBombs('1. e4 *\n', 'pgn'),
    ['bomb.pgn.zst', zstdBomb(512)] as const,
    ['bomb.epd.zst', zstdBomb(512)] as const,
  ];
  for (const [name, bytes] of rows) {
    const { error, text, most } = await read(name, bytes);
    assert.match(error ?? '', /it unpacks to more than 100 times its size, which no such file does/, name);
    assert.ok(most <= 1 << 21 && text.length < 1 << 22, `${name}: ${most} of ${text.length}`);
  }
});

test('very many small parts, empty or not, end with one sentence, in every packing, and a thousand are read', async () => {
  const game = Buffer.from('1. e4 *\n');
  const repeat = (count: number, ...parts: Buffer[]): Buffer => Buffer.concat(Array(count).fill(Buffer.concat(parts)));
  const entry = zip('a.pgn', game).subarray(0, 30 + 5 + deflateRawSync(game).length);
  const emptyMember = createTarHead('a.pgn', 0);
  const parts: [name: string, part: Buffer, text: string][] = [
    ['empty.gz', gzipSync(''), ''],
    ['small.gz', gzipSync(game), `${game}`],
    // A stream without a block, and a frame of one empty block.
    ['empty.bz2', Buffer.from('425a683917724538509000000000', 'hex'), ''],
    ['empty.zst', Buffer.from('28b52ffd2000010000', 'hex'), ''],
    ['skipped.zst', Buffer.from('502a4d1800000000', 'hex'), ''],
    ['small.zip', entry, `${game}\n`],
  ];
  for (const [name, part, text] of parts) {
    const few = await read(`few-${name}`, repeat(300, part));
    assert.equal(few.text, text.repeat(300), name);
    const { error } = await read(`many-${name}`, repeat(20_000, part));
    assert.match(error ?? '', /it is packed in more small parts than any file of games/, name);
  }
  const blocks = Buffer.concat([
    Buffer.from('28b52ffd0048', 'hex'),
    repeat(20_000, Buffer.alloc(3)),
    Buffer.of(1, 0, 0),
  ]);
  const packedTar = gzipSync(
    Buffer.concat([tar([['a.pgn', `${game}`]]).subarray(0, 1024), NOISE, repeat(5000, emptyMember)]),
  );
  for (const [name, bytes] of [
    ['blocks.zst', blocks],
    ['empty.tgz', packedTar],
  ] as const) {
    assert.match((await read(name, bytes)).error ?? '', /more small parts|more than 100 times its size/, name);
  }
});

test('a gzip member may have a name of 64 kB, and no longer one', async () => {
  const [head, data] = [gzipSync(A).subarray(0, 10), gzipSync(A).subarray(10)];
  head[3] = 8;
  const named = (length: number): Buffer => Buffer.concat([head, Buffer.alloc(length, 'n'), Buffer.of(0), data]);
  assert.deepEqual(await read('named.pgn.gz', named(60_000)).then(({ text }) => text), A);
  assert.match((await read('named.pgn.gz', named(70_000))).error ?? '', /its gzip data are damaged/);
  assert.match((await read('named.pgn.gz', named(70_000).subarray(0, 5000))).error ?? '', /it is cut off/);
});

test('commands that would work long on what a bomb holds refuse all of it', async () => {
  const game = `1. e4 {${'a'.repeat(5000)}} *\n`;
  const position = `rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - bm e4; c0 "${'a'.repeat(5000)}";\n`;
  const line = `{"plies":[["e2e4",[["e2e4",1]]]],"result":"1-0","note":"${'a'.repeat(5000)}"}\n`;
  const rows: readonly (readonly [command: readonly string[], bombs: [name: string, bytes: Buffer][]])[] = [
    [['analyse', '--config='], createBombs(game, 'pgn')],
    [['analyse', '--config='], createBombs(position, 'epd')],
    [['suite', '--config=', '--nodes=1'], createBombs(position, 'epd')],
    [['label', `--out=${join(folder, 'labels')}`, '--engine=cmd=false', '--from'], createBombs(game, 'pgn')],
    [['label', `--out=${join(folder, 'labels')}`, '--engine=cmd=false', '--from'], createBombs(line, 'jsonl')],
  ];
  for (const [command, bombs] of rows) {
    for (const [name, bytes] of bombs) {
      const path = join(folder, name);
      writeFileSync(path, bytes);
      const { status, stdout, stderr } = await runCommand([...command, path], { cwd: folder });
      assert.deepEqual([status, stdout], [1, ''], `${command[0]} ${name}: ${stderr}`);
      assert.match(stderr, /^.*it unpacks to more than 100 times its size.*\n$/, `${command[0]} ${name}`);
    }
  }
});

test('shards keeps what it read of a bomb and ends with status 1, each time, so that nobody takes it for the whole', async () => {
  const [, bytes] = createBombs(`1. e4 {${'a'.repeat(5000)}} *\n`, 'pgn')[0];
  const noise = Array.from({ length: 2000 }, (_, i) => `1. e4 { ${(i * 2_654_435_761) % 4_294_967_291} } *\n`).join('');
  const path = join(folder, 'part.pgn.gz');
  writeFileSync(path, Buffer.concat([gzipSync(noise), bytes]));
  for (const _ of [1, 2]) {
    const { status, stdout, stderr } = await runCommand([
      'shards',
      path,
      `--out=${join(folder, 'part')}`,
      '--threads=1',
    ]);
    assert.match(
      stderr,
      /^\n?part\.pgn\.gz: unreadable after game \d+: it unpacks to more than 100 times its size.*\n$/,
    );
    assert.match(stdout, /^[1-9]\d* games; positions: /);
    assert.equal(status, 1);
  }
});

test('a tar archive with an endless name is refused before the name is held', async () => {
  const archive = tar([['a.pgn', 'x']]);
  archive.write('x', 156);
  archive.write('77777777777', 124);
  archive.fill(' ', 148, 156);
  const sum = archive.subarray(0, 512).reduce((total, byte) => total + byte, 0);
  archive.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  assert.match((await read('name.tar', archive)).error ?? '', /a name of 8589934591 bytes/);
});

test('damage of any kind ends with a sentence or with the text, and never with another error', async () => {
  const prng = createPrng(7);
  const files: [name: string, bytes: Buffer][] = [
    ['m.pgn.gz', GZIP],
    ['m.pgn.zst', ZSTD],
    ['m.pgn.bz2', BZIP2],
    ['m.zip', ZIPS[0]],
    ['n.zip', ZIPS[1]],
    ['m.tar', tar([['a.pgn', B]])],
  ];
  for (const [name, bytes] of files) {
    for (let round = 0; round < 60; round++) {
      const mutant = Buffer.from(
        bytes.subarray(0, bytes.length - (round % 3 === 0 ? prng.nextBelow(bytes.length) : 0)),
      );
      for (let i = prng.nextBelow(4); i >= 0 && mutant.length > 0; i--) {
        mutant[prng.nextBelow(mutant.length)] = [0, 255, prng.nextBelow(256)][prng.nextBelow(3)];
      }
      await read(name, mutant);
    }
  }
});

/** An archive of several files. */
function zips(...members: readonly (readonly [name: string, content: string | Buffer])[]): Buffer {
  const parts = members.map(([name, content]) => zip(name, Buffer.from(content)));
  return Buffer.concat([...parts.map((part) => part.subarray(0, -22)), parts[0].subarray(-22)]);
}
