import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Result, unwrap } from '#sardonyx/base/util/index.js';
import {
  compareGames,
  createSearch,
  GAME_COLUMNS,
  GameIndex,
  type ImportedGame,
  importGames,
} from '#sardonyx/board/game/game-list.js';
import { findLineEnd, getPath } from '#sardonyx/board/game/move-tree.js';
import { parseTree } from '#sardonyx/board/game/move-tree-reader.js';
import { formatTree } from '#sardonyx/board/game/move-tree-text.js';
import { parsePgn } from '#sardonyx/chess/pgn/index.js';
import { formatFen, parseFen, parseUciMove, START_FEN } from '#sardonyx/chess/rules/index.js';

async function readAll(...pieces: string[]): Promise<Result<ImportedGame>[]> {
  async function* stream(): AsyncGenerator<string> {
    yield* pieces;
  }
  const games: Result<ImportedGame>[] = [];
  for await (const game of importGames(stream())) games.push(game);
  return games;
}

const START = 'rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -';

test('PGN, FENs and EPD are told apart by their first line; what cannot be read is named among what can', async () => {
  const files: readonly (readonly [text: string, titles: readonly (string | RegExp)[]])[] = [
    ['1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 1/2-1/2', ['e4 e5 Nf3 Nc6 Bb5 a6  1/2-1/2']],
    [`${START} 0 1`, [`${START} 0 1`]],
    [
      `\n\n${START}\n# a remark\n8/8/8 w\n8/P6k/8/8/8/8/8/K7 w - - 0 1\n`,
      [`${START} 0 1`, /^Line 5 is no position: /, /^8\/P6k/],
    ],
    [`# a list\n${START} 0 1`, [`${START} 0 1`]],
    [`${START} bm e4; id "WAC.001";`, [`WAC.001  ${START} 0 1`]],
    [
      '[White "Tal"]\n[Date "1961.??.??"]\n\n1. e4 *\n\n[White "x"]\n\n1. Ke2 *\n\n[Variant "Atomic"]\n\n*',
      ['Tal – ?  1961.??.??', /^Game 2 \(x - \?\) cannot be read: line 8, move 1\.Ke2/, /Atomic/],
    ],
    [`Openings\n; a remark\n// another\n1. ${START} 0 1\n\x1a`, [/^Line 1 is no position/, `${START} 0 1`]],
    [`["${START} 0 1",\n"${START} 3 7"]`, [`${START} 0 1`, `${START} 3 7`]],
    ['position startpos moves e2e4 e7e5\nstartpos', ['e4 e5', `${START} 0 1`]],
    [`[FEN "${START} 0 1"]\n\n1. e4 *`, ['e4']],
    ['', []],
    ['Dear reader', [/no moves/]],
  ];
  for (const [text, titles] of files) {
    const games = await readAll(...text.slice(0, 12), text.slice(12));
    assert.equal(games.length, titles.length, text);
    for (const [index, game] of games.entries()) {
      const title = game.ok ? game.value.title : game.error;
      if (typeof titles[index] === 'string') assert.equal(title, titles[index]);
      else assert.match(title, titles[index]);
      if (game.ok) assert.ok(parseTree(game.value.text).ok);
    }
  }
});

test('what is dropped from a position is said when it is opened, whatever the file is', async () => {
  const fen = 'rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBN1 w KQkq - 0 1';
  for (const text of [fen, `${fen.slice(0, -4)} bm e4;`, `[FEN "${fen}"]\n\n1. e4 *`]) {
    const [game] = await readAll(text);
    const { notes = [], text: pgn } = unwrap(game);
    const { problem } = unwrap(parseTree(pgn));
    assert.match([...notes, problem ?? ''].join(), /The castling right K was dropped: White/, text);
  }
});

