import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { unwrap } from '#sardonyx/base/util/index.js';
import type { Move } from '#sardonyx/chess/rules/index.js';
import { createEngineSpec } from '#sardonyx/games/engines/index.js';
import { createCrosstable, formatCrosstable } from '#sardonyx/games/match/crosstable.js';
import { findLockOwner, lockResults, MatchLog, runMatch } from '#sardonyx/games/match/index.js';
import type { MatchPlan } from '#sardonyx/games/match/match.js';
import type { LoggedGame } from '#sardonyx/games/match/match-log.js';
import { createReport, distinguishNames, formatReport } from '#sardonyx/games/match/match-report.js';
import { Schedule } from '#sardonyx/games/match/schedule.js';
import { Standings } from '#sardonyx/games/match/standings.js';
import { CrashWatch, Tournament } from '#sardonyx/games/match/tournament.js';
import { createMatchOpenings } from '#sardonyx/games/openings/choose-openings.js';
import { NO_ADJUDICATION } from '#sardonyx/games/play/adjudication.js';
import type { Game, Thought } from '#sardonyx/games/play/game.js';
import { createPlayerSpec } from '#sardonyx/games/play/index.js';
import { createNetworkSource } from '#sardonyx/games/play/network-player.js';
import { NetworkPools } from '#sardonyx/games/play/network-pools.js';
import type { Player, PlayerLimits, PlayerSource } from '#sardonyx/games/play/player.js';
import { createRandomSource } from '#sardonyx/games/play/player-source.js';
import { type PlayerSpec, parsePlayerWords } from '#sardonyx/games/play/player-spec.js';
import { createUciSource } from '#sardonyx/games/play/uci-player.js';
import { SearchScheduler } from '#sardonyx/search/index.js';
import { createFaultyThread } from '../../support/evaluator-faults.js';
import { fakeEngine, skipWithoutStockfish, stockfish } from '../../support/shared-folder.js';
import { hashNetwork } from '../play/hash-network.js';

const folder = mkdtempSync(join(tmpdir(), 'sardonyx-match-'));
after(() => rmSync(folder, { recursive: true }));

const NODES: PlayerLimits = { timeControl: null, movetimeMs: null, nodes: 10, depth: null };
const fake = (name: string, limits: Partial<PlayerLimits> = {}, ...args: string[]): PlayerSource =>
  createUciSource({ ...fakeEngine(...args), name }, { ...NODES, ...limits }, false);

const BOOK = join(folder, 'book.pgn');
writeFileSync(
  BOOK,
  ['1. e4 e5 *', '1. d4 d5 *', '1. c4 c5 *', '1. Nf3 Nf6 *'].map((line) => `[Event "x"]\n\n${line}\n`).join('\n'),
);

interface Played {
  readonly tournament: Tournament;
  /** Of the first pairing. */
  readonly standings: Standings;
  readonly games: LoggedGame[];
}

async function play(players: PlayerSource[], change: Partial<MatchPlan> = {}): Promise<Played> {
  const games: LoggedGame[] = [];
  const book = { book: BOOK, maxPlies: null, order: 'sequential', seed: 1, games: 100, chess960: false } as const;
  const tournament = await runMatch({
    players,
    tournament: 'round-robin',
    games: 4,
    openings: unwrap(await createMatchOpenings(book)),
    chess960: false,
    rules: { ...NO_ADJUDICATION, maxPlies: 60 },
    tables: null,
    timeMarginMs: 50,
    concurrency: 2,
    recovers: false,
    seed: 5,
    sprt: null,
    event: 'test',
    log: unwrap(MatchLog.open({}, null, null)),
    signal: new AbortController().signal,
    onGame: (game) => games.push(game),
    ...change,
  });
  return { tournament, standings: tournament.pairings[0], games: games.sort((a, b) => a.game - b.game) };
}

