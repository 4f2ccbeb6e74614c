import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPrng, decodeText, unwrap } from '#sardonyx/base/util/index.js';
import {
  annotateGame,
  DEMANDED_TAGS,
  formatPgn,
  nameGame,
  type PgnText,
  parseEvalComment,
  parsePgn,
  parsePgnTags,
  readPgn,
  readPgnGame,
  splitPgn,
} from '#sardonyx/chess/pgn/index.js';
import { LONGEST_GAME_TEXT } from '#sardonyx/chess/pgn/pgn-text.js';
import { listContents } from '../../support/pgn-contents.js';

function listMoves({ text }: PgnText): string[] {
  return Array.from(parsePgn(text).tree.moves.mainline(), ({ san }) => san);
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
  const { tree } = parsePgn(text);
  const line = [...tree.moves.mainline()];
  assert.deepEqual(
    line.map(({ san }) => san),
    ['e4', 'e5', 'Nf3', 'Nc6', 'Bb5', 'a6', 'Ba4', 'Nf6', 'O-O', 'b5', 'exd6'],
  );
  assert.deepEqual([line[1].nags, line[2].nags, line[3].nags, line[9].nags], [[1], [1], [6], [5]]);
  const whiteScores = line.map(({ comments = [] }) => parseEvalComment(comments.join()));
  assert.deepEqual([whiteScores[0], whiteScores[1], whiteScores[5]], [24, Number.NaN, -31994]);
  assert.equal(tree.headers.get('Result'), '1/2-1/2');
  assert.equal(parsePgn('1. e4 e5').tree.headers.get('Result'), '*');
});

test('eval comments are centipawns for White, mates as 32000 - 2n, and clamped', () => {
  assert.equal(parseEvalComment('{ [%eval -1.5] }'), -150);
  assert.equal(parseEvalComment('{[%eval #2]}'), 31996);
  assert.equal(parseEvalComment('{[%eval #20000]}'), 30002);
  assert.equal(parseEvalComment('{[%eval #-20000]}'), -30002);
  assert.equal(parseEvalComment('{[%eval 412.03,18]}'), 20000);
  assert.ok(Number.isNaN(parseEvalComment('{[%clk 0:03:00] better is Nf3}')));
});

test('tags are read with escapes; a wrapped comment is no tag', () => {
  const tags = parsePgnTags('[Event "a \\"b\\" \\\\"]\n  [WhiteElo  "2300" ]\n\n1. e4');
  assert.deepEqual(
    [...tags],
    [
      ['Event', 'a "b" \\'],
      ['WhiteElo', '2300'],
    ],
  );
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
  const games = splitPgn(FILE);
  assert.deepEqual(games.map(listMoves), [['e4', 'e5'], ['d4', 'Ke7'], ['c4']]);
  for (const size of [1, 2, 7, 100, bytes.length]) {
    const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) =>
      bytes.slice(i * size, (i + 1) * size),
    );
    assert.deepEqual(await collect(readPgn(decodeText(chunks))), games, `chunks of ${size}`);
  }
});

test('UTF-16 is read with and without a mark, in pieces of any size', async () => {
  const text = '[White "Zo\u00eb"]\r\n\r\n1. e4 *\r\n';
  for (const mark of ['', '\ufeff']) {
    const little = Buffer.from(mark + text, 'utf16le');
    for (const bytes of [little, Buffer.from(little).swap16()]) {
      for (const size of [1, 3, 1000]) {
        const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) =>
          bytes.subarray(i * size, (i + 1) * size),
        );
        const [game, ...others] = await collect(readPgn(decodeText(chunks)));
        assert.deepEqual([parsePgnTags(game.text).get('White'), listMoves(game), others], ['Zo\u00eb', ['e4'], []]);
      }
    }
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
    for (let i = 0; i <= LONGEST_GAME_TEXT / chunk.length; i++) {
      yield chunk;
      if (newline) yield Uint8Array.of(10);
    }
    yield new TextEncoder().encode('\n[Event "x"]\n\n1. e4 *\n');
  }
  for (const newline of [true, false]) {
    const games = await collect(readPgn(decodeText(endless(newline))));
    assert.equal(games.length, 2);
    assert.ok(games[0].isTooLong && games[0].text.length <= LONGEST_GAME_TEXT);
    const read = readPgnGame(games[0]);
    assert.equal(read.ok ? '' : read.error, 'line 1: no game is that long');
    assert.deepEqual(listMoves(games[1]), ['e4']);
  }
});

