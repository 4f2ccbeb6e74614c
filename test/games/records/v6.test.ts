import assert from 'node:assert/strict';
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { gunzipSync, gzipSync } from 'node:zlib';
import { type Table, tableFromIPC } from 'apache-arrow';
import { pack } from 'tar-stream';
import { createPrng, unwrap } from '#sardonyx/base/util/index.js';
import { listLegalMoves, type Move, Position, parseFen, parseUciMove } from '#sardonyx/chess/rules/index.js';
import { V6GameRecorder } from '#sardonyx/games/records/index.js';
import { rebuildPosition, setV6Position } from '#sardonyx/games/records/v6-position.js';
import { createV6Record, readV6Record, V6_BYTES, writeV6Record } from '#sardonyx/games/records/v6-record.js';
import { createShards, type ShardsSummary } from '#sardonyx/games/shards/index.js';
import { getInputEncoding, getPolicyEncoding, LC0_FORMATS } from '#sardonyx/networks/encoding/index.js';
import type { NodeValue } from '#sardonyx/search/index.js';
import { repositoryRoot } from '../../support/shared-folder.js';

const folder = mkdtempSync(join(tmpdir(), 'sardonyx-v6-'));
after(() => rmSync(folder, { recursive: true }));

/** A game of lc0's own self-play (`lc0 selfplay --training`), one record a move, and the moves that it reported. */
const lc0Game = join(repositoryRoot, 'test', 'games', 'records', 'golden', 'lc0-selfplay.gz');
const lc0Moves =
  'h2h3 e7e5 c2c4 b8c6 b1c3 c6a5 d1a4 a5c6 g2g3 f8c5 h3h4 g8e7 f1g2 e8h8 e2e3 d7d6 c3b5 a7a6 b5c3 c8f5 g1e2 c6b4 e1h1 ' +
  'g8h8 a2a3 b4d3 b2b4 c5b6 g2b7 a8a7 b7e4 f5e4 c3e4 d8a8 a1a2 a8e4 e2c3 e4c4 a2c2 c4g4 b4b5 a6b5 a4g4 b6d4 e3d4';

async function convert(
  out: string,
  inputs: string[],
  input = 'lc0-112',
  policy = 'lc0-1858',
): Promise<ShardsSummary & { warnings: string[] }> {
  const warnings: string[] = [];
  const result = await createShards(
    {
      inputs,
      folder: join(folder, out),
      input,
      policy,
      historyFill: 'fen_only',
      shares: [1, 0, 0],
      filter: { minElo: 0, skipPlies: 0 },
      validationFiles: [],
      testFiles: [],
      maxPositions: Number.POSITIVE_INFINITY,
      threads: 1,
    },
    { onProgress: () => undefined, onWarning: (text) => warnings.push(text) },
  );
  return { ...unwrap(result), warnings };
}

function readTrain(out: string): Table[] {
  const path = join(folder, out, 'train');
  return readdirSync(path)
    .sort()
    .map((name) => tableFromIPC(readFileSync(join(path, name))));
}

/** A random game and its records; every position as the recorder saw it. */
function recordGame(
  formatName: string,
  seed: number,
  start = new Position(),
): { bytes: Buffer; positions: Position[] } {
  const prng = createPrng(seed);
  const recorder = new V6GameRecorder(formatName, 'fen_only');
  const positions: Position[] = [];
  const legal = new Uint16Array(256);
  for (let ply = 0; ply < 80; ply++) {
    const count = start.generateLegalMoves(legal);
    if (count === 0) break;
    const moves = Array.from(legal.subarray(0, count));
    const visits = moves.map(() => prng.nextBelow(4));
    visits[0]++;
    const value = (): NodeValue => ({ wl: prng.nextFloat() - 0.5, d: prng.nextFloat() / 2, m: 40 });
    const played = moves[prng.nextBelow(count)] as Move;
    positions.push(start.clone());
    recorder.add(start, ply, {
      moves,
      visits,
      played,
      best: moves[0] as Move,
      root: value(),
      bestValue: value(),
      playedValue: value(),
      isBestProven: false,
      rootVisits: 100,
    });
    start.makeMove(played);
  }
  return {
    bytes: recorder.finish({ whiteResult: -1, plies: positions.length, isAdjudicated: true, isTooLong: false }),
    positions,
  };
}