test('each opening is played twice, with colours swapped', async () => {
  const { games, standings } = await play([fake('A'), createRandomSource('B')]);
  assert.deepEqual(
    games.map(({ white, opening }) => `${white} ${opening}`),
    ['A book.pgn, game 1', 'B book.pgn, game 1', 'A book.pgn, game 2', 'B book.pgn, game 2'],
  );
  const { wins, draws, losses } = standings.games;
  assert.equal(wins + draws + losses, 4);
  assert.equal(
    standings.pairCounts.reduce((sum, count) => sum + count, 0),
    2,
  );
});

test('many boards at a time cost no warning of Node', async (t) => {
  const warnings: Error[] = [];
  const note = (warning: Error): void => void warnings.push(warning);
  process.on('warning', note);
  t.after(() => process.off('warning', note));
  await play([createRandomSource('A'), createRandomSource('B')], { games: 24, concurrency: 12 });
  assert.deepEqual(warnings, []);
});

test('random movers play the same games again for the same seed, however many at a time', async () => {
  const run = async (concurrency: number, seed: number): Promise<string> => {
    const path = join(folder, `random-${concurrency}-${seed}.pgn`);
    const log = unwrap(MatchLog.open({}, null, path));
    const players: [PlayerSource, PlayerSource] = [createRandomSource('A'), createRandomSource('B')];
    await play(players, { concurrency, seed, log, games: 6 });
    const games = readFileSync(path, 'utf8').split('[Event').sort();
    return games
      .join('')
      .replace(/\d\.\d+s/g, '')
      .replace(/\s+/g, ' ');
  };
  assert.equal(await run(1, 3), await run(3, 3));
  assert.notEqual(await run(1, 4), await run(1, 3));
});

test('a match of random movers ends when the signal comes', async () => {
  const abort = new AbortController();
  const onGame = (): void => void setTimeout(() => abort.abort(), 0);
  const { tournament } = await play([createRandomSource('A'), createRandomSource('B')], {
    games: 100_000,
    signal: abort.signal,
    onGame,
  });
  assert.ok(tournament.played >= 1 && tournament.played < 100_000, `${tournament.played} games`);
});

test('a player that crashes, stalls or cheats loses that game, says why, and plays on', async () => {
  const clock = (periodMs: number) => ({
    nodes: null,
    timeControl: { movesPerPeriod: null, periodMs, incrementMs: 0 },
  });
  const crash = await play([fake('A', {}, '--crash-at=5'), fake('B')], { games: 2, concurrency: 1 });
  assert.equal(crash.games[0].reason, 'crash');
  assert.equal(crash.games[0].result, '0-1');
  assert.match(crash.games[0].fault ?? '', /A ended with code 3; it said: out of luck/);
  assert.equal(crash.games.length, 2);
  const illegal = await play([fake('A'), fake('B', {}, '--illegal-at=2')], { games: 1 });
  assert.deepEqual([illegal.games[0].reason, illegal.games[0].result], ['illegal-move', '1-0']);
  assert.match(illegal.games[0].fault ?? '', /B played a1a1 is illegal/);
  // The one has hardly any time, the other more than a busy machine takes.
  const slow = await play([fake('A', clock(200), '--think=400'), fake('B', clock(600_000))], { games: 1 });
  assert.deepEqual([slow.games[0].reason, slow.games[0].result], ['time', '0-1']);
  assert.match(slow.games[0].fault ?? '', /A used \d+ ms and lost on time/);
});

test('an engine that dies at ucinewgame is started again, and loses the game only when it dies there again', async () => {
  const now = await play([fake('A', {}, '--crash-at-game=2'), fake('B')], { games: 4, concurrency: 1 });
  assert.deepEqual([now.games.length, now.games.filter(({ reason }) => reason === 'crash').length], [4, 0]);
  const always = await play([fake('A', {}, '--crash-at-game=1'), fake('B')], { games: 2, recovers: true });
  assert.deepEqual(always.games.map(({ game, result, reason, plies }) => [game, result, reason, plies]).sort(), [
    [0, '0-1', 'crash', 2],
    [1, '1-0', 'crash', 2],
  ]);
  assert.match(always.games[0].fault ?? '', /A ended with code 3; it said: out of luck/);
});

