import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Chess } from 'chess.js';
import { parsePgn as parseByChessops } from 'chessops/pgn';
import { createPrng, decodeText, type Prng, unwrap } from '#sardonyx/base/util/index.js';
import { parseTree } from '#sardonyx/board/game/move-tree-reader.js';
import { formatTree } from '#sardonyx/board/game/move-tree-text.js';
import {
  annotateGame,
  DEMANDED_TAGS,
  formatPgn,
  nameGame,
  type PgnGame,
  PgnMoveNode,
  PgnNode,
  type PgnTree,
  parsePgn,
  readPgn,
  readPgnGame,
  spellMoves,
  splitPgn,
} from '#sardonyx/chess/pgn/index.js';
import { formatSan, listLegalMoves, Position, passTurn } from '#sardonyx/chess/rules/index.js';
import { A, B } from '../../support/packed-games.js';
import { listContents } from '../../support/pgn-contents.js';

function readGames(text: string): PgnGame[] {
  return splitPgn(text).map((game) => unwrap(readPgnGame(game)));
}

function readGame(text: string): PgnGame {
  const games = readGames(text);
  assert.equal(games.length, 1);
  return games[0];
}

function listUci(game: PgnGame): string {
  return spellMoves(game)
    .map((move) => move.uci)
    .join(' ');
}

function formatGame(game: PgnGame): string {
  return formatPgn(annotateGame(game));
}

const RICH = `[Event "The \\"Immortal\\" \\\\ game"]
[Site "London"]
[Date "1851.06.21"]
[Round "?"]
[White "Anderssen"]
[Black "Kieseritzky"]
[Result "1-0"]
[Annotator "Ünal"]
[ECO "C33"]

{ Before the first move } 1. e4 $1 { by test
 { and { twice [%clk 0:05:00] [%csl Ge4] } 1... e5 ({ A variation } 1... c5 $5 { sharp } 2. Nf3 (2. c3 { quiet })
2... d6) (1... e6) 2. f4 $146 2... exf4 { [%eval 0.35,18] } 3. Bc4 Qh4+ 4. Kf1 1-0
`;

const BLACK_TO_MOVE = `[Event "B"]
[SetUp "1"]
[FEN "4k3/8/8/8/8/8/4P3/4K3 b - - 0 10"]
[Result "*"]

10... Kd7 11. e4 *
`;

/** The kings stand between rooks on the b and g files, so that castling moves a king onto the square of its rook. */
const CHESS960 = `[Event "C"]
[Variant "Chess960"]
[SetUp "1"]
[FEN "nrbnbkrq/pppppppp/8/8/8/8/PPPPPPPP/NRBNBKRQ w KQkq - 0 1"]
[Result "*"]

1. O-O O-O 2. e4 (2. d4 d5) e5 *
`;

const COMMENT_WORDS = [
  'good',
  '{',
  '}',
  '(',
  ')',
  ';',
  '$1',
  '1-0',
  '[%clk 0:01:00]',
  '[%cal Ge2e4,Rd7d5]',
  '[Event "x"]',
  '\n[Event "x"]',
  '"',
  '\\',
  '%',
  '\n',
  '\n\n',
  'é',
  'Nf3',
  '1. e4',
];

/** Games that a fuzzer made to lose or gain moves when they were written and read again. */
const FOUND_BY_FUZZING = [
  '1. 5 ♘f3 Zp\0\0 2.004xd5 ♘f3 Z "x"].',
  '[Event "x"]\n\n( d4,d51-0 ♘f31... x1:0; ( ',
  'NF3 remark -- ,d4,d5 Z0.e4.e5 *',
];

/** A game with random moves, comments, glyphs, null moves, and variations in variations. */
function createRandomTree(prng: Prng): PgnTree {
  const pick = <T>(list: readonly T[]): T => list[prng.nextBelow(list.length)];
  const createComments = (): string[] => {
    const count = Math.max(0, prng.nextBelow(5) - 2);
    const comment = (): string => Array.from({ length: 1 + prng.nextBelow(4) }, () => pick(COMMENT_WORDS)).join(' ');
    return Array.from({ length: count }, comment);
  };
  const grow = (node: PgnNode, position: Position, plies: number, depth: number): void => {
    const moves = listLegalMoves(position);
    if (plies === 0 || moves.length === 0) return;
    for (let sibling = 0; sibling === 0 || (sibling < 3 && prng.nextBelow(6) === 0); sibling++) {
      const isVariation = depth > 0 || sibling > 0;
      const isPass = isVariation && !position.inCheck() && prng.nextBelow(20) === 0;
      const move = pick(moves);
      const child = new PgnMoveNode({ san: isPass ? '--' : formatSan(position, move) });
      if (sibling > 0) child.data.startingComments = createComments();
      child.data.comments = createComments();
      if (prng.nextBelow(4) === 0) child.data.nags = [1 + prng.nextBelow(200)];
      if (sibling > 0 && prng.nextBelow(4) === 0) child.data.startingNags = [1 + prng.nextBelow(200)];
      node.children.push(child);
      const next = isVariation ? depth + 1 : 0;
      if (isPass) grow(child, unwrap(passTurn(position)), Math.min(plies - 1, 4), next);
      else {
        position.makeMove(move);
        grow(child, position, sibling === 0 ? plies - 1 : Math.min(plies - 1, 4), next);
        position.unmakeMove();
      }
    }
  };
  const moves = new PgnNode();
  grow(moves, new Position(), 30, 0);
  const headers = new Map([...DEMANDED_TAGS, ['Annotator', pick(['"', '\\', 'é; {', '\\"', '"]'])]]);
  return { headers, comments: createComments(), moves };
}

