import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  annotateGame,
  formatPgn,
  type PgnText,
  parseEvalComment,
  parsePgnTags,
  readPgn,
  readPgnGame,
  splitPgn,
} from '#sardonyx/pgn/index.js';
import { startsWithTag } from '#sardonyx/pgn/pgn-tags.js';
import { LONGEST_GAME_TEXT } from '#sardonyx/pgn/pgn-text.js';
import { parsePgnTree } from '#sardonyx/pgn/pgn-tree.js';
import { createPrng } from '#sardonyx/util/index.js';

function listMoves({ text }: PgnText): string[] {
  const { tags, end } = parsePgnTags(text);
  return Array.from(parsePgnTree(text, end, tags).moves.mainline(), ({ san }) => san);
}

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const item of items) list.push(item);
  return list;
}

test('movetext of the wild becomes moves, scores and a result', () => {
  const text = `1. e4 {[%eval 0.24] [%clk 0:01:00]} e5 $1 2.Nf3! (2. f4 exf4 (2... d5 {a (comment}) 3. Nf3) 2...Nc6?!
3. Bb5 ; a comment to the end of the line 4. Nonsense
% an escaped line 5. Qh5
a6 {[%eval #-3]} 4.Ba4 ... Nf6 5. 0-0 { no close } b5 !? 6. exd6 e.p. 1/2-1/2 7. ignored`;
  const tree = parsePgnTree(text, 0, new Map());
  const line = [...tree.moves.mainline()];
  assert.deepEqual(
    line.map(({ san }) => san),
    ['e4', 'e5', 'Nf3', 'Nc6', 'Bb5', 'a6', 'Ba4', 'Nf6', 'O-O', 'b5', 'exd6'],
  );
  assert.deepEqual([line[1].nags, line[2].nags, line[3].nags, line[9].nags], [[1], [1], [6], [5]]);
  const whiteScores = line.map(({ comments = [] }) => parseEvalComment(comments.join()));
  assert.deepEqual([whiteScores[0], whiteScores[1], whiteScores[5]], [24, Number.NaN, -31994]);
  assert.equal(tree.headers.get('Result'), '1/2-1/2');
  assert.equal(parsePgnTree('1. e4 e5', 0, new Map()).headers.get('Result'), '*');
});

test('eval comments are centipawns for White, mates as 32000 - 2n, and clamped', () => {
  assert.equal(parseEvalComment('{ [%eval -1.5] }'), -150);
  assert.equal(parseEvalComment('{[%eval #2]}'), 31996);
  assert.equal(parseEvalComment('{[%eval 412.03,18]}'), 20000);
  assert.ok(Number.isNaN(parseEvalComment('{[%clk 0:03:00] better is Nf3}')));
});

test('tags are read with escapes; a wrapped comment is no tag', () => {
  const { tags, end } = parsePgnTags('[Event "a \\"b\\" \\\\"]\n  [WhiteElo  "2300" ]\n\n1. e4');
  assert.deepEqual(
    [...tags],
    [
      ['Event', 'a "b" \\'],
      ['WhiteElo', '2300'],
    ],
  );
  assert.equal('[Event "a \\"b\\" \\\\"]\n  [WhiteElo  "2300" ]\n\n1. e4'.slice(end), '1. e4');
  assert.ok(!startsWithTag('[%eval 0.3] } e5'));
});

test('games are cut at tags, and at blank lines behind a result', () => {
  const text = [
    '% an escaped line',
    '\ufeff[Event "one"]\r',
    '\r',
    '1. e4 {a comment',
    '',
    '[%eval 0.3] over lines} 1-0\r',
    '[Event "two"]',
    '[Site "?"]',
    '1. d4 d5',
    '',
    '',
    '[Event "three"]',
    '',
    '*',
    '',
    '1. c4 c5 0-1',
    '',
    '1. f4',
    '',
  ].join('\n');
  const games = splitPgn(text);
  assert.deepEqual(games.map(listMoves), [['e4'], ['d4', 'd5'], [], ['c4', 'c5'], ['f4']]);
});

const FILE = [
  '[Event "one"]',
  '[White "Zo\u00eb"]',
  '',
  '1. e4 { a comment that ends like a game: 1-0',
  '',
  'and goes on } e5 *',
  '',
  '[Event "two"] [Site "x"]',
  '',
  '1. d4 Ke7 *',
  '',
  '[Event "three"]',
  '[Variant "Atomic"]',
  '',
  '1. c4 *',
  '',
].join('\r\n');

