import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { gunzipSync, gzipSync } from 'node:zlib';
import { tableFromIPC } from 'apache-arrow';
import { success, unwrap } from '#sardonyx/base/util/index.js';
import { listLegalMoves, type Position, parseFen, parseUciMove } from '#sardonyx/chess/rules/index.js';
import { V6GameRecorder } from '#sardonyx/games/records/index.js';
import {
  createV6Record,
  isCut,
  readV6Record,
  V6_BYTES,
  V6_DELETED,
  V6_PROVEN_BEST,
  V6_TOO_LONG,
  writeV6Record,
} from '#sardonyx/games/records/v6-record.js';
import { createShards, type ResultTables, rescoreGames } from '#sardonyx/games/shards/index.js';
import { computeErrorShare } from '#sardonyx/games/shards/rescore/deblunder.js';
import { PolicySubstitutions } from '#sardonyx/games/shards/rescore/policy-substitutions.js';
import {
  changeInputFormat,
  type RecordedGame,
  readRecordedGame,
  writeRecordedGame,
} from '#sardonyx/games/shards/rescore/recorded-game.js';
import {
  createRescoreSummary,
  formatPlain,
  type RescoreSettings,
  rescoreLine,
  rescoreRecords,
} from '#sardonyx/games/shards/rescore/rescore-games.js';
import { LC0_FORMATS } from '#sardonyx/networks/encoding/index.js';
import { findShared, repositoryRoot } from '../../support/shared-folder.js';

const folder = mkdtempSync(join(tmpdir(), 'sardonyx-rescore-'));
after(() => rmSync(folder, { recursive: true }));

const NO_CHANGE = { distanceBoost: 0, temperature: 1, offset: 0 };
const NOTHING: RescoreSettings = {
  ...{ tables: null, deblunder: null, policy: NO_CHANGE, plain: null, deletesInputs: false },
  ...{ substitutions: null, inputFormat: null },
};

/** White wins with a rook against a bare king, and nothing else is decided; the distance to the end is always 20. */
const rookTables: ResultTables = {
  probeResult(position: Position): number | null {
    const men = position.board.filter((piece) => piece !== 0);
    if (men.length > 3 || position.castlingRooks.some((rook) => rook >= 0)) return null;
    if (men.length < 3) return 0;
    const isWhites = men.some((piece) => piece === 4);
    return isWhites === (position.sideToMove === 0) ? 1 : -1;
  },
  probeDistance: () => 20,
  listWinningMoves: (position) =>
    rookTables.probeResult(position) !== 1 ? null : listLegalMoves(position).slice(0, 2),
};

interface Values {
  readonly bestQ?: number;
  readonly playedQ?: number;
}

function recordGame(
  fen: string,
  text: string,
  whiteResult: number,
  values: Record<number, Values> = {},
  format = 'lc0-112',
): Buffer {
  const position = unwrap(parseFen(fen));
  const recorder = new V6GameRecorder(format, 'no');
  const words = text.split(' ');
  words.forEach((word, ply) => {
    const moves = listLegalMoves(position);
    const played = unwrap(parseUciMove(position, word));
    const { bestQ = 0.1, playedQ = 0.1 } = values[ply] ?? {};
    recorder.add(position, ply, {
      moves,
      visits: moves.map((move) => (move === played ? 3 : 1)),
      played,
      best: played,
      root: { wl: 0, d: 0.5, m: 30 },
      bestValue: { wl: bestQ, d: 0.1, m: 30 },
      network: { wl: 0, d: 0.5, m: 25 },
      playedValue: { wl: playedQ, d: 0.1, m: 30 },
      isBestProven: false,
      rootVisits: 10,
    });
    position.makeMove(played);
  });
  return recorder.finish({ whiteResult, plies: words.length, isAdjudicated: false, isTooLong: false });
}

function read(bytes: Buffer): RecordedGame {
  return unwrap(readRecordedGame(success({ bytes, recordBytes: V6_BYTES, line: null })));
}

const whiteResults = (game: RecordedGame): number[] =>
  game.positions.map(({ record, position }) => (position.sideToMove === 0 ? record.resultQ : 0 - record.resultQ));

// White takes the queen and is winning, then loses its rook to the king.
const FEN = '4k3/8/8/8/8/8/3q4/4K2R w - - 0 1';
const MOVES = 'e1d2 e8e7 h1h8 e7f7 h8g8 f7g8 d2d3';