/** A glyph before a move, or a comment with a brace, which is written apart from others of its place. */
function isTooRichForStrictReaders(tree: PgnTree): boolean {
  const isMixed = (texts: readonly string[] = []): boolean =>
    texts.filter((text) => text !== '').length > 1 && texts.some((text) => text.includes('}'));
  const stack: PgnNode[] = [tree.moves];
  if (isMixed(tree.comments)) return true;
  for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
    if (node.children.some(({ data }) => isMixed(data.comments) || isMixed(data.startingComments) || data.startingNags))
      return true;
    stack.push(...node.children);
  }
  return false;
}

test('move numbers with four zeros, which some readers take for a null move, are not written', () => {
  const text = formatGame(readGame('[FEN "4k3/8/8/8/8/8/4P3/4K3 w - - 0 9999"]\n\n9999. e3 Kd8 10000. e4 Kc8 *'));
  assert.match(text, /\n9999\. e3 Kd8 e4 Kc8 \*\n$/);
  assert.equal(listUci(readGame(text)), 'e2e3 e8d8 e3e4 d8c8');
});

/** More by hand: `ROUND_TRIPS=10000 node scripts/test.mjs pgn-game`. */
const ROUND_TRIPS = Number(process.env.ROUND_TRIPS ?? 200);

test('random games come through writing and reading without a loss, in the page too, and strict readers take them', () => {
  const prng = createPrng(20);
  for (let count = 0; count < ROUND_TRIPS; count++) {
    const tree = createRandomTree(prng);
    const text = formatPgn(tree, { lineWidth: count % 2 === 0 ? 80 : Number.POSITIVE_INFINITY });
    const games = splitPgn(`${text}\n${text}`);
    assert.equal(games.length, 2, text);
    assert.deepEqual(listContents(parsePgn(games[0].text).tree), listContents(tree), text);
    const game = unwrap(readPgnGame(games[1]));
    assert.equal(game.problem, null, text);
    assert.equal(formatPgn(annotateGame(game)), formatPgn(tree));
    const sans = Array.from(tree.moves.mainline(), ({ san }) => san);
    const page = unwrap(parseTree(text));
    assert.equal(page.problem, null);
    assert.deepEqual(
      Array.from(parsePgn(formatTree(page.tree)).tree.moves.mainline(), ({ san }) => san),
      sans,
    );
    assert.deepEqual(
      Array.from(parseByChessops(text)[0].moves.mainline(), ({ san }) => san),
      sans,
      text,
    );
    // It knows no null moves, no quotation marks in tags, no glyph before a move and one comment in a place.
    if (/--|\\"/.test(text) || isTooRichForStrictReaders(tree)) continue;
    const chess = new Chess();
    chess.loadPgn(text);
    assert.deepEqual(chess.history(), sans, text);
  }
});

test('what is written is read again as the same game', () => {
  for (const game of [RICH, BLACK_TO_MOVE, CHESS960, A, B].flatMap(readGames)) {
    const text = formatGame(game);
    assert.deepEqual(listContents(readGame(text).tree), listContents(game.tree));
    assert.equal(formatGame(readGame(text)), text);
  }
  for (const game of FOUND_BY_FUZZING.map(readGame)) {
    assert.equal(formatGame(readGame(formatGame(game))), formatGame(game));
  }
});

test('headers in order, comments, glyphs and variations come through as they were', () => {
  const text = formatGame(readGame(RICH));
  const flat = (pgn: string): string => pgn.replace(/\s+/g, ' ').trim();
  assert.equal(flat(text), flat(RICH));
  assert.deepEqual([...readGame(RICH).tags.keys()].slice(-3), ['Result', 'Annotator', 'ECO']);
});

test('a PGN file is split into games, with or without blank lines between them', () => {
  const joined = [RICH, BLACK_TO_MOVE, CHESS960];
  for (const between of ['', '\n', '\r\n\r\n']) {
    const games = readGames(`\ufeff${joined.join(between)}`);
    assert.deepEqual(games.map(listUci), joined.map(readGame).map(listUci));
    assert.equal(games[0].tags.get('Annotator'), 'Ünal');
  }
});

test('the start is that of the FEN, also where Black begins', () => {
  const game = readGame(BLACK_TO_MOVE);
  assert.equal(game.startFen, '4k3/8/8/8/8/8/4P3/4K3 b - - 0 10');
  assert.equal(listUci(game), 'e8d7 e2e4');
  assert.match(formatGame(game), /^10\.\.\. Kd7 11\. e4 \*$/m);
  // Strict readers want SetUp and a move number from 1.
  const written = formatGame(readGame('[FEN "4k3/8/8/8/8/8/4P3/4K3 w - - 0 0"]\n\n1. e4 *'));
  assert.match(written, /\[FEN "4k3\/8\/8\/8\/8\/8\/4P3\/4K3 w - - 0 1"\]\n\[SetUp "1"\]/);
});

test('castling of Chess960 is read, and spelt king takes rook in UCI moves', () => {
  const game = readGame(CHESS960);
  assert.equal(listUci(game), 'f1g1 f8g8 e2e4 e7e5');
  assert.equal(spellMoves(game)[0].san, 'O-O');
  assert.match(formatGame(game), /^1\. O-O O-O 2\. e4 \(2\. d4 d5\) 2\.\.\. e5 \*$/m);
  assert.equal(readGame(CHESS960.replace('[Variant "Chess960"]\n', '')).isChess960, true);
  assert.equal(readGame(RICH).isChess960, false);
  // Whoever reads it next must know without our reading of the FEN.
  const shredder = '[SetUp "1"]\n[FEN "rk2r3/pppppppp/8/8/8/8/PPPPPPPP/RK2R3 w EAea - 0 1"]\n\n1. O-O-O O-O *';
  for (const text of [shredder, `[Variant "Standard"]\n${shredder}`]) {
    const written = formatGame(readGame(text));
    assert.match(written, /\[FEN "rk2r3\/pppppppp\/8\/8\/8\/8\/PPPPPPPP\/RK2R3 w KQkq - 0 1"\]/);
    assert.match(written, /\[Variant "Chess960"\]/);
    assert.equal(readGame(text).startFen, 'rk2r3/pppppppp/8/8/8/8/PPPPPPPP/RK2R3 w KQkq - 0 1');
    assert.equal(listUci(readGame(written)), 'b1a1 b8e8');
  }
  assert.match(formatGame(readGame(`[Variant "fischerandom"]\n${shredder}`)), /\[Variant "fischerandom"\]/);
});

test('names in ISO 8859-1 are read beside games in UTF-8', async () => {
  const games = ['utf8', 'latin1'].map((encoding) =>
    Buffer.from('[White "Müller"]\n\n1. e4 {schön} *\n\n', encoding as BufferEncoding),
  );
  for await (const text of readPgn(decodeText([Buffer.concat(games)]))) {
    const game = unwrap(readPgnGame(text));
    assert.equal(game.tags.get('White'), 'Müller');
    assert.match(formatGame(game), /\{ schön \}/);
  }
});

test('comments to the end of the line become comments in braces, unless they hold a brace', () => {
  const game = readGame('[Site "a; b"]\n\n1. e4 ; the best } move\ne5 { not; this } 2. Nf3 ;fine\n*');
  assert.match(formatGame(game), /1\. e4 ; the best \} move\ne5 \{ not; this \} 2\. Nf3 \{ fine \} \*/);
  assert.equal(game.tags.get('Site'), 'a; b');
});

