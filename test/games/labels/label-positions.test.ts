/** `label --from`: positions of existing files, leaves of our search, and how far a network's first impression is off. */
import assert from 'node:assert/strict';
import { appendFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { gunzipSync, gzipSync } from 'node:zlib';
import { createPrng, unwrap } from '#sardonyx/base/util/index.js';
import { computeOutcome, parseFen, parseUciMove } from '#sardonyx/chess/rules/index.js';
import {
  createPositionJobs,
  LabelFiles,
  LabelNetwork,
  openSources,
  type PositionSettings,
  readSources,
  runLabelling,
  type SourceFilter,
} from '#sardonyx/games/labels/index.js';
import { countScored, type LabelledGameRecord } from '#sardonyx/games/labels/label-record.js';
import { computeDivergence, computeTarget, computeWinMinusLoss } from '#sardonyx/games/labels/label-target.js';
import { PositionSet } from '#sardonyx/games/labels/position-set.js';
import { NetworkPools } from '#sardonyx/games/play/index.js';
import { parseLabelledGame, resolveMoves } from '#sardonyx/games/records/labelled-games.js';
import { fakeEngine } from '../../support/shared-folder.js';
import { hashNetwork } from '../play/hash-network.js';

const root = mkdtempSync(join(tmpdir(), 'sardonyx-label-from-'));
after(() => rmSync(root, { recursive: true }));

const GAMES = [
  ['Sardonyx', 'Other', '1-0', '1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 1-0'],
  ['Other', 'Sardonyx', '1-0', '1. e4 e5 2. Nf3 Nc6 3. Bc4 Nf6 1-0'],
  ['sardonyx', 'Other', '1/2-1/2', '1. d4 d5 2. c4 e6 1/2-1/2'],
  ['Other', 'Third', '0-1', '1. c4 c5 0-1'],
  ['Third', 'Sardonyx', '1-0', '1. d4 Nf6 2. c4 g6 1-0'],
];
const PGN = GAMES.map(
  ([white, black, result, moves]) => `[White "${white}"]\n[Black "${black}"]\n[Result "${result}"]\n\n${moves}\n\n`,
).join('');
const pgnPath = join(root, 'games.pgn.gz');
writeFileSync(pgnPath, gzipSync(PGN));

interface Options extends Partial<PositionSettings> {
  readonly paths?: readonly string[];
  readonly games?: number;
  readonly concurrency?: number;
  readonly abortAfter?: number;
  readonly network?: LabelNetwork;
  readonly pliesPerFile?: number;
  readonly warnings?: string[];
}

async function label(name: string, options: Options): Promise<LabelFiles> {
  const {
    paths = [pgnPath],
    games = 1000,
    concurrency = 1,
    abortAfter,
    network,
    pliesPerFile = 1000,
    warnings,
    ...own
  } = options;
  const filter: SourceFilter = { player: own.player ?? null, results: own.results ?? [] };
  const from = unwrap(await openSources(paths, filter));
  const settings: PositionSettings = {
    ...filter,
    seed: 5,
    nodes: 10,
    multiPv: 3,
    from,
    sample: 1,
    skipPlies: 0,
    playerToMove: false,
    labelsRoots: true,
    leaves: 0,
    leafNodes: 20,
    ...own,
  };
  const files = unwrap(LabelFiles.open(join(root, name), 'x', settings, pliesPerFile));
  const abort = new AbortController();
  const onWarning = (text: string): void => void warnings?.push(text);
  let jobs = 0;
  await runLabelling({
    engine: fakeEngine(),
    multiPv: settings.multiPv,
    jobs: createPositionJobs({
      sources: readSources(from, filter, { onBytes: () => undefined, onWarning }),
      settings,
      network: network ?? null,
      earlier: files.readRecords(),
      finished: files.finishedSources,
      games,
      onWarning,
    }),
    files,
    concurrency,
    signal: abort.signal,
    onProgress: () => ++jobs === abortAfter && abort.abort(),
    onWarning,
  });
  if (!abort.signal.aborted) files.finishPart();
  return files;
}

function readLines(name: string): LabelledGameRecord[] {
  const folder = join(root, name);
  const names = readdirSync(folder).filter((file) => file.endsWith('.jsonl.gz'));
  const text = names.sort().map((file) => gunzipSync(readFileSync(join(folder, file))).toString());
  return text.flatMap((lines) => lines.trim().split('\n')).map((line) => JSON.parse(line) as LabelledGameRecord);
}

/** Checks that moves are legal and no position is scored twice. @returns number of scored positions */
function checkLines(lines: readonly LabelledGameRecord[]): number {
  const seen = new Set<string>();
  let scored = 0;
  for (const { fen, plies } of lines) {
    const position = unwrap(parseFen(fen));
    for (const [played, scores] of plies) {
      for (const [move] of scores) assert.ok(parseUciMove(position, move).ok);
      if (scores.length > 0) {
        assert.equal(computeOutcome(position), 'ongoing');
        seen.add(`${position.keyLow} ${position.keyHigh}`);
        scored++;
      }
      position.makeMove(unwrap(parseUciMove(position, played)));
    }
  }
  assert.equal(seen.size, scored, 'a position was labelled twice');
  return scored;
}

async function withNetwork<T>(use: (network: LabelNetwork) => Promise<T>): Promise<T> {
  const pools = new NetworkPools();
  try {
    const setup = hashNetwork('hash');
    return await use(await LabelNetwork.open({ search: setup, impression: setup }, pools));
  } finally {
    await pools.close();
  }
}

test('the games of a file keep moves and results, and each position is scored once', async () => {
  await label('all', {});
  const lines = readLines('all');
  assert.deepEqual(
    lines.map(({ result }) => result),
    GAMES.map(([, , result]) => result),
  );
  assert.deepEqual(
    lines[1].plies.map(([played]) => played),
    ['e2e4', 'e7e5', 'g1f3', 'b8c6', 'f1c4', 'g8f6'],
  );
  // 1. e4 e5 2. Nf3 Nc6 stands in two games, 1. d4 in two, and the initial position in all.
  assert.deepEqual(lines.map(countScored), [6, 1, 3, 1, 2]);
  checkLines(lines);
});

test('a player’s lost games come first, then the drawn ones, and only with the player to move', async () => {
  await label('lost', { player: 'Sardonyx', results: ['lost', 'drawn'], playerToMove: true });
  const lines = readLines('lost');
  assert.deepEqual(
    lines.map(({ result }) => result),
    ['1-0', '1-0', '1/2-1/2'],
  );
  assert.deepEqual(
    lines[0].plies.map(([, scores]) => scores.length > 0),
    [false, true, false, true, false, true],
  );
  assert.deepEqual(
    lines[2].plies.map(([, scores]) => scores.length > 0),
    [true, false, true, false],
  );
  checkLines(lines);
});

test('positions of a list get the best move as the one played, and the result is unknown', async () => {
  const path = join(root, 'list.epd');
  const mated = 'rnb1kbnr/pppp1ppp/8/4p3/6Pq/5P2/PPPPP2P/RNBQKBNR w KQkq - 1 3';
  writeFileSync(
    path,
    `# two\n8/8/8/4k3/8/8/4P3/4K3 w - - id "a";\n${mated}\nnonsense\n8/8/8/4k3/8/8/4P3/4K3 w - - 3 9\n`,
  );
  const warnings: string[] = [];
  const files = await label('list', { paths: [path], warnings });
  const [line, ...others] = readLines('list');
  assert.deepEqual([line.result, line.plies.length, others.length, files.scored], ['*', 1, 0, 1]);
  assert.equal(line.plies[0][0], line.plies[0][1][0][0]);
  assert.match(warnings.join(), /^list\.epd: Line 4 is no position: /);
});

test('a sample is a share of the plies, the same with the same seed', async () => {
  const files = await label('sample', { sample: 0.5, skipPlies: 1 });
  assert.ok(files.scored >= 3 && files.scored <= 9, `${files.scored} of 12`);
  await label('sample again', { sample: 0.5, skipPlies: 1, concurrency: 2 });
  assert.deepEqual(readLines('sample again'), readLines('sample'));
  assert.ok(readLines('sample').every(({ plies }) => plies[0][1].length === 0));
});

test('leaves are positions that the search visits, with their history, without a result and never twice', async () => {
  await withNetwork(async (network) => {
    await label('leaves', { leaves: 4, labelsRoots: false, network, games: 2 });
  });
  const lines = readLines('leaves');
  assert.ok(lines.length > 20, `${lines.length} leaves`);
  assert.equal(checkLines(lines), lines.length);
  for (const { result, plies, surprise } of lines) {
    assert.equal(result, '*');
    assert.ok(plies.length <= 8);
    assert.ok(plies.slice(0, -1).every(([, scores]) => scores.length === 0));
    const [kl, error] = surprise?.at(-1) ?? [];
    assert.ok(Number(kl) >= 0 && Number(error) >= 0 && Number(error) <= 2);
    assert.equal(surprise?.length, plies.length);
  }
});

test('a killed run continues with the source that was not finished', async () => {
  await withNetwork(async (network) => {
    const options: Options = { leaves: 2, network, pliesPerFile: 60 };
    await label('whole', options);
    await label('killed', { ...options, abortAfter: 2 });
    const part = readdirSync(join(root, 'killed')).find((file) => file.endsWith('.part'));
    // The lines of a source whose last line, the one with "next", was not written any more.
    const orphan = '{"fen":"8/8/8/4k3/8/8/4P3/4K3 w - - 0 1","result":"*","plies":[["e2e4",[["e2e4",9]]]]}\n{"fen":';
    appendFileSync(join(root, 'killed', part ?? 'x_0001.jsonl.part'), orphan);
    await label('killed', options);
  });
  assert.deepEqual(readLines('killed'), readLines('whole'));
  checkLines(readLines('whole'));
});

test('labels of an earlier run are a source of positions', async () => {
  const path = join(root, 'again.jsonl');
  const game = { fen: '8/8/8/4k3/8/8/4P3/4K3 w - - 0 1', result: '1/2-1/2', plies: [['e2e4', [['e2e4', 3]]]] };
  writeFileSync(path, `${JSON.stringify(game)}\n{"fen":"x"}\n`);
  const warnings: string[] = [];
  await label('again', { paths: [path], warnings });
  assert.equal(readLines('again')[0].plies[0][1].length, 3);
  assert.equal(warnings.length, 1);
});

test('games and positions of Chess960 are labelled with castling as king takes rook, and shards read them', async () => {
  const fen = '1rk5/8/8/8/8/8/8/1RK5 w Bb - 0 1';
  const epd = join(root, 'chess960.epd');
  writeFileSync(epd, `${fen}\n4k3/8/8/8/8/8/8/R3K3 w Q - 0 1\n`);
  const pgn = join(root, 'chess960.pgn');
  writeFileSync(pgn, `[Variant "Chess960"]\n[FEN "${fen}"]\n\n1. O-O-O O-O-O 2. Rd2 *\n`);
  const warnings: string[] = [];
  await label('chess960', { paths: [epd, pgn], multiPv: 50, warnings });
  assert.deepEqual(warnings, []);
  const lines = readLines('chess960');
  const listScored = ({ plies }: LabelledGameRecord): string[] =>
    plies.flatMap(([, scores]) => scores.map(([move]) => move));
  assert.ok(listScored(lines[0]).includes('c1b1') && !listScored(lines[0]).includes('c1c1'));
  assert.ok(listScored(lines[1]).includes('e1c1'));
  assert.deepEqual(
    lines[2].plies.map(([played]) => played),
    ['c1b1', 'c8b8', 'd1d2'],
  );
  for (const line of lines) unwrap(resolveMoves(unwrap(parseLabelledGame(JSON.stringify(line))), 0));
});

test('files that cannot serve are one sentence', async () => {
  const open = async (paths: string[], filter: Partial<SourceFilter>): Promise<string> => {
    const opened = await openSources(paths, { player: null, results: [], ...filter });
    return opened.ok ? '' : opened.error;
  };
  const write = (name: string, text: string): string => {
    writeFileSync(join(root, name), text);
    return join(root, name);
  };
  assert.match(await open([write('x.txt', 'Dear reader')], {}), /x\.txt holds neither games nor positions/);
  assert.match(await open(['x.txt'], {}), /^x\.txt cannot be read: there is no such file$/);
  assert.match(
    await open([write('x.rar', 'Rar!\x1a\x07\0')], {}),
    /x\.rar cannot be read: it is a RAR archive, which is not/,
  );
  mkdirSync(join(root, 'folder.pgn'));
  assert.match(await open([join(root, 'folder.pgn')], {}), /folder\.pgn is no plain file/);
  assert.match(await open(['/no/such.pgn'], {}), /^\/no\/such\.pgn cannot be read: /);
  assert.match(await open([write('x.epd', '4k3/8/8/8/8/8/8/4K3 w - -')], { player: 'a' }), /--player needs PGN files$/);
  assert.match(await open([pgnPath], { results: ['lost'] }), /^--results needs --player/);
});

test('targets are those of the training code', () => {
  // policy_from_scores([30, 10, -400], 10, 300, 45) and wdl_from_score(·, 80, 100) of targets.py.
  const { policy, wl } = computeTarget([
    ['a', 30],
    ['b', 10],
    ['c', -400],
  ]);
  const close = (value: number | undefined, expected: number): void =>
    assert.ok(Math.abs((value ?? 0) - expected) < 1e-4, `${value} is not ${expected}`);
  close(policy.get('a'), 0.8671);
  close(policy.get('b'), 0.1329);
  close(wl, 0.1278);
  close(
    computeTarget([
      ['a', 31_998],
      ['b', 31_996],
    ]).policy.get('b'),
    0.011,
  );
  close(computeWinMinusLoss(-31_998), -1);
  close(computeDivergence(policy, policy), 0);
  close(computeDivergence(new Map([['a', 1]]), new Map([['a', 0.25]])), Math.log(4));
});

test('a set of positions knows each of them after it has grown', () => {
  const prng = createPrng(9);
  const positions = Array.from({ length: 5000 }, () => ({ keyLow: prng.next32() | 0, keyHigh: prng.next32() | 0 }));
  const set = new PositionSet();
  assert.ok(positions.every((position) => set.add(position)));
  assert.ok(positions.every((position) => !set.add(position)));
  assert.equal(set.size, 5000);
});