test('a position right after a capture decides the results of all positions before it that no other one decides', () => {
  const game = read(recordGame(FEN, MOVES, -1));
  const summary = createRescoreSummary();
  rescoreRecords(game, { ...NOTHING, tables: rookTables }, summary);
  assert.deepEqual(whiteResults(game), [1, 1, 1, 1, 1, 1, 0]);
  assert.deepEqual(
    game.positions.map(({ record }) => record.resultD),
    [0, 0, 0, 0, 0, 0, 1],
  );
  assert.equal(summary.corrected, 7);
});

test('of a game that was cut as too long the tables say who would have won, and of its other positions nobody does', () => {
  const cut = read(recordGame(FEN, MOVES, 0));
  for (const { record } of cut.positions) record.invariance |= V6_TOO_LONG;
  const silent: ResultTables = { ...rookTables, probeResult: () => null };
  rescoreRecords(cut, { ...NOTHING, tables: silent }, createRescoreSummary());
  assert.ok(cut.positions.every(({ record }) => isCut(record)));
  rescoreRecords(cut, { ...NOTHING, tables: rookTables }, createRescoreSummary());
  assert.deepEqual(whiteResults(cut), [1, 1, 1, 1, 1, 1, 0]);
  assert.ok(!cut.positions.some(({ record }) => isCut(record)), 'a draw by the tables is a result');
});

test('without a capture a tablebase position corrects only itself, as far as the fifty-move count allows', () => {
  const fen = '8/8/8/4k3/8/8/3K4/7R w - - 50 80';
  const drawn = read(recordGame(fen, 'h1h5 e5e6 h5h6 e6e7', 0));
  rescoreRecords(drawn, { ...NOTHING, tables: rookTables }, createRescoreSummary());
  assert.deepEqual(whiteResults(drawn), [0, 0, 0, 0], 'what came before the first position is not known');
  const lost = read(recordGame(fen, 'h1h5 e5e6 h5h6 e6e7', -1));
  rescoreRecords(lost, { ...NOTHING, tables: rookTables }, createRescoreSummary());
  assert.deepEqual(whiteResults(lost), [0, 0, 0, 0], 'it was not lost; whether it was won stays open');
  const late = read(recordGame('8/8/8/4k3/8/8/3K4/7R w - - 84 99', 'h1h5 e5e6', 1));
  rescoreRecords(late, { ...NOTHING, tables: rookTables }, createRescoreSummary());
  assert.deepEqual(whiteResults(late), [0, 0], '84 and 20 plies are more than a hundred');
});

test('a draw that was a win is a win again where the moves since the capture are known and no position was repeated', () => {
  const game = read(recordGame(FEN, 'e1d2 e8e7 h1h8 e7f7 h8h7 f7g6', 0));
  rescoreRecords(game, { ...NOTHING, tables: rookTables }, createRescoreSummary());
  assert.deepEqual(whiteResults(game), [1, 1, 1, 1, 1, 1]);
  assert.equal(game.positions[1].record.pliesLeft, 20);
  assert.equal(game.positions[0].record.pliesLeft, 21);
});

test('moves on the shortest way to a win get the boost, and probabilities still sum to 1', () => {
  const game = read(recordGame(FEN, MOVES, 1));
  const summary = createRescoreSummary();
  rescoreRecords(game, { ...NOTHING, tables: rookTables, policy: { ...NO_CHANGE, distanceBoost: 1 } }, summary);
  const won = game.positions.filter(({ position }) => rookTables.probeResult(position) === 1);
  assert.equal(summary.boosted, won.length);
  for (const { record } of won) {
    const legal = record.probabilities.filter((probability) => probability >= 0);
    assert.ok(Math.abs(legal.reduce((sum, probability) => sum + probability, 0) - 1) < 1e-5);
    assert.ok(legal.filter((probability) => probability >= 0.25).length >= 2);
  }
});

test('temperature and offset change the policy as in lc0: first the offset, not below 0, then the power', () => {
  const game = read(recordGame(FEN, MOVES, 1));
  const before = [...game.positions[0].record.probabilities];
  const settings = { ...NOTHING, policy: { distanceBoost: 0, temperature: 2, offset: -0.05 } };
  rescoreRecords(game, settings, createRescoreSummary());
  const raised = before.map((p) => (p >= 0 ? Math.max(0, p - 0.05) ** 0.5 : p));
  const sum = raised.reduce((total, p) => total + Math.max(0, p), 0);
  game.positions[0].record.probabilities.forEach((p, i) => {
    assert.ok(Math.abs(p - (raised[i] > 0 ? raised[i] / sum : raised[i])) < 1e-6);
  });
});