test('a book of Chess960 positions is refused unless the match is one of Chess960', async () => {
  const path = join(folder, 'book-960.epd');
  writeFileSync(path, 'nrbnbkrq/pppppppp/8/8/8/8/PPPPPPPP/NRBNBKRQ w KQkq -\n');
  const request = { book: path, maxPlies: null, order: 'sequential', seed: 1, games: 2 } as const;
  const refused = await createMatchOpenings({ ...request, chess960: false });
  assert.equal(
    refused.ok ? '' : refused.error,
    'book-960.epd, line 1 is a position of Chess960: play the match with --chess960',
  );
  assert.ok((await createMatchOpenings({ ...request, chess960: true })).ok);
});

test('what is dropped from the positions of a book is said', async () => {
  const path = join(folder, 'book-rights.epd');
  writeFileSync(path, 'rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBN1 w KQkq -\n'.repeat(14));
  const notes: string[] = [];
  const request = { book: path, maxPlies: null, order: 'sequential', seed: 1, games: 28, chess960: false } as const;
  assert.ok((await createMatchOpenings({ ...request, onNote: (note) => notes.push(note) })).ok);
  assert.match(notes[9], /^book-rights\.epd, line 10: The castling right K was dropped/);
  assert.deepEqual(notes.slice(10), ['4 more notes on openings are left out']);
});

test('an engine that cannot start ends the match with its sentence', async () => {
  const missing = createUciSource({ ...fakeEngine(), name: 'Missing', command: '/no/such/engine' }, NODES, false);
  await assert.rejects(play([missing, createRandomSource('B')]), /cannot be started/);
  // Node refuses some programs at once, by an exception; on Windows those are batch files and files that are no programs.
  const refused = createUciSource({ ...fakeEngine(), name: 'Refused', command: 'a\0b' }, NODES, false);
  await assert.rejects(play([refused, createRandomSource('B')]), /^EngineError: Refused cannot be started: /);
});

test('a path with spaces names a player, in quotes or not', () => {
  const path = 'C:\\Program Files\\x.exe';
  for (const text of [`"${path}" nodes=5`, `'${path}' nodes=5`, `${path} nodes=5`, `cmd="${path}" nodes=5`]) {
    assert.deepEqual(unwrap(parsePlayerWords(text)), [
      ['cmd', path],
      ['nodes', '5'],
    ]);
  }
  assert.deepEqual(unwrap(parsePlayerWords(`"${path}"`)), [['cmd', path]]);
  assert.deepEqual(unwrap(parsePlayerWords('my net.onnx')), [['weights', 'my net.onnx']]);
});

test('a lock of results holds as long as the process that wrote it, not another with its number', () => {
  const path = join(folder, 'locked.jsonl');
  const unlock = unwrap(lockResults(path));
  const [, start] = readFileSync(`${path}.lock`, 'utf8').split(' ');
  assert.equal(typeof start, 'string');
  unlock();
  const parent = process.ppid;
  writeFileSync(`${path}.lock`, String(parent));
  assert.equal(findLockOwner(path), parent);
  writeFileSync(`${path}.lock`, `${parent} 12`);
  assert.equal(findLockOwner(path), null);
});

test('a process that has ended holds no lock, also where nobody asks for its exit status', {
  skip: process.platform !== 'linux' && 'only Linux shows it',
}, async () => {
  // The shell becomes a program that never asks.
  const shell = spawn('sh', ['-c', 'sleep 0 & echo $!; exec tail -f /dev/null']);
  const [line] = await once(createInterface({ input: shell.stdout }), 'line');
  const path = join(folder, 'ended.jsonl');
  writeFileSync(`${path}.lock`, String(line));
  while (findLockOwner(path) !== null) await sleep(10);
  assert.match(readFileSync(`/proc/${line}/stat`, 'utf8'), /\) Z /);
  shell.kill();
});