/** Text → what saving gives, moves alone; the main line on the board. */
const SAVED: readonly (readonly [text: string, saved: string, main: string])[] = [
  ['1. e4 e5 (1... e5 2. Nf3 Nc6) 1-0', '1. e4 e5 (1... e5 2. Nf3 Nc6) 1-0', 'e4 e5'],
  ['1. e4 e5 (1... e5 2. Nf3 Nc6) 2. Nf3 1-0', '1. e4 e5 2. Nf3 (2. Nf3 Nc6) 1-0', 'e4 e5 Nf3'],
  ['1. e4 {A} (1. e4 {B} c5) e5 *', '1. e4 { A B } e5 (1... c5) *', 'e4 e5'],
  ['1. e4 $1 {A} (1. d4) (1. e4 $14 {A}) e5 *', '1. e4 $1 $14 { A } (1. d4) 1... e5 *', 'e4 e5'],
  [
    '1. e4 { [%clk 0:01:00] [%eval 0.3] well } e5 { [%cal Ge2e4] } ({ [%csl Rd5] before } 1... c5) 2. Nf3 *',
    '1. e4 { [%clk 0:01:00] [%eval 0.3] well } e5 { [%cal Ge2e4] }\n({ [%csl Rd5] before } 1... c5) 2. Nf3 *',
    'e4 e5 Nf3',
  ],
  ['1. e4 e5 (1... -- 2. d4 d5) 2. Nf3 *', '1. e4 e5 (1... -- 2. d4 d5) 2. Nf3 *', 'e4 e5 Nf3'],
  ['1. e4 ; a } brace\ne5 *', '1. e4 ; a } brace\ne5 *', 'e4 e5'],
  ['1. e4 e5 2. Ke3 {oops} Nc6 (2... d6) 3. Nf3 *', '1. e4 e5 2. Ke3 { oops } Nc6 (2... d6) 3. Nf3 *', 'e4 e5'],
  ['1. e4 e5 2. Ke3 (2. Nf3 Nc6) Nc6 *', '1. e4 e5 2. Ke3 (2. Nf3 Nc6) 2... Nc6 *', 'e4 e5'],
  ['1. e4 e5 (1... Ke3 {why} 2. d4) 2. Nf3 *', '1. e4 e5 (1... Ke3 { why } 2. d4) 2. Nf3 *', 'e4 e5 Nf3'],
];

test('saving gives back what was read: commands, null moves, illegal moves; variations never change the game', () => {
  for (const [text, saved, main] of SAVED) {
    const { tree, problem } = unwrap(parseTree(text));
    assert.equal(formatTree(tree).split('\n\n').slice(1).join('\n\n').trim(), saved);
    const line = getPath(findLineEnd(tree.root)).slice(1);
    assert.equal(line.map(({ san }) => san).join(' '), main);
    assert.equal(problem !== null, text.includes('Ke3'), problem ?? text);
  }
});

test('a comment that was edited keeps its commands', () => {
  const { tree } = unwrap(parseTree('1. e4 { [%clk 0:01:00] well } *'));
  const [e4] = tree.root.children;
  assert.equal(e4.comment, 'well');
  e4.comment = 'very well';
  assert.match(formatTree(tree), /1\. e4 \{ \[%clk 0:01:00\] very well \} \*/);
});

test('a game of very many moves is read in one pass', () => {
  // The work grew with the square of the plies: 40,000 took a minute, so these would take hours.
  const round = ['Nf3 Nf6', 'Ng1 Ng8'];
  const text = Array.from({ length: 50_000 }, (_, index) => `${index + 1}. ${round[index % 2]}`).join('\n');
  const { tree } = unwrap(parseTree(text));
  assert.equal(findLineEnd(tree.root).depth, 100_000);
  assert.equal(parsePgn(formatTree(tree)).offsets.length, 100_000);
});

function createFen(...moves: string[]): string {
  const position = unwrap(parseFen(START_FEN));
  for (const move of moves) position.makeMove(unwrap(parseUciMove(position, move)));
  return formatFen(position);
}

test('games are counted by move and result, whatever the order of moves; a repetition counts once', () => {
  const index = new GameIndex();
  for (const game of [
    '1. e4 e5 2. Nf3 1-0',
    '1. Nf3 e5 2. e4 0-1',
    'nonsense',
    '[FEN "no position"]\n\n1. e4 *',
    '1. Nf3 Nf6 2. Ng1 Ng8 3. Nf3 1/2-1/2',
    '1. e4 e5 2. Ke2 Kxe2 *',
  ])
    index.add(game);
  const start = index.find(START_FEN);
  assert.deepEqual(start.total, { white: 1, draws: 1, black: 1, games: 4 });
  assert.deepEqual(
    start.moves.map(({ san, games }) => [san, games]),
    [
      ['e4', 2],
      ['Nf3', 2],
    ],
  );
  const transposed = index.find(createFen('e2e4', 'e7e5', 'g1f3'));
  assert.deepEqual(transposed, { moves: [], total: { white: 1, draws: 0, black: 1, games: 2 }, games: [1, 0] });
  assert.equal(index.find(createFen('d2d4')).total.games, 0);
});