test('positions are written in Stockfish’s text format, with the score and move that were asked for', () => {
  const game = read(recordGame(OPEN, 'e2e4 e7e5', 1, { 0: { bestQ: 0.5, playedQ: 0.25 } }));
  const plain = { path: '', takesBestScore: true, takesBestMove: false };
  const lines = formatPlain(game, plain).split('\n');
  assert.deepEqual(lines.slice(0, 6), [`fen ${OPEN}`, 'move e2e4', 'score 331', 'ply 0', 'result 1', 'e']);
  assert.deepEqual([lines[7], lines[10], lines.length], ['move e7e5', 'result -1', 13]);
  assert.equal(formatPlain(game, { ...plain, takesBestScore: false }).split('\n')[2], 'score 165');
});

const OPEN = 'rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1';
const DEBLUNDER = { ...NOTHING, deblunder: { threshold: 0.5, width: 0 } };

test('at an error the best move’s value takes the place of the result, there and before, and not after', () => {
  const game = read(recordGame(OPEN, 'e2e4 e7e5 d1h5 a7a6', -1, { 2: { bestQ: 0.8, playedQ: -0.2 } }));
  const summary = createRescoreSummary();
  rescoreRecords(game, DEBLUNDER, summary);
  assert.deepEqual(
    whiteResults(game).map((q) => Math.round(1000 * q) / 1000),
    [0.8, 0.8, 0.8, -1],
  );
  assert.ok(Math.abs(game.positions[0].record.resultD - 0.1) < 1e-6);
  assert.deepEqual(
    game.positions.map(({ record }) => record.pliesLeft),
    [32, 31, 30, 1],
  );
  assert.equal(summary.errors, 1);
});

test('an error counts by its size, mixed within the width, and a missed or needless proof counts in full', () => {
  const record = { ...createV6Record(), bestQ: 0.4, playedQ: 0 };
  assert.equal(computeErrorShare(record, { threshold: 0.5, width: 0 }), 0);
  assert.equal(computeErrorShare(record, { threshold: 0.3, width: 0 }), 1);
  assert.ok(Math.abs(computeErrorShare(record, { threshold: 0.45, width: 0.2 }) - 0.25) < 1e-9);
  assert.equal(computeErrorShare({ ...record, playedQ: -1 }, { threshold: 2, width: 0 }), 1);
  assert.equal(computeErrorShare({ ...record, bestQ: 1 }, { threshold: 2, width: 0 }), 0);
  assert.equal(computeErrorShare({ ...record, bestQ: 1, invariance: V6_PROVEN_BEST }, { threshold: 2, width: 0 }), 1);
});

test('records that deblundering changed become shards as one game, with results drawn from what they expect', async () => {
  const games = join(folder, 'drawn');
  mkdirSync(games);
  for (let i = 0; i < 40; i++) {
    const game = read(recordGame(OPEN, 'e2e4 e7e5 d1h5 a7a6', -1, { 2: { bestQ: 0.4, playedQ: -0.2 } }));
    rescoreRecords(game, DEBLUNDER, createRescoreSummary());
    game.positions[3].record.pliesLeft = 90 + i;
    writeFileSync(join(games, `game_${String(i).padStart(6, '0')}.gz`), gzipSync(writeRecordedGame(game)));
  }
  const options = {
    folder: join(folder, 'drawn-shards'),
    input: 'lc0-112',
    policy: 'lc0-1858',
    historyFill: 'no' as const,
  };
  const more = { shares: [1, 0, 0] as const, filter: { minElo: 0, skipPlies: 0 }, validationFiles: [], testFiles: [] };
  const events = { onProgress: () => undefined, onWarning: () => undefined };
  const made = await createShards(
    { ...options, ...more, inputs: [games], maxPositions: Number.POSITIVE_INFINITY, threads: 1 },
    events,
  );
  assert.deepEqual([unwrap(made).games, unwrap(made).positions.train], [40, 160]);
  const [file] = readdirSync(join(options.folder, 'train'));
  const results = [...(tableFromIPC(readFileSync(join(options.folder, 'train', file))).getChild('result') ?? [])];
  assert.ok(
    results.filter((_, i) => i % 4 === 3).every((result) => result === 1),
    'Black, after the error',
  );
  assert.ok(results.every((result) => [-1, 0, 1].includes(result)));
});

test('tablebases know better than deblundering where their positions begin', () => {
  const values = { 4: { bestQ: 0.9, playedQ: -0.9 } };
  const game = read(recordGame(FEN, MOVES, -1, values));
  const summary = createRescoreSummary();
  rescoreRecords(game, { ...DEBLUNDER, tables: rookTables }, summary);
  assert.equal(summary.errors, 0);
  assert.deepEqual(whiteResults(game), [1, 1, 1, 1, 1, 1, 0]);
});

