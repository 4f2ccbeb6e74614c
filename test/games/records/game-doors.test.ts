/** The law of files with games and positions: every door that reads them gives the same games, whatever the file's name says. */
import assert from 'node:assert/strict';
import fs, { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { decodeText, failure, type Result, success, unwrap } from '#sardonyx/base/util/index.js';
import { importGames } from '#sardonyx/board/game/game-list.js';
import { MoveTree } from '#sardonyx/board/game/move-tree.js';
import { parseTree } from '#sardonyx/board/game/move-tree-reader.js';
import { readGameTexts, readPgnGame, splitPgn } from '#sardonyx/chess/pgn/index.js';
import { formatFen, formatUciMove, parseFen, START_FEN } from '#sardonyx/chess/rules/index.js';
import { openGameFiles } from '#sardonyx/cli/commands/analyse/analyse-games.js';
import { parseQuery } from '#sardonyx/engine/analysis/parse-query.js';
import { createOptionStore } from '#sardonyx/engine/app/options.js';
import { createGamePosition } from '#sardonyx/engine/core/index.js';
import { openSources, readSources } from '#sardonyx/games/labels/label-sources.js';
import { openBook } from '#sardonyx/games/openings/book.js';
import { readChunks } from '#sardonyx/games/records/index.js';
import { pgnGames } from '#sardonyx/games/records/pgn-games.js';
import { convertInput } from '#sardonyx/games/shards/convert-input.js';
import { listInputs } from '#sardonyx/games/shards/create-shards.js';
import type { FromShardsWorker, ShardSettings } from '#sardonyx/games/shards/shards-messages.js';

const folder = mkdtempSync(join(tmpdir(), 'sardonyx-doors-'));
after(() => rmSync(folder, { recursive: true }));

const KING = '4k3/8/8/8/8/8/4P3/4K3 w - - 0 1';
const describe = (fen: string, moves: readonly string[]): string =>
  [formatFen(unwrap(parseFen(fen))).replace(START_FEN, 'start'), ...moves].join(' ');

async function analyse(path: string): Promise<string[]> {
  const games: string[] = [];
  for await (const game of (await openGameFiles([path], false)).readGames())
    games.push(
      describe(
        game.startFen,
        game.moves.map((move) => formatUciMove(move, game.isChess960)),
      ),
    );
  return games;
}

async function openPage(path: string): Promise<string[]> {
  const games: string[] = [];
  for await (const game of importGames(decodeText(readChunks(path)))) {
    const { tree } = unwrap(parseTree(unwrap(game).text));
    const moves: string[] = [];
    for (let node = tree.root.children.at(0); node !== undefined; node = node.children.at(0)) moves.push(node.uci);
    games.push(describe(tree.startFen, moves));
  }
  return games;
}

async function readBook(path: string): Promise<string[]> {
  const book = unwrap(await openBook(path));
  const openings = Array.from({ length: book.size }, (_, index) => unwrap(book.read(index)));
  return openings.map(({ fen, moves }) =>
    describe(
      fen,
      moves.map((move) => formatUciMove(move, false)),
    ),
  );
}

async function label(path: string): Promise<string[]> {
  const filter = { player: null, results: [] };
  const games: string[] = [];
  const onWarning = (text: string) => {
    if (!text.includes('was read as')) games.push(text);
  };
  for await (const game of readSources(unwrap(await openSources([path], filter)), filter, {
    onBytes() {},
    onWarning,
  })) {
    games.push(describe(game.fen, game.moves));
    assert.ok(!game.isPosition || game.moves.length === 0);
  }
  return games;
}

async function countPlies(path: string): Promise<number[]> {
  const counts: number[] = [];
  for await (const game of pgnGames.readGames(path, () => undefined)) {
    let plies = 0;
    const append = () => plies++;
    const sink = { beginGame() {}, append, appendEncoded: append, accepts: () => true };
    const written = pgnGames.writeGame(game, sink, { minElo: 0, skipPlies: 0 }, () => undefined);
    assert.ok(written.ok || written.error === 'it is a position without moves');
    counts.push(plies);
  }
  return counts;
}

test('a file that is not what it was when it was listed, or that nobody may read, is one sentence', async (t) => {
  const isFolder = join(folder, 'folder.pgn');
  mkdirSync(isFolder);
  const shared = { inputNumber: 0, firstPart: 0, skipGames: 0, onlySplit: null, maxPositions: 9, folder };
  const settings: ShardSettings = {
    input: 'lc0-112',
    policy: 'lc0-1858',
    historyFill: 'fen_only',
    shares: [1, 0, 0],
    filter: { minElo: 0, skipPlies: 0 },
  };
  const convert = async (path: string): Promise<FromShardsWorker[]> => {
    const messages: FromShardsWorker[] = [];
    await convertInput({ ...shared, path, settings }, (message) => messages.push(message));
    return messages.filter(({ type }) => type === 'warning' || type === 'done');
  };
  const end = { type: 'done', damaged: 1, isRefused: true };
  const why = 'unreadable after game 0:';
  assert.deepEqual(await convert(join(folder, 'gone.pgn')), [
    { type: 'warning', text: `gone.pgn: ${why} there is no such file` },
    end,
  ]);
  const [warning, done] = await convert(isFolder);
  assert.match(warning.type === 'warning' ? warning.text : '', /^.*folder\.pgn is not a file of games; /);
  assert.deepEqual(done, { ...end, isRefused: false });
  assert.deepEqual((await convert(join(folder, 'gone')))[1], end);
  writeFileSync(join(isFolder, 'A.PGN'), '1. e4 *');
  symlinkSync(join(folder, 'nowhere'), join(isFolder, 'b.pgn'));
  for (const name of ['c.zip', 'd.tar.zst', 'e.txt']) writeFileSync(join(isFolder, name), '');
  const listed = ['A.PGN', 'c.zip', 'd.tar.zst'].map((name) => join(isFolder, name));
  assert.deepEqual(unwrap(await listInputs([isFolder])), listed);
  const path = join(folder, 'locked.pgn');
  writeFileSync(path, '1. e4 *');
  const opened = t.mock.method(fs, 'createReadStream', () => {
    throw Object.assign(new Error('EACCES: permission denied'), { code: 'EACCES' });
  });
  syncBuiltinESMExports();
  t.after(() => {
    opened.mock.restore();
    syncBuiltinESMExports();
  });
  const permission = 'that is not permitted';
  assert.deepEqual((await convert(path))[0], { type: 'warning', text: `${path} cannot be read: ${permission}` });
  const book = await openBook(path);
  assert.equal(book.ok ? '' : book.error, `The book ${path} cannot be read: ${permission}`);
  const sources = await openSources([path], { player: null, results: [] });
  assert.equal(sources.ok ? '' : sources.error, `${path} cannot be read: ${permission}`);
  await assert.rejects(analyse(path), {
    message: `"${path}" is neither a FEN nor a file that can be read: ${permission}`,
  });
});

test('a file gives the same games through every door, whatever its name says', async () => {
  const files: readonly (readonly [text: string, games: readonly string[]])[] = [
    [`${KING.slice(0, -4)} bm e4; id "a";\n; a remark\n${KING}\n`, [KING, KING]],
    [`1. ${KING}\n2. ${KING.slice(0, -4)} e4\n`, [KING, KING]],
    ['position startpos moves e2e4 e7e5\n', ['start e2e4 e7e5']],
    [`[Event "x"]\n[FEN "${KING}"]\n\n1. e4 Kd7 *\n\n1. E2E4 E7E5\n`, [`${KING} e2e4 e8d7`, 'start e2e4 e7e5']],
    ['1. e4 e5 1 - 0\n1. d4,d5 0:1\n', ['start e2e4 e7e5', 'start d2d4 d7d5']],
  ];
  for (const [number, [text, games]] of files.entries()) {
    for (const name of ['pgn', 'epd', 'fen']) {
      const path = join(folder, `${number}.${name}`);
      writeFileSync(path, text);
      for (const read of [analyse, openPage, readBook, label]) {
        assert.deepEqual(await read(path), games, `${read.name}, ${name}: ${text}`);
      }
    }
    const plies = games.map((game) => game.replace(KING, 'start').split(' ').length - 1);
    assert.deepEqual(await countPlies(join(folder, `${number}.pgn`)), plies, text);
  }
});

/** A position as a door reads it with what it says, or its refusal. */
interface ReadPosition {
  readonly fen: string;
  readonly notes: readonly string[];
}

function readFen(fen: string): Result<ReadPosition> {
  const game = createGamePosition(fen, []);
  if (!game.ok) return failure(game.error.replace('Illegal position: ', ''));
  return success({ fen: formatFen(game.value.position), notes: game.value.notes });
}

function setUp(fen: string): Result<ReadPosition> {
  const notes: string[] = [];
  const tree = MoveTree.create(fen, new Map(), notes);
  return tree.ok ? success({ fen: tree.value.startFen, notes }) : tree;
}

function readTag(fen: string): Result<ReadPosition> {
  const game = readPgnGame(splitPgn(`[FEN "${fen}"]\n\n*`)[0]);
  if (!game.ok) return failure(game.error.replace('line 1: ', ''));
  return success({ fen: formatFen(game.value.end), notes: game.value.notes });
}

const { values } = createOptionStore();

function query(fen: string): Result<ReadPosition> {
  try {
    const { tasks, warnings } = parseQuery('x', { fen }, { values, models: [], maxVisits: 1, maxTimeMs: null });
    return success({ fen: formatFen(unwrap(parseFen(tasks[0].rootFen))), notes: warnings.map(({ text }) => text) });
  } catch (error) {
    return failure((error as Error).message.replace('Illegal position: ', ''));
  }
}

async function readList(fen: string): Promise<Result<ReadPosition>> {
  for await (const line of readGameTexts(decodeText([Buffer.from(fen)]), 'positions')) {
    if (!line.ok) return failure(line.error.replace('Line 1 is no position: ', ''));
    const game = unwrap(readPgnGame(line.value));
    return success({ fen: formatFen(game.end), notes: game.notes });
  }
  return failure('');
}

async function readBookLine(fen: string): Promise<Result<ReadPosition>> {
  const path = join(folder, 'odd.epd');
  writeFileSync(path, fen);
  const opening = unwrap(await openBook(path)).read(0);
  if (!opening.ok) return failure(opening.error.replace('odd.epd: Line 1 is no position: ', ''));
  const { notes = [] } = opening.value;
  return success({ fen: formatFen(unwrap(parseFen(opening.value.fen))), notes });
}

test('an odd FEN is the same position with the same note, or the same refusal, by every door', async () => {
  const board = 'r3k2r/8/8/8/2Pp4/8/8/R3K2R';
  const tails = [
    ...['', ' b', ' b KQkq', ' b KQkq c3', ' b KQkq c3 0', ' b - c3', ' w -', ' W KQkq - 3 4', ' black kq c3 1 2'],
    ...[' w KQkq - -5 1', ' w KQkq - 0 -1', ' w KQkq - -5 -5', ' w KQkq - 1.5 2.5', ' w KQkq - 0. 1'],
    ...[' w KQkq - x 1', ' w KQkq - 0 x', ' w KQkq - x y', ' w KQkq - NaN NaN', ' w KQkq - null 1', ' w KQkq - ? ?'],
    ...[
      ' w KQkq - 99999 1',
      ' w KQkq - 0 99999',
      ` w KQkq - ${'1'.repeat(400)} 1`,
      ' w KQkq - 0x5 1',
      ' w KQkq - 1e2 1',
    ],
    ...[' w KQkq - +3 +4', ' w KQkq - - -', ' w KQkq - 100 0', ' w KQkq - 0', ' w KQkq – 0 1', ' w KQkq - 007 008'],
    ...[' w KQkq - 3/4 1', ' w KQkq - 12,5', ' w KQkq - ½ 1', ' w KQkq - 0 1;', ' w KQkq e9 0 1', ' w KQkq d6 0 1'],
    ...[
      ' b KQkq C3 0 1',
      ' b KQkq c5 0 1',
      ' b KQkq c9 0 1',
      ' b HAha c3 0 1',
      ' b KQkqKQ c3 0 1',
      ' b KX c3 0 1',
      ' x KQkq - 0 1',
      ' - KQkq - 0 1',
    ],
    ...[' w 0 - 0 1', ' w KQkq 0 0 1', '_w_KQkq_-_0_-1'],
  ];
  for (const tail of tails) {
    const fen = board + tail;
    const expected = readFen(fen);
    for (const read of [setUp, readTag, query, readList, readBookLine]) {
      assert.deepEqual(await read(fen), expected, `${read.name}: ${fen}`);
    }
  }
});

const OPEN_ENDS: readonly (readonly [tail: string, games: readonly string[], says: RegExp])[] = [
  ['1. e4 e5 2. N', ['start e2e4', 'start e2e4 e7e5'], /before the result of its last game/],
  ['1. e4 e5', ['start e2e4', 'start e2e4 e7e5'], /before the result of its last game/],
  ['1. e4 {best by te', ['start e2e4', 'start e2e4'], /inside a comment/],
  ['1. e4 e5 (1... c5 2. Nf3', ['start e2e4', 'start e2e4 e7e5'], /inside a variation/],
  ['[Round "1', ['start e2e4', 'start'], /inside a tag/],
];

test('a game whose text was cut off is kept, and every door says so', async (t) => {
  const said: string[] = [];
  t.mock.method(process.stderr, 'write', (text: string) => said.push(text));
  for (const [tail, games, says] of OPEN_ENDS) {
    const path = join(folder, 'open.pgn');
    const head = '[Event "a"]\n[Result "1-0"]\n';
    writeFileSync(path, `${head}\n1. e4 1-0\n\n${head}${tail.startsWith('[') ? '' : '\n'}${tail}`);
    said.length = 0;
    assert.deepEqual(await analyse(path), games, tail);
    assert.match(said.join(''), says);
    const labelled = (await label(path)).filter((text) => !games.includes(text));
    assert.equal(labelled.length, 1, labelled.join());
    assert.match(labelled[0], says);
    const imported: Result<unknown>[] = [];
    for await (const game of importGames(decodeText(readChunks(path)))) imported.push(game);
    const refusals = imported.flatMap((game) => (game.ok ? [] : [game.error]));
    assert.deepEqual([imported.length, refusals.length], [3, 1]);
    assert.match(refusals[0], says);
    const book = unwrap(await openBook(path));
    assert.match(unwrap(book.read(1)).notes?.join() ?? '', says);
    const notes: string[] = [];
    const sink = { beginGame() {}, append() {}, appendEncoded() {}, accepts: () => true };
    for await (const game of pgnGames.readGames(path, () => undefined))
      pgnGames.writeGame(game, sink, { minElo: 0, skipPlies: 0 }, (note) => notes.push(note));
    assert.deepEqual([notes.length, says.test(notes[0])], [1, true]);
  }
});

test('a file that the disk stops giving, or that is shortened, while it is read keeps its games and says so', async (t) => {
  const said: string[] = [];
  t.mock.method(process.stderr, 'write', (text: string) => said.push(text));
  const text = '1. e4 *\n\n[Result "*"]\n\n1. d4';
  const opened = t.mock.method(fs, 'createReadStream');
  t.after(() => {
    opened.mock.restore();
    syncBuiltinESMExports();
  });
  const games = ['start e2e4', 'start d2d4'];
  for (const [packed, lost] of [
    [Buffer.from(text), 0],
    [gzipSync(text), 4],
  ] as const) {
    for (const [error, says] of [
      [Object.assign(new Error('EIO: i/o error, read'), { code: 'EIO' }), /the disk reports an error/],
      [null, /another program has shortened it/],
    ] as const) {
      const path = join(folder, lost === 0 ? 'short.pgn' : 'short.pgn.gz');
      writeFileSync(path, Buffer.concat([packed, Buffer.alloc(99)]));
      opened.mock.mockImplementation(async function* () {
        yield packed.subarray(0, packed.length - lost);
        if (error !== null) throw error;
      } as never);
      syncBuiltinESMExports();
      said.length = 0;
      assert.deepEqual(await analyse(path), games);
      assert.match(said.join(''), says);
      const labelled = await label(path);
      assert.deepEqual(labelled.slice(0, 2), games);
      assert.equal(labelled.length, 3);
      assert.match(labelled[2], says);
      const book = await openBook(path);
      assert.match(book.ok ? '' : book.error, says);
      const read: number[] = [];
      await assert.rejects(async () => {
        for await (const game of pgnGames.readGames(path, () => undefined)) read.push(unwrap(game).number);
      });
      assert.deepEqual(read, [1, 2]);
    }
  }
});