test('a stream cut anywhere gives the games of the whole file', async () => {
  const bytes = new TextEncoder().encode(FILE);
  const games = splitPgn(bytes);
  assert.deepEqual(games.map(listMoves), [['e4', 'e5'], ['d4', 'Ke7'], ['c4']]);
  for (const size of [1, 2, 7, 100, bytes.length]) {
    const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) =>
      bytes.slice(i * size, (i + 1) * size),
    );
    assert.deepEqual(await collect(readPgn(chunks)), games, `chunks of ${size}`);
  }
});

test('damaged games are reported with their line in the file', () => {
  const sentences = splitPgn(FILE).map((game) => {
    const read = readPgnGame(game);
    return read.ok ? read.value.problem : read.error;
  });
  assert.equal(sentences[0], null);
  assert.match(sentences[1] ?? '', /^line 10, move 1\.\.\.Ke7: Ke7 is illegal in /);
  assert.equal(sentences[2], 'line 12: the variant Atomic is not supported');
});

test('a file without games, or a game without end, takes bounded memory and one sentence', async () => {
  const chunk = new Uint8Array(1 << 16).fill(65);
  function* endless(newline: boolean): Generator<Uint8Array> {
    for (let i = 0; i < 100; i++) {
      yield chunk;
      if (newline) yield Uint8Array.of(10);
    }
    yield new TextEncoder().encode('\n[Event "x"]\n\n1. e4 *\n');
  }
  for (const newline of [true, false]) {
    const games = await collect(readPgn(endless(newline)));
    assert.equal(games.length, 2);
    assert.ok(games[0].isTooLong && games[0].text.length <= LONGEST_GAME_TEXT);
    const read = readPgnGame(games[0]);
    assert.equal(read.ok ? '' : read.error, 'line 1: no game is that long');
    assert.deepEqual(listMoves(games[1]), ['e4']);
  }
});

test('several tags on a line, moves behind tags, bare quotation marks and damaged tags are read', () => {
  const text = '[Event "x"] [Site "y"]\n% escaped\n[White "John "J" Doe"]\n[Black "no end]\n[ECO "A00"] 1. e4 *';
  const { tags, end } = parsePgnTags(text);
  assert.deepEqual(Object.fromEntries(tags), { Event: 'x', Site: 'y', White: 'John "J" Doe', ECO: 'A00' });
  assert.equal(text.slice(end), '1. e4 *');
});

test('lines are broken between words, and the game read back is the same', () => {
  const prng = createPrng(3);
  const comments = ['short', 'a comment that is longer than any line of this width may be', '[%clk 0:01:00]'];
  const moves = ['1. e4', 'e5', '2. Nf3', 'Nc6', '3. Bb5', 'a6', '4. Ba4', 'Nf6'];
  for (let round = 0; round < 50; round++) {
    const words = moves.map((move) => (prng.nextBelow(2) === 0 ? move : `${move} { ${comments[prng.nextBelow(3)]} }`));
    const text = `[Event "x"]\n\n${words.join(' ')} 1-0\n`;
    const tree = parsePgnTree(text, parsePgnTags(text).end, parsePgnTags(text).tags);
    const wrapped = formatPgn(tree, { lineWidth: 20, hasTightComments: round % 2 === 0 });
    const again = splitPgn(wrapped);
    assert.equal(again.length, 1);
    const { tags, end } = parsePgnTags(again[0].text);
    assert.equal(formatPgn(parsePgnTree(again[0].text, end, tags)), formatPgn(tree));
    for (const line of wrapped.split('\n')) assert.ok(line.length <= 20 || /^(\{|\[)/.test(line), line);
  }
});

test('a file of noise never throws, and every game of it is a game or a sentence', () => {
  const prng = createPrng(11);
  const pieces = [
    '[Event "a"]',
    '\n',
    '\n\n',
    '{',
    '}',
    '(',
    ')',
    ';',
    '%',
    '1.',
    'e4',
    'Nf3',
    '1-0',
    '$',
    '"',
    '[',
    ']',
  ];
  for (let round = 0; round < 300; round++) {
    const text = Array.from({ length: 60 }, () => pieces[prng.nextBelow(pieces.length)]).join(
      round % 2 === 0 ? ' ' : '',
    );
    for (const game of splitPgn(text)) {
      const read = readPgnGame(game);
      if (read.ok) formatPgn(annotateGame(read.value), { lineWidth: 40 });
      else assert.match(read.error, /^line \d+[:,] /);
    }
  }
});

test('a comment of very many blank lines is read in one pass', () => {
  // The work grew with the square of the lines: 40,000 took a minute, so these would take hours.
  const [game, ...others] = splitPgn(`[Event "x"]\n\n1. e4 1-0 {${'\n'.repeat(500_000)}} *\n\n1. d4 *`);
  assert.deepEqual(listMoves(game), ['e4']);
  assert.equal(others.length, 1);
});