test("lc0's own records are read and written byte for byte, and our planes, moves and sides are the same", () => {
  const bytes = gunzipSync(readFileSync(lc0Game));
  const moves = lc0Moves.split(' ');
  assert.equal(bytes.length, moves.length * V6_BYTES);
  const theirs = createV6Record();
  const ours = createV6Record();
  const position = new Position();
  const policy = unwrap(getPolicyEncoding('lc0-1858'));
  const legal = new Uint16Array(256);
  moves.forEach((text, i) => {
    unwrap(readV6Record(bytes, i * V6_BYTES, theirs));
    const written = Buffer.alloc(V6_BYTES);
    writeV6Record(theirs, written, 0);
    assert.deepEqual(written, bytes.subarray(i * V6_BYTES, (i + 1) * V6_BYTES));

    setV6Position(ours, LC0_FORMATS[0], position, 'fen_only');
    assert.deepEqual(ours.masks, theirs.masks);
    assert.deepEqual(ours.castling, theirs.castling);
    assert.deepEqual([ours.sideOrEnPassant, ours.rule50], [theirs.sideOrEnPassant, theirs.rule50]);
    const count = position.generateLegalMoves(legal);
    const indices = new Set(
      Array.from(legal.subarray(0, count), (move) => policy.moveToIndex(position, move as Move, 0)),
    );
    theirs.probabilities.forEach((probability, index) => {
      assert.equal(probability >= 0, indices.has(index as never));
    });
    const move = unwrap(parseUciMove(position, text));
    assert.equal(policy.moveToIndex(position, move, 0), theirs.playedIndex);
    position.makeMove(move);
  });
});

test("lc0's records become shards", async () => {
  const summary = await convert('lc0', [lc0Game]);
  assert.deepEqual([summary.games, summary.damaged, summary.positions.train], [1, 0, 45]);
  const [table] = readTrain('lc0');
  const position = new Position();
  const encoding = unwrap(getInputEncoding('lc0-112'));
  const masks = new Uint32Array(2 * encoding.planes);
  const values = new Float32Array(encoding.planes);
  lc0Moves.split(' ').forEach((text, i) => {
    const row = table.get(i)?.toJSON() as Record<string, unknown>;
    encoding.writePacked(position, 'fen_only', masks, 0, values, 0);
    assert.deepEqual(Buffer.from(row.masks as Uint8Array), Buffer.from(masks.buffer));
    const weights = [...(row.policy_weight as Iterable<number>)];
    assert.ok(Math.abs(weights.reduce((a, b) => a + b) - 1) < 1e-5);
    assert.equal(row.result, i % 2 === 0 ? 1 : -1, 'White won');
    assert.equal(row.plies_left, null, 'the game was adjudicated, and its network says nothing of moves left');
    assert.ok(Math.abs(row.q as number) <= 1 && (row.d as number) >= 0);
    position.makeMove(unwrap(parseUciMove(position, text)));
  });
});

for (const format of LC0_FORMATS) {
  test(`${format.name}: recorded games give the shards that their positions give, in any encoding`, async () => {
    const starts = ['1r2k2r/8/8/8/8/2p5/5P2/R3K1R1 w AGbh - 0 1', '8/8/8/7K/8/4k3/8/1R6 w - - 5 1'];
    const games = [
      recordGame(format.name, 3),
      ...starts.map((fen) => recordGame(format.name, 4, unwrap(parseFen(fen)))),
    ];
    // The classical format says that a rook may castle, not which; lc0 gives it no other.
    if (!format.castlingRooks) games.splice(1, 1);
    const path = join(folder, `${format.id}.gz`);
    writeFileSync(path, gzipSync(Buffer.concat(games.map(({ bytes }) => bytes))));
    const positions = games.flatMap((game) => game.positions);
    for (const [input, policy] of [
      [format.name, 'lc0-1858'],
      ['neuralmate-68', 'from-to-4096'],
    ]) {
      const out = `${format.id}-${input}`;
      const { damaged, warnings } = await convert(out, [path], input, policy);
      assert.deepEqual([damaged, ...warnings], [0]);
      const [table] = readTrain(out);
      const encoding = unwrap(getInputEncoding(input));
      const masks = new Uint32Array(2 * encoding.planes);
      const values = new Float32Array(encoding.planes);
      assert.equal(table.numRows, positions.length);
      positions.forEach((position, i) => {
        const row = table.get(i)?.toJSON() as Record<string, unknown>;
        encoding.writePacked(position, 'fen_only', masks, 0, values, 0);
        assert.deepEqual(Buffer.from(row.masks as Uint8Array), Buffer.from(masks.buffer), `row ${i}`);
        assert.deepEqual(
          [...(row.values as Iterable<number>)],
          encoding.valuePlanes.map((plane) => values[plane]),
        );
      });
    }
  });
}