test('a header with a bare backslash keeps it, and so do those behind it', () => {
  const { tags } = readGame('[Site "C:\\games\\\\old"]\n[White "Tal"]\n\n1. e4 *');
  assert.equal(tags.get('Site'), 'C:\\games\\old');
  assert.equal(tags.get('White'), 'Tal');
});

test('moves in other spellings are written as the standard has them', () => {
  const game = readGame('1. e2-e4 e7e5 2. Ng1f3 Nc6 3. Bc4 Bc5 4. 0-0 Nf6 5. Bxf7 *');
  assert.match(formatGame(game), /1\. e4 e5 2\. Nf3 Nc6 3\. Bc4 Bc5 4\. O-O Nf6 5\. Bxf7\+ \*/);
});

test('a wrong move ends the game there: the sentence names it, and the text keeps what follows', () => {
  const game = readGame('[White "X"]\n[Black "Y"]\n\n1. e4 e5 2. Ke3 {oops} Nc6 (2... d6) 3. Nf3 *');
  assert.equal(listUci(game), 'e2e4 e7e5');
  assert.match(game.problem ?? '', /^line 4, move 2\.Ke3: Ke3 is illegal in rnbq/);
  assert.match(formatGame(game), /2\. Ke3 \{ oops \} Nc6 \(2\.\.\. d6\) 3\. Nf3 \*/);
  for (const word of ['--', 'Z0']) {
    assert.match(
      readGame(`1. e4 ${word} *`).problem ?? '',
      new RegExp(`^line 1, move 1\\.\\.\\.${word}: ${word} is a null move`),
    );
  }
});

