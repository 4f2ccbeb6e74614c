import assert from 'node:assert/strict';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { after, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { type Table, tableFromIPC } from 'apache-arrow';
import { createPrng, unwrap } from '#sardonyx/base/util/index.js';
import { formatUciMove, type Move, parseFen, START_FEN } from '#sardonyx/chess/rules/index.js';
import { EMPTY_GAME_HASH, hashText } from '#sardonyx/games/records/game-hash.js';
import { createShards, type ShardsOptions, type ShardsSummary } from '#sardonyx/games/shards/index.js';
import { chooseSplit, parseSplitShares } from '#sardonyx/games/shards/splits.js';
import { getInputEncoding, getPolicyEncoding } from '#sardonyx/networks/encoding/index.js';
import { findShared } from '../../support/shared-folder.js';

const folder = mkdtempSync(join(tmpdir(), 'sardonyx-shards-'));
after(() => rmSync(folder, { recursive: true }));

/** A random game in the labelled format, its first two plies without scores. */
function createGame(seed: number): string {
  const prng = createPrng(seed);
  const position = unwrap(parseFen(START_FEN));
  const legal = new Uint16Array(256);
  const plies: unknown[] = [];
  for (let ply = 0; ply < 60; ply++) {
    const count = position.generateLegalMoves(legal);
    if (count === 0) break;
    const texts = Array.from(legal.subarray(0, count), (move) => formatUciMove(move as Move, false));
    const first = prng.nextBelow(count);
    const scores = texts.slice(first, first + 5).map((text, i) => [text, 100 - 10 * i]);
    plies.push([texts[first], ply < 2 ? [] : scores]);
    position.makeMove(legal[first] as Move);
  }
  return JSON.stringify({ fen: START_FEN, result: ['1-0', '0-1', '1/2-1/2'][seed % 3], plies });
}

test('surprises and unknown results of labelled games become columns', async () => {
  const game = JSON.parse(createGame(5)) as { result: unknown; plies: unknown[][]; surprise: unknown };
  game.result = null;
  game.surprise = game.plies.map(([, scores]) => ((scores as unknown[]).length === 0 ? null : [1.5, 0.25]));
  const input = writeInput('surprise.jsonl', `${JSON.stringify(game)}\n${createGame(6)}\n`);
  await run('surprise', [input], { shares: [1, 0, 0] });
  const [table] = readSplit('surprise', 'train');
  const rows = table.toArray().map((row) => [row.policy_kl, row.value_error, row.result === null]);
  assert.deepEqual(rows[0], [1.5, 0.25, true]);
  assert.deepEqual(rows.at(-1), [null, null, false]);
  const short = writeInput('short.jsonl', JSON.stringify({ ...game, surprise: [null] }));
  const { warnings } = await run('short', [short]);
  assert.match(warnings.join(), /"surprise" is not a list of \[KL, error\], one a ply/);
});

function writeInput(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, name.endsWith('.gz') ? gzipSync(text) : text);
  return path;
}

async function run(
  out: string,
  inputs: string[],
  changes: Partial<ShardsOptions> = {},
  warnings: string[] = [],
): Promise<ShardsSummary & { warnings: string[] }> {
  const result = await createShards(
    {
      inputs,
      folder: join(folder, out),
      input: 'lc0-112',
      policy: 'lc0-1858',
      historyFill: 'fen_only',
      shares: [0.6, 0.2, 0.2],
      filter: { minElo: 0, skipPlies: 0 },
      validationFiles: [],
      testFiles: [],
      maxPositions: Number.POSITIVE_INFINITY,
      threads: 1,
      ...changes,
    },
    { onProgress: () => undefined, onWarning: (text) => warnings.push(text) },
  );
  return { ...unwrap(result), warnings };
}

/** All shards of a split in the order of their names. */
function readSplit(out: string, split: string): Table[] {
  const path = join(folder, out, split);
  if (!existsSync(path)) return [];
  return readdirSync(path)
    .sort()
    .map((name) => tableFromIPC(readFileSync(join(path, name))));
}

function readBytes(out: string): Map<string, string> {
  const files = new Map<string, string>();
  for (const split of ['train', 'validation', 'test']) {
    const path = join(folder, out, split);
    if (!existsSync(path)) continue;
    for (const name of readdirSync(path))
      files.set(`${split}/${name}`, readFileSync(join(path, name)).toString('base64'));
  }
  return files;
}

const games = Array.from({ length: 40 }, (_, i) => createGame(i));

