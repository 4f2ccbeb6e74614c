import assert from 'node:assert/strict';
import { appendFileSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { createPrng, unwrap } from '#sardonyx/base/util/index.js';
import { computeOutcome, parseFen, parseUciMove } from '#sardonyx/chess/rules/index.js';
import type { EngineSpec } from '#sardonyx/games/engines/index.js';
import {
  createGameJobs,
  LabelFiles,
  type LabelSettings,
  openStartBooks,
  runLabelling,
} from '#sardonyx/games/labels/index.js';
import type { LabelledGameRecord } from '#sardonyx/games/labels/label-record.js';
import { createRandomEndgame, parseStartSource } from '#sardonyx/games/labels/label-starts.js';
import { chooseWanderingMove } from '#sardonyx/games/labels/labelled-game.js';
import { fakeEngine, skipWithoutStockfish, stockfish } from '../../support/shared-folder.js';

const root = mkdtempSync(join(tmpdir(), 'sardonyx-label-'));
after(() => rmSync(root, { recursive: true }));

const SETTINGS: LabelSettings = {
  seed: 3,
  nodes: 100,
  multiPv: 5,
  wander: [0.2, 0.6],
  blunder: [0, 0.1],
  temperatureCp: 150,
  resignCp: 900,
  resignPlies: 5,
  playOut: 0.25,
  maxPlies: 40,
  sources: [
    { book: 'startpos', weight: 2, randomPlies: [1, 9] },
    { book: 'endgames', weight: 1, randomPlies: [0, 0] },
  ],
};

interface Options {
  readonly settings?: LabelSettings;
  readonly engine?: EngineSpec;
  readonly games: number;
  readonly concurrency?: number;
  readonly pliesPerFile?: number;
  readonly warnings?: string[];
  /** Abort after so many games. */
  readonly abortAfter?: number;
}

async function label(name: string, options: Options): Promise<LabelFiles> {
  const settings = options.settings ?? SETTINGS;
  const files = unwrap(LabelFiles.open(join(root, name), 'x', settings, options.pliesPerFile ?? 100));
  const abort = new AbortController();
  await runLabelling({
    engine: options.engine ?? fakeEngine(),
    multiPv: settings.multiPv,
    jobs: createGameJobs(settings, unwrap(await openStartBooks(settings.sources)), null, files.games, options.games),
    files,
    concurrency: options.concurrency ?? 1,
    signal: abort.signal,
    onProgress: () => files.games === options.abortAfter && abort.abort(),
    onWarning: (text) => options.warnings?.push(text),
  });
  if (files.games >= options.games) files.finishPart();
  return files;
}

function readGames(name: string): LabelledGameRecord[] {
  const folder = join(root, name);
  const names = readdirSync(folder).filter((file) => file.endsWith('.jsonl.gz'));
  const text = names.sort().map((file) => gunzipSync(readFileSync(join(folder, file))).toString());
  return text.flatMap((lines) => lines.trim().split('\n')).map((line) => JSON.parse(line) as LabelledGameRecord);
}

function checkGame(game: LabelledGameRecord): void {
  const position = unwrap(parseFen(game.fen));
  for (const [played, scores] of game.plies) {
    const legal = position.countLegalMoves();
    if (scores.length > 0) assert.equal(scores.length, Math.min(5, legal));
    for (let i = 0; i < scores.length; i++) {
      assert.equal(parseUciMove(position, scores[i][0]).ok, true);
      assert.ok(i === 0 || scores[i][1] <= scores[i - 1][1]);
    }
    position.makeMove(unwrap(parseUciMove(position, played)));
  }
  if (computeOutcome(position) === 'checkmate') assert.equal(game.result, position.sideToMove === 0 ? '0-1' : '1-0');
  if (computeOutcome(position) === 'ongoing') assert.notEqual(game.result, '1/2-1/2');
}

test('labelled games are legal, sorted and split over files; random plies carry no scores', async () => {
  const files = await label('plain', { games: 8 });
  assert.equal(files.games, 8);
  const games = readGames('plain');
  assert.equal(games.length, 8);
  assert.ok(readdirSync(join(root, 'plain')).length > 3);
  for (const game of games) checkGame(game);
  assert.ok(games.some(({ plies, result }) => plies.length === SETTINGS.maxPlies && result === '*'));
  assert.ok(games.some((game) => game.plies[0][1].length === 0));
  assert.ok(games.every((game) => game.plies.slice(9).every(([, scores]) => scores.length > 0)));
});

test('two engine processes write the same files as one', async () => {
  await label('pair', { games: 8, concurrency: 2 });
  assert.deepEqual(readGames('pair'), readGames('plain'));
});

test('a run that was interrupted, and then killed in the middle of a line, goes on where it was', async () => {
  await label('killed', { games: 8, abortAfter: 3 });
  const part = readdirSync(join(root, 'killed')).find((file) => file.endsWith('.part'));
  if (part !== undefined) appendFileSync(join(root, 'killed', part), '{"fen":"rnbq');
  const files = await label('killed', { games: 8 });
  assert.equal(files.games, 8);
  assert.deepEqual(readGames('killed'), readGames('plain'));
});

test('a source left behind by a kill right after compression is not counted twice', async () => {
  const manifest = JSON.parse(readFileSync(join(root, 'plain', 'x.json'), 'utf8'));
  const last = String(manifest.files.length - 1).padStart(4, '0');
  writeFileSync(join(root, 'plain', `x_${last}.jsonl.part`), '{"fen":"","result":"1-0","plies":[]}\n');
  assert.equal(unwrap(LabelFiles.open(join(root, 'plain'), 'x', SETTINGS, 100)).games, 8);
  assert.equal(existsSync(join(root, 'plain', `x_${last}.jsonl.part`)), false);
});

test('what an interrupted run has left is damaged: one sentence', () => {
  const open = (): string => {
    const opened = LabelFiles.open(join(root, 'damaged'), 'x', SETTINGS, 100);
    return opened.ok ? '' : opened.error;
  };
  assert.equal(open(), '');
  writeFileSync(join(root, 'damaged', 'x_0000.jsonl.part'), 'x\n');
  assert.match(open(), /x_0000\.jsonl\.part is damaged: /);
  writeFileSync(join(root, 'damaged', 'x.json'), JSON.stringify({ settings: SETTINGS }));
  assert.match(open(), /x\.json is damaged: it lists no files/);
});

test('a run with other settings is refused', () => {
  const opened = LabelFiles.open(join(root, 'plain'), 'x', { ...SETTINGS, nodes: 5 }, 100);
  assert.match(opened.ok ? '' : opened.error, /other settings/);
});

test('an engine that crashes is started again and the game is the same', async () => {
  const warnings: string[] = [];
  const settings = { ...SETTINGS, maxPlies: 12 };
  await label('reference', { settings, games: 3 });
  await label('crash', { settings, games: 3, engine: fakeEngine('--crash-at=20'), warnings });
  assert.ok(warnings.length > 0);
  assert.match(warnings[0], /ended with code 3.*playing game \d+ again/);
  assert.deepEqual(readGames('crash'), readGames('reference'));
});

test('an engine that always crashes ends the run with its sentence', async () => {
  await assert.rejects(label('hopeless', { games: 2, engine: fakeEngine('--crash-at=1') }), /ended with code 3/);
});

test('a hopeless score ends a game with the right winner', async () => {
  const settings = {
    ...SETTINGS,
    playOut: 0,
    sources: [{ book: 'startpos', weight: 1, randomPlies: [0, 0] as const }],
  };
  await label('resign', { settings, games: 1, engine: fakeEngine('--score=950') });
  const [game] = readGames('resign');
  // The side to move always thinks it wins, so the last mover does.
  assert.equal(game.plies.length, 5);
  assert.equal(game.result, '1-0');
});

test('the best move is played most, blunders are any legal move', () => {
  const prng = createPrng(1);
  const scored = ['a', 'b', 'c'].map((move, i) => [move, -50 * i] as const);
  const legal = ['a', 'b', 'c', 'd', 'e'];
  const counts: Record<string, number> = {};
  for (let i = 0; i < 20_000; i++) {
    const move = chooseWanderingMove(prng, scored, legal, { wander: 0.4, blunder: 0.1, temperatureCp: 100 });
    counts[move] = (counts[move] ?? 0) + 1;
  }
  const weights = [0, 0.5, 1].map((x) => Math.exp(-x));
  const sum = weights[0] + weights[1] + weights[2];
  assert.ok(Math.abs(counts.a / 20_000 - (0.5 + 0.02 + (0.4 * weights[0]) / sum)) < 0.02);
  assert.ok(Math.abs(counts.c / 20_000 - (0.02 + (0.4 * weights[2]) / sum)) < 0.02);
  assert.ok(Math.abs(counts.e / 20_000 - 0.02) < 0.01);
});

test('random endgames are legal, quiet and undecided', () => {
  const prng = createPrng(5);
  for (let i = 0; i < 200; i++) {
    const position = unwrap(parseFen(createRandomEndgame(prng)));
    assert.equal(position.inCheck(), false);
    assert.equal(computeOutcome(position), 'ongoing');
  }
});

test('sources of starting positions are read from text', () => {
  assert.deepEqual(unwrap(parseStartSource('b.epd')), { book: 'b.epd', weight: 1, randomPlies: [0, 0] });
  assert.deepEqual(unwrap(parseStartSource('startpos:2.5:1-9')), {
    book: 'startpos',
    weight: 2.5,
    randomPlies: [1, 9],
  });
  assert.deepEqual(unwrap(parseStartSource('C:\\b.epd:2')), { book: 'C:\\b.epd', weight: 2, randomPlies: [0, 0] });
  assert.equal(parseStartSource('b.epd:1:9-1').ok, false);
});

test('Stockfish labels a game', { skip: skipWithoutStockfish }, async () => {
  await label('stockfish', { games: 1, engine: stockfish, settings: { ...SETTINGS, nodes: 500 } });
  checkGame(readGames('stockfish')[0]);
});