test('records written in another input format are those that self-play writes in it', () => {
  for (const format of LC0_FORMATS) {
    const { name } = format;
    const wanted = recordGame(FEN, MOVES, -1, {}, name);
    const changed = changeInputFormat(read(recordGame(FEN, MOVES, -1)), format);
    assert.ok(writeRecordedGame(changed).equals(wanted), name);
    const back = changeInputFormat(read(wanted), LC0_FORMATS[0]);
    assert.ok(writeRecordedGame(back).equals(recordGame(FEN, MOVES, -1)), `${name} and back`);
  }
});

test('the policies of other records replace those of games that begin with the same moves', () => {
  const substitutions = new PolicySubstitutions();
  const other = read(recordGame(FEN, 'e1d2 e8e7 h1h8 e7e6', 1, {}, 'INPUT_112_WITH_CANONICALIZATION'));
  other.positions[2].record.invariance |= V6_DELETED;
  substitutions.add(other);
  const game = read(recordGame(FEN, MOVES, -1));
  const before = game.positions.map(({ record }) => record.probabilities.slice());
  const summary = createRescoreSummary();
  rescoreRecords(game, { ...NOTHING, substitutions }, summary);
  assert.equal(summary.substituted, 3);
  const own = read(recordGame(FEN, 'e1d2 e8e7 h1h8 e7e6', 1));
  game.positions.forEach(({ record }, i) => {
    assert.deepEqual(
      record.probabilities,
      i === 3 ? own.positions[3].record.probabilities : before[i],
      `position ${i}`,
    );
  });
});

test('records of V7 keep what they add to V6', () => {
  const v7 = { shortTermD: 0.25, opponentIndex: 7, nextIndex: 65535, reserved: new Uint8Array(32).fill(5) };
  const bytes = Buffer.alloc(8396);
  writeV6Record({ ...createV6Record(), shortTermQ: -0.5, v7 }, bytes, 0);
  const record = createV6Record();
  unwrap(readV6Record(bytes, 0, record));
  assert.deepEqual([bytes.readUInt32LE(0), record.shortTermQ, record.v7], [7, -0.5, v7]);
  const six = recordGame(OPEN, 'e2e4 e7e5', 1);
  const seven = Buffer.concat(
    [0, 1].map((i) => {
      const wide = Buffer.alloc(8396);
      const source = createV6Record();
      unwrap(readV6Record(six, i * V6_BYTES, source));
      writeV6Record({ ...source, v7 }, wide, 0);
      return wide;
    }),
  );
  const game = unwrap(readRecordedGame(success({ bytes: seven, recordBytes: 8396, line: null })));
  assert.deepEqual(writeRecordedGame(game), seven);
});

test('a labelled game gets the results of single plies', () => {
  const plies = MOVES.split(' ').map((move) => [move, [[move, 10]]]);
  const line = JSON.stringify({ fen: FEN, result: '0-1', plies });
  const summary = createRescoreSummary();
  const done = JSON.parse(unwrap(rescoreLine(line, { ...NOTHING, tables: rookTables }, summary)));
  assert.deepEqual(
    done.plies.map((ply: unknown[]) => ply[2]),
    [...new Array(6).fill('1-0'), '1/2-1/2'],
  );
  assert.equal(unwrap(rescoreLine(JSON.stringify(done), NOTHING, summary)), JSON.stringify(done));
});