test('every scored ply becomes one row with planes, legal moves, targets and provenance', async () => {
  const input = writeInput('one.jsonl', `${games[1]}\n`);
  const summary = await run('one', [input], { shares: [1, 0, 0] });
  const [table] = readSplit('one', 'train');
  const game = JSON.parse(games[1]) as { plies: [string, [string, number][]][] };
  assert.equal(table.numRows, game.plies.length - 2);
  assert.equal(summary.positions.train, table.numRows);
  assert.equal(table.schema.metadata.get('sardonyx.value_planes'), '109');

  const encoding = unwrap(getInputEncoding('lc0-112'));
  const policy = unwrap(getPolicyEncoding('lc0-1858'));
  const position = unwrap(parseFen(START_FEN));
  const legal = new Uint16Array(256);
  const masks = new Uint32Array(2 * encoding.planes);
  const values = new Float32Array(encoding.planes);
  game.plies.forEach(([played, scores], ply) => {
    const count = position.generateLegalMoves(legal);
    const byText = new Map(
      Array.from(legal.subarray(0, count), (move) => [formatUciMove(move as Move, false), move as Move]),
    );
    const toIndex = (text: string): number => policy.moveToIndex(position, byText.get(text) as Move, 0);
    if (ply >= 2) {
      const row = table.get(ply - 2)?.toJSON() as Record<string, unknown>;
      const list = (value: unknown): number[] => [...(value as Iterable<number>)];
      encoding.writePacked(position, 'fen_only', masks, 0, values, 0);
      assert.deepEqual(Buffer.from(row.masks as Uint8Array), Buffer.from(masks.buffer));
      assert.deepEqual(list(row.values), [values[109]]);
      assert.deepEqual(new Set(list(row.legal)), new Set([...byText.keys()].map(toIndex)));
      assert.deepEqual(
        list(row.policy_index),
        scores.map(([text]) => toIndex(text)),
      );
      assert.deepEqual(
        list(row.policy_cp),
        scores.map(([, cp]) => cp),
      );
      assert.equal(row.policy_weight, null);
      assert.deepEqual([row.cp, row.q, row.d], [scores[0][1], null, null]);
      assert.equal(row.result, position.sideToMove === 0 ? -1 : 1, 'black won this game');
      assert.deepEqual([row.ply, row.plies_left], [ply, null], 'the game stops before its end');
    }
    position.makeMove(byText.get(played) as Move);
  });
});

test('plies left of a labelled game are known when the rules end it', async () => {
  const plies = ['f2f3', 'e7e5', 'g2g4', 'd8h4'].map((move) => [move, [[move, 0]]]);
  const mate = JSON.stringify({ fen: START_FEN, result: '0-1', plies });
  await run('mate', [writeInput('mate.jsonl', `${mate}\n`)], { shares: [1, 0, 0] });
  assert.deepEqual([...(readSplit('mate', 'train')[0].getChild('plies_left') ?? [])], [4, 3, 2, 1]);
});

test('games are split as wholes and the files do not depend on the number of threads', async () => {
  const inputs = [0, 1, 2].map((i) => writeInput(`part${i}.jsonl.gz`, games.slice(i * 10, i * 10 + 10).join('\n')));
  const summary = await run('threads1', inputs);
  await run('threads3', inputs, { threads: 3 });
  assert.deepEqual(readBytes('threads1'), readBytes('threads3'));
  const gamesOf = (split: string): Set<number> =>
    new Set(readSplit('threads1', split).flatMap((table) => [...(table.getChild('game') ?? [])] as number[]));
  const splits = ['train', 'validation', 'test'].map(gamesOf);
  assert.equal(
    splits.reduce((sum, set) => sum + set.size, 0),
    30,
  );
  assert.equal(new Set(splits.flatMap((set) => [...set])).size, 30);
  assert.equal(summary.games, 30);
});

test('a file that is named twice, in whatever way, counts once', async () => {
  const own = join(folder, 'twice');
  mkdirSync(own);
  const input = writeInput('twice/many.jsonl', games.slice(0, 10).join('\n'));
  await run('named-once', [input], { threads: 2 });
  const names = [input, `${own}/./many.jsonl`, own, relative('', input)];
  const { games: count } = await run('named-often', names, { threads: 2 });
  assert.equal(count, 10);
  assert.deepEqual(readBytes('named-often'), readBytes('named-once'));
});

test('held-out files go where they are told as wholes', async () => {
  const inputs = ['a_0', 'a_1', 'b_0'].map((name, i) =>
    writeInput(`${name}.jsonl`, games.slice(i * 3, i * 3 + 3).join('\n')),
  );
  const { positions } = await run('held', inputs, { shares: [1, 0, 0], validationFiles: ['a_1'], testFiles: ['b_'] });
  assert.ok(positions.train > 0 && positions.validation > 0 && positions.test > 0);
  assert.deepEqual(
    [...readBytes('held').keys()],
    ['train/0000-000.arrow', 'validation/0001-000.arrow', 'test/0002-000.arrow'],
  );
});