/** Plays the first legal move, its n-th player after n times the delay. */
function createSlowSource(delayMs: number): PlayerSource & { countThinking(): number } {
  let players = 0;
  let thinking = 0;
  const create = async (): Promise<Player> => {
    const think = async (game: Game, pauseMs: number): Promise<Thought> => {
      thinking++;
      await sleep(pauseMs);
      thinking--;
      const legal = new Uint16Array(256);
      game.position.generateLegalMoves(legal);
      return { move: legal[0] as Move, score: null, depth: 0, nodes: 0, timeMs: null };
    };
    const pauseMs = delayMs * ++players;
    return {
      name: 'slow',
      limits: NODES,
      startGame: async () => undefined,
      think: (game) => think(game, pauseMs),
      close: async () => undefined,
    };
  };
  return { name: 'slow', limits: NODES, create, countThinking: () => thinking };
}

test('an error of one game ends the match when nobody is thinking any more', async () => {
  const source = createSlowSource(50);
  const onGame = (): void => {
    throw new Error('the disk is full');
  };
  const rules = { ...NO_ADJUDICATION, maxPlies: 3 };
  await assert.rejects(play([source, source], { games: 10, rules, concurrency: 3, onGame }), /the disk is full/);
  assert.equal(source.countThinking(), 0);
});

test('a match goes on where it was killed, with results and PGN in step', async () => {
  const results = join(folder, 'resume.jsonl');
  const pgn = join(folder, 'resume.pgn');
  const conditions = { seed: 5 };
  const players = (): [PlayerSource, PlayerSource] => [createRandomSource('A'), createRandomSource('B')];
  const abort = new AbortController();
  await play(players(), {
    games: 8,
    log: unwrap(MatchLog.open(conditions, results, pgn)),
    signal: abort.signal,
    onGame: (_, standings) => standings.played === 3 && abort.abort(),
  });
  const interrupted = readFileSync(pgn, 'utf8').split('[Event').length - 1;
  assert.ok(interrupted >= 3 && interrupted < 8);
  appendFileSync(results, '{"game":7,"whi');
  appendFileSync(pgn, '[Event "half a game');
  const log = unwrap(MatchLog.open(conditions, results, pgn));
  assert.equal(log.earlier.length, interrupted);
  const { games, standings } = await play(players(), { games: 8, log });
  assert.equal(games.length, 8 - interrupted);
  assert.equal(standings.played, 8);
  assert.equal(readFileSync(pgn, 'utf8').split('[Event "test"]').length - 1, 8);
  assert.equal(new Set(unwrap(MatchLog.open(conditions, results, pgn)).earlier.map(({ game }) => game)).size, 8);
  const whole = readFileSync(pgn, 'utf8');
  for (const added of [
    'A text of somebody else.\n',
    whole.slice(whole.indexOf('[Event'), whole.indexOf('[Event', 1)),
    '[Event "of another program"]\n[Round "x"]\n\n1. e4 *\n\n1. d4 *\n',
  ]) {
    writeFileSync(pgn, whole + added);
    unwrap(MatchLog.open(conditions, results, pgn));
    assert.equal(readFileSync(pgn, 'utf8'), whole + added);
  }
  const other = MatchLog.open({ seed: 6 }, results, pgn);
  assert.match(other.ok ? '' : other.error, /other conditions/);
});

test('a results file without a game is replaced by a match under other conditions, any other text is not', () => {
  const results = join(folder, 'unplayed.jsonl');
  const begin = JSON.stringify({ conditions: { seed: 5 } });
  const row = JSON.stringify({ game: 0, white: 'A', black: 'B', result: '1-0', reason: 'checkmate' });
  for (const text of ['', `${begin}\n`, begin, begin.slice(0, 20), `${begin}\n${row.slice(0, 30)}`]) {
    writeFileSync(results, text);
    assert.deepEqual(unwrap(MatchLog.open({ seed: 6 }, results, null)).earlier, []);
    assert.equal(readFileSync(results, 'utf8'), '{"conditions":{"seed":6}}\n');
  }
  for (const text of [`${begin}\n${row}\n`, 'notes\n', '{"seed":5}\n', '5\n']) {
    writeFileSync(results, text);
    assert.equal(MatchLog.open({ seed: 6 }, results, null).ok, false);
    assert.equal(readFileSync(results, 'utf8'), text);
  }
});