test('folders of records and files of labelled games are rescored whole; what is there is not made again', async () => {
  const games = join(folder, 'games');
  mkdirSync(games);
  for (const [i, result] of [-1, 0].entries()) {
    writeFileSync(join(games, `game_00000${i}.gz`), gzipSync(recordGame(FEN, MOVES, result)));
  }
  writeFileSync(join(games, 'game_000002.gz'), gzipSync(Buffer.from('damaged')));
  const labelled = join(folder, 'some.jsonl');
  const plies = MOVES.split(' ').map((move) => [move, []]);
  writeFileSync(labelled, `${JSON.stringify({ fen: FEN, result: '0-1', plies })}\nnonsense\n`);
  const warnings: string[] = [];
  const events = { onProgress: () => undefined, onWarning: (text: string) => warnings.push(text) };
  const plain = { path: join(folder, 'positions.plain'), takesBestScore: false, takesBestMove: false };
  const settings = { ...NOTHING, tables: rookTables, plain };
  const out = join(folder, 'out');
  // Of a run that was killed.
  mkdirSync(out);
  writeFileSync(join(out, 'games.plain.part'), 'ply 0\n');
  const summary = unwrap(await rescoreGames([games, labelled], out, settings, events));
  assert.deepEqual([summary.games, summary.damaged, summary.positions], [5, 2, 21]);
  assert.match(warnings.join('\n'), /game_000002\.gz holds no|ends in the middle/);
  assert.match(warnings.join('\n'), /some\.jsonl: game 5 skipped: The line is not JSON/);
  assert.deepEqual(readdirSync(join(out, 'games')), ['game_000000.gz', 'game_000001.gz']);
  const first = read(gunzipSync(readFileSync(join(out, 'games', 'game_000000.gz'))));
  assert.deepEqual(whiteResults(first), [1, 1, 1, 1, 1, 1, 0]);
  assert.ok(existsSync(join(out, 'some.jsonl.gz')));
  assert.deepEqual(readdirSync(out), ['games', 'some.jsonl.gz']);
  assert.equal(readFileSync(plain.path, 'utf8').match(/^ply /gm)?.length, 14);
  const again = unwrap(await rescoreGames([games, labelled], out, settings, events));
  assert.deepEqual([again.games, again.skipped], [0, 2]);
  const pgn = join(folder, 'a.pgn');
  writeFileSync(pgn, '');
  const refused = await rescoreGames([pgn], out, settings, events);
  assert.ok(!refused.ok && /PGN files cannot be rescored/.test(refused.error));
});

test('an input is deleted only if all of it was read, and its content says what it holds', async () => {
  const line = '{"fen":"4k3/8/8/8/8/8/4P3/4K3 w - - 0 1","result":"1-0","plies":[["e2e4",[["e2e4",30]]]]}\n';
  const whole = join(folder, 'whole.json');
  const cut = join(folder, 'cut.jsonl.gz');
  writeFileSync(whole, line);
  writeFileSync(cut, gzipSync(line).subarray(0, -9));
  const warnings: string[] = [];
  const events = { onProgress: () => undefined, onWarning: (text: string) => warnings.push(text) };
  const out = join(folder, 'deleted');
  unwrap(await rescoreGames([whole, cut], out, { ...NOTHING, deletesInputs: true }, events));
  assert.deepEqual([existsSync(whole), existsSync(cut)], [false, true]);
  assert.deepEqual(readdirSync(out).sort(), ['cut.jsonl.gz', 'whole.jsonl.gz']);
  assert.match(warnings.at(-1) ?? '', /cut\.jsonl\.gz is kept, because not all of it could be read/);
});

const syzygy = findShared('syzygy');

test('sardonyx rescore corrects games with Syzygy tablebases', { skip: syzygy.skip }, () => {
  const games = join(folder, 'real');
  mkdirSync(games);
  writeFileSync(join(games, 'game_000000.gz'), gzipSync(recordGame(FEN, MOVES, -1)));
  const out = join(folder, 'real-out');
  const program = join(repositoryRoot, 'dist', 'cli', 'main.js');
  const flags = ['--syzygy-paths', syzygy.path, '--dtz-policy-boost', '0.5', '--json'];
  const summary = execFileSync(process.execPath, [program, 'rescore', games, '--out', out, ...flags], {
    encoding: 'utf8',
  });
  const { corrected, boosted } = JSON.parse(summary);
  assert.deepEqual([corrected, boosted], [7, 3], 'the won positions');
  const game = read(gunzipSync(readFileSync(join(out, 'real', 'game_000000.gz'))));
  assert.deepEqual(whiteResults(game), [1, 1, 1, 1, 1, 0, 0], 'the king can take the rook in the last but one');
  const idle = spawnSync(process.execPath, [program, 'rescore', games, '--out', out], { encoding: 'utf8' });
  assert.equal(idle.status, 1);
  assert.match(idle.stderr, /Nothing to do: give --syzygy-paths, --deblunder/);
  const ask = (...args: string[]) => spawnSync(process.execPath, [program, ...args], { encoding: 'utf8' });
  const taken = ask(
    'rescorer',
    '--input',
    games,
    '--output',
    join(folder, 'named'),
    '--temperature=0.9',
    '--dist_offset=0',
    '-t',
    '2',
    '--delete-files',
  );
  assert.equal(taken.status, 0, taken.stderr);
  assert.deepEqual([existsSync(join(folder, 'named', 'real', 'game_000000.gz')), existsSync(games)], [true, false]);
  assert.match(ask('rescorer', '--gaviotatb-paths=x').stderr, /^--gaviotatb-paths is not supported: Syzygy/);
});