test('what a position of PGN did not allow is named, and its game is read', async () => {
  const pgn = join(folder, 'rights.pgn');
  writeFileSync(pgn, '[FEN "4k3/8/8/8/8/8/8/4K2R w KQ - 0 1"]\n\n1. O-O Kd7 *\n');
  const { warnings, damaged, positions } = await run('rights', [pgn], { shares: [1, 0, 0] });
  assert.match(warnings.join('\n'), /^rights\.pgn: game 1: The castling right Q was dropped: [^\n]*$/);
  assert.deepEqual([damaged, positions.train], [0, 2]);
});

test('a damaged line costs one game, a damaged archive its rest, and neither the run', async () => {
  const bad = games[3].replace(/"plies":\[\["...."/, '"plies":[["a1a8"');
  const twice = '{"plies":[["e2e4",[["e2e4",5],["e2e4",5]]]]}';
  // The column of scores has 16 bits.
  const high = '{"plies":[["e2e4",[["e2e4",40000]]]]}';
  const input = [games[0], '{"fen": ', bad, '{"plies": 3}', '', twice, high, games[1]];
  const lines = writeInput('lines.jsonl', input.join('\n'));
  const cut = join(folder, 'cut.jsonl.gz');
  const archive = gzipSync(games.join('\n'));
  writeFileSync(cut, archive.subarray(0, archive.length >> 1));
  const summary = await run('damaged', [lines, cut], { shares: [1, 0, 0] });
  assert.equal(summary.warnings.length, 6, summary.warnings.join('\n'));
  assert.match(summary.warnings[0], /^lines\.jsonl: game 2 skipped: The line is not JSON/);
  assert.match(summary.warnings[1], /^lines\.jsonl: game 3 skipped: a1a8 is not legal at ply 0/);
  assert.match(summary.warnings[3], /e2e4 has two scores at ply 0/);
  assert.match(summary.warnings[4], /"plies" is not a list of/);
  assert.match(summary.warnings[5], /^cut\.jsonl\.gz: unreadable after game \d+: it is cut off/);
  assert.equal(summary.damaged, 6);
  assert.ok(readSplit('damaged', 'train')[1].numRows > 0);
});

test('a list of inputs that is none is damaged', async () => {
  const input = writeInput('listed.jsonl', games[0]);
  await run('listed', [input]);
  for (const text of ['null', '{}']) {
    writeFileSync(join(folder, 'listed', 'shards.json'), text);
    await assert.rejects(run('listed', [input]), /shards\.json is damaged/);
  }
});

test('a second run does nothing, more files are added, other settings are refused', async () => {
  const first = writeInput('first.jsonl', games.slice(0, 5).join('\n'));
  const second = writeInput('second.jsonl', games.slice(5, 10).join('\n'));
  const once = await run('again', [first]);
  const before = readBytes('again');
  const twice = await run('again', [first]);
  assert.equal(twice.newPositions, 0);
  assert.deepEqual(twice.positions, once.positions);
  assert.deepEqual(readBytes('again'), before);
  const more = await run('again', [second, first]);
  assert.ok(more.newPositions > 0);
  for (const [name, bytes] of before) assert.equal(readBytes('again').get(name), bytes);
  await assert.rejects(run('again', [first], { historyFill: 'no' }), /other settings/);
});

test('a run that was interrupted goes on at its last complete part', async () => {
  const input = writeInput('resumed.jsonl', games.slice(0, 8).join('\n'));
  await run('whole', [input], { shares: [1, 0, 0] });
  await run('cut', [input], { shares: [1, 0, 0] });
  // As if it had been killed while writing part 1, with five games in part 0.
  const path = join(folder, 'cut', 'shards.json');
  const manifest = JSON.parse(readFileSync(path, 'utf8')) as { inputs: Record<string, unknown>[] };
  Object.assign(manifest.inputs[0], { parts: 1, games: 5, isDone: false });
  writeFileSync(path, JSON.stringify(manifest));
  writeFileSync(join(folder, 'cut', 'train', '0000-001.arrow.part'), 'half a file');
  await run('cut', [input], { shares: [1, 0, 0] });
  const gamesIn = (out: string, shard: number): unknown[] => [
    ...new Set(readSplit(out, 'train')[shard].getChild('game')),
  ];
  assert.deepEqual(gamesIn('cut', 1), gamesIn('whole', 0).slice(5));
  assert.deepEqual(readdirSync(join(folder, 'cut', 'train')), ['0000-000.arrow', '0000-001.arrow']);
});

const FULL = '/dev/full';
const skipWithoutFull = existsSync(FULL) ? false : `${FULL} is not on this machine`;

/** As if the disk were full as soon as the first part of an input is written. @returns what ends that */
function fillDisk(out: string): () => void {
  const path = join(folder, out, 'train', '0000-000.arrow.part');
  mkdirSync(join(folder, out, 'train'), { recursive: true });
  symlinkSync(FULL, path);
  return () => rmSync(path);
}

test('a full disk is no damage: the run fails, and the next one goes on', { skip: skipWithoutFull }, async () => {
  // More than one batch of rows, so that it is written while games are read.
  const input = writeInput('large.jsonl', Array.from({ length: 10 }, () => games.join('\n')).join('\n'));
  const changes = { shares: [1, 0, 0], input: 'mini-19' } as const;
  const free = fillDisk('full');
  const warnings: string[] = [];
  await assert.rejects(run('full', [input], changes, warnings), /^Error: Writing shards failed: ENOSPC/);
  assert.deepEqual(warnings, []);
  free();
  const { games: count, damaged } = await run('full', [input], changes);
  assert.deepEqual([count, damaged], [400, 0]);
});

test('a thread that cannot write ends the others', { skip: skipWithoutFull }, async () => {
  const inputs = Array.from({ length: 12 }, (_, i) => writeInput(`many${i}.jsonl`, games.slice(0, 20).join('\n')));
  const changes: Partial<ShardsOptions> = { shares: [1, 0, 0], threads: 2 };
  const free = fillDisk('ended');
  await assert.rejects(run('ended', inputs, changes), /Writing shards failed: ENOSPC/);
  const manifest = join(folder, 'ended', 'shards.json');
  const before = readFileSync(manifest, 'utf8');
  assert.equal(readFileSync(manifest, 'utf8'), before);
  free();
  const { games: count } = await run('ended', inputs, changes);
  assert.equal(count, 12 * 20);
});

test('a folder stands for the games in it; an input that has changed is refused', async () => {
  const inside = join(folder, 'inside');
  mkdirSync(join(inside, 'deeper'), { recursive: true });
  writeFileSync(join(inside, 'b.jsonl'), games[0]);
  writeFileSync(join(inside, 'a.jsonl.gz'), gzipSync(`${games[1]}\n${games[2]}`));
  writeFileSync(join(inside, 'notes.txt.gz'), 'nothing');
  const { games: count } = await run('folder', [inside], { shares: [1, 0, 0] });
  assert.equal(count, 3);
  assert.deepEqual([...readBytes('folder').keys()], ['train/0000-000.arrow', 'train/0001-000.arrow']);
  writeFileSync(join(inside, 'b.jsonl'), games.slice(0, 2).join('\n'));
  await assert.rejects(run('folder', [inside], { shares: [1, 0, 0] }), /b\.jsonl has changed/);
  await assert.rejects(run('folder', [join(inside, 'deeper')]), /There are no games in .*deeper/);
});

test('about as many positions as asked for are made', async () => {
  const inputs = [0, 1].map((i) => writeInput(`limited${i}.jsonl`, games.slice(i * 10, i * 10 + 10).join('\n')));
  const { newPositions } = await run('limited', inputs, { maxPositions: 300 });
  assert.ok(newPositions >= 300 && newPositions < 300 + 2 * 60, String(newPositions));
});

test('files that do not exist or are not games are named', async () => {
  await assert.rejects(run('missing', [join(folder, 'nothing.jsonl')]), /There is no file .*nothing\.jsonl/);
  await assert.rejects(run('missing', [writeInput('games.txt', '')]), /games\.txt is not a file of games/);
});

const shared = findShared('data/s1_0005.jsonl.gz');
test('a real file of labelled games gives all its positions', { skip: shared.skip }, async () => {
  const { games: count, damaged, positions } = await run('shared', [shared.path]);
  assert.deepEqual([count, damaged], [798, 0]);
  assert.equal(positions.train + positions.validation + positions.test, 68205);
});

test('shares are met over many games, and a game stays where it was', () => {
  const shares = unwrap(parseSplitShares('96/2/2'));
  const counts = { train: 0, validation: 0, test: 0 };
  for (let i = 0; i < 50_000; i++) {
    const hash = hashText(EMPTY_GAME_HASH, `e2e4${i}`);
    const split = chooseSplit(hash, shares);
    assert.equal(chooseSplit(hash, shares), split);
    counts[split]++;
  }
  assert.ok(Math.abs(counts.validation - 1000) < 120 && Math.abs(counts.test - 1000) < 120, JSON.stringify(counts));
});

test('shares need three numbers that are not all zero', () => {
  assert.deepEqual(unwrap(parseSplitShares('8/1/1')), [0.8, 0.1, 0.1]);
  for (const text of ['', '96/2', '1/2/3/4', 'a/b/c', '0/0/0', '-1/1/1', '1//1'])
    assert.ok(!parseSplitShares(text).ok, text);
});
