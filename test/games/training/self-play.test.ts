import assert from 'node:assert/strict';
import { appendFileSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import { createPrng, unwrap } from '#sardonyx/base/util/index.js';
import { readPgnGame, splitPgn } from '#sardonyx/chess/pgn/index.js';
import { parseFen, START_FEN } from '#sardonyx/chess/rules/index.js';
import { MatchLog } from '#sardonyx/games/match/index.js';
import type { Opening } from '#sardonyx/games/openings/book.js';
import { createGameOpenings } from '#sardonyx/games/openings/choose-openings.js';
import { NetworkPools } from '#sardonyx/games/play/network-pools.js';
import { playSelfPlaySession, type SelfPlaySettings, type SelfPlaySummary } from '#sardonyx/games/training/index.js';
import { prunePolicyTarget } from '#sardonyx/games/training/policy-targets.js';
import { type SelfPlayGame, shortenOpening } from '#sardonyx/games/training/self-play-game.js';
import { formatGameReady, formatTournamentStatus } from '#sardonyx/games/training/self-play-report.js';
import { runSelfPlay, type SelfPlayPlayer } from '#sardonyx/games/training/self-play-run.js';
import { ResignWatch } from '#sardonyx/games/training/self-play-settings.js';
import { defaultSearchParams, type RootMove } from '#sardonyx/search/index.js';
import { hashNetwork } from '../play/hash-network.js';

const folder = mkdtempSync(join(tmpdir(), 'sardonyx-selfplay-'));
after(() => rmSync(folder, { recursive: true }));

const SETTINGS: SelfPlaySettings = {
  playoutCap: { fullShare: 1, fastVisits: 0 },
  reusesTree: false,
  sharesTree: true,
  resign: { percentage: 0, isWdlStyle: false, earliestMove: 0, playthrough: 0 },
  minimumAllowedVisits: 0,
  discardedStartChance: 0,
  openingStopProbability: 0,
  prunesPolicyTarget: false,
  policySurprise: 0,
  maxPlies: 50,
  chess960: false,
};

const PLAYER: SelfPlayPlayer = {
  network: hashNetwork('N', { params: { temperature: 1, dirichletNoiseEpsilon: 0.25, fpuValue: 0 } }),
  limits: { visits: 20, playouts: null, movetimeMs: null },
};

interface Options {
  readonly players?: [SelfPlayPlayer, SelfPlayPlayer];
  readonly settings?: Partial<SelfPlaySettings>;
  readonly games?: number;
  readonly parallelism?: number;
  readonly seed?: number;
  readonly abortAfter?: number;
  readonly opening?: Opening;
}

interface Played {
  readonly summary: SelfPlaySummary;
  readonly lines: string[];
  /** Uncompressed records of each game. */
  readonly records: Buffer[];
}

async function play(name: string, options: Options = {}): Promise<Played> {
  const { games = 6, seed = 1 } = options;
  const lines: string[] = [];
  const abort = new AbortController();
  const trainingFolder = join(folder, name);
  const log = unwrap(MatchLog.open({}, join(folder, `${name}.jsonl`), join(folder, `${name}.pgn`)));
  const { at } = unwrap(await createGameOpenings({ book: null, order: 'sequential', isMirrored: false, seed }));
  const pools = new NetworkPools();
  const summary = await playSelfPlaySession(
    {
      players: options.players ?? [PLAYER, PLAYER],
      settings: { ...SETTINGS, ...options.settings },
      tables: null,
      games,
      parallelism: options.parallelism ?? 3,
      leavesPerGame: 1,
      openings: (game) => options.opening ?? at(game),
      seed,
      signal: abort.signal,
    },
    {
      trainingFolder,
      showsThinking: false,
      tournamentFile: null,
      log,
      event: 'test',
      onLine: (line) => lines.push(line),
      onProgress: ({ games: done }) => done === options.abortAfter && abort.abort(),
    },
    pools,
  ).finally(() => pools.close());
  const files = readdirSync(trainingFolder).sort();
  return { summary, lines, records: files.map((file) => gunzipSync(readFileSync(join(trainingFolder, file)))) };
}

const RECORD = 8356;

test('the same seed gives the same games and records, however many are played at a time', async () => {
  const one = await play('one', { parallelism: 1 });
  const many = await play('many', { parallelism: 6 });
  const other = await play('other', { seed: 2 });
  assert.deepEqual(many.records, one.records);
  assert.notDeepEqual(other.records, one.records);
  const games = (lines: string[]): string[] => lines.filter((line) => line.startsWith('gameready')).sort();
  const paths = /trainingfile \S+ /g;
  assert.deepEqual(games(many.lines).join('').replace(paths, ''), games(one.lines).join('').replace(paths, ''));
});

test('sequential halving with Gumbel noise gives other games by the seed, and policies over its candidates', async () => {
  const params = { sequentialHalving: true, gumbelCandidates: 4, gumbelNoiseScale: 1, temperature: 0 };
  const player: SelfPlayPlayer = { network: hashNetwork('G', { params }), limits: { ...PLAYER.limits, visits: 17 } };
  const players: [SelfPlayPlayer, SelfPlayPlayer] = [player, player];
  const settings = { maxPlies: 12 };
  const one = await play('halving', { players, settings, games: 1 });
  const again = await play('halving-again', { players, settings, games: 1 });
  const other = await play('halving-other', { players, settings, games: 1, seed: 2 });
  assert.deepEqual(again.records, one.records);
  assert.notDeepEqual(other.records, one.records);
  // 16 visits: two each for four moves, then four more each for the better two.
  const policy = Array.from({ length: 1858 }, (_, i) => one.records[0].readFloatLE(8 + 4 * i)).filter((p) => p > 0);
  assert.deepEqual(
    policy.sort((a, b) => a - b),
    [2 / 16, 2 / 16, 6 / 16, 6 / 16],
  );
});

test('every searched position is a record: policy, result, plies left', async () => {
  const { records, summary } = await play('records', { games: 2 });
  assert.equal(summary.records, summary.moves);
  assert.equal(
    records.reduce((sum, bytes) => sum + bytes.length, 0),
    summary.records * RECORD,
  );
  for (const bytes of records) {
    const count = bytes.length / RECORD;
    // The games are cut off: the last search says how long they would have gone on.
    const lastPliesLeft = bytes.readFloatLE((count - 1) * RECORD + 8300);
    assert.ok(lastPliesLeft > 1);
    for (let i = 0; i < count; i++) {
      const at = i * RECORD;
      let sum = 0;
      for (let k = 0; k < 1858; k++) sum += Math.max(0, bytes.readFloatLE(at + 8 + 4 * k));
      assert.ok(Math.abs(sum - 1) < 1e-4);
      assert.equal(bytes.readUInt32LE(at), 6);
      assert.equal(bytes[at + 8276], i & 1);
      assert.equal(bytes[at + 8278] & 32, 32);
      assert.equal(bytes.readFloatLE(at + 8304), Math.fround(count - 1 - i + lastPliesLeft));
      assert.equal(bytes.readUInt32LE(at + 8340), 20);
      const resultQ = bytes.readFloatLE(at + 8308);
      assert.equal(resultQ, (i & 1) === 0 ? bytes.readFloatLE(8308) : 0 - bytes.readFloatLE(8308));
      assert.ok(Math.abs(bytes.readFloatLE(at + 8280)) <= 1);
      assert.ok(bytes.readFloatLE(at + 8348) > 0);
    }
  }
});

test('with a playout cap only full searches are recorded, and the others are short', async () => {
  const { summary } = await play('cap', { settings: { playoutCap: { fullShare: 0.3, fastVisits: 5 } } });
  const share = summary.records / summary.moves;
  assert.ok(share > 0.2 && share < 0.4, `${share}`);
  assert.equal(summary.playouts, 20 * summary.records + 5 * (summary.moves - summary.records));
});

test('a pruned policy target leaves out noise, and does not change the games', async () => {
  const plain = await play('unpruned');
  const pruned = await play('pruned', { settings: { prunesPolicyTarget: true } });
  const withoutFile = (lines: string[]): string[] =>
    lines.flatMap((line) => (line.startsWith('gameready') ? line.replace(/trainingfile \S+ /, '') : [])).sort();
  assert.deepEqual(withoutFile(pruned.lines), withoutFile(plain.lines));
  const countMoves = ({ records }: Played): number => {
    let count = 0;
    for (const bytes of records) {
      for (let at = 0; at < bytes.length; at += RECORD) {
        for (let k = 0; k < 1858; k++) count += Number(bytes.readFloatLE(at + 8 + 4 * k) > 0);
      }
    }
    return count;
  };
  assert.ok(countMoves(pruned) < 0.9 * countMoves(plain), `${countMoves(pruned)} of ${countMoves(plain)}`);
});

test('policy surprise weighting keeps the number of records on average and repeats some', async () => {
  const { records, summary } = await play('surprise', { settings: { policySurprise: 0.5 } });
  assert.ok(Math.abs(summary.records / summary.moves - 1) < 0.2, `${summary.records} of ${summary.moves}`);
  const all = records.flatMap((bytes) =>
    Array.from({ length: bytes.length / RECORD }, (_, i) => bytes.toString('base64', i * RECORD, (i + 1) * RECORD)),
  );
  assert.ok(new Set(all).size < all.length);
});

test('visits that only noise explains are pruned, and those of moves with good values stay', () => {
  const move = (prior: number, visits: number, wl: number, code: number): RootMove => ({
    move: code,
    prior,
    visits,
    wl,
    d: 0,
    m: 0,
    isProven: false,
  });
  const moves = [
    move(0.6, 60, 0.1, 1),
    move(0.3, 30, 0.1, 2),
    move(0.01, 9, -0.5, 3),
    move(0.09, 1, 0, 4),
    move(0, 0, 0, 5),
  ];
  const value = { wl: 0.1, d: 0, m: 0 };
  const summary = { ...value, visits: 101, own: value, moves, best: 0 };
  const pruned = prunePolicyTarget(summary, defaultSearchParams).moves.map(({ visits }) => visits);
  assert.deepEqual(pruned, [60, 30, 0, 1, 0]);
  const params = { ...defaultSearchParams, sequentialHalving: true };
  assert.equal(prunePolicyTarget(summary, params), summary);
});

test('a game that ignores resignation leaves its threshold in the results', async () => {
  const resign = { ...SETTINGS.resign, percentage: 5, playthrough: 100 };
  await play('playthrough', { settings: { resign } });
  const rows = readFileSync(join(folder, 'playthrough.jsonl'), 'utf8').trim().split('\n').slice(1);
  for (const row of rows) {
    const { falsePositiveThreshold } = JSON.parse(row);
    assert.ok(falsePositiveThreshold > 0 && falsePositiveThreshold <= 1);
  }
});

test('a reused tree counts its old visits', async () => {
  const { summary } = await play('reuse', { settings: { reusesTree: true }, games: 2 });
  assert.ok(summary.evaluations < 20 * summary.moves, `${summary.evaluations} for ${summary.moves} moves`);
  assert.ok(summary.playouts >= summary.evaluations && summary.playouts < 20 * summary.moves, `${summary.playouts}`);
});

test('an error of one game ends the others before it is thrown', async () => {
  const pools = new NetworkPools();
  let thoughts = 0;
  const run = runSelfPlay(
    {
      players: [PLAYER, PLAYER],
      settings: SETTINGS,
      tables: null,
      games: 100,
      parallelism: 4,
      leavesPerGame: 1,
      openings: unwrap(await createGameOpenings({ book: null, order: 'sequential', isMirrored: false, seed: 1 })).at,
      seed: 1,
      isDone: () => false,
      signal: new AbortController().signal,
      onGame: () => Promise.reject(new Error('the disk is full')),
      onThought: () => thoughts++,
    },
    pools,
  );
  try {
    await assert.rejects(run, /the disk is full/);
    const before = thoughts;
    for (let turn = 0; turn < 100; turn++) await nextTurn();
    assert.equal(thoughts, before);
  } finally {
    await pools.close();
  }
});

test('an interrupted run is continued without a lost or doubled game', async () => {
  await play('stopped', { abortAfter: 2, parallelism: 2 });
  const results = join(folder, 'stopped.jsonl');
  const before = readFileSync(results, 'utf8').trim().split('\n').length - 1;
  assert.ok(before >= 2 && before < 6);
  appendFileSync(results, '{"game":5,"wh');
  appendFileSync(join(folder, 'stopped.pgn'), '[Event "half');
  const { summary, records } = await play('stopped');
  assert.equal(summary.games, 6);
  assert.equal(readFileSync(join(folder, 'stopped.pgn'), 'utf8').split('[Event "test"]').length - 1, 6);
  const { records: whole } = await play('whole');
  assert.deepEqual(records, whole);
});

test('two networks play each other, each in its own pool', async () => {
  const weak: SelfPlayPlayer = {
    network: hashNetwork('weak', { backendOptions: 'seed=7' }),
    limits: { visits: 10, playouts: null, movetimeMs: null },
  };
  const { summary, lines } = await play('pair', { players: [PLAYER, weak], games: 4 });
  assert.equal(summary.games, 4);
  assert.match(readFileSync(join(folder, 'pair.pgn'), 'utf8'), /\[White "weak"\]\n\[Black "N"\]/);
  assert.equal(lines.filter((line) => line.includes(' player1 white ')).length, 2);
  assert.match(lines.at(-1) ?? '', /^tournamentstatus final P1: /);
});

test('moves with too few visits are drawn again, and start other games', async () => {
  const settings = { minimumAllowedVisits: 19, discardedStartChance: 100 };
  const { lines } = await play('refused', { settings, parallelism: 1, games: 4 });
  const starts = lines.flatMap((line) => /play_start_ply (\d+)/.exec(line)?.[1] ?? []);
  assert.equal(starts[0], '0');
  assert.ok(
    starts.slice(1).some((ply) => Number(ply) > 0),
    starts.join(),
  );
});

test('a mate found in few visits is played, whatever the least number of visits', { timeout: 900_000 }, async () => {
  // Another move has six times its visits, and at temperature 0 every draw would be the mate again.
  const network = hashNetwork('M', { backendOptions: 'seed=3', params: { temperature: 0 } });
  const player: SelfPlayPlayer = { network, limits: { ...PLAYER.limits, visits: 500 } };
  const opening = { fen: 'k7/8/1K6/8/8/8/8/7R w - - 0 1', moves: [], origin: 'test' };
  const settings = { minimumAllowedVisits: 500 };
  const { summary, lines } = await play('mate', { players: [player, player], settings, opening, games: 1 });
  assert.deepEqual(summary.reasons, { checkmate: 1 });
  assert.match(lines[0], / moves h1h8 from_fen /);
});

test('resignation ends games; games that play on report the threshold that would have been wrong', async () => {
  const resign = { percentage: 60, isWdlStyle: false, earliestMove: 5, playthrough: 50 };
  const { summary, lines } = await play('resign', { settings: { resign }, games: 8 });
  assert.ok((summary.reasons.resignation ?? 0) >= 2);
  assert.ok(lines.some((line) => /^resign_report fp_threshold 0\.\d{6}$/.test(line)));
});

test('the mover resigns below the threshold, from the given move on, or wins by a sure result', () => {
  const rules = { percentage: 10, isWdlStyle: false, earliestMove: 3, playthrough: 0 };
  const watch = new ResignWatch(rules, true);
  assert.equal(watch.look(0, 2, -0.95, 0), null);
  assert.equal(watch.look(0, 3, -0.7, 0.1), null);
  assert.equal(watch.look(1, 3, -0.85, 0.1), '1-0');
  assert.ok(Math.abs(watch.getFalsePositiveThreshold('0-1') - 0.075) < 1e-9);
  assert.ok(Math.abs(watch.getFalsePositiveThreshold('1-0') - 0.025) < 1e-9);
  const sure = new ResignWatch({ ...rules, isWdlStyle: true }, true);
  assert.equal(sure.look(1, 3, 0.95, 0.02), '0-1');
  assert.equal(sure.look(0, 3, 0, 0.95), '1/2-1/2');
  assert.equal(new ResignWatch(rules, false).look(0, 9, -1, 0), null);
});

test('a game leaves its opening at every move alike when the chance is small', () => {
  const { startFen: fen, moves } = unwrap(readPgnGame(splitPgn('1. e4 e5 2. Nf3 Nc6')[0]));
  const prng = createPrng(3);
  const counts = [0, 0, 0, 0, 0];
  for (let i = 0; i < 5000; i++) {
    counts[shortenOpening({ fen, moves, origin: '' }, 0.01, prng).moves.length]++;
  }
  for (const count of counts) assert.ok(Math.abs(count - 1000) < 120, counts.join());
  assert.equal(shortenOpening({ fen, moves, origin: '' }, 0, prng).moves.length, 4);
});

test('lines are lc0’s', () => {
  const { moves } = unwrap(readPgnGame(splitPgn('1. Nf3 Nf6 2. g3 g6 3. Bg2 Bg7 4. O-O')[0]));
  const game: SelfPlayGame = {
    opening: { fen: START_FEN, moves, origin: '' },
    played: [],
    end: { result: '0-1', reason: 'resignation' },
    records: [],
    playouts: 0,
    falsePositiveThreshold: null,
  };
  assert.equal(
    formatGameReady(3, game, 'data/game_000003.gz'),
    'gameready trainingfile data/game_000003.gz gameid 3 play_start_ply 7 player1 black result blackwon ' +
      'moves g1f3 g8f6 g2g3 g7g6 f1g2 f8g7 e1h1',
  );
  const fen = '4k3/8/8/8/8/8/8/4K2R w K - 0 1';
  assert.equal(parseFen(fen).ok, true);
  assert.equal(
    formatGameReady(0, { ...game, opening: { fen, moves: [], origin: '' } }, ''),
    `gameready gameid 0 play_start_ply 0 player1 white result blackwon from_fen ${fen}`,
  );
  const counts = {
    asWhite: { wins: 3, draws: 2, losses: 1 },
    asBlack: { wins: 1, draws: 2, losses: 1 },
    playouts: 1000,
    moves: 8,
  };
  assert.equal(
    formatTournamentStatus(counts, true),
    'tournamentstatus final P1: +4 -2 =4 Win: 60.00% Elo: 70.44 LOS: 79.29% P1-W: +3 -1 =2 P1-B: +1 -1 =2 ' +
      'npm 125.000000 nodes 1000 moves 8',
  );
});