for (const [what, bestM, networkM, isAdjudicated, plies, expected] of [
  ['ended by the rules', 40, 38, false, 3, [3, 2, 1]],
  ['adjudicated', 40, 38, true, 3, [42, 41, 40]],
  ['adjudicated later than was expected', 2, 1, true, 7, [7, 6, 5]],
  ['adjudicated when nothing was expected', 0, 38, true, 3, [null, null, null]],
  ['adjudicated without a word from the network', 3, 0, true, 3, [null, null, null]],
] as const) {
  test(`plies left of a game ${what}`, async () => {
    const recorder = new V6GameRecorder('lc0-112', 'fen_only');
    const position = new Position();
    ['e2e4', 'e7e5', 'g1f3'].forEach((text, ply) => {
      const played = unwrap(parseUciMove(position, text));
      const [root, network] = [bestM, networkM].map((m) => ({ wl: 0, d: 0.5, m }));
      const values = { root, bestValue: root, playedValue: root, network };
      const moves = listLegalMoves(position);
      const visits = moves.map((move) => Number(move === played));
      recorder.add(position, ply, {
        ...{ moves, visits, played, best: played, isBestProven: false, rootVisits: 1 },
        ...values,
      });
      position.makeMove(played);
    });
    const name = `plies-${what.replaceAll(' ', '-')}`;
    writeFileSync(
      join(folder, `${name}.v6`),
      recorder.finish({ whiteResult: 1, plies, isAdjudicated, isTooLong: false }),
    );
    await convert(name, [join(folder, `${name}.v6`)]);
    assert.deepEqual([...(readTrain(name)[0].getChild('plies_left') ?? [])], expected);
  });
}

test('a game that was cut as too long has no result, so its values are the search’s; one that was drawn has', async () => {
  for (const [isTooLong, whiteResult, expected] of [
    [true, 0, null],
    [false, 0, 0],
    [true, 1, 1],
  ] as const) {
    const recorder = new V6GameRecorder('lc0-112', 'fen_only');
    const position = new Position();
    const moves = listLegalMoves(position);
    const value: NodeValue = { wl: 0.25, d: 0.5, m: 40 };
    const values = { root: value, bestValue: value, playedValue: value };
    const visits = moves.map(() => 1);
    recorder.add(position, 0, {
      moves,
      visits,
      played: moves[0],
      best: moves[0],
      isBestProven: false,
      rootVisits: 20,
      ...values,
    });
    const name = `cut-${isTooLong}-${whiteResult}`;
    writeFileSync(
      join(folder, `${name}.v6`),
      recorder.finish({ whiteResult, plies: 1, isAdjudicated: true, isTooLong }),
    );
    await convert(name, [join(folder, `${name}.v6`)]);
    const [table] = readTrain(name);
    assert.deepEqual([table.getChild('result')?.get(0), table.getChild('q')?.get(0)], [expected, 0.25]);
  }
});

test('the best move comes first, also among moves with as many visits', async () => {
  const recorder = new V6GameRecorder('lc0-112', 'fen_only');
  const position = new Position();
  const moves = listLegalMoves(position);
  const best = unwrap(parseUciMove(position, 'g1f3'));
  const value: NodeValue = { wl: 0, d: 0.5, m: 40 };
  const values = { root: value, bestValue: value, playedValue: value };
  const searched = { moves, visits: moves.map(() => 1), played: moves[0], best, isBestProven: false, rootVisits: 20 };
  recorder.add(position, 0, { ...searched, ...values });
  const file = join(folder, 'ties.v6');
  writeFileSync(file, recorder.finish({ whiteResult: 0, plies: 1, isAdjudicated: true, isTooLong: false }));
  const index = unwrap(getPolicyEncoding('lc0-1858')).moveToIndex(position, best, 0);
  for (const input of ['lc0-112', 'mini-19']) {
    await convert(`ties-${input}`, [file], input);
    const [table] = readTrain(`ties-${input}`);
    const [indices, weights] = ['policy_index', 'policy_weight'].map((name) => [
      ...((table.getChild(name)?.get(0) ?? []) as Iterable<number>),
    ]);
    assert.equal(indices[0], index, input);
    assert.deepEqual([new Set(indices).size, weights.length], [20, 20]);
  }
});