/** Text → each game as its tags (those that are no defaults) and its moves as they are written again. */
const KINDS: readonly (readonly [what: string, text: string, games: readonly string[]])[] = [
  // Tags.
  [
    'bare quotation marks',
    '[White "x "y" z"]\n[Black "b"]\n\n1. e4 *\n\n[White "w"]\n\n1. d4 *',
    ['White=x "y" z Black=b: 1. e4 *', 'White=w: 1. d4 *'],
  ],
  [
    'an escaped last quotation mark',
    '[Event "Ugra Cup \\"]\n[White "w"]\n\n1. e4 *',
    ['Event=Ugra Cup \\ White=w: 1. e4 *'],
  ],
  ['several on a line', '[Event "Ugra Cup \\"] [Site "s"]\n1. e4 *', ['Event=Ugra Cup \\ Site=s: 1. e4 *']],
  [
    'no quotation marks',
    '[Event "a"]\n[FEN 4k3/8/8/8/8/8/4P3/4K3 w - - 0 0]\n\n1. e4 *',
    ['Event=a FEN=4k3/8/8/8/8/8/4P3/4K3 w - - 0 0: 1. e4 *'],
  ],
  ['one quotation mark', '[Event "a"]\n[PlyCount "57]\n[White "w\n\n1. e4 *', ['Event=a White=w PlyCount=57: 1. e4 *']],
  ['typographic ones', '[White “Tal”]\n\n1. e4 *', ['White=Tal: 1. e4 *']],
  [
    'blanks before them and Ctrl-Z at the end',
    '  [Event "A"]\n \t[White "w"]\n\n  1. e4 e5 *\n\x1a',
    ['Event=A White=w: 1. e4 e5 *'],
  ],
  ['moves on their line', '[Event "A"] [White "w"] 1. e4 e5 *', ['Event=A White=w: 1. e4 e5 *']],
  ['a blank line among them', '[Event "A"]\n\n[White "w"]\n\n1. e4 *', ['Event=A White=w: 1. e4 *']],
  [
    'no moves behind them',
    '[Event "A"]\n[White "w"]\n\n[Event "B"]\n\n1. e4 *\n\n[Event "C"]',
    ['Event=A White=w: *', 'Event=B: 1. e4 *', 'Event=C: *'],
  ],
  [
    'no blank line behind them',
    '[Event "A"]\n[White "w"]\n[Event "B"]\n1. e4 *',
    ['Event=A White=w: *', 'Event=B: 1. e4 *'],
  ],
  [
    'small letters',
    '[event "A"]\n[white "w"]\n[fen "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1"]\n[eco "C20"]\n\n1. e4 *',
    ['Event=A White=w FEN=4k3/8/8/8/8/8/4P3/4K3 w - - 0 1 eco=C20: 1. e4 *'],
  ],
  [
    'other marks and signs',
    "[Event = 'x']\n[White: \"Tal\"]\n[Black 'O\\'Brien']\n1. e4 *",
    ["Event=x White=Tal Black=O\\'Brien: 1. e4 *"],
  ],
  [
    'a name that stands twice',
    '[Event "x"]\n[White "a"]\n[White "b"]\n[White "b"]\n\n1. e4 *',
    ['Event=x White=b: { [White "a"] } 1. e4 *'],
  ],
  ['a FEN that is not known', '[FEN "?"]\n\n1. e4 *', ['FEN=?: 1. e4 *']],
  ['a result in words', '[Result "White wins"]\n\n1. e4 *', ['Result=White wins: 1. e4 *']],
  // Where games begin and end.
  [
    'no tags, consecutive lines',
    '1. e4 e5 1-0\n1. d4 d5 0-1\n1. c4 *',
    ['Result=1-0: 1. e4 e5 1-0', 'Result=0-1: 1. d4 d5 0-1', '1. c4 *'],
  ],
  ['neither tags nor results', '1. e4 e5\n1. d4 d5\n\n1. c4', ['1. e4 e5 *', '1. d4 d5 *', '1. c4 *']],
  ['neither tags nor numbers', 'e2e4 e7e5 1-0\ng1f3 *', ['Result=1-0: 1. e4 e5 1-0', '1. Nf3 *']],
  [
    'two games on a line',
    '1. e4 1-0 1. d4 0-1 [Event "B"] 1. c4 *',
    ['Result=1-0: 1. e4 1-0', 'Result=0-1: 1. d4 0-1', 'Event=B: 1. c4 *'],
  ],
  ['CR alone', '[Event "A"]\r\r1. e4 *\r\r[Event "B"]\r\r1. d4 *\r', ['Event=A: 1. e4 *', 'Event=B: 1. d4 *']],
  [
    'a comment or a variation on the line of the first move',
    '1. e4 *\n\n{ two } 1. d4 *\n\n{ over\n1-0 lines } (1. f4) 1. c4 *',
    ['1. e4 *', '{ two } 1. d4 *', '{ over\n1-0 lines } 1. c4 (1. f4) *'],
  ],
  ['blank lines among moves', '1. e4 e5\n\n2. Nf3\n\n2... Nc6\n\n*', ['1. e4 e5 2. Nf3 Nc6 *']],
  [
    'comments before, between and behind games',
    '{ A book }\n\n[Event "A"]\n\n1. e4 *\n\n{ Next }\n\n[Event "B"]\n\n1. d4 *\n\n{ End }',
    ['Event=A: { A book } 1. e4 *', 'Event=B: { Next } 1. d4 { End } *'],
  ],
  ['words before the games', 'Games of 1972\n\n[Event "A"]\n\n1. e4 *', ['Event=A: { Games of 1972 } 1. e4 *']],
  [
    'a comment that never closes',
    '[Event "A"]\n\n1. e4 { open\n\n[Event "B"]\n\n1. d4 {b} *\n\n[Event "C"]\n\n1. c4 *',
    ['Event=A: 1. e4 { open } *', 'Event=B: 1. d4 { b } *', 'Event=C: 1. c4 *'],
  ],
  [
    'a comment that quotes a tag',
    '1. e4 { as in\n[Event "A"]\nof old } e5 *',
    ['1. e4 { as in [Event "A"]\nof old } e5 *'],
  ],
  [
    'variations that never close',
    '[Event "A"]\n\n1. e4 (1. d4 (1. c4 *\n[Event "B"]\n\n1. d4 *',
    ['Event=A: 1. e4 (1. d4) (1. c4 { * }) *', 'Event=B: 1. d4 *'],
  ],
  // Moves.
  [
    'UCI and squares',
    '1. g1f3 e7e5 2. e2-e4 Nb8-c6 3. f1c4 g8f6 4. e1g1 *',
    ['1. Nf3 e5 2. e4 Nc6 3. Bc4 Nf6 4. O-O *'],
  ],
  [
    'glyphs and points behind moves',
    '1. e4! e5?! 2. Nf3+- Nf6= 3. Bc4, Bc5. 4. O-O 0-0 5. d4N exd4 +/- *',
    ['1. e4 $1 1... e5 $6 2. Nf3 $18 2... Nf6 $10 3. Bc4 Bc5 4. O-O O-O 5. d4 $146 5... exd4 $16 *'],
  ],
  [
    'pawns and figurines',
    '1. Pe4 d5 2. e5 f5 3. exf6ep nf6 4. ♘c3 g8=Q *',
    ['1. e4 d5 2. e5 f5 3. exf6 Nxf6 4. Nc3 g8=Q *'],
  ],
  ['spaces of other widths', '1.\u00a0e4\u2009e5\u202f2.\u3000Nf3 *', ['1. e4 e5 2. Nf3 *']],
  [
    'capitals alone',
    '1. E2E4 E7-E5 2. NF3 NB8-C6 3. BB5 A6 4. BXC6+ DXC6 ECO C20 *',
    ['1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 4. Bxc6 dxc6 { ECO C20 } *'],
  ],
  [
    'moves that are glued, and numbers with colons',
    '1.e4,e5; a {remark\n2:Nf3.Nc6,3: Bb5.a6 1-0',
    ['Result=1-0: 1. e4 e5 { a {remark } 2. Nf3 Nc6 3. Bb5 a6 1-0'],
  ],
  ['en passant behind a slash', '1. e4 a6 2. e5 d5 3. exd6/ep *', ['1. e4 a6 2. e5 d5 3. exd6 *']],
  [
    'null moves in words',
    '1. e4 e5 (1... null 2. d4) (1... pass) 2. Nf3 {x} so White may pass *',
    ['1. e4 e5 (1... -- 2. d4) (1... --) 2. Nf3 { x so White may pass } *'],
  ],
  [
    'results with colons, blanks and decimals',
    '1. e4 1:0\n1. d4 0 - 1\n1. c4 1/2 - 1/2 1. f4 0.5-0.5\n\n1. g4 ½ : ½',
    [
      'Result=1-0: 1. e4 1-0',
      'Result=0-1: 1. d4 0-1',
      'Result=1/2-1/2: 1. c4 1/2-1/2',
      'Result=1/2-1/2: 1. f4 1/2-1/2',
      'Result=1/2-1/2: 1. g4 1/2-1/2',
    ],
  ],
  [
    'games of figurines alone',
    '1. ♘f3 ♞f6 1-0\n1. ♘c3 ♞c6 0-1',
    ['Result=1-0: 1. Nf3 Nf6 1-0', 'Result=0-1: 1. Nc3 Nc6 0-1'],
  ],
  ['a result behind a move', '1. e4 e5 2. Nf30-1', ['Result=0-1: 1. e4 e5 2. Nf3 0-1']],
  [
    'null moves',
    '1. e4 e5 (1... -- 2. d4 (2. Z0)) (1... 0000) 10000. Nf3 *',
    ['1. e4 e5 (1... -- 2. d4 (2. --)) (1... --) 2. Nf3 *'],
  ],
  // What stands between moves.
  [
    'words and commands outside of comments',
    '1. e4 [%clk 0:01:00] e5 better is 12 2. Nf3 (2. d4 1-0) *',
    ['1. e4 { [%clk 0:01:00] } e5 { better is 12 } 2. Nf3 (2. d4 { 1-0 }) *'],
  ],
  [
    'comments around a variation',
    '1. e4 {a} ({b} 1. d4 {c} {d}) {e} e5 1-0 {f}',
    ['Result=1-0: 1. e4 { a e } ({ b } 1. d4 { c d }) 1... e5 { f } 1-0'],
  ],
  [
    'glyphs before the first move of a line',
    '$1 1. e4 e5 ($142 1... c5 2. Nf3) ({Better is} $1 1... e6) (± 1... d5 2. d4 ($6 2. Nf3)) 2. Nf3 ($10) *',
    ['$1 1. e4 e5 ($142 1... c5 2. Nf3) ({ Better is } $1 1... e6) ($16 1... d5 2. d4 ($6 2. Nf3)) 2. Nf3 $10 *'],
  ],
  [
    'null moves of three dashes, of dashes of other kinds, and lines of dashes',
    '1. e4 e5 2. Nf3 Nc6 (2... --- {threatening} 3. Nxe5 d6) (2... ––) ------ 3. Bb5 *',
    ['1. e4 e5 2. Nf3 Nc6 { ------ } (2... -- { threatening } 3. Nxe5 d6) (2... --) 3. Bb5 *'],
  ],
  [
    'a null move in the main line',
    '1. e4 e5 2. --- {a threat} Nc6 (2... d6) 3. Bb5 1-0',
    ['Result=1-0: 1. e4 e5 (1... e5 2. -- { a threat } Nc6 (2... d6) 3. Bb5) 1-0'],
  ],
  [
    'braces in comments',
    '1. e4 {ev=0.30} e5 {ev=0.10, d=18} *\n; { Game Nr. 1 : W wins\n; Duration = 1, final x }\n',
    ['1. e4 { ev=0.30 } e5 { ev=0.10, d=18 { Game Nr. 1 : W wins } ; Duration = 1, final x }\n*'],
  ],
  ['comments in comments', '1. e4 {a {b} c} e5 *', ['1. e4 { a {b } ; c}\ne5 *']],
  // Signs and letters.
  [
    'signs that are no glyphs',
    '1. "e4" e5⟳! 2. Nf3⨀ Nc6†?? 3. Bb5+↑ _a6_ *',
    ['1. e4 { " " } e5 $1 { ⟳ } 2. Nf3 { ⨀ } Nc6 $4 { † } 3. Bb5 { ↑ } a6 { _ _ } *'],
  ],
  [
    'signs that cannot be seen',
    '1. e4\u200e \u202ae5\u202c 2. ♘\ufe0fNf3 ♞\ufe0ec6 3. B\u200bb5 a6\u2060 4.\u200bBa4\u200bNf6 5. O\u2060-\u2060O *',
    ['1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 4. Ba4 Nf6 5. O-O *'],
  ],
  [
    'dashes and letters that look like those of moves',
    '1. e2−e4 е7—е5 2. Nf3 Nс6 3. Bb5 a6 4. BхN dхc6 5. О-О Ｂｄ６ 6. d4 Nf6 7. dxe5 O\u2010O 1−0',
    ['Result=1-0: 1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 4. Bxc6 dxc6 5. O-O Bd6 6. d4 Nf6 7. dxe5 O-O 1-0'],
  ],
  [
    'raised digits, rare dashes, castling without a dash or with one that cannot be seen',
    '1. e4¹ e7―e5² 2. Nf3③ Nc6 3. Bb5 a6 4. Ba4 Nf6 5. ОО b5 6. Bb3 Bb7 7. d3 Be7 8. Nc3 O\xadO *',
    ['1. e4 { ¹ } e5 { ² } 2. Nf3 { ③ } Nc6 3. Bb5 a6 4. Ba4 Nf6 5. O-O b5 6. Bb3 Bb7 7. d3 Be7 8. Nc3 O-O *'],
  ],
  [
    'null moves as text programs set them',
    '1. e4 – good e5 (1... — 2. d4) *',
    ['1. e4 { – good } e5 (1... -- 2. d4) *'],
  ],
  [
    'captures without their square',
    '1. e4 d5 2. ed! Q:d5 3. Nc3 Qa5 *\n\n1. Nf3 d5 2. c4 dc de acuerdo 3. e3 b5 4. a4 c6 5. ab+- cb *\n\n1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 4. BxN dxB 5. NxP *\n\n1. e4 a6 2. e5 f5 3. e:fe.p. e:f *',
    [
      '1. e4 d5 2. exd5 $1 2... Qxd5 3. Nc3 Qa5 *',
      '1. Nf3 d5 2. c4 dxc4 { de acuerdo } 3. e3 b5 4. a4 c6 5. axb5 $18 5... cxb5 *',
      '1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 4. Bxc6 dxc6 5. Nxe5 *',
      '1. e4 a6 2. e5 f5 3. exf6 exf6 *',
    ],
  ],
  // Results.
  [
    'results of games that nobody won, or nobody played',
    '[Result "0-0"]\n\n1. d4 0-0\n\n[Result "+/-"]\n\n+/-\n\n[Result "-/+"]\n[Termination "no show"]\n\n-/+\n\n[Event "a"]\n\n1. e4 +/- e5 {both late} 0–0',
    [
      'Termination=double forfeit: 1. d4 *',
      'Result=1-0 Termination=forfeit: 1-0',
      'Result=0-1 Termination=no show: 0-1',
      'Event=a Termination=double forfeit: 1. e4 $16 1... e5 { both late } *',
    ],
  ],
  [
    'castling with zeros before a result of zeros, or instead of one',
    ['0-0', '0-0', '*']
      .map(
        (result, i) =>
          `[Result "${result}"]\n[FEN "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1"]\n\n1. 0-0-0 0-0${i === 0 ? ' 2. Kb1 0-0' : ''}`,
      )
      .join('\n\n'),
    [
      'Termination=double forfeit: 1. O-O-O O-O 2. Kb1 *',
      'Termination=double forfeit: 1. O-O-O *',
      '1. O-O-O O-O *',
    ].map((game) => `FEN=r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1${game.startsWith('T') ? ' ' : ': '}${game}`),
  ],
  [
    'results in brackets, and halves',
    '1. e4 (1-0)\n\n1. d4 ½\n\n1. c4 1/2\n\n1. f4 f5½-½\n\n1. g4 (1-0, 30) g5 (0-1)',
    [
      'Result=1-0: 1. e4 1-0',
      'Result=1/2-1/2: 1. d4 1/2-1/2',
      'Result=1/2-1/2: 1. c4 1/2-1/2',
      'Result=1/2-1/2: 1. f4 f5 1/2-1/2',
      'Result=0-1: 1. g4 { 1-0, 30 } g5 0-1',
    ],
  ],
  [
    'results of zeros and signs in brackets or with other dashes, with comments behind them',
    '[Result "(0-0)"]\n\n1. d4 (0-0) {late}\n\n[Result "+/−"]\n\n1. d4 +/−\n\n[Result "(-/+)"]\n\n(-/+)\n\n[Result "(½)"]\n\n1. e4 (1/2-1/2 ) {agreed}',
    [
      'Termination=double forfeit: 1. d4 { late } *',
      'Result=1-0 Termination=forfeit: 1. d4 1-0',
      'Result=0-1 Termination=forfeit: 0-1',
      'Result=1/2-1/2: 1. e4 { agreed } 1/2-1/2',
    ],
  ],
  [
    'tags with other marks for their brackets, with hard spaces, and names of words without brackets',
    '[Event "A"}\n[White\xa0"W")\n[Black "B";\n[White Elo "2300"\n[Black Elo "2200",\n[Date Of Birth Of White "1"]\n\n1. e4 *',
    ['Event=A White=W Black=B WhiteElo=2300 BlackElo=2200 DateOfBirthOfWhite=1: 1. e4 *'],
  ],
  [
    'tags without their brackets, and names of two words',
    '[Event "A"\n[White "W "w""\n[White Elo "2300"]\n[Black "B" [Result "1-0"\n\n1. e4 e5 1-0\n\n[Event "B"]\n[Site "s" 1. e4 *',
    ['Event=A White=W "w" Black=B Result=1-0 WhiteElo=2300: 1. e4 e5 1-0', 'Event=B Site=s: 1. e4 *'],
  ],
  [
    'files that were cut off in a comment, a word, a tag, a variation or behind a result, and the next one',
    '[Event "A"]\n\n1. e4 e5 {+0.1/1[Event "B"]\n[White "N"]\n\n1. d4 {x} d5 2. N[Event "C"]\n[White "O[Event "D"]\n\n1. f4 (1. g4[Event "E"]\n\n1. a4 1-0[Event "F"]\n\n1. b4 {see [Event "x"] of old} *\n\ufeff[Event "G"]\n\n1. b3 *',
    [
      'Event=A: 1. e4 e5 { +0.1/1 } *',
      'Event=B White=N: 1. d4 { x } d5 { N } *',
      'Event=C White=O: *',
      'Event=D: 1. f4 (1. g4) *',
      'Event=E Result=1-0: 1. a4 1-0',
      'Event=F: 1. b4 { see [Event "x"] of old } *',
      'Event=G: 1. b3 *',
    ],
  ],
  [
    'a file that was cut off before another one whose tags share a line or have marks and blanks inside',
    '[Event "A"]\n\n1. e4 {x[Event "B \\"q\\""] [White "N"]\n\n1. d4 {y} d5 {z[Event  "C"]\n\n1. f4 {v} *',
    ['Event=A: 1. e4 { x } *', 'Event=B "q" White=N: 1. d4 { y } d5 { z } *', 'Event=C: 1. f4 { v } *'],
  ],
  ['variations that repeat a move, or come first', '(1. c4) 1. e4 (1. e4 c5) *', ['1. e4 (1. c4) (1. e4 c5) *']],
];