test('a null move of a variation may be a word in any case, with a sign behind it; longer words are remarks', () => {
  for (const [word, written] of [
    ['null', '--'],
    ['Null', '--'],
    ['NULL!', '-- $1'],
    ['z0', '--'],
  ])
    assert.ok(formatGame(readGame(`1. e4 (1. d4 ${word} 2. c4) e5 *`)).includes(`(1. d4 ${written} 2. c4)`), word);
  for (const word of ['passed', 'nullify', 'Passport'])
    assert.ok(formatGame(readGame(`1. e4 (1. d4 ${word} d5) e5 *`)).includes(`(1. d4 { ${word} } d5)`), word);
});

test('the first word that is meant as a move and is none is named, whatever it looks like', () => {
  for (const [text, place] of [
    ['1. Kz9 e5 2. d4 *', '1.Kz9'],
    ['1.Kz9 e5 *', '1.Kz9'],
    ['1. e9 e5 *', '1.e9'],
    ['1. e4 Nz6 2. Nf3 Nc6 *', '1...Nz6'],
    ['1. e4 e5 2. Qi5+! Nc6 *', '2.Qi5+!'],
    ['1. e4 e5 2. Nf9?? Nc6 *', '2.Nf9??'],
    ['1. e4 e5 2. exz5 Nc6 *', '2.exz5'],
  ]) {
    const game = readPgnGame(splitPgn(text)[0]);
    const problem = game.ok ? game.value.problem : game.error;
    assert.ok(problem?.startsWith(`line 1, move ${place}: `), `${text}: ${problem}`);
  }
  // Remarks stay remarks.
  const remarked = unwrap(readPgnGame(splitPgn('1. e4 B90 e5 see p5 2. Nf3 K9 *')[0]));
  assert.equal(remarked.problem, null);
  assert.equal(remarked.moves.length, 3);
});

test('a promotion without a piece says what it lacks', () => {
  const game = readPgnGame(splitPgn('[FEN "8/P6k/8/8/8/8/8/K7 w - - 0 1"]\n\n1. a8 *')[0]);
  assert.equal(game.ok ? '' : game.error, 'line 3, move 1.a8: a8 needs a piece: a8=Q');
});

test('a knight’s move in German is not taken for a pawn’s', () => {
  const game = readGame('1. e4 e5 2. Sf3 Sc6 *');
  assert.equal(listUci(game), 'e2e4 e7e5');
  assert.match(game.problem ?? '', /^line 1, move 2\.Sf3: .*not a move such as Nf3/);
});

test('what cannot be read at all is a sentence with its line', () => {
  const cases: [string, RegExp][] = [
    ['[White "X"]\n[Black "Y"]\n\n1. Ke3 e6 *', /^line 13, move 1\.Ke3: Ke3 is illegal in rnbq/],
    ['[FEN "8/8 w"]\n\n1. Ke3 *', /^line 10: \S+/],
    ['[Variant "Atomic"]\n\n1. e4 *', /^line 10: the variant Atomic is not supported$/],
    ['', /^line 10: there are no tags, no moves and no result$/],
    ['Dear reader', /^line 10: there are no tags, no moves and no result$/],
  ];
  for (const [text, sentence] of cases) {
    const source = { text, number: 7, line: 10, isTooLong: false, isPosition: false };
    const game = readPgnGame(source);
    assert.match(game.ok ? '' : game.error, sentence);
    assert.equal(nameGame(source), text.includes('White') ? 'Game 7 (X - Y)' : 'Game 7');
  }
});

test('words among the moves that are no moves are reported, alone and before an illegal move', () => {
  const kept = readGame('[White "A"]\n\n1. e4 xyzzy e5\n2. Nf3 plugh abc Nc6 (2... foo d6) { bar } 1-0 after all\n');
  assert.equal(kept.moves.length, 4);
  assert.deepEqual(kept.notes, ['line 3: "xyzzy" is no move, and is kept as a comment']);
  assert.deepEqual(readGame('1. e4 e5 2. Nf3 (2. foo) {bar} ; baz\n 2... Nc6 $1 [%clk 1] !? N *').notes, []);
  const { problem, moves } = readGame('1. e4 e5 2. xyzzy Nc6 *');
  assert.equal(moves.length, 2);
  assert.match(
    problem ?? '',
    /^line 1, move 2\.Nc6: Nc6 is illegal in [^;]*; before it stands "xyzzy", which is no move$/,
  );
});