test('players have names of one line each, and those of the same name get numbers', () => {
  assert.deepEqual(
    distinguishNames(['a\nb', 'a\t b', '\u0000a b\u0085', 'שלום\u200f']),
    ['a b', 'a  b', 'a b', 'שלום\u200f'].map((name, i) => (name === 'a b' ? `a b ${i + 1}` : name)),
  );
});

test('the sequential test ends a match early', async () => {
  const sprt = { elo0: 0, elo1: 200, alpha: 0.05, beta: 0.05, model: 'logistic' } as const;
  const rules = { ...NO_ADJUDICATION, resign: { moveCount: 1, score: 500, isTwoSided: false } };
  const { standings } = await play([fake('A'), fake('B', {}, '--score=-600')], { games: 100, sprt, rules });
  assert.ok(standings.played < 50, `${standings.played} games`);
  assert.equal(createReport(['A', 'B'], standings, sprt).sprt?.verdict, 'elo1');
});

test('standings count pairs when both games are known', () => {
  const standings = new Standings();
  standings.add(0, { result: '1-0', reason: 'checkmate' });
  standings.add(3, { result: '1-0', reason: 'checkmate' });
  assert.deepEqual(standings.pairCounts, [0, 0, 0, 0, 0]);
  standings.add(1, { result: '1/2-1/2', reason: 'stalemate' });
  standings.add(2, { result: '0-1', reason: 'time' });
  assert.deepEqual(standings.pairCounts, [1, 0, 0, 1, 0]);
  assert.deepEqual(standings.games, { wins: 1, draws: 1, losses: 2 });
  assert.deepEqual(standings.gamesByColor, [
    { wins: 1, draws: 0, losses: 1 },
    { wins: 0, draws: 1, losses: 1 },
  ]);
  const text = formatReport(createReport(['A', 'B'], standings, null));
  assert.match(text, /Games: 4, Wins: 1, Losses: 2, Draws: 1, Points: 1\.5 \(37\.50 %\)/);
  assert.match(text, /Pairs\(0-2\): \[1, 0, 0, 1, 0\]/);
  assert.match(text, /Ends: checkmate 2, stalemate 1, time 1/);
});

function specOf(text: string): PlayerSpec {
  return unwrap(createPlayerSpec(unwrap(parsePlayerWords(text))));
}

test('players are described in one word, by keys, or both', () => {
  assert.deepEqual(specOf('random'), { kind: 'random', name: 'random' });
  assert.deepEqual(specOf('random name=Dice'), { kind: 'random', name: 'Dice' });
  assert.deepEqual(specOf('a.onnx nodes=5 name=A'), specOf('weights=a.onnx nodes=5 name=A'));
  assert.deepEqual(specOf('sf args="-x y" nodes=7'), specOf('cmd=sf args="-x y" nodes=7'));
  const engine = specOf('cmd=sf option.Hash=4 st=0.5 depth=3 nodes=7');
  assert.equal(engine.kind, 'uci');
  assert.deepEqual(engine.kind === 'uci' && engine.limits, { timeControl: null, movetimeMs: 500, nodes: 7, depth: 3 });
  assert.deepEqual(specOf('weights=a.onnx nodes=5 cpuct=2'), {
    kind: 'network',
    name: null,
    weights: 'a.onnx',
    limits: { timeControl: null, movetimeMs: null, nodes: 5, depth: null },
    options: [['cpuct', '2']],
  });
  assert.equal(unwrap(parsePlayerWords('net.pb.gz'))[0][0], 'weights');
  const errorOf = (text: string): string => {
    const spec = createPlayerSpec(unwrap(parsePlayerWords(text)));
    return spec.ok ? '' : spec.error;
  };
  assert.match(errorOf('cmd=sf'), /sf has no limit/);
  assert.match(errorOf('cmd=sf nodes=5 fast=1'), /takes no "fast="/);
  assert.match(errorOf('cmd=sf nodes=zero'), /nodes needs a whole number/);
  assert.match(errorOf('name=x'), /A player is/);
});

test('Stockfish beats the random mover', { skip: skipWithoutStockfish }, async () => {
  const { spec } = unwrap(createEngineSpec([['cmd', stockfish.command]]));
  const strong = createUciSource({ ...spec, name: 'Stockfish' }, { ...NODES, nodes: 500 }, false);
  const { standings } = await play([strong, createRandomSource('random')], { rules: NO_ADJUDICATION });
  assert.equal(standings.games.wins, 4);
});