test('what other programs and people write is read as they mean it, and nothing of it is lost', () => {
  for (const [what, text, expected] of KINDS) {
    const games = splitPgn(text).map((source) => {
      const game = unwrap(readPgnGame(source));
      const tags = [...game.tags].filter(([name, value]) => DEMANDED_TAGS.get(name) !== value);
      const tree = annotateGame(game);
      const written = formatPgn(tree);
      const [again, ...others] = splitPgn(written).map((one) => unwrap(readPgnGame(one)));
      assert.deepEqual([listContents(annotateGame(again)), others], [listContents(tree), []], what);
      const moves = written.split('\n\n').slice(1).join('\n\n').trim();
      return `${tags.map((tag) => tag.join('=')).join(' ')}${tags.length === 0 ? '' : ': '}${moves}`;
    });
    assert.deepEqual(games, expected, what);
  }
});

test('what is read otherwise than it is written is said in a sentence', () => {
  for (const [text, ...expected] of [
    ['[Event "A"\n[White "W"\n\n1. e4 *', 'The tags Event, White have no closing bracket'],
    ['[White Elo "2300"]\n\n1. e4 *', 'The name of a tag is several words: it was read as WhiteElo'],
    ['[Result "+/-"]\n\n+/-', 'The result +/- was read as 1-0 (forfeit)'],
    ['1. e4 0-0', 'The result 0-0 was read as * (double forfeit)'],
    ['1. e4 e[Event "x"]', 'The game is cut off in the middle of a line, where the next one begins'],
    ['1. e4 {a [Event "x"]\n1. e4 *', 'A comment of the game never ends'],
    ['[Result "1-0"]\n\n1. e4', 'The text ends before the result of its last game: the rest of it is missing'],
    ['[Result "0-1"]\n\n1. f3 e5 2. g4 Qh4#'],
    ['[Result "1-0"]\n\n1. e4 e5 ( 1-0 )'],
    ['1. P-K4 P-K4 *', 'line 1: "P-K4 P-K4" is no move, and is kept as a comment'],
    ['[Result "1/2-1/2"]\n[FEN "7k/5Q2/8/8/8/8/8/K7 w - - 0 1"]\n\n1. Kb1'],
    ['[Result "1/2-1/2"]\n[FEN "8/6p1/5K2/8/8/8/8/k7 w - - 0 1"]\n\n1. Kxg7'],
  ]) {
    const [game] = splitPgn(text).map((source) => unwrap(readPgnGame(source)));
    assert.deepEqual(game.notes, expected, text);
  }
});