test('positions are rebuilt from records of every format', () => {
  const record = createV6Record();
  for (const format of LC0_FORMATS) {
    for (const fen of [
      '8/8/8/7K/8/4k3/8/1R6 w - - 5 1',
      'r3k2r/8/8/8/3pP3/8/8/R3K2R b KQkq e3 0 1',
      '4k3/8/8/1Pp5/8/8/8/4K3 w - c6 0 1',
    ]) {
      const position = unwrap(parseFen(fen));
      setV6Position(record, format, position, 'fen_only');
      const rebuilt = unwrap(rebuildPosition(record, format));
      assert.deepEqual(
        [rebuilt.keyLow, rebuilt.keyHigh, rebuilt.rule50],
        [position.keyLow, position.keyHigh, position.rule50],
      );
    }
  }
});

interface Member {
  readonly name: string;
  readonly bytes: Buffer;
}

/** A tar archive with these files. */
async function createTar(files: readonly Member[]): Promise<Buffer> {
  const archive = pack();
  for (const { name, bytes } of files) archive.entry({ name }, bytes);
  archive.finalize();
  return collect(archive);
}

async function collect(archive: AsyncIterable<unknown>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of archive) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

test('records are read from files, folders and tar archives; a damaged file costs what follows', async () => {
  const games = [1, 2, 3].map((seed) => recordGame('lc0-112', seed));
  const files = games.map(({ bytes }, i) => ({ name: `games/game_${i}.gz`, bytes: gzipSync(bytes) }));
  files.push({ name: 'games/game_8.gz', bytes: files[0].bytes.subarray(0, 500) });
  files.push({ name: 'games/game_9.gz', bytes: gzipSync(Buffer.from('no records in here')) });
  mkdirSync(join(folder, 'games'));
  for (const { name, bytes } of files) writeFileSync(join(folder, name), bytes);
  // Not a file, and between others in the order of reading.
  mkdirSync(join(folder, 'games/game_1a.v6'));
  const archive = join(folder, 'games.tar');
  writeFileSync(archive, await createTar(files));
  const joined = join(folder, 'joined.v6');
  writeFileSync(joined, Buffer.concat(games.map(({ bytes }) => bytes)));
  copyFileSync(joined, join(folder, 'cut.v6'));
  writeFileSync(join(folder, 'cut.v6'), readFileSync(joined).subarray(0, -100));

  const inputs = [join(folder, 'games'), archive, joined, join(folder, 'cut.v6')];
  const { positions, warnings, damaged } = await convert('sources', inputs);
  const rows = games.reduce((sum, game) => sum + game.positions.length, 0);
  // Of the file that is cut off, two records are whole.
  assert.equal(positions.train, 4 * rows - 1 + 2 * 2);
  assert.equal(damaged, 3 + 2 + 1, warnings.join('\n'));
  assert.match(warnings[0], /game_1a\.v6 cannot be read: it is a folder/);
  assert.match(warnings[1], /game_8\.gz is damaged/);
  assert.match(warnings[2], /game_9\.gz holds no training records/);
  const tables = readTrain('sources');
  const gamesOf = (table: Table): unknown[] => [...new Set(table.getChild('game'))];
  assert.deepEqual(gamesOf(tables[0]), gamesOf(tables[1]));
  assert.deepEqual(gamesOf(tables[0]).slice(0, 3), gamesOf(tables[2]));
  assert.equal(gamesOf(tables[0]).length, 4);
});

/** Three files of one game each, their archive, and where in it the third one's header lies. */
async function createArchive(): Promise<{ archive: Buffer; rows: number[]; thirdAt: number }> {
  const games = [11, 12, 13].map((seed) => recordGame('lc0-112', seed));
  const files = games.map(({ bytes }, i) => ({ name: `run/training.${i}.gz`, bytes: gzipSync(bytes) }));
  const archive = await createTar(files);
  const thirdAt = archive.indexOf('run/training.2.gz');
  return { archive, rows: games.map(({ positions }) => positions.length), thirdAt };
}