test('two networks play in this process, and the same match again is the same', async () => {
  const run = async (concurrency: number): Promise<string[]> => {
    const table = { pools: new NetworkPools(), scheduler: new SearchScheduler(), concurrency: 4 };
    const limits = { ...NODES, nodes: 30 };
    const first = createNetworkSource(hashNetwork('A'), 'A', limits, table);
    const second = createNetworkSource(hashNetwork('B', { backendOptions: 'seed=3' }), 'B', limits, table);
    const { games } = await play([first, second], { concurrency, games: 6 }).finally(() => table.pools.close());
    return games.map(({ result, reason, plies }) => `${result} ${reason} ${plies}`);
  };
  const one = await run(1);
  assert.equal(one.length, 6);
  assert.deepEqual(await run(4), one);
});

test('a network plays a UCI engine under a clock', async () => {
  const table = { pools: new NetworkPools(), scheduler: new SearchScheduler(), concurrency: 2 };
  const limits = { ...NODES, nodes: null, timeControl: { movesPerPeriod: null, periodMs: 3000, incrementMs: 20 } };
  const network = createNetworkSource(hashNetwork('A'), 'A', limits, table);
  const rules = { ...NO_ADJUDICATION, maxPlies: 30 };
  const { games } = await play([network, fake('B')], { games: 2, rules }).finally(() => table.pools.close());
  assert.ok(games.every(({ reason }) => reason !== 'time' && reason !== 'crash'));
});

test('a network that cannot evaluate any more ends the match, and none of its games is lost by that', async () => {
  const table = { pools: new NetworkPools(), scheduler: new SearchScheduler(), concurrency: 1 };
  const faulty = hashNetwork('A', { threadScript: createFaultyThread({ failAfter: 5, fallbackFails: true }) });
  const network = createNetworkSource(faulty, 'A', { ...NODES, nodes: 30 }, table);
  const games: LoggedGame[] = [];
  await assert.rejects(
    play([network, createRandomSource('B')], { games: 4, recovers: true, onGame: (game) => void games.push(game) }),
    /^Error: The match ends because A cannot evaluate any more: made to fail when falling back$/,
  );
  await table.pools.close();
  assert.deepEqual(games, []);
});

test('three games in a row that an engine loses by crashing end the match, unless it is to recover', async () => {
  const crashing = (name: string): PlayerSource => fake(name, {}, '--crash-at=1');
  for (const concurrency of [1, 3]) {
    const games: LoggedGame[] = [];
    const change = { games: 10, concurrency, onGame: (game: LoggedGame) => void games.push(game) };
    await assert.rejects(
      play([createRandomSource('A'), crashing('B')], change),
      /^Error: The match ends because B has crashed in 3 games in a row; the last time: B ended with code 3; it said: out of luck$/,
    );
    assert.deepEqual(
      games.map(({ reason }) => reason),
      Array(3).fill('crash'),
    );
  }
  const { standings } = await play([createRandomSource('A'), crashing('B')], { games: 5, recovers: true });
  assert.deepEqual(standings.reasonCounts, { crash: 5 });
});

test('crashes in a row are counted from the last game that was played to its end', () => {
  const watch = new CrashWatch();
  for (let round = 0; round < 5; round++) {
    assert.equal(watch.add([0, 1], 1), null);
    assert.equal(watch.add([1, 0], 1), null);
    assert.equal(watch.add([0, 1], 0), null);
    assert.equal(watch.add([1, 0], null), null);
  }
  const alternating = new CrashWatch();
  const broken = [0, 1, 2, 3, 4].map((game) => alternating.add([0, 1], game % 2));
  assert.deepEqual(broken, [null, null, null, null, 0]);
});