test('names of chess and Chess960 are understood, other variants are named', () => {
  const read = (variant: string) => readPgnGame(splitPgn(`[Variant "${variant}"]\n\n1. e4 *`)[0]);
  for (const variant of ['', '?', 'Standard', 'chess', 'Regular', 'From Position', 'Normal']) {
    assert.equal(unwrap(read(variant)).isChess960, false, variant);
  }
  const names = [
    '960',
    'FRC',
    'Freestyle',
    'Fischer Random Chess',
    'chess-960',
    'Chess 960',
    'fischerandom',
    'wild/fr',
    'Freestyle Chess960',
    'Fischer Random 960',
  ];
  for (const variant of names) assert.equal(unwrap(read(variant)).isChess960, true, variant);
  for (const variant of ['Crazyhouse', 'Atomic', 'Суицид', 'x'.repeat(1000)]) {
    const game = read(variant);
    assert.match(game.ok ? '' : game.error, /^line 1: the variant .{1,61} is not supported$/);
  }
});

test('lines are broken between words, and the game read back is the same', () => {
  const prng = createPrng(3);
  const comments = ['short', 'a comment that is longer than any line of this width may be', '[%clk 0:01:00]'];
  const moves = ['1. e4', 'e5', '2. Nf3', 'Nc6', '3. Bb5', 'a6', '4. Ba4', 'Nf6'];
  for (let round = 0; round < 50; round++) {
    const words = moves.map((move) => (prng.nextBelow(2) === 0 ? move : `${move} { ${comments[prng.nextBelow(3)]} }`));
    const { tree } = parsePgn(`[Event "x"]\n\n${words.join(' ')} 1-0\n`);
    const wrapped = formatPgn(tree, { lineWidth: 20, hasTightComments: round % 2 === 0 });
    const again = splitPgn(wrapped);
    assert.equal(again.length, 1);
    assert.equal(formatPgn(parsePgn(again[0].text).tree), formatPgn(tree));
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

test('a control character that is left out does not make a comment another game', () => {
  const [source] = splitPgn('1. e4 {a\n[Even\u0001t "x"] 1. d4\n[Eve\u0007nt "y"]} e5 *');
  const written = formatPgn(unwrap(readPgnGame(source)).tree);
  const games = splitPgn(written);
  assert.equal(games.length, 1, written);
  assert.deepEqual(listMoves(games[0]), ['e4', 'e5']);
});

test('a comment of very many blank lines is read in one pass', () => {
  // The work grew with the square of the lines: 40,000 took a minute, so these would take hours.
  const [game, ...others] = splitPgn(`[Event "x"]\n\n1. e4 1-0 {${'\n'.repeat(500_000)}} *\n\n1. d4 *`);
  assert.deepEqual(listMoves(game), ['e4']);
  assert.equal(others.length, 1);
});

test('a tag of megabytes is one sentence, and the games behind it are read', () => {
  const long = 'x'.repeat(12_000_000);
  for (const tag of [
    `[Event "${long}"]`,
    `[FEN "${long}"]`,
    `[Result "${'\\"'.repeat(2_000_000)}"]`,
    `[${long} "a"]`,
    `[Event "${long}`,
  ]) {
    const games = splitPgn(`[White "a"]\n${tag}\n\n1. d4 *\n\n[Event "b"]\n\n1. e4 *\n`);
    const [refused, read] = games.map((game) => readPgnGame(game));
    assert.equal(games.length, 2);
    assert.match(refused.ok ? '' : refused.error, /^line 1: no tag is as long as \w{2,60}…?$/);
    assert.ok(read.ok && read.value.moves.length === 1);
    assert.match(nameGame(games[0]), /^Game 1 \(a - \?\)$/);
  }
});

test('any number of games, tags, brackets and comments on one line are read, or refused by a sentence', () => {
  const pieces = [
    '1. e4 1-0 ',
    '[a "b"]',
    '(',
    '(1. e4 ',
    '{',
    '{}',
    '$1 ',
    ';',
    'x ',
    '1. ',
    '[a ',
    '[Event "x"] 1. e4 {',
    ')',
    '"',
  ];
  for (const piece of pieces) {
    const text = piece.repeat(200_000 / piece.length);
    for (const source of splitPgn(text)) {
      const game = readPgnGame(source);
      assert.ok(game.ok || game.error.length < 1100, piece);
    }
  }
});
