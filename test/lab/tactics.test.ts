/** scripts/lab/strength/tactics.mjs: which positions count as which tactic, and the table of a network. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { gzipSync } from 'node:zlib';
import { type Position, parseFen, parseUciMove } from '#sardonyx/chess/rules/index.js';
import { repositoryRoot } from '../support/shared-folder.js';

type ScoredMove = [move: string, centipawns: number];
type FindTactic = (position: Position, scores: ScoredMove[]) => { kind: string; solutions: string[] } | null;

const scripts = join(repositoryRoot, 'scripts', 'lab', 'strength');
const folder = mkdtempSync(join(tmpdir(), 'sardonyx-tactics-'));
after(() => rmSync(folder, { recursive: true }));

async function find(fen: string, moves: string[], scores: ScoredMove[]) {
  const { findTactic } = (await import(pathToFileURL(join(scripts, 'tactic-kinds.mjs')).href)) as {
    findTactic: FindTactic;
  };
  const parsed = parseFen(fen);
  assert.ok(parsed.ok);
  for (const text of moves) {
    const move = parseUciMove(parsed.value, text);
    assert.ok(move.ok, text);
    parsed.value.makeMove(move.value);
  }
  return findTactic(parsed.value, scores);
}

const scholar = 'r1bqkbnr/pppp1ppp/2n5/4p2Q/2B1P3/8/PPPP1PPP/RNB1K1NR b KQkq - 3 3';

test('all mates in one are solutions, whatever the label prefers', async () => {
  const scores: ScoredMove[] = [
    ['c4f7', 300],
    ['h5f7', 31998],
  ];
  assert.deepEqual(await find(scholar, ['g8f6'], scores), { kind: 'mate in one', solutions: ['h5f7'] });
  const corridor = '6k1/5ppp/8/8/8/8/8/RR4K1 w - - 0 1';
  const tactic = await find(
    corridor,
    [],
    [
      ['a1a8', 31998],
      ['b1b8', 31998],
    ],
  );
  assert.deepEqual(tactic, { kind: 'mate in one', solutions: ['b1b8', 'a1a8'] });
});

test('every first move that forces mate in two is a solution', async () => {
  const ladder = '7k/8/8/8/R7/1R6/8/6K1 w - - 0 1';
  const tactic = await find(
    ladder,
    [],
    [
      ['b3b7', 31996],
      ['a4b4', 900],
    ],
  );
  assert.equal(tactic?.kind, 'mate in two');
  assert.deepEqual(tactic.solutions.sort(), ['a4a7', 'a4g4', 'b3b7', 'b3g3']);
  assert.equal(
    await find(
      ladder,
      [],
      [
        ['b3b6', 900],
        ['a4b4', 900],
      ],
    ),
    null,
  ); // the label does not claim a mate
});

test('recaptures and winning captures are told apart, and the other moves must lose', async () => {
  const exchange = 'r1bqkbnr/ppp2ppp/2np4/1B2p3/3PP3/5N2/PPP2PPP/RNBQK2R b KQkq - 0 4';
  const scores: ScoredMove[] = [
    ['b7c6', 0],
    ['d8d7', -500],
  ];
  assert.deepEqual(await find(exchange, ['a7a6', 'b5c6'], scores), { kind: 'recapture', solutions: ['b7c6'] });
  assert.equal(
    await find(
      exchange,
      ['a7a6', 'b5c6'],
      [
        ['b7c6', 0],
        ['d8d7', -100],
      ],
    ),
    null,
  );
  const hanging = '4k3/8/8/3n4/8/8/6B1/4K3 w - - 0 1';
  const capture: ScoredMove[] = [
    ['g2d5', 400],
    ['e1e2', -50],
  ];
  assert.deepEqual(await find(hanging, [], capture), { kind: 'winning capture', solutions: ['g2d5'] });
  const defended = '4k3/8/4p3/3n4/8/8/6B1/4K3 w - - 0 1';
  assert.equal(await find(defended, [], capture), null);
});

test('a fork attacks a king and a rook', async () => {
  const fen = 'r3k3/8/8/3N4/8/8/8/4K3 w - - 0 1';
  assert.deepEqual(
    await find(
      fen,
      [],
      [
        ['d5c7', 350],
        ['e1e2', -400],
      ],
    ),
    { kind: 'fork', solutions: ['d5c7'] },
  );
});

test('tactics.mjs shows one row for each kind that occurs', () => {
  const games = join(folder, 'games.jsonl.gz');
  const game = {
    fen: scholar,
    plies: [
      ['g8f6', []],
      [
        'h5f7',
        [
          ['h5f7', 31998],
          ['c4f7', 300],
        ],
      ],
    ],
  };
  writeFileSync(games, gzipSync(`${JSON.stringify(game)}\n`));
  const weights = join(repositoryRoot, 'models', 'tiny-test.onnx');
  const run = spawnSync(process.execPath, [join(scripts, 'tactics.mjs'), games, '--weights', weights, '--nodes=200'], {
    encoding: 'utf8',
  });
  assert.equal(run.stderr, '');
  const rows = run.stdout.trim().split('\n');
  assert.equal(rows.length, 3);
  assert.match(
    rows[2],
    /^\| mate in one \| \S+tiny-test\.onnx \| 1 \| \d+\.0 % \| \d+\.\d % \| -?\d\.\d\d \| 100\.0 % \|$/,
  );
});

test('tactics.mjs says in one sentence what is wrong', () => {
  const broken = join(folder, 'broken.jsonl.gz');
  writeFileSync(broken, gzipSync(`${JSON.stringify({ fen: scholar, plies: [['a1a8', []]] })}\n`));
  for (const [args, sentence] of [
    [[join(folder, 'gone.gz')], /^Cannot read the labelled games \S+gone\.gz: there is no such file\n$/],
    [[broken], /^\S+broken\.jsonl\.gz, line 1: [^\n]+\n$/],
  ] as const) {
    const run = spawnSync(process.execPath, [join(scripts, 'tactics.mjs'), ...args], { encoding: 'utf8' });
    assert.equal(run.status, 1);
    assert.match(run.stderr, sentence);
  }
});