test('a schedule plays every pairing in rounds of one opening, and longer matches keep the numbers of their games', () => {
  const roundRobin = new Schedule('round-robin', 4, 3);
  assert.deepEqual(roundRobin.pairings, [
    [0, 1],
    [0, 2],
    [0, 3],
    [1, 2],
    [1, 3],
    [2, 3],
  ]);
  assert.equal(roundRobin.totalGames, 18);
  const games: number[] = [];
  for (let game = roundRobin.findNext(0); game !== null; game = roundRobin.findNext(game + 1)) games.push(game);
  assert.equal(games.length, 18);
  assert.deepEqual(games.slice(12), [12, 14, 16, 18, 20, 22]);
  for (const game of games) {
    const { white, black, round, pairing, numberInPairing } = roundRobin.at(game);
    assert.deepEqual(roundRobin.pairings[pairing], numberInPairing % 2 === 0 ? [white, black] : [black, white]);
    assert.equal(round, numberInPairing >> 1);
    assert.deepEqual(new Schedule('round-robin', 4, 10).at(game), roundRobin.at(game));
  }
  assert.deepEqual(new Schedule('gauntlet', 4, 2).pairings, [
    [0, 1],
    [0, 2],
    [0, 3],
  ]);
});

test('a tournament of several players has a crosstable with points, ranks and forfeits of each kind', async () => {
  const clock = { nodes: null, timeControl: { movesPerPeriod: null, periodMs: 200, incrementMs: 100 } };
  const rules = { ...NO_ADJUDICATION, resign: { moveCount: 1, score: 500, isTwoSided: false }, maxPlies: 8 };
  const players = [
    fake('Good', {}, '--score=10'),
    fake('Weak', {}, '--score=-600'),
    fake('Crashing', {}, '--crash-at=2'),
    fake('Slow', clock, '--think=400'),
  ];
  const { tournament, games } = await play(players, { games: 2, rules, recovers: true });
  assert.equal(games.length, 12);
  assert.equal(new Set(games.slice(0, 12).map(({ opening }) => opening)).size, 1, 'one opening a round');
  const names = ['Good', 'Weak', 'Crashing', 'Slow'];
  const table = createCrosstable(names, tournament);
  const { table: rows } = table;
  assert.equal(
    rows.reduce((sum, { points }) => sum + points, 0),
    12,
  );
  assert.equal(rows[0].player, 'Good');
  const rowOf = (name: string) => rows.find(({ player }) => player === name) ?? assert.fail(name);
  assert.ok(rowOf('Slow').forfeits.time > 0 && rowOf('Slow').forfeits.crash === 0);
  assert.ok(rowOf('Crashing').forfeits.crash > 0 && rowOf('Crashing').forfeits.time === 0);
  assert.deepEqual(rowOf('Good').forfeits, { time: 0, crash: 0, illegalMove: 0 });
  for (const [i, { against, points, games: played }] of rows.entries()) {
    assert.equal(against[i], null);
    assert.equal(
      against.reduce((sum, cell) => sum + (cell?.points ?? 0), 0),
      points,
    );
    assert.equal(played, 6);
  }
  const text = formatCrosstable(table);
  assert.match(
    text,
    /^Results of 12 games:\n# {2}Player +Elo +\+\/- +Points +Games +Score +1 +2 +3 +4 +Forfeits\n1 {2}Good/,
  );
  assert.match(text, /Slow .* time \d/);
  assert.match(text, /Crashing .* crash \d/);
});

test('an unfinished tournament goes on with the games that are missing', async () => {
  const results = join(folder, 'tournament.jsonl');
  const names = ['A', 'B', 'C'];
  const abort = new AbortController();
  const sources = (): PlayerSource[] => names.map((name) => createRandomSource(name));
  await play(sources(), {
    log: unwrap(MatchLog.open({}, results, null)),
    signal: abort.signal,
    onGame: (_, { played }) => played === 5 && abort.abort(),
  });
  const log = unwrap(MatchLog.open({}, results, null));
  const { tournament, games } = await play(sources(), { log });
  assert.equal(tournament.played, 12);
  assert.equal(games.length, 12 - log.earlier.length);
  assert.equal(
    formatCrosstable(createCrosstable(names, new Tournament(new Schedule('gauntlet', 3, 2)))).split('\n').length,
    6,
  );
});
