/** The law of files with games and positions: every door that reads them gives the same games, whatever the file's name says. */
import assert from 'node:assert/strict';
import fs, { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { importGames } from '#sardonyx/board/game/game-import.js';
import { parseTree } from '#sardonyx/board/game/move-tree-text.js';
import { formatFen, formatUciMove, parseFen, START_FEN } from '#sardonyx/chess/index.js';
import { openGameFiles } from '#sardonyx/cli/commands/analyse/analyse-games.js';
import { convertInput, type FromShardsWorker, type ShardSettings } from '#sardonyx/data/convert-input.js';
import { listInputs } from '#sardonyx/data/create-shards.js';
import { readChunks } from '#sardonyx/data/index.js';
import { pgnGames } from '#sardonyx/data/pgn-games.js';
import { openSources, readSources } from '#sardonyx/selfplay/label/label-sources.js';
import { openBook } from '#sardonyx/selfplay/openings/book.js';
import { decodeText, unwrap } from '#sardonyx/util/index.js';

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
  for await (const game of importGames(decodeText(readChunks(path, () => undefined)))) {
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
  const onWarning = (text: string) => games.push(text);
  for await (const game of readSources(unwrap(await openSources([path], filter)), filter, {
    onBytes() {},
    onWarning,
  })) {
    games.push(describe(game.fen, game.moves));
    assert.equal(game.isPosition, game.moves.length === 0);
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
  const end = { type: 'done', games: 0, damaged: 1, isRefused: true };
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