test('an archive that is cut off gives what came before and says where', async () => {
  const { archive, rows, thirdAt } = await createArchive();
  const [first, second, third] = rows;
  for (const [what, bytes, expectedRows, warning] of [
    ['file', archive.subarray(0, thirdAt + 800), first + second, 'is cut off in run/training.2.gz'],
    ['header', archive.subarray(0, thirdAt + 100), first + second, 'is cut off after run/training.1.gz'],
    ['members', archive.subarray(0, thirdAt), first + second, 'is cut off after run/training.1.gz'],
    ['end', archive.subarray(0, -1024), first + second + third, 'is cut off after run/training.2.gz'],
    ['nothing', Buffer.alloc(0), 0, 'is cut off at its beginning'],
  ] as const) {
    const path = join(folder, `cut-${what}.tar`);
    writeFileSync(path, bytes);
    const { positions, warnings } = await convert(`cut-${what}`, [path]);
    assert.equal(positions.train, expectedRows, what);
    assert.equal(warnings.length, 1, what);
    assert.ok(warnings[0].endsWith(`the archive ${warning}`), warnings[0]);
  }
});

test('a damaged header of an archive ends it with one sentence', async () => {
  const { archive, rows, thirdAt } = await createArchive();
  archive.write('x', thirdAt);
  const path = join(folder, 'header.tar');
  writeFileSync(path, archive);
  const { positions, warnings } = await convert('header', [path]);
  assert.equal(positions.train, rows[0] + rows[1]);
  assert.deepEqual(warnings, [
    'header.tar: unreadable after game 2: the archive is damaged after run/training.1.gz: a header does not match its checksum',
  ]);
});

test('a gzipped archive is read whatever it is called, and damage of the gzip costs what comes after it', async () => {
  const { archive, rows } = await createArchive();
  const total = rows[0] + rows[1] + rows[2];
  const gzipped = gzipSync(archive);
  for (const name of ['a.tar.gz', 'b.tgz', 'c.tar', 'd.gz']) {
    const path = join(folder, name);
    writeFileSync(path, gzipped);
    const { positions, warnings } = await convert(`gzipped-${name}`, [path]);
    assert.deepEqual([positions.train, ...warnings], [total], name);
  }
  const padded = join(folder, 'padded.tgz');
  writeFileSync(padded, Buffer.concat([gzipped, Buffer.alloc(200_000)]));
  assert.equal((await convert('padded', [padded])).positions.train, total);
  const path = join(folder, 'cut.tgz');
  writeFileSync(path, gzipped.subarray(0, -600));
  const { positions, warnings } = await convert('cut-tgz', [path]);
  assert.equal(positions.train, rows[0] + rows[1]);
  assert.deepEqual(warnings, ['cut.tgz: unreadable after game 2: the archive is cut off in run/training.2.gz']);
});

test('long names, folders and links in an archive do not confuse', async () => {
  const { bytes, positions } = recordGame('lc0-112', 14);
  const archive = pack();
  archive.entry({ name: 'run', type: 'directory' });
  archive.entry({ name: `${'run/'.repeat(60)}training.1.gz` }, gzipSync(bytes));
  archive.entry({ name: `${'ü'.repeat(120)}.gz` }, gzipSync(bytes));
  archive.entry({ name: 'run/training.3.gz', type: 'symlink', linkname: 'training.1.gz' });
  archive.entry({ name: 'run/empty' }, '');
  archive.entry({ name: 'run/training.4.gz' }, gzipSync(bytes.subarray(0, V6_BYTES)));
  archive.finalize();
  const path = join(folder, 'kinds.tar');
  writeFileSync(path, await collect(archive));
  const summary = await convert('kinds', [path]);
  assert.deepEqual([summary.positions.train, ...summary.warnings], [2 * positions.length + 1]);
});

test('games before the damage of a large file in an archive are kept, and so are the files after it', async () => {
  const games = [15, 16, 17].map((seed) => recordGame('lc0-112', seed));
  // Larger than what is unpacked in memory.
  const large = Buffer.concat([...games.map(({ bytes }) => bytes), ...games.map(({ bytes }) => bytes)]);
  const gzipped = gzipSync(large, { level: 0 });
  gzipped.fill(0xff, gzipped.length / 2, gzipped.length / 2 + 100_000);
  const small = gzipSync(games[0].bytes);
  const files = [
    { name: 'large.gz', bytes: gzipped },
    { name: 'raw.v6', bytes: large },
    { name: 'small.gz', bytes: small },
  ];
  const path = join(folder, 'large.tar');
  writeFileSync(path, await createTar(files));
  const { positions, warnings } = await convert('large', [path]);
  const [first, second, third] = games.map((game) => game.positions.length);
  assert.equal(positions.train, first + second + 2 * (first + second + third) + first);
  assert.equal(warnings.length, 1);
  assert.match(warnings[0], /large\.gz is damaged/);
});