test('many games need more rows than there were at first', () => {
  const index = new GameIndex();
  for (let game = 0; game < 20_000; game++) index.add('1. d4 1-0');
  assert.equal(index.find(createFen('d2d4')).total.games, 20_000);
});

test('games are found by all words in any order, without accents: players, result, date, event, ECO, opening', async () => {
  const tags = (white: string, black: string, more: string) => `[White "${white}"]\n[Black "${black}"]\n${more}\n\n`;
  const text = `${tags('Müller, Jörg', 'Petrov, A.', '[Result "1-0"]\n[Date "1998.05.01"]\n[Event "Łódź Open"]')}1. e4 e5 2. Nf3 Nc6 3. Bc4 Bc5 1-0

${tags('Petrov, A.', 'Øst', '[Result "0-1"]\n[Date "2021.01.0?"]\n[ECO "B90"]\n[Opening "Sicilian"]')}1. e4 c5 0-1

${tags('Ana', 'Ben', '[Result "1/2-1/2"]\n[ECO "C54"]')}1. e4 1/2-1/2
`;
  const italian = createFen('e2e4', 'e7e5', 'g1f3', 'b8c6', 'f1c4').split(' ', 4).join(' ');
  const games: ImportedGame[] = [];
  async function* stream(): AsyncGenerator<string> {
    yield text;
  }
  for await (const game of importGames(stream(), new Map([[italian, 'C50 Italian Game']]))) games.push(unwrap(game));
  const find = (wanted: string) => games.flatMap((game, index) => (createSearch(wanted)(game) ? [index] : []));
  const cases: readonly (readonly [wanted: string, found: readonly number[]])[] = [
    ['petrov 1-0', [0]],
    ['0-1 petrov', [1]],
    ['1-0', [0]],
    ['muller', [0]],
    ['MÜLLER jorg 1998', [0]],
    ['lodz', [0]],
    ['ost', [1]],
    ['italian', [0]],
    ['C54', [2]],
    ['c50 petrov', [0]],
    ['sicilian b90 2021', [1]],
    ['½-½', [2]],
    ['', [0, 1, 2]],
    ['petrov ben', []],
  ];
  for (const [wanted, found] of cases) assert.deepEqual(find(wanted), found, wanted);
});

test('a table of games: what its tags say, the opening by its moves, and games without a value last in either order', async () => {
  const games = (
    await readAll(
      '[White "Anna \\"A\\" Lee"]\n[WhiteElo "2100"]\n[Date "1998.??.??"]\n[ECO "C20"]\n[Result "1-0"]\n\n1. e4 e5 2. Nf3 1-0\n\n',
      '[White "?"]\n[WhiteElo "950"]\n[Result "*"]\n\n1. d4 *\n\n[White "Zoe"]\n[WhiteElo "-"]\n\n1. c4 c5 *\n',
    )
  ).map(unwrap);
  const read = (column: keyof typeof GAME_COLUMNS) => games.map((game) => GAME_COLUMNS[column](game));
  assert.deepEqual(read('White'), ['Anna "A" Lee', '', 'Zoe']);
  assert.deepEqual(read('WhiteElo'), [2100, 950, '']);
  assert.deepEqual(read('Date'), ['1998', '', '']);
  assert.deepEqual(read('Result'), ['1-0', '', '']);
  assert.deepEqual(read('Moves'), [2, 1, 1]);
  assert.deepEqual(read('Accuracy'), ['', '', '']);
  const sort = (order: 1 | -1) => games.toSorted(compareGames('WhiteElo', order)).map((game) => games.indexOf(game));
  assert.deepEqual(sort(1), [1, 0, 2]);
  assert.deepEqual(sort(-1), [0, 1, 2]);
  assert.equal(GAME_COLUMNS.Opening({ title: '', text: '', opening: 'C20 C20 King’s Pawn Game' }), 'King’s Pawn Game');
});
